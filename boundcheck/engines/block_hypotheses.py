"""Hypotheses about blocks of the model, which method and problem answer together: the method has the blocks.

S. Lee, A. K. Sahu, C. He and S. Avestimehr, "Partial Model Averaging in Federated Learning", Assumptions 1 (in its four
readings, see `constants.blocks`) to 4, and what its theorems say of the weights of the averages. Each is decided for
the constants of `engines.joint_blocks`, which are the ones that a statement takes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.engines.joint_blocks import UNKNOWN_NOISE, BlockView, block_view
from boundcheck.errors import UnknownName

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = ["block_hypotheses"]


def block_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Hypothesis -> why it fails, or None where it holds; one that cannot be decided is left out."""
    view = block_view(method, problem)
    if view is None:
        return {}
    p, m = list(problem.weights), view.clients.count
    found: dict[str, str | None] = {
        **_smoothness(view),
        "averages_as_objective": None
        if list(view.averaging) == p
        else "the models are averaged with other weights than the clients have in F.",
        "averages_uniformly": None
        if all(w == Fraction(1, m) for w in view.averaging)
        else "the models are not averaged with equal weights.",
    }
    if view.noise != UNKNOWN_NOISE:
        found["block_variance"] = view.noise if isinstance(view.noise, str) else None
    objection = _answer(view, "gradient_dissimilarity")
    if objection is not None or view.unlike is None:
        found["total_dissimilarity"] = objection
    blocks = view.dissimilarity
    if blocks is not None:
        free = blocks.free_block
        found["block_dissimilarity"] = (
            None if free is None else f"in block {free} a client's gradient varies where that of F does not."
        )
    if blocks is not None and view.maps is not None:
        found["pure_noise"] = _not_only_noise(view)
        found["even_noise"] = view.noise if isinstance(view.noise, str) else _uneven(view, view.noise)
    return found


def _answer(view: BlockView, name: str) -> str | None:
    """Why the problem breaks a hypothesis; None where it meets it or cannot tell."""
    try:
        return view.problem.violations(name)
    except UnknownName:
        return None


def _smoothness(view: BlockView) -> dict[str, str | None]:
    """The four readings of Assumption 1, with the constants that the instance has in each."""
    objection = _answer(view, "smooth_clients")
    known = objection is not None or view.unsmooth is None
    found: dict[str, str | None] = (
        dict.fromkeys(("smooth_blocks", "smooth_weighted", "smooth_globally"), objection) if known else {}
    )
    if view.maps is not None:
        pair = view.coupled
        found["smooth_separable"] = (
            None if pair is None else f"the Hessian of client {pair[0]} couples the blocks {pair[1]} and {pair[2]}."
        )
    return found


def _not_only_noise(view: BlockView) -> str | None:
    assert view.maps is not None
    for i, (a, b) in enumerate(view.maps):
        if any(v != 0 for v in (*a.entries(), *b.entries())):
            return f"the gradient of client {i} is not 0 everywhere."
    return view.varied


def _uneven(view: BlockView, noise: tuple[Fraction, ...]) -> str | None:
    varied = view.varied
    if varied is not None:
        return varied
    return None if len(set(noise)) == 1 else "the noise has not the same variance in every block."
