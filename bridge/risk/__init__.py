"""Risk: volume from risk, and the guard, the last stop before the terminal. Pure functions."""
