import numpy as np
from fedml.simulation.sp.fedavg.fedavg_api import FedAvgAPI

drawn = set()
for seed in range(20):
    np.random.seed(seed)
    drawn.add(tuple(FedAvgAPI._client_sampling(None, 0, 10, 3)))
print("expected several cohorts in 20 seeds, got", len(drawn))
