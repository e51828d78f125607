"""Output of the tests of the checker itself: the kit of claims, and mutants of derivations."""

from __future__ import annotations

from collections import Counter
from statistics import median

from boundcheck.cli._output import line, print_json, progress, table

SEED = 25  # of the order in which mutants are checked
COLUMNS = ["claims", "about", "number", "right", "undecided", "wrong", "median s"]


def show_kit(*, as_json: bool) -> int:
    """Decides the kit and prints the figures; 1 where a decision is wrong, else 0."""
    from boundcheck.evidence.honesty.kit import decide_all, figures, kit

    claims = kit()
    with progress(f"{len(claims)} claims", float(len(claims))) as show:
        decisions = decide_all(claims, show)
    rows, wrong = figures(decisions), [d for d in decisions if d.wrong]
    time = median(d.seconds for d in decisions)
    if as_json:
        print_json(
            {
                "figures": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
                "wrong": [{"claim": d.claim.text(), "truth": d.claim.truth, "status": d.status.value} for d in wrong],
                "median_seconds": round(time, 4),
            }
        )
        return 1 if wrong else 0
    table(COLUMNS, rows)
    line()
    for decision in wrong:
        line(f"WRONG: {decision.claim.text()} is {decision.claim.truth} and came out {decision.status.value}.")
    right = sum(d.right for d in decisions)
    line(
        f"{len(decisions)} claims: {len(wrong)} decided wrongly, {right} rightly ({right / len(decisions):.1%}); "
        f"median {time:.3f} s of processor time."
    )
    return 1 if wrong else 0


def show_mutants(budget: str, *, as_json: bool) -> int:
    """Checks mutants of the derivations recorded as proved for the given processor time and lists the survivors."""
    from boundcheck.cli._verified import shipped_readings
    from boundcheck.core.numbers import parse_seconds
    from boundcheck.evidence.honesty.mutants import Outcome, sample
    from boundcheck.proof.discovery import derivation
    from boundcheck.proof.records import recorded

    seconds = parse_seconds(budget, "--mutants")
    parts = [id.split("/") for id in shipped_readings()]
    ids = ["/".join((p, n, r)) for p, n, r in parts if recorded(p, n).get(r, {}).get("status") == "PROVED"]
    proofs = [derivation(id) for id in ids]
    done = 0
    with progress(f"mutants of {len(ids)} derivations") as show:

        def count(_: Outcome) -> None:
            nonlocal done
            done += 1
            show(done)

        found = sample(proofs, SEED, seconds, count)
    reasons = Counter(o.reason for o in found.outcomes)
    rows = [[o.reason, str(o.mutant)] for o in sorted(found.survivors, key=lambda o: o.reason)]
    if as_json:
        print_json({"mutants": found.total, "checked": done, "reasons": dict(reasons), "survivors": rows})
        return 0
    table(["why it survives", "mutant"], rows)
    line()
    counts = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    line(f"{done} of {found.total} mutants checked in {found.seconds:.0f} s of processor time: {counts}.")
    return 0
