"""Definition 2: the dissimilarity B(w) of the devices."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

OWN = (
    nonnegative("client_grad2_0", "sum over the devices of p_k |grad F_k|^2 at the start", GRADIENT2,
                r"(\sum_k p_k\|\nabla F_k(w^0)\|^2)", "start/client_grad2"),
    positive("grad2_0", "squared gradient norm of f at the start", GRADIENT2, r"\|\nabla f(w^0)\|^2", "start/grad2"),
)  # fmt: skip
client_grad2_0, grad2_0 = (symbol.expr for symbol in OWN)
# two devices in one dimension
DATA = (
    share("p", "weight of the first of two devices"),
    *(Symbol(f"g{k}", f"gradient of device {k}", VALUE / LENGTH) for k in (1, 2)),
)
p, g1, g2 = (symbol.expr for symbol in DATA)

theorem = Theorem(
    source=Source(PAPER, "Definition 2", "Section IV"),
    title="The dissimilarity B(w) at the start",
    symbols=(*OWN, *DATA),
    # the least B with p g1^2 + (1 - p) g2^2 <= B^2 (p g1 + (1 - p) g2)^2, by its distance from 1
    metric=Metric.formula(
        ONE,
        sp.sqrt(1 + p * (1 - p) * (g1 - g2) ** 2 / (p * g1 + (1 - p) * g2) ** 2),
        where={"client_grad2_0": p * g1**2 + (1 - p) * g2**2, "grad2_0": (p * g1 + (1 - p) * g2) ** 2},
    ),
    kind=Kind.EQUALITY,
    bound=sp.sqrt(client_grad2_0 / grad2_0),
    domain=(client_grad2_0 >= grad2_0,),  # Jensen's inequality
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            remark="At least 1. Where grad f vanishes and some grad F_k does not, no finite B serves, so that B(w) "
            "grows without bound along every run that converges to such a point."
        )
    },
)
