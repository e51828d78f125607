"""Properties 1 to 4 of the averaging matrices P, and J, which averages all blocks at once."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

SHARED: dict[str, Any] = {
    "kind": Kind.EQUALITY,
    "algorithm": Algorithm("block_averaging", any_value=("tau", "partition", "order")),
}
# number -> what it says, the constant that is 0, its meaning, and what the weights must be
FIRST_THREE = {
    1: ("P 1 = 1", "row_defect", "The largest difference of a row sum from 1 is 0.", ()),
    2: ("J P = J", "product_defect", "The largest entry of J P - J is 0.", ()),
    3: (
        "products are symmetric",
        "symmetry_defect",
        "The largest entry of P P' - (P P')^T is 0. With other weights than 1/m it is not.",
        (averages_uniformly,),
    ),
}

theorems = {
    f"property_{number}": Theorem(
        **SHARED,
        bound=sp.S.Zero,
        source=Source(PAPER, f"Property {number}", "Appendix A"),
        title=f"Averaging matrices: {claim}",
        symbols=(),
        metric=Metric.constant(f"blocks/{defect}", ONE, "the method"),
        assumptions=assumptions,
        belief=Belief.TRUE,
        readings={"as_printed": Reading(remark=meaning)},
    )
    for number, (claim, defect, meaning, assumptions) in FIRST_THREE.items()
} | {
    "property_4": Theorem(
        **SHARED,
        bound=sp.S.Zero,
        source=Source(PAPER, "Property 4", "Appendix A"),
        title="Averaging matrices: products are grids of diagonal blocks",
        symbols=NOTATION,
        metric=Metric.constant("blocks/inner_defect", ONE, "the method"),
        best="grid",
        readings={
            "grid": Reading(
                belief=Belief.TRUE,
                replaces="'m x m diagonal blocks' by an m x m grid of diagonal blocks of size d_j x d_j",
                why="P P' is (1 w') kron I or the identity: block (a, b) is a multiple of the d_j x d_j identity.",
            ),
            "as_printed": Reading(
                title="Averaging matrices: products are diagonal",
                metric=Metric.constant("blocks/outer_defect", ONE, "the method"),
                conditions=(Condition("several workers", m >= 2),),
                belief=Belief.FALSE,
                remark="Read as a diagonal arrangement of diagonal blocks of size m x m, that is, as a diagonal "
                "matrix: where block j is averaged, P has the weight 1/m between workers.",
            ),
        },
    )
}
