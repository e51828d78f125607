"""The remark below Theorem 7: 'covers both cases of sampling devices with and without replacement'.

What the proofs use is E g = grad f: a device's expected share in the plain mean over S_t must be its weight p_k.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

OWN = (
    *(
        positive(name, f"weight of {whose}", high=Fraction(1), high_open=True)
        for name, whose in (("p_i", "the device"), ("p_j", "another"), ("p_k", "the third"))
    ),
    count("n", "number of devices", 2, key="clients/n"),
)
p_i, p_j, p_k, n = (symbol.expr for symbol in OWN)

# half the probability of being among two of three that are drawn one after the other by weight
DRAWN = Metric.formula(ONE, (1 - p_j * p_k / (1 - p_j) - p_k * p_j / (1 - p_k)) / 2, where={"p_k": 1 - p_i - p_j})

theorem = Theorem(
    source=Source(PAPER, "Theorem 7", "Section IV-C, the remark below it"),
    title="A device's expected share in the plain mean over S_t; E g = grad f where it is the device's weight",
    symbols=OWN,
    metric=DRAWN,
    kind=Kind.EQUALITY,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(  # drawn first, or second after j, or second after k
            bound=(p_i + p_j * p_i / (1 - p_j) + p_k * p_i / (1 - p_k)) / 2,
            domain=(sp.Eq(p_i + p_j + p_k, 1),),
            replaces="'without replacement' in general: two of three devices, one after the other by weight",
            why="A device of large weight can be drawn once only, so that its share falls short of its weight; E g is "
            "then not grad f, and none of the theorems applies.",
            remark="The statement about method and devices is the hypothesis 'unbiased_gradient_cohort'. It holds with "
            "replacement by weight, without replacement for equal weights, and for inclusion probabilities K p_k.",
        ),
        "as_printed": Reading(
            bound=p_i,
            belief=Belief.FALSE,
            remark="The share that the proofs use, claimed for both kinds of sampling. It is that of draws with "
            "replacement by weight.",
        ),
        "uniform": Reading(
            bound=1 / n,
            metric=Metric.formula(ONE, (1 - (n - 2) / n) / 2),  # two of n, drawn one after the other
            replaces="sampling by weight by uniform sampling without replacement, any number of devices a cohort",
            why="All devices are alike, so that the share is 1/n: the weight only where all weights are equal.",
        ),
    },
)
