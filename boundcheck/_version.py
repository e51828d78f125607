"""The version, in one place; hatch reads it too."""

__version__ = "0.1.0"
