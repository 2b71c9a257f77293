"""Honesty: does a result see the future, would it survive worse luck, was it learned by heart."""
