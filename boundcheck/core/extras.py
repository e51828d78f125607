"""The packages that a plain installation does not have: which extra brings each, and what to say where one is missing.

A module that needs one imports it inside a function, within `needed_for`:

    with needed_for("a picture"):
        from matplotlib.figure import Figure
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from boundcheck.errors import MissingExtra

# import name -> what pip calls the package, and the extra that brings it ("": none does)
PACKAGES: Mapping[str, tuple[str, str]] = {
    "PIL": ("Pillow", "data"),
    "cvxpy": ("cvxpy", "worst"),
    "distributed": ("distributed", "cluster"),
    "jax": ("jax", ""),
    "matplotlib": ("matplotlib", "figures"),
    "numba": ("numba", "fast"),
    "pandas": ("pandas", "data"),
    "polars": ("polars", ""),
    "pyarrow": ("pyarrow", "data"),
    "sklearn": ("scikit-learn", "data"),
    "torch": ("torch", "neural"),
    "xarray": ("xarray", ""),
    "z3": ("z3-solver", "proof"),
}


def missing(name: str, what: str) -> str:
    """The sentence for a package that is not installed.

    name: as it is imported. what: the beginning of the sentence, such as "a picture".
    """
    package, extra = PACKAGES[name]
    command = f'pip install "boundcheck[{extra}]"' if extra else f"pip install {package}"
    return f"{what} needs {package}, which is not installed; install it with: {command}"


@contextmanager
def needed_for(what: str) -> Generator[None]:
    """Raises MissingExtra, with the command that installs the package, where an import inside finds none."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in PACKAGES:
            raise
        raise MissingExtra(missing(name, what)) from error
