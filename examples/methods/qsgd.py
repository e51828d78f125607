"""QSGD: updates are rounded at random to a few levels of their norm, so that their mean stays as it is.

D. Alistarh, D. Grubic, J. Li, R. Tomioka, M. Vojnovic, "QSGD: Communication-Efficient SGD via Gradient Quantization and
Encoding", 2017, Section 3.1. A coordinate v_i becomes |v| sign(v_i) l/s, where l is s |v_i|/|v| rounded up or down with
mean s |v_i|/|v|.
"""

import numpy as np

from boundcheck.methods.round import Rule


class QSGD(Rule):
    """levels: s. What a client uploads is rounded."""

    levels: int = 1
    uniforms = ("u",)

    def upload(self, y, at):
        change = y - at.start
        size = at.norm(change)
        level = self.levels * np.abs(change) / np.where(size > 0, size, 1)
        return {"x": size * np.sign(change) * np.floor(level + at.uniform["u"]) / self.levels}


methods = {"qsgd": QSGD}
