"""FedProx with each subproblem solved by scipy."""

from scipy.optimize import minimize

from boundcheck.adapters.numpy import Objective


def run(task, seed):
    x, mu, points = task.start, task.parameters["mu"], []
    for _ in range(task.rounds):
        subproblems = [Objective(task, client, mu=mu, centre=x) for client in task.clients]
        solved = [minimize(f, x, jac=f.gradient, method="BFGS", options={"gtol": 1e-11}).x for f in subproblems]
        x = sum(client.weight * y for client, y in zip(task.clients, solved, strict=True))
        points.append(x)
    return points
