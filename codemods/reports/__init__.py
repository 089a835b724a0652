"""Report formats: pure functions of outcomes."""
