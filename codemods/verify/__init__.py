"""Proof of a change: its build, its results, and its traces, compared before and after."""
