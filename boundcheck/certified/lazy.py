"""Constants by name that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from boundcheck.certified.constant import Constant


class LazyConstants(Mapping[str, Constant]):
    """A mapping whose names are known and whose values are computed on first access, each once.

    Going through its values (or `dict(...)` of it) computes all; looking at its names, or asking whether it has one,
    computes nothing. Pickled, it becomes a plain dict.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Constant]]) -> None:
        self._makers = dict(makers)
        self._known: dict[str, Constant] = {}

    def __getitem__(self, name: str) -> Constant:
        if name not in self._known:
            self._known[name] = self._makers[name]()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def and_also(self, more: Mapping[str, Callable[[], Constant]]) -> LazyConstants:
        """These and more, still lazily; what is known stays known. A name in both takes the later one."""
        both = LazyConstants({**{name: partial(self.__getitem__, name) for name in self._makers}, **more})
        both._known = {name: c for name, c in self._known.items() if name not in more}
        return both

    def __reduce__(self) -> tuple[object, ...]:
        return (dict, (dict(self),))

    def __repr__(self) -> str:
        return f"<constants {', '.join(self)}>"
