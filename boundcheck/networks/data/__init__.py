"""Labelled data sets for models that are trained on them."""
