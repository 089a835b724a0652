"""From a change to kernels that take the place of torch's own."""
