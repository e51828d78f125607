"""Checks that the authors of plug-ins run on their problems, kinds of method and parts."""
