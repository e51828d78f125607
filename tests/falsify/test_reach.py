"""A search that does not reach a statement says what that statement is about, not what others are."""

from __future__ import annotations

import pytest

from boundcheck.errors import Unsupported
from boundcheck.falsify.search import falsify
from boundcheck.theory.discovery import statement

REFUSED = {
    "async_fl/equation_38/corrected": "bounds gap; the search covers dist2 for this method",
    "async_fl/table_2_async_beta/corrected": "is about the constant participation/beta",
    "fedshuffle/lemma_d_1/corrected": "is about 'epoch_error2', a quantity of its proof",
    "async_fl/example_1/corrected": "is of the kind 'limit'",
    "async_fl/equation_33/corrected": "bounds gap in another form; the search covers gap, .* as a mean over the rounds",
    "fedshuffle/theorem_5_2/corrected": "bounds epoch_grad2; the search covers dist2",
    "fedshuffle/theorem_5_1_convex_tuned/sharp": "prescribes eta_l; the search covers statements about any step size",
    "feddane/theorem_6/corrected": "bounds grad2; the search covers gap after one round",
    "partial_averaging/lemma_2/sharp": "bounds discrepancy; the search covers grad2 as a plain mean over the rounds",
    "async_fl/equation_108/as_printed": "is a formula",
}


@pytest.mark.parametrize(("id", "text"), REFUSED.items(), ids=str)
def test_a_refusal_names_what_the_statement_is_about(id: str, text: str) -> None:
    with pytest.raises(Unsupported, match=f"^{id.rpartition('/')[0]}.* {text}"):
        falsify(statement(id), budget=0.1)
