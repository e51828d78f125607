"""Implementations of methods that boundcheck did not write, held against references, named checks and bounds."""
