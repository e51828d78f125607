"""One round of a method: what it keeps, what is drawn, and a few functions over vectors.

A reader carries the functions out and says what a vector is: a formal vector (`formal`), whose coefficients the exact
engine reads, or numbers. In a round the cohort first sends what `collect` says, where the method collects anything.
Then each client of the cohort begins its local vectors, takes its local steps, sends its `upload` and keeps what `keep`
says; the server combines the sums and the cohort receives. Functions add vectors, multiply them by numbers and call the
primitives of `At`; they do not branch on numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

from boundcheck.methods.clients import Clients
from boundcheck.methods.formal import NotAffine

PLAIN = "plain"


def no_norm(vector: Any) -> NoReturn:
    """What readers of formal vectors say of norms."""
    raise NotAffine(
        "a function of the round takes the norm of a vector; exact engines read sums and multiples alone; engine = "
        "'sampled' carries it out."
    )


@dataclass(frozen=True)
class Sent:
    """A vector that is sent, with how it is summed over the cohort.

    rule: None for the weights of the method, `PLAIN` for 1 each, or an aggregation of its own.
    """

    vector: Any
    rule: Any = None


class _NoUniform(dict[str, Any]):
    """What readers of formal vectors know of uniform numbers."""

    def __missing__(self, name: str) -> NoReturn:
        raise NotAffine(
            f"a function of the round takes the uniform numbers '{name}', of which exact engines know none; "
            "engine = 'sampled' carries it out."
        )


@dataclass(frozen=True)
class At:
    """What the functions of a round see.

    server, client: what they keep, by name (in `receive` the new ones). collected: the sums of what was collected.
    total: the sums of what was uploaded. start: the first local vector, y, at the beginning of the visit. number:
    numbers of the round (`Rule.numbers`). eta: step size of the local step; steps, length, prox: of the visit, the
    number of local steps, the sum of their step sizes and the weight of a proximal term. eta_g: of the server.
    clients: all of them. x0: the start. whole(v): the client's whole gradient; part(v, coordinates): v with all other
    coordinates 0; norm(v): its Euclidean norm, which no exact reader knows; minimiser(centre, shift, mu): see
    `formal.Minimiser`; mean(name, shares): what all clients keep, in the mean. uniform: the visit's `Rule.uniforms`.
    """

    clients: Clients
    eta_g: Fraction
    whole: Callable[[Any], Any]
    part: Callable[[Any, Sequence[int]], Any]
    minimiser: Callable[[Any, Any, Fraction], Any]
    mean: Callable[[str, Sequence[Fraction]], Any]
    zero: Any
    server: Mapping[str, Any] = field(default_factory=dict[str, Any])
    client: Mapping[str, Any] = field(default_factory=dict[str, Any])
    collected: Mapping[str, Any] = field(default_factory=dict[str, Any])
    total: Mapping[str, Any] = field(default_factory=dict[str, Any])
    number: Mapping[str, Any] = field(default_factory=dict[str, Any])
    start: Any = None
    x0: Any = None
    who: Callable[[], int] = lambda: 0
    eta: Any = None
    steps: int = 0
    length: Any = None
    prox: Fraction = Fraction(0)
    norm: Callable[[Any], Any] = no_norm
    uniform: Mapping[str, Any] = field(default_factory=_NoUniform)

    @property
    def index(self) -> int:
        """Which client this is."""
        return self.who()

    def put(self, **values: Any) -> None:
        """For readers: what becomes known later; functions change nothing here."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


