"""Appendix C: the iterates of FedAvg and SCGD on an example with concave components, and when they converge."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

# method -> its name, the factor of one round or cycle, how many rounds that is, and x after the first as printed
METHODS = {
    "fedavg": ("FedAvg", "round", (2 * concave + convex) / 3, 1, sp.Rational(76, 75)),
    "scgd": ("SCGD", "cycle", concave**2 * convex, 3, sp.Rational(331776, 10**6)),
}

theorems = {
    f"example_app_c_{method}": Theorem(
        source=Source(PAPER, "Appendix C", f"the iterates of {name}"),
        title=f"x_K of {name} on the example with concave components",
        symbols=EXAMPLE,
        algorithm=Algorithm(method, ("E", "eta")),
        metric=Metric.last("x", None, index=K, rounds=rounds * K),
        kind=Kind.EQUALITY,
        readings={
            "corrected": Reading(
                bound=factor**K * x_0, assumptions=AS_MEANT, belief=Belief.TRUE, replaces=MEANT, why=WHY_MEANT
            ),
            "as_printed": Reading(
                bound=first,
                source=Source(
                    PAPER,
                    "Appendix C",
                    f"the number printed after one {period}, with f_3 = 3x^3, eta = 1/10, E = 2, x_0 = 1",
                ),
                title=f"{name} after one {period}, as printed",
                metric=Metric.last("x", None, rounds=rounds),
                conditions=PRINTED_SETTING,
                assumptions=AS_PRINTED,
                belief=Belief.FALSE,
                remark="False for the printed f_3; true for f_3 = 3x^2.",
            ),
        },
    )
    for method, (name, period, factor, rounds, first) in METHODS.items()
}
theorems |= {
    f"example_app_c_{method}_converges": Theorem(
        source=Source(PAPER, "Appendix C", f"convergence of {name}, decided on the exact factor of one {period}"),
        title=f"{name} converges exactly when its factor is between -1 and 1",
        symbols=EXAMPLE,
        algorithm=Algorithm(method, ("E", "eta")),
        metric=Metric.last("x", None, index=K, rounds=rounds * K),
        kind=Kind.LIMIT,
        assumptions=AS_MEANT,
        conditions=(Condition("factor below 1", factor < 1), Condition("factor above -1", factor > -1)),
        bound=sp.S.Zero,
        readings={"corrected": Reading(belief=Belief.TRUE, replaces=MEANT, why=WHY_MEANT)},
    )
    for method, (name, period, factor, rounds, _) in METHODS.items()
}
