"""SAG: a step along the mean of the last gradient of each client, of which one is renewed in a round.

N. Le Roux, M. Schmidt, F. Bach, "A Stochastic Gradient Method with an Exponential Convergence Rate for Finite Training
Sets", 2012, equation (5). The samples of the paper are clients here, with participation {kind = "uniform", size = 1}.
"""

from boundcheck.methods.round import PLAIN, Rule, Sent


class SAG(Rule):
    """last: the client's last gradient, 0 at first. mean: of all last gradients."""

    kept_by_server = {"x": True, "mean": False}
    kept_by_clients = {"last": False}

    def upload(self, y, at):
        change = (at.whole(at.start) - at.client["last"]) / at.clients.count
        return {"x": -at.length * (at.server["mean"] + change), "mean": Sent(change, PLAIN)}

    def keep(self, y, at):
        return {"last": at.whole(at.start)}

    def combine(self, total, at):
        return {"x": at.server["x"] + total["x"], "mean": at.server["mean"] + total["mean"]}


methods = {"sag": SAG}
