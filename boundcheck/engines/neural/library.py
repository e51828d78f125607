"""The torch library, where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from boundcheck.errors import MissingExtra

__all__ = ["library"]


def library() -> Any:
    """The module torch. Raises MissingExtra, with the command that installs it, where it is not there."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtra(
            "engine = 'neural' needs torch, which is not installed; 'pip install boundcheck[neural]' installs it "
            "('pip install .[neural]' in a folder of the sources)."
        )
    return sys.modules.get("torch") or importlib.import_module("torch")
