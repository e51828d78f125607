"""How often the kernel of `boundcheck.proof` decides wrongly: a kit of claims, and mutants of shipped derivations."""
