"""The three devices of SCGD, Appendix C, two of them concave: f_1 = f_2 = -x^2 and f_3 = 3x^2, from x_0 = 1.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate".
The paper prints f_3 = 3x^3; its local points (1.44, 1.44, 0.16 at eta = 0.1 and E = 2) are those of 3x^2. The
literal reading, `cubic`, has F = (3x^3 - 2x^2)/3, which is unbounded below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.certified.constant import Constant
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput, shown
from boundcheck.problems._instance import ASSUMPTIONS, OF_SAMPLES, given
from boundcheck.problems._scalar import Real, ScalarInstance
from boundcheck.problems.quadratics import Component, Quadratics


@dataclass(frozen=True, repr=False)
class Cubic(ScalarInstance):
    """The literal reading: f_1 = f_2 = -x^2, f_3 = 3x^3."""

    name: str
    spec: Mapping[str, Any]
    start: tuple[Fraction, ...]
    clients: int = 3

    @property
    def instance(self) -> str:
        """Not the example as it is meant."""
        return "scgd_appendix_c_cubic"

    def slope(self, client: int, x: Real) -> Real:
        """-2x, -2x, 9x^2."""
        return 9 * x * x if client == 2 else -2 * x

    def constants(self) -> Mapping[str, Constant]:
        """n, d and the start: there is neither a Lipschitz constant nor a minimiser."""
        return {
            **self.counted(),
            "x_0": given(self.start[0], "the start"),
        }

    def objections(self) -> Mapping[str, str]:
        """What the paper supposes fails, but that F is the plain mean."""
        unbounded = "F = (3x^3 - 2x^2)/3 is unbounded below, so that it has no minimiser."
        own = {
            "smooth_clients": "f_3 = 3x^3 has the slope 9x^2, which is Lipschitz with no constant.",
            "convex_clients": "f_1 = -x^2 is concave.",
        }
        of_samples = {
            "smooth_samples": own["smooth_clients"],
            "convex_samples": own["convex_clients"],
            "strongly_convex_samples": own["convex_clients"],
            "client_smoothness": own["smooth_clients"],
            "lower_curvature": "f_3 has the second derivative 18x, which has no lower bound.",
            "hessian_similarity": "f_3 has the second derivative 18x, whose difference from that of F has no bound.",
            "bounded_dissimilarity": "F has the slope 0 at x = 4/9, where no client has it.",
            "bounded_below": unbounded,
            "relaxed_dissimilarity": unbounded,
        }
        of_clients = [name for name in ASSUMPTIONS if name not in OF_SAMPLES and name != "plain_mean"]
        return {name: own.get(name, unbounded) for name in of_clients} | of_samples


def build(*, cubic: Any = False, start: Any = 1) -> Quadratics | Cubic:
    """Appendix C as meant (f_3 = 3x^2) or, with cubic = true, as printed (3x^3)."""
    if not isinstance(cubic, bool):
        raise BadInput(f"cubic = {shown(repr(cubic))} is not allowed; it is true or false.")
    x0 = (as_fraction(start, "start"),)
    spec = {"kind": "scgd_appendix_c", "cubic": cubic, "start": format_exact(x0[0])}
    if cubic:
        return Cubic("SCGD, Appendix C, with f_3 = 3x^3 as printed", spec, x0)
    # -x^2 = (-2) x^2 / 2
    parts = tuple((Component(((Fraction(h),),), (Fraction(0),)),) for h in (-2, -2, 6))
    return Quadratics("SCGD, Appendix C: -x^2, -x^2, 3x^2", spec, parts, "mean", (Fraction(1, 3),) * 3, x0)
