"""Schemas and arguments of an extension's own operators."""
