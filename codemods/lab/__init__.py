"""Runs foreign code: children with limits, on torches with something laid over them."""
