"""Textbook bounds, against which the methods of the papers are tested where they become textbook methods."""
