"""The command line: `main` is the entry point, every error becomes a sentence and an exit code here.

Exit codes: 0 all hold, or the command did its work; 1 a claim is violated, refuted or lost its grade; 2 bad input
or usage; 3 undecided or out of scope where a decision was asked for; 70 an error of boundcheck itself, whose traceback
is in a file; 130 interrupted, with what is finished kept.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO, cast

from boundcheck.errors import BadInput, BoundcheckError, SpecError, shortened, shown

__all__ = ["main"]

OWN_ERROR = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130
KEEPING = ("run", "compare", "check", "report", "tune")  # what they have finished is in the result store


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; argv: the arguments without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    _open_closed_streams()
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
        _to_null_device(sys.stdout)
        return 0
    except OSError as error:
        from boundcheck.core.places import reason

        where = f"'{error.filename}': " if error.filename else ""
        code = _say(f"{where}{reason(error)}.", 2, as_json)
        _drop_unwritable_output()
        return code
    except MemoryError:
        return _say("there is not enough memory for this; ask for fewer points, rounds or seeds.", 2, as_json)
    except RecursionError:
        return _say("the input is nested too deeply; write it in a flatter form.", 2, as_json)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        return _say(own_error(error, arguments), OWN_ERROR, as_json, kind="OwnError")
    if code == INTERRUPTED:
        return _say(_interrupted(arguments), code, as_json)
    return code


def _run(arguments: list[str]) -> int:
    import typer

    from boundcheck.cli import output
    from boundcheck.cli.app import whole_command
    from boundcheck.core import index

    index.begin()
    output.begin()

    # click's base class of usage errors, whether typer brings its own copy of click or uses the package
    bases = [c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException"]
    usage_errors = cast("type[Exception]", bases[0])
    try:
        found = whole_command()(args=arguments, prog_name="boundcheck", standalone_mode=False)
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


def own_error(error: BaseException, arguments: Sequence[str]) -> str:
    """Writes the traceback into a new file of the system's folder for temporary files and returns the sentence.

    Where no file can be written the sentence says so and keeps the kind of the error and its message.
    """
    import platform
    import tempfile
    import traceback

    from boundcheck._version import __version__

    text = [f"boundcheck {__version__}, Python {platform.python_version()}, {sys.platform} {platform.machine()}"]
    text += [f"command: {' '.join(['boundcheck', *(shown(a, 400) for a in arguments)])}", ""]
    text += ["".join(traceback.format_exception(error))]
    what = f"an error of boundcheck itself: {type(error).__name__}: {shown(str(error), 200) or 'no message'}"
    try:
        number, path = tempfile.mkstemp(prefix="boundcheck-error-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write("\n".join(text))
    except OSError:
        return f"{what}; its traceback could not be written to any folder for temporary files."
    return f"{what}; the traceback is in {path}, which a report of this error should include."


def _interrupted(arguments: Sequence[str]) -> str:
    if arguments[:1] == ["falsify"] and "--all" not in arguments:
        return "interrupted; nothing of the search is kept."
    if arguments[:1] == ["sweep"]:
        return "interrupted; the chunks that are finished are kept, and the same command continues from there."
    keeping = bool(arguments) and arguments[0] in {*KEEPING, "falsify"}
    if keeping and "--no-store" not in arguments:
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
    text = shortened(text)
    with contextlib.suppress(OSError):  # a closed stdout must not hide the sentence
        sys.stdout.flush()
    with contextlib.suppress(OSError):  # nor a closed stderr the exit code
        sys.stderr.write(f"boundcheck: {text}\n")
        sys.stderr.flush()
    with contextlib.suppress(OSError):
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


def _open_closed_streams() -> None:
    """Opens the null device in the place of a standard stream that the caller has closed (`boundcheck list >&-`).

    The low file numbers are filled, too, so that no file that a command opens becomes the standard output.
    """
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream: TextIO | None = getattr(sys, name)  # None: closed before Python began
        if stream is not None and not stream.closed:
            continue
        opened = number if stream is not None else -1
        while opened < number:
            opened = os.open(os.devnull, os.O_RDWR)
        setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (it stays open)


def _drop_unwritable_output() -> None:
    """Leaves what a full disk did not take, so that Python's own flush at its end does not change the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        _to_null_device(sys.stdout)


def _to_null_device(stream: TextIO) -> None:
    with contextlib.suppress(OSError):  # a stream in memory has no file number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
