"""Generators of random instances: one file for each family of methods, and the table that chooses among them."""
