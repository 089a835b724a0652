"""From files to outcomes: rules, edits, rounds, stored results; knows no parser and no rule by name."""
