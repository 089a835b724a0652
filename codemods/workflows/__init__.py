"""Workflows on top of hunting, rewriting and verifying: one folder for each command."""
