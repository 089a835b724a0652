"""Analysis of schemas: families of operators, and the evidence that an integer is a size."""
