"""Translation of a composite operator's C++ to a Python decomposition."""
