"""HTML of answers, sources and formulas. Everything is escaped."""
