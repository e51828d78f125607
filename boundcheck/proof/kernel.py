"""Which methods belong to the checker: only these can prove a step.

A method that is defined anywhere else, or that is a subclass or an altered instance of one of these, is an assumption:
nobody has checked it.
"""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

_HOME = Path(__file__).resolve().parent


def of_the_kernel(method: Any) -> bool:
    """Whether the method, and the one inside it, is an unaltered instance of a class of this folder.

    The class must be what its module holds under its name, and the module one that was loaded from here; what a class
    says of itself is not believed.
    """
    kind = type(method)
    module = sys.modules.get(kind.__module__)
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    if module is None or origin is None or not is_dataclass(kind):
        return False
    if not Path(origin).resolve().is_relative_to(_HOME) or vars(module).get(kind.__name__) is not kind:
        return False
    if not set(getattr(method, "__dict__", ())) <= {f.name for f in fields(kind)}:
        return False
    inside: Any = getattr(method, "by", None)
    return inside is None or of_the_kernel(inside)
