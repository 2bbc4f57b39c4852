"""The peer of a start: a page with nothing on it."""
