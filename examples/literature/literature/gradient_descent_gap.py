"""Gradient descent with the step 2/(L + mu): the tight contraction of the gap, attained by quadratics."""

from __future__ import annotations

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MU_AT_MOST_L, NOTATION, OF_SAMPLES, TAYLOR_2018, L, gap_0, k, mu

theorem = Theorem(
    source=Source(TAYLOR_2018, "Theorem 3.3", "at the best step; the number from memory"),
    title="Gap of gradient descent with the step 2/(L + mu)",
    symbols=(*NOTATION, *OF_SAMPLES),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples),
    choices=(("eta", 2 / (L + mu)),),
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={"as_printed": Reading(((L - mu) / (L + mu)) ** (2 * k) * gap_0)},
)
