from flwr.app import ArrayRecord, ConfigRecord
from flwr.serverapp.strategy import fedavg

asked = []
fedavg.sample_nodes = lambda grid, least, size: (asked.append(size) or [], [])  # only the size that it asks for
grid = type("Nodes", (), {"get_node_ids": staticmethod(lambda: range(100))})()
fedavg.FedAvg(fraction_train=0.29).configure_train(1, ArrayRecord(), ConfigRecord(), grid)
print("expected 29, got", asked[0])
