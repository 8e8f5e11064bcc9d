"""Measures Heliograph, other servers, and a C program that does nothing but send (the limit). The command line is `Benchmarks/run`."""
