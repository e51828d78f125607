"""The checks: name, sentence, instances, and how they are judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.judge.checks import chances, judges
from boundcheck.judge.checks.instances import STEP_NAMES, Case, Subject
from boundcheck.judge.checks.trial import Finding, NotAsked, Trial
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, Importance, OneByWeight, WithReplacement

OTHER_START = (-5, 7, 2)
SHIFT = (2, -3, 1)
MOST_SAMPLES = 24
STEP_COUNTS = ("E", "K", "steps")  # how kinds call the number of local steps or epochs


@dataclass(frozen=True)
class Check:
    """A named check. sentence: what holds of a right implementation. cases: its instances for a method, or NotAsked.

    look: what most often makes it fail, as the end of a sentence that begins with "look first at". needs: what
    an implementation must be able to do beside what the cases show. statistical: whether a right implementation can
    fail, with a probability that the finding states.
    """

    name: str
    sentence: str
    cases: Callable[[Subject], tuple[Case, ...]]
    judge: Callable[[Trial], Finding]
    look: str
    needs: tuple[str, ...] = ()
    statistical: bool = False


def _plain(subject: Subject, **how: Any) -> Case:
    return Case(subject.problem(**how), subject.spec, subject.rounds)


def _one_step(subject: Subject, **changes: Any) -> tuple[dict[str, Any], Method]:
    """The specification with one local step for a client with one batch, and the method."""
    for name in STEP_COUNTS:
        spec = subject.varied(**changes, **{name: 1})
        try:
            made = build(spec)
            visits = made.local.visits(0, (0,), Clients.alike(1, subject.batch))
        except BoundcheckError:
            continue
        if [v.steps for _, v in visits] == [1] and (changes or made.participation == subject.method.participation):
            return spec, made
    made = build(subject.varied(**changes))
    visits = made.local.visits(0, (0,), Clients.alike(1, subject.batch))
    if [v.steps for _, v in visits] == [1]:
        return subject.varied(**changes), made
    raise NotAsked("the composition has no number of local steps that could be 1")


def _everyone(subject: Subject) -> dict[str, Any]:
    """Changes of the specification that let all clients take part."""
    if "participation" in subject.spec:
        return {"participation": None}
    return {"size": None} if "size" in subject.spec else {}


def _minimiser(subject: Subject) -> tuple[Case, ...]:
    return (_plain(subject, layout="shared", start=(1, 2, -1)),)


def _nothing(subject: Subject) -> tuple[Case, ...]:
    return (_plain(subject, layout="flat"),)


def _single(subject: Subject) -> tuple[Case, ...]:
    try:
        spec, made = _one_step(subject, **_everyone(subject))
        made.check(Clients.alike(1, subject.batch))
    except BadInput as error:
        raise NotAsked(f"the composition is not for one client: {error}") from error
    return (Case(subject.problem(n=1, unequal=False, method=made), spec, subject.rounds),)


def _distributed(subject: Subject) -> tuple[Case, ...]:
    spec, made = _one_step(subject, **_everyone(subject))
    n = subject.clients
    if made.participation.fixed(0, Clients.alike(n, subject.batch)) != tuple(range(n)):
        raise NotAsked("not all clients take part in a round")
    return (Case(subject.problem(weights="unequal", unequal=False, method=made), spec, subject.rounds),)


def _order(subject: Subject) -> tuple[Case, ...]:
    n = subject.clients
    if n == 1:
        raise NotAsked("the composition is for one client")
    turned = subject.problem(order=range(n - 1, -1, -1))
    return (_plain(subject), Case(turned, subject.spec, subject.rounds, {}))


def _scaled(subject: Subject) -> tuple[Case, ...]:
    names = [name for name in STEP_NAMES if name in subject.spec]
    solver = subject.spec.get("solver")
    spec = dict(subject.spec)
    if isinstance(solver, dict) and "eta" in solver:
        spec["solver"] = {**solver, "eta": _times(solver["eta"], Fraction(1, 4))}
    elif not names:
        raise NotAsked("the composition has no step size")
    for name in names:
        spec[name] = _times(spec[name], Fraction(1, 4))
    if "mu" in spec:
        spec["mu"] = _times(spec["mu"], Fraction(4))
    return (_plain(subject), Case(subject.problem(factor=Fraction(4)), spec, subject.rounds, {}))


def _times(value: Any, factor: Fraction) -> Any:
    """A step size, or a list or table of them, times a factor."""
    if isinstance(value, dict):
        table: dict[str, Any] = value
        return {k: _times(v, factor) if k in ("value", "formula") else v for k, v in table.items()}
    if isinstance(value, list | tuple):
        return [_times(v, factor) for v in value]  # pyright: ignore[reportUnknownVariableType]
    try:
        return format_exact(as_fraction(value) * factor)
    except BadInput:  # an expression in the rounds
        return f"({value})*({format_exact(factor)})"


def _translated(subject: Subject) -> tuple[Case, ...]:
    there = subject.problem(shift=SHIFT)
    return (_plain(subject), Case(there, subject.spec, subject.rounds, {"shift": list(SHIFT)}))


def _apart(subject: Subject) -> tuple[Case, ...]:
    other = subject.problem(layout="blocks", start=(3, -2, 25))
    return (_plain(subject, layout="blocks"), Case(other, subject.spec, subject.rounds, {"keep": [0, 1]}))


def _prefix(subject: Subject) -> tuple[Case, ...]:
    longer = _plain(subject)
    return (longer, Case(longer.problem, longer.method, min(3, subject.rounds - 1), {}))


def _one_round(subject: Subject) -> tuple[Case, ...]:
    return (Case(subject.problem(), subject.spec, 1),)


def _weights(subject: Subject) -> tuple[Case, ...]:
    if subject.clients == 1:
        raise NotAsked("the composition is for one client")
    return (_plain(subject, weights="unequal", unequal=False),)


def _steps(subject: Subject) -> tuple[Case, ...]:
    sizes = subject.sizes(True)
    clients = Clients.alike(subject.clients)
    clients = Clients(clients.weights, sizes)
    cohort = tuple(range(subject.clients))
    taken = {tuple(v.steps for _, v in subject.method.local.visits(i, cohort, clients)) for i in cohort}
    if len(taken) == 1:
        raise NotAsked("all clients take equally many local steps")
    return (_plain(subject, weights="equal"), _plain(subject, weights="sizes"))


def _more_steps(subject: Subject) -> tuple[Case, ...]:
    one, _ = _one_step(subject)
    name = next((k for k in STEP_COUNTS if k in one and one[k] == 1 and subject.spec.get(k) != 1), "")
    name = name or next((k for k in STEP_COUNTS if k in one), "")
    if not name:
        raise NotAsked("the composition has no number of local steps")
    spec = subject.varied(**{name: 3 if subject.spec.get(name) != 3 else 2})
    return (Case(subject.problem(unequal=False, method=build(spec)), spec, 2),)


def _rest(subject: Subject) -> tuple[Case, ...]:
    if subject.batch == 1 or not isinstance(subject.method.local, Epochs):
        raise NotAsked("the composition has no epochs with batches of several samples")
    return (_plain(subject, rest=1),)


def _schedule(subject: Subject) -> tuple[Case, ...]:
    method = subject.method
    if method.schedule.is_constant():
        raise NotAsked("the step size is constant")
    steps = [method.schedule.step(k) for k in range(1, 41)]
    moved = next((k for k in range(1, 40) if steps[k] != steps[0]), None)
    if moved is None:
        raise NotAsked("the step size changes after more rounds than a check runs")
    rounds = method.rounds_per_cycle(Clients.alike(subject.clients)) * (moved + 2)
    return (Case(subject.problem(), subject.spec, max(rounds, subject.rounds)),)


def _server(subject: Subject) -> tuple[Case, ...]:
    if "eta_g" not in subject.spec:
        raise NotAsked("the specification has no server step size eta_g")
    return tuple(Case(subject.problem(), subject.varied(eta_g=value), subject.rounds) for value in ("1/2", "3/2"))


def _start(subject: Subject) -> tuple[Case, ...]:
    return (_plain(subject, start=OTHER_START), _plain(subject, start=(0, 0, 0)))


def _same(subject: Subject) -> tuple[Case, ...]:
    return (_plain(subject, layout="same", weights="equal", unequal=False),)


def _base(subject: Subject) -> tuple[Case, ...]:
    return (_plain(subject),)


def _own(subject: Subject) -> tuple[Case, ...]:
    by_weight = isinstance(subject.method.participation, Importance | OneByWeight | WithReplacement)
    return (_plain(subject, layout="own", unequal=False, weights="unequal" if by_weight else "equal"),)


def _sampled(subject: Subject, sampling: str) -> tuple[Case, ...]:
    """The instance on which every sample moves a coordinate of its own, for methods that sample so."""
    spec = subject.varied(**_everyone(subject))
    method, sizes = build(spec), subject.sizes(True)
    clients = Clients([Fraction(1, len(sizes))] * len(sizes), sizes)
    visits = [v for i in range(len(sizes)) for _, v in method.local.visits(i, range(len(sizes)), clients)]
    if any(v.sampling != sampling for v in visits):
        raise NotAsked(
            f"its local steps are not {sampling}" if sampling == "reshuffled" else "it draws no samples anew"
        )
    if sum(sizes) > MOST_SAMPLES:
        raise NotAsked(f"its batches need {sum(sizes)} samples; the instance has at most {MOST_SAMPLES}")
    whole = all(v.steps % -(-m // v.batch) == 0 for v, m in zip(visits, sizes, strict=False))
    if not method.is_plain or any(v.prox for v in visits) or len(visits) != len(sizes) or not whole:
        raise NotAsked("what a sample moves depends on the order of the samples")
    if method.participation.fixed(0, clients) != tuple(range(len(sizes))):
        raise NotAsked("not all clients take part in a round")
    rounds = 2 if sampling == "reshuffled" else 1
    return (Case(subject.problem(layout="samples", method=method), spec, rounds),)


def _epochs(subject: Subject) -> tuple[Case, ...]:
    return _sampled(subject, "reshuffled")


def _anew(subject: Subject) -> tuple[Case, ...]:
    return _sampled(subject, "replacement")


CHECKS: Sequence[Check] = (
    Check("minimiser_is_a_fixed_point", "Started at the minimiser that all clients share, it stays there.", _minimiser,
        judges.stays, "state that grows by itself, and at terms beside the gradient such as weight decay"),
    Check("zero_objectives_move_nothing", "Where all objectives are 0 it stays at the start.", _nothing, judges.stays,
        "terms beside the gradient: weight decay, a proximal term around another point"),
    Check("one_client_is_gradient_descent", "With one client and one local step it is gradient descent.", _single,
        judges.gradient_steps, "the step size and the number of local steps",
        ("one client", "other numbers of local steps")),
    Check("one_local_step_is_a_server_step",
        "With one local step of every client a round is one step along the weighted mean of their gradients.",
        _distributed, judges.gradient_steps, "the weights of the clients and the sign of the server's step",
        ("other numbers of local steps",)),
    Check("exact_after_one_round",
        "After one round the iterate is that of the method, or one of those that its cohorts allow.", _one_round,
        judges.exact, "the first number that differs; boundcheck.judge names mistakes"),
    Check("exact_after_k_rounds",
        "After every round the iterate is that of the method, or one of those that its cohorts allow.", _base,
        judges.exact, "what is kept from round to round, where the first round is right", ("several rounds",)),
    Check("equal_clients", "Clients that are all alike give the iterates of the method.", _same, judges.exact,
        "how many clients are added up, and the number by which their sum is divided"),
    Check("unequal_weights", "Clients with equally many samples count by their weights.", _weights, judges.exact,
        "the weights in the server's mean: by data, alike, over all clients or over the cohort"),
    Check("unequal_local_steps", "Clients with unequally many samples take their own numbers of local steps.", _steps,
        judges.exact, "how local steps are counted: of epochs or of steps, for all clients alike"),
    Check("number_of_local_steps", "With another number of local steps it takes that number.", _more_steps,
        judges.exact, "a number of local steps that is written into the code", ("other numbers of local steps",)),
    Check("last_batch_of_an_epoch", "The last batch of an epoch is a step too where it is smaller than the others.",
        _rest, judges.exact, "a loader that drops the last batch, and the divisor of that batch's mean"),
    Check("starts_at_the_start", "It starts at the start of the task.", _start, judges.exact,
        "a model that is initialised anew"),
    Check("changing_step_size", "Each round takes the step size of that round.", _schedule, judges.exact,
        "an optimiser that is made once, and a schedule that is one round early or late", ("changing step sizes",)),
    Check("server_step_size", "The server's step is eta_g times the clients' mean change.", _server, judges.exact,
        "a server that replaces its model in place of taking a step", ("server step size",)),
    Check("order_of_clients", "The order in which the clients are numbered does not matter.", _order, judges.unordered,
        "models that share memory: a client that goes on from where the one before it ended"),
    Check("step_size_scales", "Four times the objectives with a quarter of the step size give the same iterates.",
        _scaled, judges.image,
        "constants that belong to gradients or steps: clipping, an epsilon, momentum times step",
        ("other step sizes",)),
    Check("translation", "A problem that is moved, its start included, gives iterates that are moved as much.",
        _translated, judges.image, "terms that know where 0 is: weight decay, a model that is initialised at 0"),
    Check("coordinates_do_not_leak",
        "Where the last coordinate is independent of the others, its start does not change the others.", _apart,
        judges.image, "norms and clipping over all coordinates, and the reshaping of the model"),
    Check("rounds_are_a_prefix", "A shorter run is the beginning of a longer one with the same seed.", _prefix,
        judges.image, "schedules and stopping rules that know the number of rounds", ("several rounds",)),
    Check("seeds_repeat", "A seed gives the same iterates again.", _base, judges.repeats,
        "random generators that are not seeded, and state that stays between runs"),
    Check("seeds_differ", "Different seeds give different iterates.", _base, judges.differs,
        "a seed that is written into the code", statistical=True),
    Check("inputs_are_not_modified", "A run does not change its task.", _base, judges.untouched,
        "operations in place, such as x += ..., on what the task gives"),
    Check("samples_once_an_epoch", "An epoch visits every sample of a client once.", _epochs, judges.exact,
        "samples that are drawn with replacement, and a last batch that is dropped", ("samples",)),
    Check("samples_drawn_anew", "Local steps draw samples uniformly with replacement.", _anew, chances.drawn_samples,
        "samples that are shuffled instead", ("samples",), statistical=True),
    Check("unbiased_participation", "Clients and cohorts take part with the probabilities of the method.", _own,
        chances.participation, "the law of the cohorts: by weight, uniform, with replacement", statistical=True),
    Check("cohorts_are_drawn_anew", "The cohorts of successive rounds are independent.", _own, chances.anew,
        "a generator that is made anew in every round with the same seed", ("several rounds",), statistical=True),
    Check("mean_after_k_rounds", "The mean over seeds is the exact expectation, after one round and after all.", _base,
        chances.means, "weights that do not make up for how often a client takes part", ("several rounds",),
        statistical=True),
    Check("choices_have_their_law", "All that a round draws has the probabilities of the method.", _base,
        chances.choices, "the law of the cohorts, and of the numbers of epochs", statistical=True),
)  # fmt: skip


def find(name: str) -> Check:
    """The check of this name. Raises UnknownName."""
    found = {c.name: c for c in CHECKS}
    if name not in found:
        raise UnknownName("the check", name, found)
    return found[name]
