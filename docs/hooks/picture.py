"""Draws the picture of the README, from the claims of the README: `python docs/hooks/picture.py`."""

from __future__ import annotations

import re
from pathlib import Path

from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.report.data import claim_data
from boundcheck.report.plot import claim_svg

FOLDER = Path(__file__).parents[1]
PICTURE = FOLDER / "images" / "violated.svg"
STYLE = """<style>
svg { --ink: #1f2328; --ink-soft: #59636e; --rule: #d1d9e0; --violated: #cf222e; background: #ffffff;
  --series-metric: #0969da; --series-bound: #c4560a; --series-reading: #2f7d4f; --series-trivial: #6e7781 }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6edf3; --ink-soft: #9198a1; --rule: #3d444d; --violated: #ff7b72; background: #0d1117;
    --series-metric: #58a6ff; --series-bound: #f0883e; --series-reading: #56d364; --series-trivial: #9198a1 }
}
</style>"""


def picture() -> str:
    """The first claim of the README as an SVG with colours of its own."""
    page = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```toml title=\"claims.toml\"\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    (claim, *_) = claims_from_text(found[1])
    svg = re.sub(r' data-points="[^"]*"', "", claim_svg(claim_data(run_claim(claim))), count=1)
    return re.sub(r"(<svg [^>]*>)", lambda match: f"{match[1]}\n{STYLE}", svg, count=1)


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
