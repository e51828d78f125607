"""The layers of the package and their third-party packages, which `test_layers` and `test_extras` enforce."""

from __future__ import annotations

# From top to bottom. A file may import its own layer and those below.
LAYERS: dict[str, set[str]] = {
    "faces": {"typer", "click", "rich", "jinja2", "markupsafe", "matplotlib", "numpy", "pytest", "sympy"},
    "networks": {"torch", "numpy", "scipy", "pydantic", "flint", "PIL"},
    "search": {"numpy", "scipy", "sympy", "torch", "jax", "pydantic", "pyarrow", "clarabel", "cvxpy"},
    "evidence": {"numpy", "scipy", "pydantic", "sympy", "pandas", "pyarrow"},  # the last two: files with curves
    "derivations": {"sympy"},
    "proof": {"sympy", "flint", "z3", "scipy", "clarabel", "numpy"},
    "papers": {"sympy"},
    "engines": {"numpy", "numba", "flint", "xarray"},  # the last: a curve to and fro
    "setting": {"numpy", "flint"},
    "problems": {"numpy", "scipy", "flint", "pyarrow"},
    "methods": {"numpy"},
    "certified": {"numpy", "scipy", "flint"},
    "theory": {"sympy", "flint", "numpy"},
    # matplotlib: the plot of a card; distributed and psutil: the workers of a cluster
    "core": {"numpy", "pydantic", "flint", "matplotlib", "fsspec", "dask", "distributed", "psutil"},
    "words": set(),
    "verify": set(),
}
