"""Repair: safe changes of somebody's model file, its answers proven unchanged."""
