"""Proof records: derivations written out as lines that the verifier checks."""
