"""The statements: one folder a paper, one file a numbered statement."""
