"""Entries of PyTorch's lists of expected failures that pass now, and their removal."""
