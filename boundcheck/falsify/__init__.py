"""Search for counterexamples: generators of instances, one search in double precision, one shrinker in exact arithmetic."""
