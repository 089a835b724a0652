"""Propagation of symbolic values from their sources to their sinks."""
