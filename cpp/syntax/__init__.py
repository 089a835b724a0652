"""C++ text as a model: trees with true offsets, functions, variables by scope, what the names of types mean."""
