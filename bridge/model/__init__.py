"""Model files: their contract, safe loading, running, and what their outputs mean."""
