"""Entries of PyTorch's lists of expected failures that pass by now, and their removal."""
