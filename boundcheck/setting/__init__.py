"""What a method on a problem is known to have: its constants, hypotheses and metrics."""
