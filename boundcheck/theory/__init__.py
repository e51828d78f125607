"""Statements as objects: symbols, assumptions, conditions, scope, evaluation, dimensions, discovery."""
