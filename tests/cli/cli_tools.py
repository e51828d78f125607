"""What the tests of the command line share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]


FEDAVG = """
[[claim]]
name = "one round"
statement = "scgd/example_app_c_fedavg/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "fedavg", E = 2, eta = "1/10" }
at = { K = [1] }
arithmetic = "rational"
expect = "HOLDS"
"""

# a claim of one client and one round on a problem that tests fill in
CLAIM = """
[[claim]]
statement = "scgd/theorem_3_3"
problem = PROBLEM
method = { kind = "scgd", E = 1, eta = "1/10" }
at = { K = [1] }
expect = "HOLDS"
"""


def on(problem: str) -> str:
    return CLAIM.replace("PROBLEM", problem)


QUADRATIC = on('{ kind = "quadratics", clients = [{ A = 1, b = 1 }] }')
ABSENT = FEDAVG.replace("one round", "away").replace(
    'kind = "scgd_appendix_c"', 'kind = "logistic_regression", data = "mnist", clients = 5, ridge = "1/10"'
)

OUT = """
[[claim]]
name = "outside"
statement = "scgd/theorem_3_3"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = 0.1 }
at = { K = [1, 2] }
expect = "OUT_OF_SCOPE"
"""

FALSE = """
[[claim]]
name = "false"
statement = "scgd/example_app_c_scgd/as_printed"
problem = { kind = "scgd_appendix_c", cubic = true }
method = { kind = "scgd", E = 2, eta = "1/10" }
arithmetic = "rational"
expect = "HOLDS"
"""

# two visits a cycle: some seconds of work for 900_000 cycles, and beyond the engine's limit for 3_000_000
LONG = """
[[claim]]
name = "long"
statement = "scgd/theorem_3_4"
problem = { kind = "quadratics", clients = [{ A = [[1.5, 0], [0, 0.5]], b = [1, 0] }, { A = [[0.5, 0], [0, 1.5]] }] }
method = { kind = "scgd", E = 8, eta0 = "1/2" }
at = { K = [1, CYCLES] }
expect = "HOLDS"
"""

# F = x^2 + const with curvatures 1 and 3: mu = 2, L = 3, so that the largest step is 1/3 and the factor of a step 1/3
DESCENT = """
[[claim]]
name = "descent"
statement = "classics/gradient_descent_strongly_convex/as_printed"
problem = { kind = "quadratics", start = [4], clients = [{ A = [[1]] }, { A = [[3]] }] }
method = { kind = "gradient_descent", eta = "largest" }
at = { k = [1, 2] }
expect = "HOLDS"
"""

STUDIES = """
[[limits]]
name = "Two points"
problem = { kind = "quadratics", clients = [{ A = [[1]], b = [1] }, { A = [[3]], b = [1] }] }
methods = [{ kind = "fedavg", E = 2 }]
parameter = "eta"
values = [0.01, 0.1]

[[cycles]]
name = "Where they lead"
problem = { kind = "scgd_appendix_c" }
methods = [{ kind = "fedavg", E = 2, eta = "1/10" }]
"""

LIMITS = """
[[limits]]
name = "Where it ends"
problem = { kind = "fedshuffle_36" }
methods = [{ kind = "fedavg_rr" }]
parameter = "eta_l"
values = ["1/10", "1"]
"""

TRAINING = """
[[training]]
name = "NAME"
source = "a test"
engine = "sampled"
problem = { kind = "scgd_section_4", seed = 0 }
rounds = ROUNDS
points = 2
seeds = 2
compare = { metric = "gap" }
expected_order = ["SCGD", "FedAvg"]
methods = [
  { label = "SCGD", method = { kind = "scgd", E = 4, eta = "1/10000" } },
  { label = "FedAvg", method = { kind = "fedavg", E = 4, size = 3, eta = "1/10000" } },
]
"""

NEURAL = """
[[training]]
name = "NAME"
source = "a test"
neural = { device = "DEVICE" }
problem = { kind = "neural", data = "digits", model = "softmax", clients = 3, samples = 40, test_samples = 20 }
rounds = 2
points = 2
seeds = 2
compare = { metric = "accuracy", best = "highest" }
methods = [{ label = "FedAvg", method = { kind = "fedavg_rr", batch = 4, eta_l = "1/100" } }]
"""

WITNESS = Path(__file__).parents[2] / "examples" / "witnesses" / "scgd_theorem_3_3_as_printed_main.json"

# two clients x -> (x -+ 1)^2/2 from 4, both in every round, two local steps of 1/288 each: the mean moves to 0 by
# (1 - eta)^2 a round, and F(x) - F* is x^2/2
GAPS = [8 * (287 / 288) ** (4 * k) for k in range(601)]
PROBLEM = """
problem = { kind = "quadratics", start = [4], clients = [
  { components = [{ A = 1, b = 1 }] }, { components = [{ A = 1, b = -1 }] },
] }
method = { kind = "uniform_sampling", m = 2, K = 2 }
"""
MEASURED = '[[claim]]\nstatement = "async_fl/corollary_1"\ncurve = "runs.csv"\nexpect = "HOLDS"' + PROBLEM.replace(
    "K = 2 }", 'K = 2, eta_l = "1/288" }'
)


def training(name: str = "trained", rounds: int = 20) -> str:
    return TRAINING.replace("NAME", name).replace("ROUNDS", str(rounds))


def neural(name: str, device: str) -> str:
    return NEURAL.replace("NAME", name).replace("DEVICE", device)
