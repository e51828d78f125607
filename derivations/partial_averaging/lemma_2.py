"""The proof of Lemma 2 (partial model averaging, Appendix B): how far the models drift apart, as checked steps.

A *stretch* of a block are the iterations from one averaging of it to the next: it begins in agreement and has at most
tau steps. Stretches are taken together by their length: class n holds those with n + 1 steps, t = 0, ..., n, of all
blocks; together they hold every iteration of every block once. A vector of class n is the family of these stretches'
vectors, one a client, and <u, v> the sum over the stretches, divided by K, of the mean over the clients of the
expectation of their inner product.

    y(n, t)   block of a local model before step t      yb(n, t)   of the averaged model
    q(n, t)   block of the client's own gradient there  qb(n, t)   mean of these over the clients
    xi(n, t)  noise of the stochastic gradient          xib(n, t)  mean of that over the clients
    sig(n)    sum of the sigma_j^2 of the stretches, divided by K

The sums over s in (34) are those of one stretch, and the counting (49), (63) is that of its steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.families import Averaged, Averages
from boundcheck.proof.gram import Combine
from boundcheck.proof.laws import Draws
from boundcheck.proof.rules import CauchySchwarz, Jensen, PartialSum, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import block_variance

READINGS = ("as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


eta, tau, m, sigma2, local_grad2 = _symbols("eta tau m sigma2 local_grad2")
n, t, apart = _symbols("n t apart")
sig: Any = sp.Function("sig", real=True)(n)
y, yb, q, qb, xi, xib = (vector(name, n, t) for name in ("y", "yb", "q", "qb", "xi", "xib"))
zero, half, N = Vector(()), sp.Rational(1, 2), n + 1  # N: steps of a stretch
noise, drift = vector_total(xi - xib, t, t), vector_total(q - qb, t, t)
every = total(norm2(q), t, N)


def over_stretches(expr: Any) -> Any:
    """The sum over all steps of all stretches."""
    return total(total(expr, t, N), n, tau)


CLIENTS = Averages("clients", "averages_uniformly", ((y, yb), (q, qb), (xi, xib)))
NOISE = Draws("noise", "block_variance", ((xi, zero), (xib, zero)))
DRAWN = ((y, t), (yb, t), (q, t), (qb, t), (xi, t + 1), (xib, t + 1))
FACTS = (
    Fact("index n", sp.And(n >= 0, n <= tau - 1), "index", "every block is averaged within tau iterations"),
    Fact("index t", sp.And(t >= 0, t <= n), "index", "steps of a stretch"),
    Fact("agreement", VectorEquality(y.at(t, 0), yb.at(t, 0)), "algorithm", "the clients agree where a stretch begins"),
    Fact("local step", VectorEquality(y.at(t, t + 1), y - (q + xi) * eta), "algorithm", "(34)"),
    pointwise(
        "noise",
        block_variance,
        "(36) to (48), summed over the stretches",
        draw_deviation2=xi,
        weight2=sp.S.One,
        deviation2=sig,
    ),
)


def steps(share: Any) -> tuple[Step, ...]:
    """Up to the sum over all stretches; share: of the noise's variance that is left after its mean is taken off."""
    return (
        Step(
            "mean step",
            VectorEquality(yb.at(t, t + 1), yb - (qb + xib) * eta),
            ("local step",),
            Averaged("clients", "local step"),
            "of the averaged model",
        ),
        Step(
            "path",
            VectorEquality(y, y.at(t, 0) + vector_total((q + xi) * -eta, t, t)),
            ("local step",),
            Telescoping("local step", t, t),
            "the steps of the stretch so far",
        ),
        Step(
            "mean path",
            VectorEquality(yb, yb.at(t, 0) + vector_total((qb + xib) * -eta, t, t)),
            ("mean step",),
            Telescoping("mean step", t, t),
            "likewise",
        ),
        Step(
            "(35)",
            sp.Le(norm2(y - yb), 2 * eta**2 * (norm2(noise) + norm2(drift))),
            ("path", "mean path", "agreement"),
            Jensen((half, half), (noise * (-2 * eta), drift * (-2 * eta))),
            "noise and gradients apart",
        ),
        Step(
            "(38)",
            sp.Le(norm2(xi - xib), share * sig),
            ("noise",),
            Expected(("clients",), Combine({"noise": share})),
            "I - J is a projection",
        ),
        Step(
            "(38) so far",
            sp.Ge(share * t * sig - total(norm2(xi - xib), t, t), 0),
            ("(38)",),
            SumOver("(38)", t, t),
            "all steps of the stretch so far",
        ),
        Step(
            "(48)",
            sp.Le(norm2(noise), share * t * sig),
            ("(38) so far",),
            Expected(("noise",), Combine({"(38) so far": 1})),
            "noise of different steps is uncorrelated",
        ),
        Step(
            "(51)",
            sp.Le(norm2(drift), t * total(norm2(q - qb), t, t)),
            (),
            CauchySchwarz(q - qb, t, t),
            "Jensen's inequality",
        ),
        Step(
            "(53)",
            sp.Le(norm2(q - qb), norm2(q)),
            (),
            Expected(("clients",), Combine()),
            "I - J is a projection",
        ),
        Step(
            "part",
            sp.Le(total(norm2(q - qb), t, t), total(norm2(q - qb), t, N)),
            (),
            PartialSum(norm2(q - qb), t, t, N),
            "the first t steps of the stretch",
        ),
        Step(
            "whole",
            sp.Ge(total(norm2(q), t, N) - total(norm2(q - qb), t, N), 0),
            ("(53)",),
            SumOver("(53)", t, N),
            "of a stretch",
        ),
        Step(
            "(54)",
            sp.Le(norm2(y - yb), 2 * eta**2 * t * (share * sig + every)),
            ("(35)", "(48)", "(51)", "part", "whole"),
            Combine(
                {"(35)": 1, "(48)": 2 * eta**2, "(51)": 2 * eta**2, "part": 2 * eta**2 * t, "whole": 2 * eta**2 * t}
            ),
            "t steps after agreement",
        ),
        Step(
            "stretch",
            sp.Ge(eta**2 * n * N * (share * sig + every) - total(norm2(y - yb), t, N), 0),
            ("(54)",),
            SumOver("(54)", t, N),
            "the counting (49), (63): 0 + 1 + ... + n",
        ),
        Step("sig.1", sp.Ge(norm2(xi), 0, evaluate=False), (), Combine(), "a squared norm"),
        Step("sig >= 0", sp.Ge(sig, 0), ("noise", "sig.1"), Combine({"noise": 1, "sig.1": 1}), "a variance"),
        Step("gradient", sp.Ge(norm2(q), 0, evaluate=False), (), Combine(), "a squared norm"),
        Step("gradients", sp.Ge(every, 0, evaluate=False), ("gradient",), SumOver("gradient", t, N), "so a sum"),
        Step(
            "(50), (64)",
            sp.Le(total(norm2(y - yb), t, N), eta**2 * (tau - 1) * (share * N * sig + tau * every)),
            ("stretch", "sig >= 0", "gradients"),
            Combine(
                {
                    "stretch": 1,
                    "sig >= 0": eta**2 * share * N * (tau - 1 - n),
                    "gradients": eta**2 * (tau * (tau - 1) - n * N),
                }
            ),
            "a stretch has at most tau steps",
        ),
        Step(
            "all stretches",
            sp.Ge(
                eta**2 * (tau - 1) * (share * total(N * sig, n, tau) + tau * over_stretches(norm2(q)))
                - over_stretches(norm2(y - yb)),
                0,
            ),
            ("(50), (64)",),
            SumOver("(50), (64)", n, tau),
            "of all lengths and blocks",
        ),
    )


ENDING = (
    Fact("mean", sp.Eq(apart, over_stretches(norm2(y - yb))), "metric", "all iterations of all blocks"),
    Fact("local", sp.Eq(local_grad2, over_stretches(norm2(q))), "metric", "as measured"),
    Fact("sigma2", sp.Le(total(N * sig, n, tau), sigma2), "metric", "every block makes K steps"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    sharp = statement.reading == "sharp"
    share = 1 - 1 / m if sharp else sp.S.One
    conclusion = Step(
        "conclusion",
        sp.Le(apart, statement.bound),
        ("all stretches", "mean", "local", "sigma2"),
        Combine({"all stretches": 1, "sigma2": eta**2 * (tau - 1) * share}),
        "(64)",
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS, *ENDING),
        (*steps(share), conclusion),
        conclusion="conclusion",
        target=apart,
        drawn=DRAWN,
        laws=(NOISE, replace(CLIENTS, clients=m, independent=(xi,)) if sharp else CLIENTS),
    )
