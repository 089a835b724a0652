"""Models that do not export: their obstacles, fixes for these, and the proof."""
