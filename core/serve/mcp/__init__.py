"""The Model Context Protocol: the same services as tools, resources and prompts for Claude, Cursor, Cherry Studio and others."""
