"""Properties 1 to 4 of the averaging matrices P, and J, which averages all blocks at once."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

CONSTANT = "none: a constant of the method"

theorems = {
    "property_1": Theorem(
        source=Source(PAPER, "Property 1", "Appendix A"),
        title="Averaging matrices: P 1 = 1",
        symbols=(),
        metric=Metric("constant:blocks/row_defect", ONE, expectation=CONSTANT),
        kind=Kind.EQUALITY,
        bound=sp.S.Zero,
        algorithm=Algorithm("block_averaging", any_value=("tau", "partition", "order")),
        belief=Belief.TRUE,
        readings={"as_printed": Reading(remark="The largest difference of a row sum from 1 is 0.")},
    ),
    "property_2": Theorem(
        source=Source(PAPER, "Property 2", "Appendix A"),
        title="Averaging matrices: J P = J",
        symbols=(),
        metric=Metric("constant:blocks/product_defect", ONE, expectation=CONSTANT),
        kind=Kind.EQUALITY,
        bound=sp.S.Zero,
        algorithm=Algorithm("block_averaging", any_value=("tau", "partition", "order")),
        belief=Belief.TRUE,
        readings={"as_printed": Reading(remark="The largest entry of J P - J is 0.")},
    ),
    "property_3": Theorem(
        source=Source(PAPER, "Property 3", "Appendix A"),
        title="Averaging matrices: products are symmetric",
        symbols=(),
        metric=Metric("constant:blocks/symmetry_defect", ONE, expectation=CONSTANT),
        kind=Kind.EQUALITY,
        bound=sp.S.Zero,
        algorithm=Algorithm("block_averaging", any_value=("tau", "partition", "order")),
        assumptions=(averages_uniformly,),
        belief=Belief.TRUE,
        readings={
            "as_printed": Reading(
                remark="The largest entry of P P' - (P P')^T is 0. With other weights than 1/m it is not."
            )
        },
    ),
    "property_4": Theorem(
        source=Source(PAPER, "Property 4", "Appendix A"),
        title="Averaging matrices: products are grids of diagonal blocks",
        symbols=NOTATION,
        metric=Metric("constant:blocks/inner_defect", ONE, expectation=CONSTANT),
        kind=Kind.EQUALITY,
        bound=sp.S.Zero,
        algorithm=Algorithm("block_averaging", any_value=("tau", "partition", "order")),
        best="grid",
        readings={
            "grid": Reading(
                belief=Belief.TRUE,
                replaces="'m x m diagonal blocks' by an m x m grid of diagonal blocks of size d_j x d_j",
                why="P P' is (1 w') kron I or the identity: block (a, b) is a multiple of the d_j x d_j identity.",
            ),
            "as_printed": Reading(
                title="Averaging matrices: products are diagonal",
                metric=Metric("constant:blocks/outer_defect", ONE, expectation=CONSTANT),
                conditions=(Condition("several workers", m >= 2),),
                belief=Belief.FALSE,
                remark="Read as a diagonal arrangement of diagonal blocks of size m x m, that is, as a diagonal "
                "matrix: where block j is averaged, P has the weight 1/m between workers.",
            ),
        },
    ),
}
