"""Kinds of test subjects, as requests name them. A module of its own, since `test_cases` imports torch."""

OPERATORS, MODULES, HOPS, CALLS = "operators", "modules", "hops", "calls"
