"""Foundation: knows nothing of the product. Each module is a subject of its own and may be imported by name."""
