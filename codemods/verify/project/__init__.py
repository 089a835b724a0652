"""The proof of a change in a project of one's own: its build and its tests."""
