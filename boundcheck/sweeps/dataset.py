"""The data set of a sweep: one Parquet file a chunk, in a folder or at a URL, each named by what it holds.

    <place>/part-<digest>-0000012.parquet    chunk 12 of the sweep with this digest

The digest is of the specification, of the code that computes the rows and of the versions of what it uses, so that a
sweep that goes on finds what it has by a listing, and never mixes what two versions computed. A file is there as a
whole or not at all. Its schema says unit and meaning of each column, and its metadata, under the key `boundcheck`,
where the rows come from, how many there are of each label, and a checksum of the file: SHA-256 of its bytes with the
digits of the checksum itself as zeros. Equal chunks are equal byte for byte.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import io
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.core.digest import code_digest, digest, package_version
from boundcheck.core.extras import missing
from boundcheck.core.loaded import LOADED, digests
from boundcheck.core.places import Place
from boundcheck.errors import BadInput, MissingExtra
from boundcheck.methods import build as methods
from boundcheck.problems import build as problems
from boundcheck.setting.metrics import modules_of, of_a_round
from boundcheck.sweeps.axes import Axis
from boundcheck.sweeps.rows import LABELS, columns_of
from boundcheck.sweeps.sweep import RESULTS, Sweep
from boundcheck.theory.discovery import statement

SCHEMA = 2
KEY = b"boundcheck"  # of the metadata
PART = re.compile(r"part-([0-9a-f]{12})-([0-9]{7})\.parquet")
_BLANK = b"0" * 64
_CHECKSUM = re.compile(rb'"checksum": "([0-9a-f]{64})"')
_CODE = ("boundcheck.sweeps.rows", "boundcheck.engines.exact", "boundcheck.engines.simulate")
_PACKAGES = ("boundcheck", "numpy", "numba", "scipy", "sympy", "pyarrow")
# Result columns that hold text and truth values; the others are doubles.
_TEXT = ("outcome", "grade", "reason")
_TRUE = ("in_scope", "vacuous")
_MEANINGS: Mapping[str, str] = {
    "label": "the class of the row on maps and in counts",
    "bound": "the value of the bound",
    "in_scope": "whether all conditions of the statement hold, decided exactly",
    "vacuous": "whether the bound is not below its trivial value",
    "reason": "why, in words; of a row that was not run, what was refused",
    "outcome": "the verdict",
    "grade": "the grade of the evidence",
    "tightness": "least bound over metric",
    "slope": "log-log slope of the metric over the last half of the log range of rounds",
    "bound_end": "the bound at the last compared point",
    "metric_low_end": "the metric at the last compared point, from below",
    "metric_high_end": "the metric at the last compared point, from above",
    "ratio": "rounds that the bound promises over rounds of the best choice found by running",
    "step_ratio": "best step found by running over the step that the bound recommends",
    "recommended_step": "the step that the bound recommends",
    "best_step": "the best step found by running",
    "promised_rounds": "communication rounds to the target that the bound promises at its step",
    "needed_rounds": "communication rounds to the target that this step needs",
    "best_rounds": "communication rounds to the target that the best choice needs",
}


def need_pyarrow() -> None:
    """Raises MissingExtra where pyarrow is absent."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra(missing("pyarrow", "a sweep"))


Counts = Mapping[str, int]  # label -> rows of a chunk


class Dataset:
    """The files of one sweep at a place."""

    def __init__(self, sweep: Sweep, place: Path | str, known_digest: str = "") -> None:
        """known_digest: `sweep_digest` of the sweep, where it has been computed already (it takes a second)."""
        self.sweep = sweep
        self.files = Place(place)
        self.digest = known_digest or sweep_digest(sweep)

    def name(self, chunk: int) -> str:
        """The name of the file of a chunk."""
        return f"part-{self.digest[:12]}-{chunk:07d}.parquet"

    def claim(self) -> dict[int, Counts]:
        """The whole chunks that are there, with the counts of their labels.

        Raises BadInput where the place holds another sweep, or files that are no sweep.
        """
        self.files.tidy()
        found: dict[int, Counts] = {}
        for name in self.files.names():
            match = PART.fullmatch(name)
            if match is None:
                raise BadInput(
                    f"{self.files.place} holds files that are no part of a sweep (such as '{name}'); name a new folder."
                )
            if match[1] != self.digest[:12]:
                raise BadInput(
                    f"{self.files.place} holds a sweep of another specification, or of another version of boundcheck "
                    f"('{name}'); name a new folder, or remove what is there."
                )
            counts = self.counts(int(match[2]))
            if counts is not None:
                found[int(match[2])] = counts
        return found

    def counts(self, chunk: int) -> Counts | None:
        """The labels of a chunk that is there; None where it is not, or is damaged."""
        content = self.files.read(self.name(chunk))
        if content is None:
            return None
        try:
            about = about_of(content)
            low, high = self.sweep.range_of(chunk)
            counts = {str(k): int(v) for k, v in about["counts"].items()}
            return counts if about["rows"] == [low, high] and sum(counts.values()) == high - low else None
        except (ValueError, LookupError, TypeError, OSError):  # pyarrow's errors are of these kinds
            return None

    def compute(self, chunk: int, tell: Any = None) -> Counts:
        """Computes a chunk and puts its file in place."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        start, stop = self.sweep.range_of(chunk)
        columns = columns_of(self.sweep, start, stop, tell)
        tally = np.bincount(columns["label"], minlength=len(LABELS))
        counts = {name: int(n) for name, n in zip(LABELS, tally, strict=True) if n}
        fields = fields_of(self.sweep)
        about = self.about() | {"rows": [start, stop], "counts": counts, "checksum": _BLANK.decode()}
        schema = pa.schema(fields, metadata={KEY: json.dumps(about, sort_keys=True)})
        arrays = [_array(columns[field.name], field.type) for field in fields]
        packed = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), packed, compression="zstd", store_schema=True)
        blank = packed.getvalue()
        at = _place_of_checksum(blank)
        self.files.write(self.name(chunk), blank[:at] + _checksum(blank) + blank[at + len(_BLANK) :])
        return counts

    def about(self) -> dict[str, Any]:
        """Where the rows come from; no time and no machine, so that equal sweeps have equal files."""
        return {
            "schema": SCHEMA,
            "sweep": self.sweep.to_dict(),
            "digest": self.digest,
            "statements": [statement(id).best_id for id in _ids(self.sweep)],
            "versions": {name: package_version(name) for name in _PACKAGES},
            "total_rows": self.sweep.rows,
        }


def about_of(content: bytes) -> dict[str, Any]:
    """The metadata of a part. Raises ValueError where its bytes are not those that were written."""
    import pyarrow.parquet as pq

    at = _place_of_checksum(content)
    end = at + len(_BLANK)
    if content[at:end] != _checksum(content[:at] + _BLANK + content[end:]):
        raise ValueError("the checksum differs")
    return json.loads(pq.read_schema(io.BytesIO(content)).metadata[KEY])


def _place_of_checksum(content: bytes) -> int:
    """Where the digits of a part's checksum begin: the last ones, in the footer of the file."""
    found = [match.start(1) for match in _CHECKSUM.finditer(content)]
    if not found:
        raise ValueError("there is no checksum")
    return found[-1]


