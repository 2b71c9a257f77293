"""Whether a terminal answers as the paper terminal does: the same questions to both, compared."""
