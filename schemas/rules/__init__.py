"""The rules for PyTorch's yaml, one a file."""
