"""Proof of a change in a user's own project, by its build and its tests."""
