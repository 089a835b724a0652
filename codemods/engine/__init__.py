"""Engine from files to outcomes: rules, edits, rounds, stored results.

It depends on no parser and no particular rule.
"""
