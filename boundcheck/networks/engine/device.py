"""torch, the device it computes on, and how: settings, and torch's own switches."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from typing import Any, cast

from numpy.typing import NDArray

from boundcheck.core.digest import package_version
from boundcheck.core.extras import needed_for
from boundcheck.errors import BadInput, UnknownName, Unsupported, shown

Tensor = Any  # torch.Tensor; torch is imported only where a run needs it


def library() -> Any:
    """The module torch. Raises MissingExtra, with the command that installs it, if torch is missing."""
    with needed_for("engine = 'neural'"):
        return sys.modules.get("torch") or importlib.import_module("torch")


DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float64", "float32", "tf32", "bf16")
MOST_THREADS = 1024  # with far more the system's library ends the process without an error message
_CALLED: Mapping[type, str] = {str: "a text", bool: "true or false", int: "an integer"}


@dataclass(frozen=True)
class Settings:
    """Settings of a neural run.

    device: "auto" (a GPU if torch sees one), "cpu", "cuda" or "cuda:1".
    precision: of parameters and gradients: "float64", "float32", "tf32" (float32 with TF32 products; GPU) or "bf16"
        (float32 parameters, forward and backward pass under bfloat16 autocast).
    lanes: how many visits (client and seed) are worked on at once; None: all that fit. A run that meets the end of the
        memory halves it and goes on, with a notice in `Curve.info`.
    compiled: torch.compile for the local step. graphs: CUDA graphs for the local step (GPU).
    threads: of torch on the CPU; one is fastest on small models.
    """

    device: str = "auto"
    precision: str = "float32"
    lanes: int | None = None
    compiled: bool = False
    graphs: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.device not in DEVICES and re.fullmatch("cuda:[0-9]{1,3}", self.device) is None:
            raise UnknownName("the device", self.device, DEVICES)
        if self.precision not in PRECISIONS:
            raise UnknownName("the precision", self.precision, PRECISIONS)
        for name in ("lanes", "threads"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value < 1):
                raise BadInput(f"{name} = {value} is not allowed; it must be at least 1.")
        if self.threads > MOST_THREADS:
            raise BadInput(f"threads = {self.threads} is not allowed; at most {MOST_THREADS} are.")

    @staticmethod
    def of(given: Settings | Mapping[str, Any] | None) -> Settings:
        """Settings from a table such as {precision = "float64"}. Raises UnknownName and BadInput."""
        if isinstance(given, Settings):
            return given
        table: Any = {} if given is None else given
        if not isinstance(table, Mapping):
            raise BadInput(
                f'neural = {shown(repr(table))} is not allowed; it must be a table such as {{"precision": "float64"}}.'
            )
        settings = cast("Mapping[str, Any]", table)
        known = {f.name: f.type for f in fields(Settings)}
        for name, value in settings.items():
            if name not in known:
                raise UnknownName("the neural engine: setting", name, known)
            if name == "lanes" and value is None:
                continue
            asked = {"device": str, "precision": str, "compiled": bool, "graphs": bool}.get(name, int)
            if not isinstance(value, asked) or (asked is int and isinstance(value, bool)):
                text = f"the neural engine: {name} = {shown(repr(value))} is not allowed; it must be {_CALLED[asked]}."
                raise BadInput(text)
        return Settings(**settings)


def device_of(settings: Settings) -> str:
    """The device that settings mean, "cpu", "cuda" or "cuda:1". Raises BadInput for a GPU that is not there."""
    if settings.device == "cpu" or (settings.device == "auto" and (package_version("torch") or "").endswith("+cpu")):
        return "cpu"
    cuda = library().cuda
    if settings.device == "auto":
        return "cuda" if cuda.is_available() else "cpu"
    number = int(settings.device.partition(":")[2] or 0)
    count = cuda.device_count() if cuda.is_available() else 0
    if number >= count:
        seen = "no GPU" if count == 0 else f"GPUs up to 'cuda:{count - 1}'"
        raise BadInput(f"device = '{settings.device}' is not there: torch sees {seen}; take device = 'auto' or 'cpu'.")
    return settings.device


def name_of(device: str) -> str:
    """The kind of a device, on which the bits of a result depend: "cpu", or the name of the GPU."""
    return "cpu" if device == "cpu" else str(library().cuda.get_device_name(device))


@contextmanager
def environment(settings: Settings, device: Tensor) -> Generator[None]:
    """torch's own switches for a run, each put back at the end.

    Products of float32 are IEEE float32 unless precision = "tf32" (torch itself takes TF32 for convolutions and
    recurrences on a GPU by default); algorithms are deterministic; threads on the CPU as set. Raises
    Unsupported where an operation has no deterministic algorithm on the device.
    """
    torch = library()
    backends, memory = torch.backends, torch.utils.deterministic
    products = "tf32" if settings.precision == "tf32" else "ieee"
    cuda = (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn)
    cpu = (backends.mkldnn.matmul, backends.mkldnn.conv, backends.mkldnn.rnn)
    before = [(kind, kind.fp32_precision) for kind in (*cuda, *cpu)]
    strict, fills = torch.get_deterministic_debug_mode(), memory.fill_uninitialized_memory
    tries, threads = backends.cudnn.benchmark, torch.get_num_threads()
    own = torch.cuda.device(device) if device.type == "cuda" else nullcontext()  # streams and graphs are made there
    if device.type == "cuda":
        # cuBLAS reads it when the first product of the process is computed
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        for kind in cuda:
            kind.fp32_precision = products
        for kind in cpu:
            kind.fp32_precision = "ieee"
        backends.cudnn.benchmark = False
        torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms(True) would import the compiler
        memory.fill_uninitialized_memory = False
        torch.set_num_threads(settings.threads)
        with own:
            yield
    except RuntimeError as error:
        if "deterministic" not in str(error):
            raise
        raise Unsupported(
            f"a layer of the model has no deterministic algorithm on the device '{device}': {str(error).split('.')[0]}."
        ) from None
    finally:
        for kind, value in before:
            kind.fp32_precision = value
        backends.cudnn.benchmark = tries
        torch.set_deterministic_debug_mode(strict)
        memory.fill_uninitialized_memory = fills
        torch.set_num_threads(threads)


def placed(values: NDArray[Any], device: Tensor, dtype: Tensor = None) -> Tensor:
    """NumPy's array as a tensor on the device, in a dtype if one is given.

    To a GPU it goes through pinned memory: a plain copy would wait for all work that is queued there.
    """
    here = library().as_tensor(values, dtype=dtype)
    return here.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else here.to(device)
