"""Proof of a change: does it still build, does it compute the same, and does it now trace?"""
