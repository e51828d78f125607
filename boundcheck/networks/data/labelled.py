"""The labelled data sets in one form, for models that are trained on them.

digits         8 x 8 pixels as features, level / 16; test part drawn
mnist_5k       images 1 x 28 x 28; test part drawn
mnist          images 1 x 28 x 28; its own test part
fashion_mnist  images 1 x 28 x 28; its own test part
cifar10        images 3 x 32 x 32; its own test part
shakespeare    80 characters and the next one; clients of its own: the roles, each with its test part, the later text
imdb           reviews as words, good or bad; test part drawn

A test part that is drawn takes the same share of each class, at random, by a seed. Nothing here needs more than NumPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._data import Samples
from boundcheck.problems._data_sets import module, refuse_absent, refuse_unknown
from boundcheck.problems._specs import whole
from boundcheck.problems._split import Split, permutation

Rows = NDArray[np.int64]
LEVELS = 255  # the brightest level of an image
# Purposes of the counter-based streams (see `core.streams`).
TEST_PART = 1010  # round: the class
ROLES = 1011
SEED_TOP = 2**64 - 1
IMAGES_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Labelled:
    """A data set with a training and a test part.

    name: of the data set. kind: what the inputs are:
        "image"     uint8 (N, channels, height, width); a model reads (level / 255 - mean) / std, by channel
        "tokens"    int16 or int32 (N, length), numbers of symbols or words in 0..vocabulary-1
        "features"  float64 (N, p), read as they are
    labels: int64 (N,), in 0..classes-1; meanings: of the classes. test_inputs, test_labels: as these, of the test part.
    owners: int64 (N,), the client that each training sample belongs to of itself, every one of 0..m-1 having samples;
    None where samples belong to nobody. owner_names: of these clients (m). mean, std: float64 (channels,), of
    level / 255 over the training part (std 1 for a channel that is constant); empty where the kind is not "image".
    vocabulary: how many symbols or words there are; 0 where the kind is not "tokens". symbols: what the numbers stand
    for, where the kind is "tokens" (for words: from number 2 on, see `imdb.encoded`). notes: sentences about what was
    left out or drawn.
    """

    name: str
    inputs: NDArray[Any]
    labels: Rows
    test_inputs: NDArray[Any]
    test_labels: Rows
    classes: int
    kind: str
    owners: Rows | None = None
    mean: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    std: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    vocabulary: int = 0
    meanings: tuple[str, ...] = ()
    owner_names: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def clients(self) -> int | None:
        """How many clients the data have of themselves; None where they have none."""
        return None if self.owners is None else len(self.owner_names)


Part = tuple[NDArray[Any], Rows]


def of_parts(name: str, kind: str, train: Part, test: Part, **more: Any) -> Labelled:
    """The data set of a training and a test part, each (inputs, labels); more: other fields of `Labelled`."""
    if kind == "image":
        more["mean"], more["std"] = _moments(train[0])
    return Labelled(
        name=name, kind=kind, inputs=train[0], labels=train[1], test_inputs=test[0], test_labels=test[1], **more
    )


def _drawn(name: str, *, seed: Any = 0, test_share: Any = "1/5") -> Labelled:
    samples: Samples = module(name).load()
    train, test, note = drawn_parts(samples.labels, seed, test_share)
    image = hasattr(module(name), "SHAPE")
    values, labels = _shaped(name, samples) if image else samples.features(), samples.labels
    parts = ((values[rows], labels[rows]) for rows in (train, test))
    more = {"classes": samples.classes, "meanings": samples.meanings, "notes": (note,)}
    return of_parts(name, "image" if image else "features", *parts, **more)


def _given_images(name: str) -> Labelled:
    train: Samples = module(name).load()
    test: Samples = module(name).load("test")
    parts = ((_shaped(name, own), own.labels) for own in (train, test))
    return of_parts(name, "image", *parts, classes=train.classes, meanings=train.meanings)


def _shaped(name: str, samples: Samples) -> NDArray[np.uint8]:
    return samples.numbers.reshape(-1, *module(name).SHAPE)


def _moments(images: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of level / 255 by channel, from how often each level occurs: exact to rounding."""
    channels = images.shape[1]
    counts = np.zeros((channels, LEVELS + 1), dtype=np.int64)
    for low in range(0, len(images), IMAGES_AT_ONCE):
        for c in range(channels):
            counts[c] += np.bincount(images[low : low + IMAGES_AT_ONCE, c].ravel(), minlength=LEVELS + 1)
    mean, std = np.zeros(channels), np.ones(channels)
    for c in range(channels):
        of_level = [(k, int(n)) for k, n in enumerate(counts[c].tolist()) if n]
        total = sum(n for _, n in of_level)
        first = Fraction(sum(k * n for k, n in of_level), total * LEVELS)
        second = Fraction(sum(k * k * n for k, n in of_level), total * LEVELS**2)
        mean[c] = float(first)
        if second > first**2:
            std[c] = float(second - first**2) ** 0.5
    return mean, std


