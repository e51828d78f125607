"""The graph of what a statement rests on."""

from __future__ import annotations

import re

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


def test_an_edge_that_others_imply_is_not_drawn() -> None:
    boxes, edges = drawn("c", CHAIN)
    assert sorted(boxes) == ["a", "b", "c", "d", "e"]
    assert edges == 4


def test_neighbours_reach_to_depth_two() -> None:
    boxes, _ = drawn("e", CHAIN)
    assert sorted(boxes) == ["c", "d", "e"]


def test_two_ways_to_one_lemma_are_both_drawn() -> None:
    boxes, edges = drawn("d", {"d": ["b", "c", "a"], "b": ["a"], "c": ["a"]})
    assert (sorted(boxes), edges) == (["a", "b", "c", "d"], 4)


def test_a_statement_without_neighbours_has_no_graph() -> None:
    assert columns("z", CHAIN) == [["z"]]
