from types import SimpleNamespace

from fedml.simulation.sp.fedopt.fedopt_api import FedOptAPI

api = SimpleNamespace(test_global=SimpleNamespace(dataset=[1]), args=SimpleNamespace(batch_size=1))
try:
    FedOptAPI._generate_validation_set(api)
except NameError as error:
    print("expected a validation set, got NameError:", error)
