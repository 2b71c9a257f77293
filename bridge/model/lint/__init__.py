"""Lint: every reason why terminal or daemon would refuse or misread a model file, and the fix."""
