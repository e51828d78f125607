"""Libraries of federated learning that others wrote, run on boundcheck's quadratics: `make libraries`.

Everything here uses boundcheck as its users do. It has an environment of its own, because the versions that the
libraries need contradict those of boundcheck's lock files; nothing in `make test` depends on it. `pairs.toml` lists
what is compared, `findings.toml` what was found, `matrix.toml` what each library needs.
"""

from __future__ import annotations

import sys
import tomllib
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent


def table(name: str) -> dict[str, Any]:
    """The TOML file of that name beside this one, as tables."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


class _Empty(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _StandIns(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        known = fullname.split(".")[0] in table("matrix")["stand_ins"]
        return ModuleSpec(fullname, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


def stand_in() -> None:
    """Have an empty module, whose names are empty classes, for each package of `matrix.toml` that is not installed."""
    sys.meta_path.append(_StandIns())  # the last finder gets the names that no installed package has
