"""The checker of derivations."""
