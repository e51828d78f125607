"""Exact numbers, specifications, the result store, the executor and the random streams."""
