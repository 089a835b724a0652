"""Rewriters of C++ operator code, on tree-sitter: shared modules start with an underscore, every other module is a rule."""
