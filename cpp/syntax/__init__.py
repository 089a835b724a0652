"""Model of C++ text: trees with original offsets, functions, variables by scope, and the meaning of type names."""
