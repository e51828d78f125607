"""A process that holds one solver and answers SMT-LIB questions; started by path and killed by its owner.

Reads one JSON object a line, {"text": ..., "names": [...], "seconds": ...}, and writes one back,
{"answer": "sat" | "unsat" | "unknown", "model": {name: [fraction, exact]}}. It imports nothing of boundcheck.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any


def ask_z3(text: str, names: list[str], seconds: float) -> dict[str, Any]:
    """Decide with z3's nlsat (its general solver where integers occur); irrational values are approximated."""
    import z3

    solver: Any = z3.Solver() if " Int)" in text else z3.Tactic("qfnra-nlsat").solver()
    solver.set("timeout", int(1000 * seconds) + 1000)
    solver.from_string(text)
    answer = str(solver.check())
    if answer != "sat":
        return {"answer": answer, "model": {}}
    model = solver.model()
    values = {d.name(): model[d] for d in model.decls()}
    found: dict[str, Any] = {}
    for name in names:
        value: Any = values.get(name)
        if value is None:
            found[name] = ["0", True]
        elif z3.is_algebraic_value(value):
            found[name] = [str(value.approx(40).as_fraction()), False]
        else:
            found[name] = [str(Fraction(value.as_string())), True]
    return {"answer": answer, "model": found}


def ask_cvc5(text: str, names: list[str], seconds: float) -> dict[str, Any]:
    """Decide with cvc5; only rational values of the model are returned."""
    import importlib

    cvc5: Any = importlib.import_module("cvc5")
    solver: Any = cvc5.Solver()
    solver.setOption("produce-models", "true")
    solver.setOption("tlimit-per", str(int(1000 * seconds) + 1000))
    logic = "QF_NIRA" if " Int)" in text else "QF_NRA"
    parser: Any = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic {logic}){text}(check-sat)", "question")
    symbols = parser.getSymbolManager()
    answer = "unknown"
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer = str(command.invoke(solver, symbols)).strip() or answer
    found: dict[str, Any] = {}
    if answer == "sat":
        for term in symbols.getDeclaredTerms():
            value = solver.getValue(term)
            if str(term) in names and value.isRealValue():
                found[str(term)] = [str(Fraction(value.getRealValue())), True]
    return {"answer": answer if answer in ("sat", "unsat") else "unknown", "model": found}


def main() -> None:
    """Answer until the input ends."""
    ask = {"z3": ask_z3, "cvc5": ask_cvc5}[sys.argv[1]]
    for line in sys.stdin:
        question = json.loads(line)
        reply = ask(question["text"], question["names"], question["seconds"])
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
