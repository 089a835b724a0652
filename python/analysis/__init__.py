"""What is symbolic, what follows from what, and where something may be written."""
