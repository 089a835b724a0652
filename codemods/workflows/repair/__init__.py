"""From failing operators to proven fixes: try what the rules offer at the failing place, keep what is proven."""
