"""Own data for networks: features as they are given, and a test part that is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boundcheck.errors import BadInput
from boundcheck.networks.data.labelled import SEED_TOP, Labelled, drawn_parts, of_parts
from boundcheck.problems._own_data import OwnData, labelled, own_data
from boundcheck.problems._specs import whole

OPTIONS = ("seed", "test_share")  # of the test part


def own_labelled(data: Any, target: str | None, client: str | None) -> tuple[Labelled, Mapping[str, Any]]:
    """The data of a file or of arrays, with `seed` (0) and `test_share` ("1/5") beside them, and their specification.

    The test part has the same share of each class, or of each client where the data name clients. Raises as `own_data`
    does, and BadInput for a client with too few samples for both parts.
    """
    table: Mapping[str, Any] = data if isinstance(data, Mapping) else {"file": data}
    options = {name: table[name] for name in OPTIONS if name in table}
    own = own_data({name: value for name, value in table.items() if name not in OPTIONS}, target, client)
    samples = labelled(own)
    train, test, note = drawn_parts(samples.labels if own.owners is None else own.owners, **options)
    if own.owners is not None:
        _check_holders(own, train, test)
        note = note.replace("of each class", "of each client")
    values = np.asarray(samples.numbers, dtype=np.float64)
    spec = {**own.table, **{name: _plain(name, value) for name, value in options.items()}}
    owners = {} if own.owners is None else {"owners": own.owners[train]}
    parts = ((values[rows], samples.labels[rows]) for rows in (train, test))
    more = {"classes": samples.classes, "meanings": samples.meanings, "owner_names": own.holders, "notes": (note,)}
    return of_parts(own.words, "features", *parts, **owners, **more), spec


def _plain(name: str, value: Any) -> Any:
    return whole(value, name, 0, SEED_TOP) if name == "seed" else str(value)


def _check_holders(own: OwnData, train: Any, test: Any) -> None:
    assert own.owners is not None
    for k, name in enumerate(own.holders):
        if k not in own.owners[train] or k not in own.owners[test]:
            count = int(np.sum(own.owners == k))
            raise BadInput(
                f"{own.answer.rpartition(': ')[0]}: client '{name}' has {count} samples, too few for a training and a "
                "test part; give it more, or another test_share."
            )
