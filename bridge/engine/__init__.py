"""The engine: one step a closed bar, the same for live, paper and back-test."""
