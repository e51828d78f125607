"""signSGD and its repair by error feedback, on the counterexample of Karimireddy et al. (2019).

S. P. Karimireddy, Q. Rebjock, S. U. Stich, M. Jaggi, "Error Feedback Fixes SignSGD and other Gradient Compression
Schemes", 2019: Algorithm 1 and Counterexample 3.
"""

import numpy as np

from boundcheck.methods.round import Rule


class SignSGD(Rule):
    """y <- y - eta sign(g(y))."""

    def step(self, y, g, at):
        return y - at.eta * np.sign(g(y))


class ErrorFeedback(Rule):
    """p = eta g(y) + e, d = |p|_1/dim sign(p), y <- y - d, e <- p - d: what was not sent is kept for the next step."""

    local = ("y", "e")
    kept_by_clients = {"e": False}

    def begin(self, at):
        return {"y": at.server["x"], "e": at.client["e"]}

    def step(self, y, g, at):
        p = at.eta * g(y["y"]) + y["e"]
        d = np.abs(p).mean(axis=-1, keepdims=True) * np.sign(p)
        return {"y": y["y"] - d, "e": p - d}

    def upload(self, y, at):
        return {"x": y["y"] - at.start}

    def keep(self, y, at):
        return {"e": y["e"]}


methods = {"signsgd": SignSGD, "error_feedback": ErrorFeedback}
