import numpy as np
from pfl.data.sampling import get_user_sampler

np.random.seed(0)
draw = get_user_sampler("random", ["0", "1", "2", "3"])
cohorts = [[draw() for _ in range(2)] for _ in range(10_000)]
twice = sum(len(set(c)) < 2 for c in cohorts) / len(cohorts)
print("expected no user twice in a cohort, got this share of cohorts with one:", twice)
