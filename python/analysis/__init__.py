"""Which values are symbolic, what follows from that, and where a fix may be written."""
