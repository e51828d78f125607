"""Table 4 of FedShuffle: local work and sampling of the baselines, as printed and as they are here."""

from __future__ import annotations

from collections.abc import Mapping

import _findings as fd
import _study as s
from fedshuffle_table_1 import METHODS, built

from boundcheck.methods.parts import Epochs

# local work, and whether gradients are drawn with replacement, as printed
PRINTED: Mapping[str, tuple[str, str]] = {
    "FedAvgRR": ("epochs", "without"),
    "FedAvgMin": ("steps", "with"),
    "FedAvgMean": ("steps", "with"),
    "FedNova": ("epochs", "with"),
    "FedNovaRR": ("epochs", "without"),
    "FedShuffle": ("epochs", "without"),
}
STEPS = {"none": "the same for all", "size": "eta_l over the client's samples"}
CAPTION = (
    "Table 4 of the paper beside what the implemented compositions do, read off their parts. The paper's own "
    "exception, that on real data all methods draw without replacement, is a setting of configs/neural/fedshuffle.toml."
)


def make() -> s.Made:
    """The table."""
    rows: dict[str, dict[str, str]] = {}
    same = 0
    for name, printed in PRINTED.items():
        local = built(METHODS[name]).local
        assert isinstance(local, Epochs)
        here = (
            "epochs" if local.common is None else "steps",
            "without" if local.sampling == "reshuffled" else "with",
        )
        same += here == printed
        rows[name] = {
            "local work, printed": printed[0],
            "here": here[0],
            "replacement, printed": printed[1],
            "here ": here[1],
            "number of steps": local.common or "one for each sample",
            "step size": STEPS.get(local.divide, "eta_l over the largest client's samples"),
        }
    study = s.study("The baselines (Table 4 of FedShuffle)", CAPTION, tables=s.table("method", rows))
    return s.Made(study, {"same": fd.certain(same == len(rows), f"{same} of {len(rows)} rows agree")})


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
