"""The neural engine: all clients of a round, and all seeds, train at once in batched torch kernels.

Nothing here imports torch before a run asks for it.
"""
