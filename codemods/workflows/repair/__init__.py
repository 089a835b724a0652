"""Proven fixes for failing operators: candidates of the rules are tried at the failing place."""
