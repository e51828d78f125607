"""Sweeps: one statement, or several, at each point of a grid or of a Latin hypercube, as a Parquet data set.

`spec` reads and checks a specification, `axes` gives the points of a range of rows, `rows` computes them, `dataset`
keeps them in files that a killed sweep goes on from, and `run` hands the chunks to an executor.
"""
