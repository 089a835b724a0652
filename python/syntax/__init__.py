"""Syntax trees of Python files, with names and positions."""