def drawn_parts(labels: Rows, seed: Any = 0, test_share: Any = "1/5") -> tuple[Rows, Rows, str]:
    """The rows of the training and of the test part, each in the data's order; and a sentence about them."""
    own, share = whole(seed, "seed", 0, SEED_TOP), as_fraction(test_share, "test_share")
    if not 0 < share < 1:
        raise BadInput(f"test_share = {format_short(share)} is not allowed; it must be above 0 and below 1.")
    chosen = np.zeros(len(labels), dtype=bool)
    for c in np.unique(labels).tolist():
        rows = np.flatnonzero(labels == c)
        order = permutation(len(rows), own, TEST_PART, c)
        chosen[rows[order[: round(share * len(rows))]]] = True
    test, train = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    if not len(test) or not len(train):
        raise BadInput(f"test_share = {format_short(share)} leaves a part of the {len(labels)} samples empty.")
    note = (
        f"{len(test)} of {len(labels)} samples, the same share of each class, are drawn as the test part (seed {own})."
    )
    return train, test, note


def _roles(
    name: str,
    *,
    minimum: Any = 405,
    length: Any = 80,
    stride: Any = 1,
    train_share: Any = "4/5",
    roles: Any = None,
    seed: Any = 0,
) -> Labelled:
    """See `labelled`."""
    found = module(name).load()
    width, step = whole(length, "length", 1, 10_000), whole(stride, "stride", 1, 10**6)
    share, least = as_fraction(train_share, "train_share"), whole(minimum, "minimum", 2, 10**9)
    if not 0 < share < 1:
        raise BadInput(f"train_share = {format_short(share)} is not allowed; it must be above 0 and below 1.")
    cut = int(share * least)
    if min(cut, least - cut) <= width:
        raise BadInput(
            f"minimum = {least} is not allowed; the {cut} and {least - cut} characters of the two parts of such a role "
            f"must each be more than length = {width}."
        )
    long = [i for i, text in enumerate(found.texts) if len(text) >= least]
    if not long:
        raise BadInput(f"minimum = {least} leaves none of the {len(found.texts)} roles.")
    notes = [f"{len(found.texts) - len(long)} of {len(found.texts)} roles have fewer than {least} characters."]
    if roles is not None:
        count = whole(roles, "roles", 1, len(long))
        order = permutation(len(long), whole(seed, "seed", 0, SEED_TOP), ROLES)
        notes.append(f"{count} of the {len(long)} other roles are drawn (seed {whole(seed, 'seed', 0, SEED_TOP)}).")
        long = sorted(long[k] for k in order[:count])
    cuts = [int(share * len(found.texts[i])) for i in long]
    train = _windows([found.texts[i][:c] for i, c in zip(long, cuts, strict=True)], width, step)
    test = _windows([found.texts[i][c:] for i, c in zip(long, cuts, strict=True)], width, step)
    return of_parts(
        name,
        "tokens",
        train[:2],
        test[:2],
        classes=len(found.symbols),
        owners=train[2],
        vocabulary=len(found.symbols),
        meanings=found.symbols,
        owner_names=tuple(found.names[i] for i in long),
        symbols=found.symbols,
        notes=tuple(notes),
    )


