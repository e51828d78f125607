"""The verifier of proof records: one file that imports nothing of boundcheck, to be copied and read alone."""
