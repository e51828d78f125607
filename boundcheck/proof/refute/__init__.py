"""Witnesses against steps that do not follow."""
