"""The imported library: indexes of laws, articles and cases, and search in them."""
