"""What one statement rests on and what rests on it, to depth two, as an inline SVG whose boxes are links."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

DEPTH = 2
_WIDTH, _HEIGHT, _ACROSS, _DOWN = 196, 40, 44, 12


@dataclass(frozen=True)
class Node:
    """A box: its label, second line, link ("": none) and tone, a class of the style sheet such as "good"."""

    label: str
    note: str
    link: str
    tone: str


def neighbours(centre: str, step: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """The statements at distance one and two, each once, sorted."""
    levels: list[list[str]] = []
    seen, edge = {centre}, [centre]
    for _ in range(DEPTH):
        edge = sorted({other for id in edge for other in step(id)} - seen)
        seen |= set(edge)
        levels.append(edge)
    return levels


def graph_svg(centre: str, down: Mapping[str, Sequence[str]], nodes: Callable[[str], Node]) -> str:
    """The graph, or "" for a statement without neighbours.

    down: statement -> those on which it rests, directly or through others; only edges that no others imply are drawn.
    """
    down = {id: [o for o in others if not any(o in down.get(p, ()) for p in others)] for id, others in down.items()}
    up: dict[str, list[str]] = {}
    for id, others in down.items():
        for other in others:
            up.setdefault(other, []).append(id)
    below, above = (neighbours(centre, lambda id, t=t: t.get(id, ())) for t in (down, up))
    columns = [column for column in (*reversed(below), [centre], *above) if column]
    if len(columns) == 1:
        return ""
    tallest = max(map(len, columns))
    height = tallest * (_HEIGHT + _DOWN) + _DOWN
    width = len(columns) * (_WIDTH + _ACROSS) - _ACROSS + 4
    place: dict[str, tuple[float, float]] = {}
    for k, column in enumerate(columns):
        top = (height - len(column) * (_HEIGHT + _DOWN) + _DOWN) / 2
        for n, id in enumerate(column):
            place.setdefault(id, (2 + k * (_WIDTH + _ACROSS), top + n * (_HEIGHT + _DOWN)))
    lines: list[str] = []
    for id, (x, y) in place.items():
        for other in down.get(id, ()):
            if other in place and place[other][0] < x:
                a, b = place[other]
                start, end = (a + _WIDTH, b + _HEIGHT / 2), (x, y + _HEIGHT / 2)
                middle = (start[0] + end[0]) / 2
                lines.append(
                    f'<path class="edge" d="M{start[0]:.0f} {start[1]:.0f}C{middle:.0f} {start[1]:.0f} {middle:.0f} '
                    f'{end[1]:.0f} {end[0]:.0f} {end[1]:.0f}"/>'
                )
    boxes = [_box(nodes(id), place[id], own=id == centre) for id in place]
    title = html.escape(f"What {centre} rests on (left) and what rests on it (right), to depth two")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="group" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" height="{height:.0f}"><title>{title}</title>{"".join(lines)}{"".join(boxes)}</svg>'
    )


def _box(node: Node, at: tuple[float, float], *, own: bool) -> str:
    x, y = at
    text = "".join(
        f'<text x="{x + 9:.0f}" y="{y + dy:.0f}" class="{name}">{html.escape(_cut(words))}</text>'
        for words, dy, name in ((node.label, 17, "name"), (node.note, 32, "note"))
    )
    hover = f"<title>{html.escape(f'{node.label}: {node.note}')}</title>"
    shape = (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
        f'class="node t-{node.tone}{" own" if own else ""}"/>'
    )
    inner = f"<g>{hover}{shape}{text}</g>"
    return f'<a href="{html.escape(node.link)}">{inner}</a>' if node.link and not own else inner


def _cut(text: str, limit: int = 26) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
