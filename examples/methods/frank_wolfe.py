"""Frank-Wolfe on the ball |x| <= radius, with steps 2/(k+2).

M. Jaggi, "Revisiting Frank-Wolfe: Projection-Free Sparse Convex Optimization", 2013, Algorithm 1.
"""

from fractions import Fraction

import numpy as np

from boundcheck.methods.round import Rule


class FrankWolfe(Rule):
    """x <- x + 2/(k+2) (s - x), where s = -radius g/|g| is the point of the ball furthest against the gradient g."""

    radius: Fraction = Fraction(1)
    steady = False

    def numbers(self, round_index, dim):
        return {"step": Fraction(2, round_index + 2)}

    def combine(self, total, at):
        against = total["x"]  # minus the gradient, times the local step size
        size = at.norm(against)
        furthest = self.radius * against / np.where(size > 0, size, 1)
        return {"x": at.server["x"] + at.number["step"] * (furthest - at.server["x"])}


methods = {"frank_wolfe": FrankWolfe}
