"""The folder and the files of a figure: refused in one sentence before anything is computed, written whole or not."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from boundcheck.core.places import reason
from boundcheck.core.targets import probe_folder
from boundcheck.errors import BadInput, BoundcheckError, StoreError

HERE = Path(__file__).parent
SUFFIXES = (".png", ".svg", ".pdf", ".json", ".md")  # the files of one figure
VECTOR = {".svg": ("Date", "Creator"), ".pdf": ("CreationDate", "Creator", "Producer")}  # without these metadata
INTERRUPTED = 130


def add_folder(parser: argparse.ArgumentParser) -> None:
    """The option -o; its value is a text until `folder_of` has looked at it."""
    parser.add_argument("-o", "--out", default=str(HERE), help="folder for the files")


def folder_of(text: str, *names: str) -> Path:
    """The folder that -o names, made where it is not there, for the figures of these names.

    Raises BadInput or StoreError where it is a file or cannot be written, or a folder has the name of a file of theirs.
    """
    folder = probe_folder(text, "-o/--out")
    taken = [folder / f"{name}{suffix}" for name in names for suffix in SUFFIXES]
    taken = [path for path in taken if path.is_dir()]
    if taken:
        raise BadInput(f"-o/--out '{text}': {taken[0]} is a folder, where a file of the figure is to be; remove it.")
    return folder


def write_figure(
    figure: Figure, texts: Mapping[str, str], folder: Path, name: str, add_prose: Callable[[], None] = lambda: None
) -> list[Path]:
    """Writes the picture as PNG, SVG and PDF, and its texts, by suffix; all are complete under other names before the
    first is moved in place. Raises StoreError, leaving what was there, where the disk refuses.

    add_prose: called before the PNG is drawn, which alone has the caption in it.
    """
    partial = {suffix: folder / f".{name}.{os.getpid()}.partial{suffix}" for suffix in (".png", *VECTOR, *texts)}
    written = {suffix: folder / f"{name}{suffix}" for suffix in partial}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, nameless in VECTOR.items():
            with rc_context({"svg.hashsalt": name}):  # equal data gives equal bytes
                figure.savefig(partial[suffix], metadata=dict.fromkeys(nameless), bbox_inches="tight")
        add_prose()
        figure.savefig(partial[".png"], dpi=110, metadata={"Software": None})
        with Image.open(partial[".png"]) as image:  # few colours: a palette makes the file several times smaller
            image.convert("RGB").quantize(256).save(partial[".png"], optimize=True)
        for suffix, text in texts.items():
            partial[suffix].write_text(text, encoding="utf-8")
        for suffix, path in written.items():
            os.replace(partial[suffix], path)
    except OSError as error:
        raise StoreError(f"the files of {name} cannot be written to {folder}: {reason(error)}.") from error
    finally:
        for path in partial.values():
            if folder.is_dir():
                path.unlink(missing_ok=True)
    return list(written.values())


def start(main: Callable[[Sequence[str] | None], Any]) -> None:
    """Runs a script's `main` on the command line; what boundcheck refuses is one sentence and its exit code."""
    try:
        main(None)
    except BoundcheckError as error:
        sys.stderr.write(f"{Path(sys.argv[0]).name}: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        sys.stderr.write(f"{Path(sys.argv[0]).name}: interrupted.\n")
        raise SystemExit(INTERRUPTED) from None
