"""The page on which a person reads a series: one HTML file, without network."""
