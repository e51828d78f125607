"""FedDyn: each client's objective gets a linear term that is corrected in every round.

D. A. E. Acar, Y. Zhao, R. Matas Navarro, M. Mattina, P. N. Whatmough, V. Saligrama, "Federated Learning Based on
Dynamic Regularization", 2021, Algorithm 1; the local problem is solved by gradient steps.
"""

from fractions import Fraction

from boundcheck.methods.round import PLAIN, Rule, Sent


class FedDyn(Rule):
    """alpha: of the penalty. gradient: that of the client at its model, as the method takes it to be. h: as printed."""

    alpha: Fraction
    kept_by_server = {"x": True, "h": False}
    kept_by_clients = {"gradient": False}

    def direction(self, y, g, at):
        return g(y) - at.client["gradient"] + self.alpha * (y - at.start)

    def upload(self, y, at):
        return {"x": y - at.start, "h": Sent((y - at.start) / at.clients.count, PLAIN)}

    def keep(self, y, at):
        return {"gradient": at.client["gradient"] - self.alpha * (y - at.start)}

    def combine(self, total, at):
        h = at.server["h"] - self.alpha * total["h"]
        return {"x": at.server["x"] + total["x"] - h / self.alpha, "h": h}


methods = {"feddyn": FedDyn}
