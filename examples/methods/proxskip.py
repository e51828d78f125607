"""ProxSkip with averaging as the proximal step (Scaffnew): clients talk with probability p and correct their drift.

K. Mishchenko, G. Malinovsky, S. Stich, P. Richtarik, "ProxSkip: Yes! Local Gradient Steps Provably Lead to
Communication Acceleration! Finally!", 2022, Algorithm 2. A round is one local step and one coin; all clients take part.
"""

from fractions import Fraction

from boundcheck.methods.round import Rule


class ProxSkip(Rule):
    """p: the probability of a talk. shift: of a client, (eta/p) h_i. The server's x is the mean of the local models."""

    p: Fraction
    kept_by_clients = {"y": True, "shift": False}
    needs_all = receives = True

    def drawn(self, round_index):
        return ((self.p, {"talk": 1}), (1 - self.p, {"talk": 0}))

    def begin(self, at):
        return at.client["y"]

    def step(self, y, g, at):
        return y - at.eta * g(y) + self.p * at.client["shift"]

    def upload(self, y, at):
        return {"x": y - at.server["x"]}

    def keep(self, y, at):
        return {"y": y}

    def receive(self, at):
        moved = at.number["talk"] * (at.server["x"] - at.client["y"])
        return {"y": at.client["y"] + moved, "shift": at.client["shift"] + moved}


methods = {"proxskip": ProxSkip}
