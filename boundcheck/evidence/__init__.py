"""Kinds of evidence; each gives a Verdict."""
