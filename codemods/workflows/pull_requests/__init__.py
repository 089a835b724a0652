"""Pull requests out of proven changes: series, regression tests and pages for review."""
