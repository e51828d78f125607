"""FedAvg with a fixed step converges to the minimiser: false."""

from boundcheck.theory import assumptions
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol, common
from boundcheck.theory.theorem import Reading, Theorem

STEPS = Symbol("E", "local steps", ONE, integer=True, low=1, key="method/E")
SYMBOLS = (common.L, common.mu.but(key="samples/mu"), common.eta, common.dist2_0, STEPS, common.k.but(name="R"))
L, mu, eta, d0, E, R = (s.expr for s in SYMBOLS)
theorem = Theorem(
    source=Source("folklore, refuted by Li et al. 2020, Theorem 4", "", "from memory"),
    title="FedAvg with a constant step converges to the optimum",
    symbols=SYMBOLS,
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric("dist2", LENGTH2, index="R", rounds=R),
    domain=(mu <= L,),
    assumptions=(assumptions.plain_mean, assumptions.smooth_clients, assumptions.strongly_convex_samples),
    conditions=(Condition("step", eta * L <= 1),),
    trivial=d0,
    readings={"as_printed": Reading((1 - eta * mu) ** (E * R) * d0, belief=Belief.FALSE)},
)
