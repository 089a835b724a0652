"""Rewriters of C++ operator code, on tree-sitter."""
