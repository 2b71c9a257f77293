"""Trade: build requests, send each once, know what became of it."""
