"""FedAdagrad: the server takes the mean change of the clients as a gradient of Adagrad.

S. J. Reddi, Z. Charles, M. Zaheer, Z. Garrett, K. Rush, J. Konecny, S. Kumar, H. B. McMahan, "Adaptive Federated
Optimization", 2021, Algorithm 2, with v_{-1} = tau^2 and without momentum.
"""

from fractions import Fraction

import numpy as np

from boundcheck.methods.round import Rule


class FedAdagrad(Rule):
    """v <- v + D^2, x <- x + eta_g D/(sqrt(v) + tau), coordinate by coordinate, with D the mean change."""

    tau: Fraction = Fraction(1, 1000)
    kept_by_server = {"x": True, "v": False}

    def initial(self, at):
        return {"x": at.x0, "v": at.zero + float(self.tau) ** 2}

    def combine(self, total, at):
        v = at.server["v"] + total["x"] ** 2
        return {"x": at.server["x"] + at.eta_g * total["x"] / (np.sqrt(v) + float(self.tau)), "v": v}


methods = {"fedadagrad": FedAdagrad}
