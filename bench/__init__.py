"""The figures of docs/benchmarks.md: `make bench`. Ratios against a peer or the bare minimum of the same run."""
