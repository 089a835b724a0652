"""Rewriters of Python code, on ``ast``."""
