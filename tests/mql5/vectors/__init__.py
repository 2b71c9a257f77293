"""Golden vectors that both sides answer, and the Python side's answers."""
