"""Finds which operators fail on symbolic sizes, in which mode, and at which line."""
