"""The proof of Theorem 7 (FedDANE, Appendix V-F), corrected, as checked steps: constants of each device.

Vectors are random and <u, v> is the expectation of their inner product, given S'_t; S_t is independent of it. The names
are those of the derivation of Theorem 5, from which the facts about S_t and the bound of E|g|^2 are taken, and

    inv(k), gam(k), lip(k)  1/mu_k, gamma_k and L_k of device k of S'_t    d(k)  its point

The model of f that is averaged over S'_t has the smoothness L_f of f, where the paper takes that of device k.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import CauchySchwarz, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("corrected", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L_f, B2, K, gap_0, grad2_0, C, k, gap_1 = _symbols("L_f B2 K gap_0 grad2_0 C k gap_1")
inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2 = _symbols("inv_mu gamma_inv_mu L_inv_mu2 gamma2_inv_mu2")
inv, gam, lip = (sp.Function(name, real=True)(k) for name in ("inv", "gam", "lip"))
slope, g, x = vector("slope"), vector("g"), vector("x")
d = vector("d", k)


def _mean(name: str, symbol: Any, term: Any) -> Fact:
    return Fact(name, sp.Eq(symbol, total(term, k, C) / C), "metric", "a mean over the devices of S'_t")


OWN = (
    Fact("constants", sp.And(inv > 0, gam >= 0, lip >= 0), "metric", "mu_k > 0"),
    _mean("mean 1/mu", inv_mu, inv),
    _mean("mean gamma/mu", gamma_inv_mu, gam * inv),
    _mean("mean L/mu^2", L_inv_mu2, lip * inv**2),
    _mean("mean (1 + gamma)^2/mu^2", gamma2_inv_mu2, (1 + gam) ** 2 * inv**2),
    Fact(
        "descent",
        sp.Le(gap_1, gap_0 + inner(slope, x) + L_f / 2 * norm2(x)),
        "assumption",
        "f is L_f-smooth; its value at w^t is below the quadratic upper model",
        "client_smoothness",
    ),
)
MEANS = tuple(f.name for f in OWN if f.name.startswith("mean"))
TAKEN = ("solvers", "index k", "gradient", "mean of S'_t", "E g", "E g, above", "dissimilar")
TAKEN_COHORT = ("gradients", "index j", "mean of S_t", "shares", "variance")
MOMENTS = ("g.1", "g.2", "(18)", "(10)")
GIVEN = "given S'_t, of which S_t is independent"


def _steps(factor: Any, moments: tuple[Step, ...], sharp: bool) -> tuple[Step, ...]:
    """The chain; `factor` is the multiple of |slope|^2 that bounds E|g|^2, by `moments`."""
    size = ("domain K",) if sharp else ()
    if sharp:
        bounded = Step(
            "E|g|^2", sp.Le(norm2(g), factor * norm2(slope)), ("g.2", *size), Combine({"g.2": 1}), "as it is"
        )
    else:
        bounded = Step(
            "E|g|^2",
            sp.Le(norm2(g), factor * norm2(slope)),
            ("(10)", "(18)"),
            Combine({"(10)": 1, "(18)": 2}),
            "the paper's bound",
        )
    rho = inv - (lip * inv**2 + gam * inv) * (1 + factor) / 2 - L_f * (1 + gam) ** 2 * inv**2 * factor / 2
    means = inv_mu - (L_inv_mu2 + gamma_inv_mu) * (1 + factor) / 2 - L_f * gamma2_inv_mu2 * factor / 2
    model = inner(slope, d) + L_f / 2 * norm2(d)
    images = (
        *(("inv", inv), ("gam", gam), ("lip", lip), ("L_f", L_f), ("factor", factor)),
        *(("grad2", grad2_0), ("product", inner(slope, g)), ("square", norm2(g))),
    )
    return (
        *moments,
        bounded,
        Step("square", sp.Ge(norm2(g), 0, evaluate=False), (), Combine(), "a squared norm"),
        Step("square of the gradient", sp.Ge(norm2(slope), 0, evaluate=False), (), Combine(), "a squared norm"),
        Step(
            "device",
            sp.Le(model, -rho * grad2_0),
            (
                "E g",
                "E|g|^2",
                "square",
                "square of the gradient",
                "gradient",
                "constants",
                "domain L_f",
                "domain B2",
                *size,
            ),
            Instance("feddane/one_device/corrected", model, images),
            "the upper model of f at one device's point, in expectation over S_t",
        ),
        Step(
            "average",
            sp.Le(total(model, k, C), -total(rho, k, C) * grad2_0),
            ("device", "solvers", *size),
            SumOver("device", k, C),
            "over S'_t",
        ),
        Step(
            "convex",
            sp.Le(norm2(vector_total(d + slope / L_f, k, C)), C * total(norm2(d + slope / L_f), k, C)),
            ("solvers", "domain L_f"),
            CauchySchwarz(d + slope / L_f, k, C),
            "the upper model is L_f/2 |x + slope/L_f|^2 and a constant",
        ),
        Step(
            "pathwise",
            sp.Le(gap_1, gap_0 - total(rho, k, C) / C * grad2_0),
            ("descent", "mean of S'_t", "average", "convex", "solvers", "domain L_f", *size),
            Combine({"descent": 1, "average": 1 / C, "convex": L_f / (2 * C**2)}),
            "for every S'_t",
        ),
        Step(
            "conclusion",
            sp.Le(gap_1, gap_0 - means * grad2_0),
            ("pathwise", "solvers", *size, *MEANS),
            Decide(),
            "the means by their names",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    sharp = statement.reading == "sharp"
    general = derivation_of(f"feddane/theorem_5/{'sharp' if sharp else 'as_printed'}")
    facts = [
        replace(f, source=f"{f.source}, {GIVEN}") if f.name.startswith(("E g", "shares", "variance")) else f
        for f in general.facts
        if f.name in (*TAKEN, *TAKEN_COHORT)
    ]
    moments = tuple(x for x in general.steps if x.name in MOMENTS)
    return Derivation(
        statement,
        (*scope_facts(statement), *facts, *OWN),
        _steps(1 + (B2 - 1) / K if sharp else 2 * B2, moments, sharp),
        conclusion="conclusion",
        target=gap_1,
        drawn=general.drawn,
    )
