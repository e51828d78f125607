"""Algorithms as compositions of parts."""
