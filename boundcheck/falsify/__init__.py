"""The search for counterexamples: generators of instances, a search in double precision, a shrinker in fractions."""
