"""The engine: edits, rules' contracts, runs, reports, the verifier and the command line. It knows no rule by name."""
