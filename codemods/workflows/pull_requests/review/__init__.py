"""The review page of a series: one self-contained HTML file."""
