"""Rules for PyTorch's yaml files, one per module."""
