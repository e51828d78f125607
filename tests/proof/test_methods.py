"""Methods of steps: what the finder writes for a true claim is accepted, and nothing is found for a false neighbour."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from judged import judged, judged_step

from boundcheck.errors import BadInput
from boundcheck.proof import methods, rules
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.methods import Combine, Decide, Identity, Imported
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.proof.sums import closed_form, total, vector_total
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")
NAMES = "mu L n E eta sigma2 dist2_0 dist2_1 t a y z m k N T q b"
mu, L, n, E, eta, sigma2, dist2_0, dist2_1, t, a, y, z, m, k, N, T, q, b = sp.symbols(NAMES, real=True)
u, v, x, g, h, w = vector("u"), vector("v"), vector("x"), vector("g"), vector("h", m), vector("w", m)
f: Any = sp.Function("f", real=True)
third = sp.Rational(1, 3)
INDICES = (
    Fact("N", N >= 1, "count", ""),
    Fact("T", T >= 0, "count", ""),
    Fact("m", sp.And(m >= 0, m <= N - 1), "index", ""),
    Fact("k", k >= 0, "index", ""),
    Fact("a", sp.And(a > 0, a < 1), "range", ""),
    Fact("t", sp.And(t >= 0, t <= 1), "range", ""),
)


def given(*claims: Any) -> tuple[Fact, ...]:
    """Facts f0, f1, ..., and the counts and ranges that all steps may use."""
    own = (Fact(f"f{i}", c, "assumption", "", "plain_mean") for i, c in enumerate(claims))
    return (*INDICES, *own)


def status(claim: Any, by: Any, *claims: Any, seconds: float = 1.0) -> Status:
    facts = (*scope_facts(LEMMA), *given(*claims))
    uses = tuple(f"f{i}" for i in range(len(claims)))
    if isinstance(by, Decide | Identity | Combine | rules.Jensen | rules.Young):
        uses += tuple(fact.name for fact in facts if fact.kind in ("domain", "range"))
    step = Step("it", claim, uses, by, "")
    return judged_step(Derivation(LEMMA, facts, (step,), "it", dist2_1), "it", seconds)


def le(left: Any, right: Any) -> Any:
    return sp.Le(left, right, evaluate=False)


COERCIVE = le(10 * norm2(x) + norm2(g), 11 * inner(g, x))  # of a 1-strongly convex, 10-smooth function
EACH = le(norm2(h), m * L)
NEXT = le(f(m + 1), f(m) + q)
RISE = sp.Ge(sp.diff(f(t), t), 3)
POSITION = VectorEquality(w.at(m, m + 1), w + h)
RECURSION = le(f(k + 1), q * f(k) + b)

# name: method, facts, true claim, false claims
METHODS: dict[str, tuple[Any, tuple[Any, ...], Any, tuple[Any, ...]]] = {
    "relation": (Decide(), (), le(eta * mu, eta * L), (le(eta * L, eta * mu),)),
    "quotient": (Decide(), (), le(mu / L, 1), (le(mu / L, sp.Rational(1, 2)),)),
    "integers": (Decide(), (), sp.Ge(n * (n - 1), 0), (sp.Ge(n * (n - 3), 0),)),
    "least": (Decide(), (), le(sp.Min(mu, L), (mu + L) / 2), (le((mu + L) / 2, sp.Min(mu, L)),)),
    "root": (Decide(), (), le(sp.sqrt(L), 1 + L), (le(sp.sqrt(L), L),)),
    "fraction": (Identity(), (), sp.Eq(1 / mu - 1 / L, (L - mu) / (L * mu)), (sp.Eq(1 / mu, 1 / L),)),
    "vectors": (Identity(), (VectorEquality(u, v * 2 - x),), VectorEquality(u + x, v * 2), (VectorEquality(u, v),)),
    "a number": (Combine(), (), le(-3, norm2(u)), (le(3, norm2(u)),)),
    "a constant": (Combine(), (le(norm2(u) + 5, norm2(v)),), le(norm2(u) + 4, norm2(v)), (le(norm2(u) + 6, norm2(v)),)),
    "square": (Combine(), (), le(2 * inner(u, v), norm2(u) + norm2(v)), (le(3 * inner(u, v), norm2(u) + norm2(v)),)),
    "known rate": (Combine(), (COERCIVE,), le(norm2(x - g / 10), sp.Rational(81, 100) * norm2(x)),
                   (le(norm2(x - g / 10), sp.Rational(80, 100) * norm2(x)),)),
    "given multiplier": (Combine({"f0": 2 / L**2}), (sp.Ge((mu + L) * inner(g, x), mu * L * norm2(x) + norm2(g)),),
                         le(norm2(x - g / L), (1 - mu / L) ** 2 * norm2(x)), ()),
    "two facts": (Combine(), (le(2 * norm2(v), norm2(u)), le(inner(u, v), norm2(v))),
                  le(2 * inner(u, v), norm2(u)), (le(3 * inner(u, v), norm2(u)),)),
    "implicit": (Combine(), (le(norm2(u), norm2(v) + norm2(u) / 2),), le(norm2(u), 2 * norm2(v)),
                 (le(norm2(u), 3 * norm2(v) / 2),)),
    "Jensen": (rules.Jensen((third, 1 - third), (u * 3, v * 3 / 2)), (),
               le(norm2(u + v), 3 * norm2(u) + 3 * norm2(v) / 2),
               (le(norm2(u + v), 2 * norm2(u) + 3 * norm2(v) / 2),)),
    "Jensen with symbols": (rules.Jensen((1 - a, a), (u / (1 - a), v / a)), (),
                            le(norm2(u + v), norm2(u) / (1 - a) + norm2(v) / a), ()),
    "Young": (rules.Young(u, v, eta), (), le(2 * inner(u, v), eta * norm2(u) + norm2(v) / eta),
              (le(3 * inner(u, v), eta * norm2(u) + norm2(v) / eta),)),
    "triangle": (rules.Triangle(u, v), (), le(sp.sqrt(norm2(u + v)), sp.sqrt(norm2(u)) + sp.sqrt(norm2(v))),
                 (le(sp.sqrt(norm2(u + v)), sp.sqrt(norm2(u))),)),
    "Cauchy-Schwarz": (rules.CauchySchwarz(h, m, N), (), le(norm2(vector_total(h, m, N)), N * total(norm2(h), m, N)),
                       (le(norm2(vector_total(h, m, N)), (N - 1) * total(norm2(h), m, N)),)),
    "sum": (rules.SumOver("f0", m, N), (EACH,), le(total(norm2(h), m, N), N * (N - 1) / 2 * L),
            (le(total(norm2(h), m, N), (N - 1) ** 2 / 2 * L),)),
    "sum of vectors": (rules.SumOver("f0", m, N), (VectorEquality(h, w * 2 + g),),
                       VectorEquality(vector_total(h, m, N), vector_total(w, m, N) * 2 + g * N),
                       (VectorEquality(vector_total(h, m, N), vector_total(w, m, N) * 2 + g),)),
    "part of a sum": (rules.PartialSum(norm2(h), m, N - 1, N), (), le(total(norm2(h), m, N - 1), total(norm2(h), m, N)),
                      (le(total(norm2(h), m, N), total(norm2(h), m, N - 1)),)),
    "telescoping": (rules.Telescoping("f0", m, N), (POSITION,),
                    VectorEquality(w.at(m, N), w.at(m, 0) + vector_total(h, m, N)),
                    (VectorEquality(w.at(m, N), w.at(m, 0) + vector_total(h * 2, m, N)),)),
    "increments": (rules.Accumulation("f0", f(m), m, N), (NEXT,), le(f(N), f(0) + N * q),
                   (le(f(N), f(0) + (N - 1) * q), le(f(N + 1), f(0) + N * q), le(f(N), f(1) + N * q), le(f(N), f(0)))),
    "mean value": (rules.MeanValue(f(t), t, sp.Integer(3), third, "f0"), (RISE,), sp.Ge(f(1) - f(third), 2), ()),
    "limit": (rules.Limit("f0", a), (sp.Ge(norm2(u), 3 * (1 - a)),), sp.Ge(norm2(u), 3), (sp.Ge(norm2(u), 4),)),
    "shift": (rules.Shift(f(m), m, N), (), le(total(f(m), m, N), total(f(m + 1), m, N) + f(0) - f(N)),
              (le(total(f(m), m, N), total(f(m + 1), m, N) + f(1) - f(N)),
               le(total(f(m), m, N), total(f(m + 1), m, N)))),
    "exchange": (rules.Exchange(f(m - k), m, N, k, T), (),
                 le(total(total(f(m - k), k, T), m, N), total(total(f(m - k), m, N), k, T)),
                 (le(total(total(f(m - k), k, T), m, N), total(total(f(m - k), m, T), k, N)),)),
    "one value": (rules.At("f0", m, N - 1), (NEXT,), le(f(N), f(N - 1) + q),
                  (le(f(N + 1), f(N) + q), le(f(N), f(0) + q))),
    "supposition": (methods.Supposing(Combine()), (RECURSION, q >= 0), sp.Implies(le(f(k), z), le(f(k + 1), q * z + b)),
                    (sp.Implies(le(f(k), z), le(f(k + 1), z + b)),)),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_what_follows_is_proved_and_its_neighbours_are_not(name: str) -> None:
    by, facts, true, false = METHODS[name]
    assert status(true, by, *facts, seconds=5.0) is Status.PROVED
    for claim in false:
        assert status(claim, by, *facts, seconds=0.3) is not Status.PROVED, claim


def test_an_induction_agrees_with_increments_that_are_added_up() -> None:
    """f(0) <= 0 and f(m + 1) <= f(m) + m**2 give the sum of the squares in closed form, in two ways."""

    def upto(count: Any) -> Any:
        return le(f(count), (count - 1) * count * (2 * count - 1) / 6)

    facts = (*scope_facts(LEMMA), *given(le(f(0), 0), le(f(k + 1), f(k) + k**2)))
    steps = (
        Step("added", le(f(E), f(0) + upto(E).rhs), ("f1", "domain E"), rules.Accumulation("f1", f(k), k, E), ""),
        Step("base", le(f(0), 0), ("f0",), Decide(), ""),
        Step("next", sp.Implies(upto(k), upto(k + 1)), ("f1",), methods.Supposing(Decide()), ""),
        Step("all", upto(E), ("base", "next", "domain E"), rules.Induction("base", "next", k, E), ""),
        Step("taken", le(f(0), f(1)), (), Imported("a textbook"), ""),
        Step("false", le(f(E), 0), ("all", "domain E"), Decide(), ""),
    )
    found = judged(Derivation(LEMMA, facts, steps, "false", dist2_1), 0.5)
    wanted = [Status.PROVED] * 4 + [Status.ASSUMED]
    assert [found.step(s.name) for s in steps[:-1]] == wanted
    assert found.step("false") is not Status.PROVED
    assert found.status is not Status.PROVED


def test_inner_products_are_bilinear_and_agree_with_coordinates() -> None:
    assert inner(u, v) == inner(v, u)
    assert sp.expand(norm2(u * 2 - v) - (4 * norm2(u) - 4 * inner(u, v) + norm2(v))) == 0
    assert norm2(u - u) == 0
    assert Vector(()).terms == ()
    numbers = {"u": (1, 2, -3), "v": (4, 0, 5)}
    expr = norm2(u * 3 - v / 2)
    value = expr.replace(Inner, lambda p, q: sum(c * d for c, d in zip(numbers[p.name], numbers[q.name], strict=True)))
    assert value == sum((3 * c - sp.Rational(d, 2)) ** 2 for c, d in zip(*numbers.values(), strict=True))


def test_closed_forms_and_sums_whatever_the_index_is_called() -> None:
    assert [closed_form(m, m, N).subs(N, c) for c in range(6)] == [0, 0, 1, 3, 6, 10]
    assert [closed_form(m**3 - 2, m, N).subs(N, c) for c in range(4)] == [0, -2, -3, 3]
    assert sp.expand(total(m * L + mu, m, N) - (L * N * (N - 1) / 2 + N * mu)) == 0
    assert total(norm2(h), m, N) == total(norm2(h).subs(m, k), k, N)
    with pytest.raises(BadInput, match="depends on the index"):
        vector_total(h * m, m, N)
