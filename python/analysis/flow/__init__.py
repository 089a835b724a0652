"""May-analysis of values through functions, and the functions that tracers reach."""
