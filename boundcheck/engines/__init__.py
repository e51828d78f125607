"""What carries out a method on a problem: exact (no sampling) and sampled (Monte Carlo)."""
