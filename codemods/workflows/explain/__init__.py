"""Explanation of a pasted error or log of torch. It imports no torch and runs nothing."""
