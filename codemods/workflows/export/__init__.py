"""Models that do not export: where they stop, what lets them go on, and the proof."""
