"""Dataflow analysis of symbolic values in C++."""
