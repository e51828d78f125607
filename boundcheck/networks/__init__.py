"""Trained networks: models, labelled data, the engine that trains them in torch, and studies of training.

The rooms below reach this one through `core.providers` alone. Nothing here imports torch before a run needs it.
"""
