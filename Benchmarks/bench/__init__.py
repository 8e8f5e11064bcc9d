"""Measures Heliograph beside the limit and its peers; the command line is `Benchmarks/run`."""
