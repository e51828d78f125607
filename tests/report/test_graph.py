"""The graph of what a statement rests on."""

from __future__ import annotations

import re

import pytest

from boundcheck.core.svg import Node, graph
from boundcheck.report.catalogue import columns, direct


def drawn(centre: str, down: dict[str, list[str]]) -> tuple[list[str], int]:
    """The names of the boxes, and the number of edges."""
    found = columns(centre, down)
    nodes = {name: Node(name, "proved", f"{name}.html", "holds") for column in found for name in column}
    svg = graph(found, direct(down), nodes, centre, "title")
    assert svg.count("<a href=") == len(nodes) - 1  # the centre is this page
    return re.findall(r'class="name"[^>]*>([^<]+)<', svg), svg.count('class="edge"')


CHAIN = {"e": ["d", "c", "b", "a"], "d": ["c", "b", "a"], "c": ["b", "a"], "b": ["a"]}


@pytest.mark.parametrize(
    ("centre", "down", "boxes", "edges"),
    [
        ("c", CHAIN, "abcde", 4),  # an edge that others imply is not drawn
        ("e", CHAIN, "cde", 2),  # neighbours reach to depth two
        ("d", {"d": ["b", "c", "a"], "b": ["a"], "c": ["a"]}, "abcd", 4),  # two ways to one lemma
    ],
)
def test_boxes_and_edges(centre: str, down: dict[str, list[str]], boxes: str, edges: int) -> None:
    found, count = drawn(centre, down)
    assert ("".join(sorted(found)), count) == (boxes, edges)


def test_a_statement_without_neighbours_has_no_graph() -> None:
    assert columns("z", CHAIN) == [["z"]]
