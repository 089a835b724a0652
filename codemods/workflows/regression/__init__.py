"""Regression tests for proven fixes: written from the sample that failed, and run before and after."""
