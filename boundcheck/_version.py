"""The version, in one place; hatch reads it too."""

__version__ = "0.2.0"
