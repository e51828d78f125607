"""A task in the shapes that trainers written in NumPy, PyTorch or JAX expect, so that they run unmodified.

Each module is imported by its name, `boundcheck.adapters.torch`; PyTorch and JAX are needed only there.
"""
