"""The quantities of assumptions about blocks of coordinates: what a trial of `evidence.assumptions` measures there.

The blocks and their constants L_j belong to a method, not to a problem, and are given with the assumption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.certified.blocks import Partition, decides
from boundcheck.problems.problem import quadratic_objectives

if TYPE_CHECKING:
    from boundcheck.problems.problem import Problem


# the coordinates of each block, and its constant L_j
Blocks = tuple[Partition, Sequence[Fraction]]
# quantities of two points, a client and a block of coordinates
BLOCK = {"own_block_difference2", "block_difference2", "scaled_block_difference2", "scaled_difference2"}
# the readings of block smoothness (`certified.blocks`)
READINGS = {f"smooth_{name}": name for name in ("blocks", "separable", "weighted")} | {"smooth_globally": "global"}


def decides_blocks(name: str, problem: Problem, values: Mapping[str, Fraction], blocks: Blocks | None) -> bool | None:
    """Whether a reading of block smoothness holds for a problem with constant Hessians; None where that is open.

    name: of the assumption. values: the constants in its inequality.
    """
    reading = READINGS.get(name)
    if reading == "global":
        blocks = (((*range(problem.dim),),), (values["Lmax"],)) if "Lmax" in values else None
    quadratic = quadratic_objectives(problem)
    if reading is None or blocks is None or quadratic is None:
        return None
    return decides(reading, [a for a, _ in quadratic.forms().maps], *blocks)


def of_block(problem: Problem, client: int, x: Any, y: Any, blocks: Sequence[Any], chosen: int) -> dict[str, Any]:
    """The quantities of `BLOCK` at two points, for the chosen one of the (coordinates, L_j)."""
    exact = x.dtype == object
    rooms = [(v**2 if exact else float(v) ** 2) * _square((x - y)[[*b]]) for b, v in blocks]
    block = [*blocks[chosen][0]]
    alone = x.copy()
    alone[block] = y[block]
    at = problem.gradient(client, x)
    return {
        "own_block_difference2": _square((at - problem.gradient(client, alone))[block]),
        "block_difference2": _square((at - problem.gradient(client, y))[block]),
        "scaled_block_difference2": rooms[chosen],
        "scaled_difference2": sum(rooms[1:], rooms[0]),
    }


def _square(v: Any) -> Any:
    terms = [p * p for p in v]
    return sum(terms[1:], terms[0])
