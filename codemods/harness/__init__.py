"""Subprocess harness: child processes with limits, on a torch with kernels or modules overlaid."""
