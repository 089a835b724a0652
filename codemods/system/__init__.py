"""Files, processes, configuration and caches: what depends on the operating system."""
