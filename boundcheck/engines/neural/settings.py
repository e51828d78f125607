"""How the neural engine computes; no setting changes what is computed, only where, in what precision and how fast."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from boundcheck.errors import BadInput, UnknownName, shown

__all__ = ["DEVICES", "PRECISIONS", "Settings"]

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float64", "float32", "tf32", "bf16")
MOST_THREADS = 1024  # far more end the process in the system's library, without an error that could be told
_CALLED: Mapping[type, str] = {str: "a text", bool: "true or false", int: "an integer"}


@dataclass(frozen=True)
class Settings:
    """Settings of a neural run.

    device: "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:1".
    precision: of parameters and gradients: "float64", "float32", "tf32" (float32 with TF32 products; GPU) or "bf16"
        (float32 parameters, forward and backward pass under bfloat16 autocast).
    lanes: how many visits (client and seed) are worked on at once; None: all that fit. A run that meets the end of the
        memory halves it and goes on, with a notice in `Curve.info`.
    compiled: torch.compile for the local step. graphs: CUDA graphs for the local step (GPU).
    threads: of torch on the CPU; one is fastest on small models.
    """

    device: str = "auto"
    precision: str = "float32"
    lanes: int | None = None
    compiled: bool = False
    graphs: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.device not in DEVICES and re.fullmatch("cuda:[0-9]{1,3}", self.device) is None:
            raise UnknownName("the device", self.device, DEVICES)
        if self.precision not in PRECISIONS:
            raise UnknownName("the precision", self.precision, PRECISIONS)
        for name in ("lanes", "threads"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value < 1):
                raise BadInput(f"{name} = {value} is not allowed; it must be at least 1.")
        if self.threads > MOST_THREADS:
            raise BadInput(f"threads = {self.threads} is not allowed; at most {MOST_THREADS} are.")

    @staticmethod
    def of(given: Settings | Mapping[str, Any] | None) -> Settings:
        """Settings from a table such as {precision = "float64"}. Raises UnknownName and BadInput."""
        if isinstance(given, Settings):
            return given
        table: Any = {} if given is None else given
        if not isinstance(table, Mapping):
            raise BadInput(
                f'neural = {shown(repr(table))} is not allowed; it must be a table such as {{"precision": "float64"}}.'
            )
        settings = cast("Mapping[str, Any]", table)
        known = {f.name: f.type for f in fields(Settings)}
        for name, value in settings.items():
            if name not in known:
                raise UnknownName("the neural engine: setting", name, known)
            if name == "lanes" and value is None:
                continue
            asked = {"device": str, "precision": str, "compiled": bool, "graphs": bool}.get(name, int)
            if not isinstance(value, asked) or (asked is int and isinstance(value, bool)):
                told = f"the neural engine: {name} = {shown(repr(value))} is not allowed; it must be {_CALLED[asked]}."
                raise BadInput(told)
        return Settings(**settings)
