"""Differences before and after a change, and coverage of its lines."""