def _windows(texts: list[NDArray[np.int16]], width: int, step: int) -> tuple[NDArray[np.int16], Rows, Rows]:
    """Every step-th window of each text that a symbol follows: (windows, following symbols, index of the text)."""
    counts = [(len(text) - width - 1) // step + 1 for text in texts]
    inputs = np.empty((sum(counts), width), dtype=np.int16)
    labels = np.empty(len(inputs), dtype=np.int64)
    at = 0
    for text, count in zip(texts, counts, strict=True):
        inputs[at : at + count] = np.lib.stride_tricks.sliding_window_view(text[:-1], width)[::step]
        labels[at : at + count] = text[width::step]
        at += count
    return inputs, labels, np.repeat(np.arange(len(texts), dtype=np.int64), counts)


def _reviews(name: str, *, words: Any = 10_000, length: Any = 200, seed: Any = 0, test_share: Any = "1/5") -> Labelled:
    imdb = module(name)
    reviews = imdb.load()
    train, test, note = drawn_parts(reviews.labels, seed, test_share)
    size, width = whole(words, "words", 3, 10**6), whole(length, "length", 1, 10_000)
    inputs, vocabulary = imdb.encoded(reviews, train, size, width)
    return of_parts(
        name,
        "tokens",
        *((inputs[rows], reviews.labels[rows]) for rows in (train, test)),
        classes=len(imdb.MEANINGS),
        vocabulary=2 + len(vocabulary),
        meanings=imdb.MEANINGS,
        symbols=tuple(vocabulary),
        notes=(f"{reviews.dropped} texts that occurred before are left out.", note),
    )


_MAKERS: Mapping[str, Callable[..., Labelled]] = {
    "digits": _drawn,
    "mnist_5k": _drawn,
    "mnist": _given_images,
    "fashion_mnist": _given_images,
    "cifar10": _given_images,
    "shakespeare": _roles,
    "imdb": _reviews,
}
NAMES = tuple(_MAKERS)


def options_of(name: str) -> dict[str, Any]:
    """The options of a data set with their defaults. Raises UnknownName, BadInput for one that no package ships."""
    refuse_absent(name)
    refuse_unknown(name, NAMES, "networks")
    parameters = inspect.signature(_MAKERS[name]).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def labelled(name: str, **options: Any) -> Labelled:
    """A data set, by name: one of `NAMES`.

    Options. digits, mnist_5k: seed (0) and test_share ("1/5") of the test part that is drawn. imdb: these; words
    (10000), how many numbers the vocabulary has; length (200), to which texts are cut or filled up, see `imdb.encoded`.
    shakespeare: minimum (405), characters that a role must have; length (80) of a window; stride (1), every how many
    characters a window begins; train_share ("4/5"), of each role's text, in the order of the play: the rest is its test
    text, and no window lies in both; roles (None: all that are long enough), how many of them are drawn by seed (0).

    Raises UnknownName for another data set or option, BadInput for a forbidden value or a set that no package ships,
    DataNotFetched where the data are not on this machine.
    """
    known = options_of(name)
    for option in options:
        if option not in known:
            raise UnknownName(f"the data set '{name}': option", option, known)
    return _MAKERS[name](name, **options)


def client_rows(
    data: Labelled,
    split: str = "random",
    clients: Any = None,
    *,
    seed: Any = None,
    alpha: Any = None,
    shards_per_client: Any = None,
    imbalance: Any = None,
) -> tuple[Split, tuple[Rows, ...]]:
    """The split of the training part, and the rows of each client; parameters as in `_split`.

    clients: may be left out where split = "owners", else it is needed. A sorted split sorts by label.
    Raises BadInput and UnknownName as `Split.of` does.
    """
    if clients is None and split != "owners":
        raise BadInput(f"split = '{split}' needs the number of clients.")
    chosen = Split.of(
        split,
        clients,
        len(data.labels),
        labelled=True,
        seed=seed,
        feature="label" if split == "sorted" else None,
        alpha=alpha,
        shards_per_client=shards_per_client,
        imbalance=imbalance,
        owners=data.clients,
    )
    labels = data.labels.tolist() if split in ("dirichlet", "shards", "sorted") else None
    parts = chosen.parts(len(data.labels), labels, labels, data.owners)
    return chosen, tuple(np.asarray(part, dtype=np.int64) for part in parts)
