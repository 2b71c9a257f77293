"""A terminal whose prices are real and whose orders are on paper."""
