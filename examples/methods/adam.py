"""Adam without bias correction and AMSGrad, projected to [-1, 1], as in the example on which Adam goes astray.

S. J. Reddi, S. Kale, S. Kumar, "On the Convergence of Adam and Beyond", 2018, Theorem 1: the slopes C, -1, -1 in turn,
C > 2, beta1 = 0, beta2 = 1/(1 + C^2). The best point is -1, and Adam is back at +1 after every third round.
"""

import numpy as np

from boundcheck.methods.round import Rule


class Adam(Rule):
    """m, v: running means of g and g^2; steps are divided by the root of top. memory = 1: AMSGrad, of the largest v."""

    beta1: float
    beta2: float
    memory: float = 0
    kept_by_server = {"x": True, "m": False, "v": False, "top": False}
    local = ("x", "m", "v", "top")

    def begin(self, at):
        return at.server

    def step(self, y, g, at):
        m = self.beta1 * y["m"] + (1 - self.beta1) * g(y["x"])
        v = self.beta2 * y["v"] + (1 - self.beta2) * g(y["x"]) ** 2
        top = np.maximum(self.memory * y["top"], v)
        return {"x": np.clip(y["x"] - at.eta * m / np.sqrt(top), -1, 1), "m": m, "v": v, "top": top}

    def upload(self, y, at):
        return {name: y[name] - at.server[name] for name in y}

    def combine(self, total, at):
        return {name: at.server[name] + total[name] for name in at.server}


methods = {"adam": Adam}