class Rule:
    """A round as its functions; what is here is FedAvg with the method's local work, weights and server step.

    kept_by_server, kept_by_clients: name -> whether it is a point (or else a difference or a gradient); the server
    keeps a point "x", which is what metrics measure. local: names of
    the local vectors; the first is the model. uniforms: names of vectors of independent uniform numbers below 1 that
    are drawn for every visit. collecting: None, "same" for the cohort of the round, or a participation
    of its own, which is drawn independently. receives: whether clients of the cohort take over something after the
    server's step; needs_all: whether all clients take part in every round. steady: whether the numbers of rounds repeat
    after `repeats_after` rounds, from round `settled` on. For messages, kept_words: what makes the state large,
    changing: what changes where the rule is not steady.
    """

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True}
    kept_by_clients: ClassVar[Mapping[str, bool]] = {}
    local: ClassVar[tuple[str, ...]] = ("y",)
    uniforms: ClassVar[tuple[str, ...]] = ()
    receives: ClassVar[bool] = False
    needs_all: ClassVar[bool] = False
    settled: ClassVar[int] = 0
    kept_words: ClassVar[str] = ""
    changing: ClassVar[str] = "number"

    @property
    def collecting(self) -> Any:
        """Whose vectors are collected before the local work."""
        return None

    @property
    def draws(self) -> bool:
        """Whether the rule draws something itself: at the start, once a round, or who holds the models."""
        return len(self.drawn(0)) > 1

    @property
    def steady(self) -> bool:
        """Whether the numbers of the rounds repeat."""
        return True

    def repeats_after(self, dim: int) -> int:
        """After how many rounds they do."""
        return 1

    @property
    def handed_every(self) -> int:
        """After how many rounds those who hold models hand them to a fresh uniform set of clients; 0: they never do."""
        return 0

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        """The numbers of a round (from 0), and other plain values that change with it."""
        return {}

    def drawn(self, round_index: int) -> Sequence[tuple[Fraction, Mapping[str, Any]]]:
        """Numbers that are drawn once a round, independently of all else, with their law."""
        return ((Fraction(1), {}),)

    def check(self, name: str, participation: Any, clients: Clients) -> None:
        """Raises BadInput or Unsupported where the rule has no meaning with these cohorts; name: of the method."""

    def models(self, clients: Clients) -> int:
        """How many clients hold what clients keep."""
        return clients.count

    def holders(self, name: str, clients: Clients, dim: int) -> tuple[tuple[int, ...], ...] | None:
        """The equally likely ways in which clients hold the models, where these are handed over: each model's client.

        They are drawn anew after rounds whose `numbers` have "handed". Raises Unsupported where they are too many.
        """
        return None

    def drawn_at_first(self, at: At) -> Mapping[str, tuple[Any, int]]:
        """What the server keeps at first as a mean over clients drawn by weight: a client's vector, how many draws."""
        return {}

    def initial(self, at: At) -> Mapping[str, Any]:
        """What the server keeps at first; `mean` is of what the clients keep at first."""
        return {name: at.x0 if point else at.zero for name, point in self.kept_by_server.items()}

    def initial_client(self, at: At) -> Mapping[str, Any]:
        """What a client keeps at first."""
        return {name: at.x0 if point else at.zero for name, point in self.kept_by_clients.items()}

    def collect(self, at: At) -> Mapping[str, Sent]:
        """What a client sends before the local work."""
        return {}

    def begin(self, at: At) -> Any:
        """The model at the beginning of a visit; further local vectors are 0 there."""
        return at.server["x"]

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        """The local vectors after a step; g(v): the mean gradient at v of the samples that the step draws."""
        return y - at.eta * self.direction(y, g, at)

    def direction(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        """The direction against which a step of one local vector goes, where `step` is left as it is."""
        return g(y) + at.prox * (y - at.start)

    def solve(self, at: At) -> Any:
        """What local work returns that solves its subproblem exactly."""
        return at.minimiser(at.start, at.zero, at.prox)

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        """What a client sends after the local work: vectors, or `Sent`."""
        return {"x": y - at.start}

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        """What a client of the cohort keeps."""
        return {}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        """What the server keeps after the round."""
        return {"x": at.server["x"] + at.eta_g * total["x"]}

    def receive(self, at: At) -> Mapping[str, Any]:
        """What a client of the cohort keeps after the server's step; see `receives`."""
        return {}
