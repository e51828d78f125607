"""Small packages and clients for the tests of fetching."""

from __future__ import annotations

import csv
import hashlib
import io
import stat
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def tarred(files: dict[str, bytes], mode: Any = "w:gz") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as members:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def debian(files: dict[str, bytes]) -> bytes:
    """A Debian package: an `ar` archive of three members, the first of odd length."""
    out = b"!<arch>\n"
    data = tarred(files, "w:xz")
    for name, content in (("debian-binary", b"2.0"), ("control.tar.xz", b"none"), ("data.tar.xz", data)):
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode("ascii")
        out += content + b"\n" * (len(content) % 2)
    return out


def client(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, packed: bytes = b"") -> Path:
    """A program in front of the path; "ARCHIVE" in the script is the place of the archive `packed`."""
    (tmp_path / "archive").write_bytes(packed)
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / name
    program.write_text("#!/bin/sh\n" + script.replace("ARCHIVE", str(tmp_path / "archive")) + "\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    return header + array.astype(np.uint8).tobytes()


def known(module: ModuleType, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the files the ones that the data set expects."""
    monkeypatch.setattr(module, "FILES", {name: sha256(content) for name, content in files.items()})


def written(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


# Two plays; roles of 50, 30 and 9 characters in the first, 40 in the second, of known letters.
_SAID = {"A": "abcdefghij" * 5, "B": "xyz" * 10, "C": "short one", "D": "mnop" * 10}
PLAYS = {
    "first_gut.txt": ("ACT I.\n\n" + "".join(f"{name}.\n{_SAID[name]}\n\n" for name in "ABC")).encode(),
    "second_gut.txt": f"ACT I.\n\nD.\n{_SAID['D']}\n".encode(),
}


def _reviews() -> bytes:
    """Words of text i: "common" i + 1 times and "word<i mod 4>", over two lines; every fifth text is there twice."""
    rows = [(" ".join(["Common"] * (i + 1)) + f'<br />"Word{i % 4}",\nDON\'T', str(i % 2), "imdb") for i in range(20)]
    out = io.StringIO(newline="")
    header, foreign = ("text", "label", "source"), ("Elsewhere, said.", "1", "rotten_tomatoes")
    csv.writer(out).writerows([header, *rows, *rows[::5], foreign])
    return out.getvalue().encode()


REVIEWS = _reviews()
