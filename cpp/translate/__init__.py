"""From the C++ of a composite operator to a Python decomposition of it."""
