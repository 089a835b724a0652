"""Rewriters of C++ operator code, on tree-sitter: modules with an underscore are shared, every other is a rule."""
