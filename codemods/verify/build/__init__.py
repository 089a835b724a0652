"""Builds of changed kernels that replace torch's own."""
