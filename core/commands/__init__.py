"""The commands of the command line: each module has the arguments of one, and what it does."""
