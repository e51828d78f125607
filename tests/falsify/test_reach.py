"""What the general search reaches, and what it refuses in a sentence."""

from __future__ import annotations

import pytest

from boundcheck.errors import Unsupported
from boundcheck.falsify.search import falsify
from boundcheck.theory.discovery import statement

REFUSED = {
    "fedshuffle/lemma_d_1/corrected": "is about 'epoch_error2', a quantity of its proof",
    "async_fl/equation_108/as_printed": "is a formula",
    "partial_averaging/lemma_2/sharp": "has local_grad2, to which the search gives no value",
}
REACHED = {  # statement -> in scope, with this many instances
    "fedshuffle/theorem_5_1_convex_tuned/sharp": 12,
}


@pytest.mark.parametrize(("id", "text"), REFUSED.items(), ids=str)
def test_a_refusal_names_what_the_statement_is_about(id: str, text: str) -> None:
    with pytest.raises(Unsupported, match=f"^{id.rpartition('/')[0]}.* {text}"):
        falsify(statement(id), max_instances=1)


@pytest.mark.parametrize(("id", "count"), REACHED.items(), ids=str)
def test_true_statements_are_searched_and_survive(id: str, count: int) -> None:
    found = falsify(statement(id), max_instances=count)
    assert found.witness is None
    assert found.best > -1e5  # instances in scope were looked at


@pytest.mark.parametrize("id", ["fedshuffle/algorithm_1/as_printed", "partial_averaging/property_4/as_printed"])
def test_false_statements_without_a_generator_of_their_own_fall(id: str) -> None:
    assert falsify(statement(id), max_instances=20_000).witness is not None
