"""The app as processes."""
