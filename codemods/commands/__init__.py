"""Implementations of the commands: arguments in, an exit code out."""
