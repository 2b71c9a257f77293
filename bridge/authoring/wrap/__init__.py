"""Wrap: somebody's model becomes one file from raw bars to a decision."""
