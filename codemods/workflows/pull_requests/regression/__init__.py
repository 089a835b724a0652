"""Regression tests for proven fixes, written from the failing sample and run before and after the fix."""
