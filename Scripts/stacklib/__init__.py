"""Runs a whole Heliograph cluster on one machine; the command line is `Scripts/stack`."""
