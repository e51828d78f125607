"""What is said of an error that no code of boundcheck foresaw: one sentence, and a file with the traceback."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence

from boundcheck._version import __version__
from boundcheck.errors import shown


def sentence(error: BaseException, arguments: Sequence[str]) -> str:
    """Writes the traceback into a new file of the system's folder for temporary files and returns the sentence.

    Where no file can be written the sentence says so and keeps the kind of the error and its message.
    """
    text = "\n".join(
        [
            f"boundcheck {__version__}, Python {platform.python_version()}, {sys.platform} {platform.machine()}",
            f"command: {' '.join(['boundcheck', *(shown(a, 400) for a in arguments)])}",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    what = f"an error of boundcheck itself: {type(error).__name__}: {shown(str(error), 200) or 'no message'}"
    try:
        number, path = tempfile.mkstemp(prefix="boundcheck-error-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        return f"{what}; its traceback could not be written to any folder for temporary files."
    return f"{what}; the traceback is in {path}, which a report of this error should include."
