"""Publications: how pages name them, and their BibTeX entries."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# fields of a BibTeX entry that hold the venue, by its type
_VENUE = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "techreport": "institution"}


@dataclass(frozen=True)
class Paper:
    """One publication.

    title; authors: in full, "First Last", in order; year; venue: journal, proceedings, publisher or institution; kind:
    the type of its BibTeX entry. doi and arxiv: its numbers, without address. `str` of it is the title with the first
    author, as pages show it.
    """

    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    kind: str = "misc"
    doi: str = ""
    arxiv: str = ""

    def __str__(self) -> str:
        short = [_initialled(name) for name in self.authors]
        named = f"{short[0]} et al." if len(short) > 2 else ", ".join(short)
        return f"{self.title} ({named})" if named else self.title

    @property
    def link(self) -> str:
        """The address of the publication by DOI or arXiv number; empty without either."""
        if self.doi:
            return f"https://doi.org/{self.doi}"
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else ""

    @property
    def key(self) -> str:
        """The key of the BibTeX entry: last name of the first author, year, first long word of the title."""
        first = self.authors[0].split()[-1] if self.authors else ""
        word = next((w for w in re.findall(r"\w+", self.title) if len(w) > 3), "paper")
        return re.sub(r"\W", "", f"{_ascii(first)}{self.year or ''}{_ascii(word)}").lower()

    def bibtex(self, note: str = "") -> str:
        """The BibTeX entry. note: what of the publication is cited, such as a theorem's number."""
        fields = {
            "title": f"{{{self.title}}}",
            "author": " and ".join(self.authors),
            _VENUE.get(self.kind, "howpublished"): self.venue,
            "year": "" if self.year is None else str(self.year),
            "doi": self.doi,
            "eprint": self.arxiv,
            "archiveprefix": "arXiv" if self.arxiv else "",
            "note": note,
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}"


def _initialled(name: str) -> str:
    """ "Samuel Horvath" as "S. Horvath"."""
    *first, last = name.split()
    return " ".join([*(f"{part[0]}." for part in first[:1]), last])


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
