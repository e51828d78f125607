"""Batched forward passes, one file a family of layers: every array of a layer carries a leading axis of lanes."""
