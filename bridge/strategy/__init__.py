"""Decide: pure functions from a signal and a position to a decision."""
