"""Search engines, one module each. `core.search.registry` lists them."""
