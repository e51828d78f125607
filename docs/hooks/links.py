"""Names links of a static site that lead nowhere or are not relative: `python docs/hooks/links.py FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = ("script", "img", "iframe", "source")  # what a browser gets by itself; of <link> as its `rel` says


class Links(HTMLParser):
    """The addresses of a page, each with whether a browser gets it by itself, and the names of its places."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, bool]] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.places |= {own[name] or "" for name in ("id", "name") if own.get(name)}
        for name in ("href", "src"):
            if own.get(name):
                style = tag == "link" and own.get("rel") in ("stylesheet", "preload", "icon", "modulepreload")
                self.found.append((own[name] or "", tag in LOADED or style))


def faults(folder: Path) -> Iterator[str]:
    """A sentence for each link to a file or place that is not there, or that needs a server."""
    pages = {path: Links(path) for path in sorted(folder.rglob("*.html"))}
    for page, links in pages.items():
        for address, loaded in dict.fromkeys(links.found):
            where = urlsplit(address)
            if where.scheme == "data" or (where.scheme and not loaded):
                continue
            named = page.relative_to(folder)
            target = (page.parent / unquote(where.path)).resolve() if where.path else page
            if where.scheme or where.netloc or where.path.startswith("/"):
                yield f"{named}: {address} is not relative"
            elif not target.is_relative_to(folder.resolve()) and target != page:
                yield f"{named}: {address} leads out of the site"
            elif not target.is_file():
                yield f"{named}: {address} is not there"
            elif where.fragment and target in pages and unquote(where.fragment) not in pages[target].places:
                yield f"{named}: {address} has no such place"


if __name__ == "__main__":
    broken = list(faults(Path(sys.argv[1]).resolve()))
    sys.exit("\n".join(broken) if broken else 0)
