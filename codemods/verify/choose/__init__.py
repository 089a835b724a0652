"""Selection of torch's operator tests that reach a change."""
