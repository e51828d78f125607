"""Theorems of the literature on gradient methods and federated learning: one a module."""
