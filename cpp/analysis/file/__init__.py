"""Facts about one file: types, overloads, sources of sizes and functions that may change."""
