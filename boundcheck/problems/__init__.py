"""Instances with their constants, and the data sets."""
