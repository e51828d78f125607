"""Control variates: local steps y <- y - eta*scale*(g_i(y) - c_i + c) with c_i near grad f_i and c the mean of the c_i.

g_i(y) is the gradient of the step's samples (or the whole gradient of f_i). c = sum of s_i c_i with the shares s_i of
`shares`. With one plain step a round of a client drawn uniformly, the clients are the terms of a finite sum: SAGA keeps
the gradients c_i, SVRG takes them at a reference point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.methods.parts.participation import Full
from boundcheck.methods.round import PLAIN, At, Rule, Sent

UPDATES = ("gradient", "difference")
STARTS = ("zero", "gradient")
POINTS = ("last", "average", "random")
WEIGHTS = ("uniform", "data")


@dataclass(frozen=True, kw_only=True)
class _Weighted(Rule):
    """weights: of c: "uniform" (s_i = 1/n, as in the papers) or "data" (s_i = w_i)."""

    weights: Literal["uniform", "data"] = "uniform"
    kept_words: ClassVar[str] = "the control variates"

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise UnknownName("the weights of the control variates", self.weights, WEIGHTS)

    def shares(self, clients: Clients) -> Sequence[Fraction]:
        """s_i of each client."""
        if self.weights == "data":
            return clients.weights
        return Repeated(Fraction(1, clients.count), clients.count)

    def share(self, at: At) -> Fraction:
        """s_i of the client at work."""
        return at.clients.weights[at.index] if self.weights == "data" else Fraction(1, at.clients.count)


@dataclass(frozen=True, kw_only=True)
class ControlVariates(_Weighted):
    """Every client keeps c_i from round to round; those of the cohort renew theirs (SCAFFOLD, Algorithm 1).

    With x the server's point and y_i what client i of the cohort S returns, the client sets

        update "gradient" (option I):     c_i+ = grad f_i(x), a whole gradient,
        update "difference" (option II):  c_i+ = c_i - c + (x - y_i)/(K_i eta scale_i), K_i its local steps,

    and the server adds sum over S of s_i (c_i+ - c_i) to c: |S|/n times the mean of the differences where s_i = 1/n.
    start: c_i of the first round, "zero" or "gradient" (grad f_i(x_0)).
    """

    update: Literal["gradient", "difference"] = "difference"
    start: Literal["zero", "gradient"] = "zero"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.update not in UPDATES:
            raise UnknownName("the update of the control variates", self.update, UPDATES)
        if self.start not in STARTS:
            raise UnknownName("the start of the control variates", self.start, STARTS)

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "c": False}
    kept_by_clients: ClassVar[Mapping[str, bool]] = {"c": False}

    def initial_client(self, at: At) -> Mapping[str, Any]:
        return {"c": at.whole(at.x0) if self.start == "gradient" else at.zero}

    def initial(self, at: At) -> Mapping[str, Any]:
        return {"x": at.x0, "c": at.mean("c", self.shares(at.clients))}

    def direction(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return g(y) + (at.server["c"] - at.client["c"])

    def _renewed(self, y: Any, at: At) -> Any:
        if self.update != "difference":
            return at.whole(at.start)
        if not at.steps:
            raise BadInput(
                f"client {at.index} takes no local step in a round, and its new control variate is divided by their "
                'number; take option = "I".'
            )
        return at.client["c"] - at.server["c"] + (at.start - y) / at.length

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        gained = self._renewed(y, at) - at.client["c"]
        return {"x": y - at.start, "c": Sent(self.share(at) * gained, PLAIN)}

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"c": self._renewed(y, at)}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": at.server["x"] + at.eta_g * total["x"], "c": at.server["c"] + total["c"]}


@dataclass(frozen=True, kw_only=True)
class ReferencePoint(_Weighted):
    """c_i = grad f_i(r), r a point that is renewed after every `inner` rounds; r = x_0 at first (SVRG).

    With x_0, ..., x_m the server's points of the m = inner rounds since the last renewal, r and x become at the end of
    these rounds, by point, "last": x_m; "random": x_t, t uniform in 0, ..., m - 1; "average": (x_0 + ... + x_{m-1})/m.
    """

    inner: int
    point: Literal["last", "average", "random"] = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner < 1:
            raise BadInput(f"inner = {self.inner} is not allowed; a reference point lasts at least 1 round.")
        if self.point not in POINTS:
            raise UnknownName("the choice of the reference point", self.point, POINTS)

    @property
    def kept_by_server(self) -> Mapping[str, bool]:  # pyright: ignore[reportIncompatibleVariableOverride]
        # next: of "random" the point that becomes r, of "average" the mean so far less r
        further = {"random": {"next": True}, "average": {"next": False}}.get(self.point, {})
        return {"x": True, "r": True, **further}

    @property
    def collecting(self) -> Any:
        return Full()

    @property
    def draws(self) -> bool:
        return self.point == "random" and self.inner > 1

    def repeats_after(self, dim: int) -> int:
        return self.inner

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        phase = round_index % self.inner
        return {"first": int(phase == 0), "last": int(phase == self.inner - 1)}

    def drawn(self, round_index: int) -> Sequence[tuple[Fraction, Mapping[str, Any]]]:
        phase = round_index % self.inner
        if self.point != "random" or phase == 0:
            return ((Fraction(1), {"taken": 1}),)
        return (Fraction(1, phase + 1), {"taken": 1}), (Fraction(phase, phase + 1), {"taken": 0})

    def collect(self, at: At) -> Mapping[str, Sent]:
        return {"g": Sent(self.share(at) * at.whole(at.server["r"]), PLAIN)}

    def direction(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return g(y) + (at.collected["g"] - at.whole(at.server["r"]))

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        x, old, r, last = at.server["x"] + at.eta_g * total["x"], at.server["x"], at.server["r"], at.number["last"]
        if self.point == "last":
            return {"x": x, "r": r + last * (x - r)}
        if self.point == "random":
            chosen = at.server["next"] + at.number["taken"] * (old - at.server["next"])
            kept = {"next": chosen}
        else:
            mean = (1 - at.number["first"]) * at.server["next"] + (old - r) / self.inner
            chosen, kept = r + mean, {"next": mean}
        return {"x": x + last * (chosen - x), "r": r + last * (chosen - r), **kept}


Control = ControlVariates | ReferencePoint
