"""Rewriters of operator schemas and of the code that depends on them in PyTorch's tree, based on the C++ wing."""
