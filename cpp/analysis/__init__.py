"""Which values are symbolic, and what follows from that."""
