"""What is measured: each module drives the load generator through one scenario and returns its numbers."""
