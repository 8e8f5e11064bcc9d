"""The parts of Scripts/docs-site."""
