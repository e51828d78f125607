"""The command line: `main` is the entry point, every error becomes a sentence and an exit code here.

Exit codes: 0 all hold, or the command did its work; 1 a claim is violated, refuted or lost its grade; 2 bad input
or usage; 3 undecided or out of scope where a decision was asked for; 130 interrupted, with what is finished kept.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import cast

from boundcheck.errors import BadInput, BoundcheckError, SpecError

__all__ = ["main"]

INTERRUPTED = 130
KEEPING = ("run", "compare", "check", "report")  # the commands whose finished runs are in the result store


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; argv: the arguments without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal that lacks a character shows '?' rather than an error
    try:
        if any("\0" in given for given in arguments):  # no shell hands one over, another program may
            return _refuse(BadInput("an argument has a character 0 in it, which no name has."), as_json)
        code = _run(arguments)
        sys.stdout.flush()
    except BoundcheckError as error:
        return _refuse(error, as_json)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        from boundcheck.core.places import reason

        where = f"'{error.filename}': " if error.filename else ""
        return _say(f"{where}{reason(error)}.", 2, as_json)
    except MemoryError:
        return _say("there is not enough memory for this; ask for fewer points, rounds or seeds.", 2, as_json)
    except RecursionError:
        return _say("the input is nested too deeply; write it in a flatter form.", 2, as_json)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        return _say(_interrupted(arguments), code, as_json)
    return code


def _run(arguments: list[str]) -> int:
    import typer

    from boundcheck.cli._app import app

    # click's base class of usage errors, whether typer brings its own copy of click or uses the package
    bases = [c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException"]
    usage_errors = cast("type[Exception]", bases[0])
    try:
        found = typer.main.get_command(app)(args=arguments, prog_name="boundcheck", standalone_mode=False)
    except usage_errors as error:
        text = str(getattr(error, "format_message", error.__str__)())
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.stderr.write(text + "\n")
            return 2
        return _say(f"{_sentence(text)} {_where_help(error)}", 2, "--json" in arguments)
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as error:  # what typer makes of a closed pipe
        if isinstance(error.__context__, BrokenPipeError):
            return 0
        raise
    return found if isinstance(found, int) else 0


def _interrupted(arguments: Sequence[str]) -> str:
    if arguments[:1] == ["falsify"]:
        return "interrupted; nothing of the search is kept."
    if arguments and arguments[0] in KEEPING and "--no-store" not in arguments:
        return "interrupted; what is finished is kept, and the same command continues from there."
    return "interrupted."


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "?", "!")) else text + "."


def _where_help(error: BaseException) -> str:
    path = getattr(getattr(error, "ctx", None), "command_path", "boundcheck")
    return f"See `{path} --help`."


def _refuse(error: BoundcheckError, as_json: bool) -> int:
    problems = None
    if isinstance(error, SpecError):
        problems = [{"file": error.path, "line": line, "problem": text} for line, text in error.problems]
    return _say(str(error), error.exit_code, as_json, kind=type(error).__name__, problems=problems)


def _say(
    text: str, code: int, as_json: bool, kind: str = "", problems: Sequence[Mapping[str, object]] | None = None
) -> int:
    with contextlib.suppress(OSError):  # a closed stderr or stdout must not hide the exit code
        sys.stdout.flush()
        sys.stderr.write(f"boundcheck: {text}\n")
        sys.stderr.flush()
        if as_json:
            import json

            body: dict[str, object] = {"schema": 1, "error": text, "exit_code": code}
            if kind:
                body["kind"] = kind
            if problems is not None:
                body["problems"] = problems
            sys.stdout.write(json.dumps(body, indent=2) + "\n")
            sys.stdout.flush()
    return code