def _checksum(blank: bytes) -> bytes:
    return hashlib.sha256(blank).hexdigest().encode()


def _ids(sweep: Sweep) -> list[str]:
    axis = next((a for a in sweep.axes if a.path == ("statement",)), None)
    return [str(v) for v in axis.values] if axis is not None else [str(sweep.base.get("statement", ""))]


@functools.lru_cache(maxsize=8)
def _code(modules: tuple[str, ...]) -> str:
    return digest({name: package_version(name) for name in _PACKAGES} | {"code": code_digest(modules)})


def sweep_digest(sweep: Sweep) -> str:
    """SHA-256 of what the sweep computes, of the code that does and of the versions of what it uses."""
    modules = {*_CODE, *_named_modules(sweep), *modules_of(of_a_round())}
    loaded = digests() if LOADED else None
    return digest({"schema": SCHEMA, "sweep": sweep.to_dict(), "code": _code(tuple(sorted(modules))), "loaded": loaded})


def _named_modules(sweep: Sweep) -> Iterable[str]:
    """Modules that are found by the names in the specification: problems, methods and statements."""
    kinds = {("problem", "kind"): problems.module_name, ("method", "kind"): methods.module_name}
    for path, module_of in kinds.items():
        values = [a.values for a in sweep.axes if a.path == path]
        own = sweep.base.get(path[0], {}).get(path[1])
        for kind in (*(v for vs in values for v in vs), *([own] if own is not None else [])):
            yield module_of(str(kind))
    for id in _ids(sweep):
        paper, _, rest = statement(id).best_id.partition("/")
        if paper not in LOADED:
            yield f"boundcheck.papers.{paper}.{rest.partition('/')[0]}"


def fields_of(sweep: Sweep) -> list[Any]:
    """The columns with types, units and meanings."""
    import pyarrow as pa

    label = pa.dictionary(pa.int8(), pa.string())
    found: list[Any] = []
    for name in sweep.names:
        axis = next((a for a in sweep.axes if a.name == name), None)
        kind = pa.float64() if axis is None or axis.is_numeric else _type_of(axis)
        unit, meaning = sweep.units.get(name, ("", ""))
        found.append(pa.field(name, kind, metadata={"unit": unit, "meaning": meaning}))
    kinds = {"label": label, **dict.fromkeys(_TEXT, pa.string()), **dict.fromkeys(_TRUE, pa.bool_())}
    for name in RESULTS[sweep.kind]:
        about = {"unit": _result_unit(sweep, name), "meaning": _MEANINGS[name]}
        found.append(pa.field(name, kinds.get(name, pa.float64()), metadata=about))
    return found


def _type_of(axis: Axis) -> Any:
    """The type of a column of values that are no numbers."""
    import pyarrow as pa

    return pa.bool_() if all(isinstance(v, bool) for v in axis.values) else pa.string()


def _result_unit(sweep: Sweep, name: str) -> str:
    """The unit of a result: that of the metric for bounds and metrics, where all statements share it."""
    if name in ("bound", "bound_end", "metric_low_end", "metric_high_end"):
        units = {str(statement(id).metric.dimension) for id in _ids(sweep)}
        return units.pop() if len(units) == 1 else ""
    return "" if name in (*_TEXT, *_TRUE, "label") or name.endswith("_step") else "rounds" if "rounds" in name else "1"


def _array(values: Any, kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(pa.array(values, pa.int8()), pa.array(LABELS))
    if pa.types.is_string(kind):
        texts = [v if v is None or isinstance(v, str) else json.dumps(v, sort_keys=True) for v in values]
        return pa.array(texts, kind)
    return pa.array(values, kind)
