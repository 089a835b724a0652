"""Rewriters of operator schemas and of what follows them through PyTorch's tree, on the C++ wing."""
