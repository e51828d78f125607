"""The connection of a client to the scheduler of a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import queue
import re
import secrets
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from boundcheck.core.cluster_worker import TOPIC, Chunk, carry_out, end_idle
from boundcheck.errors import BadInput, BoundcheckError

CONNECTING = 10.0  # seconds to reach a scheduler
RECONNECTING = 120.0  # seconds that a scheduler may be away
_RETRY = 1.0
_LOG = logging.getLogger("boundcheck.cluster")


class ClusterLost(BoundcheckError):
    """The scheduler is away for too long."""


def how_to_reach(address: str) -> dict[str, Any]:
    """The arguments of Dask's client; {"local": N} for local:N."""
    local = re.fullmatch(r"local:([1-9][0-9]{0,3})", address)
    if local is not None:
        return {"local": int(local[1])}
    if re.fullmatch(r"[a-z]+://[^\s/]+", address):
        return {"address": address}
    if Path(address).is_file():
        return {"scheduler_file": address}
    raise BadInput(
        f"--cluster = '{address}' is neither the address of a scheduler, such as tcp://127.0.0.1:8786, nor a scheduler "
        "file that is there, nor local:N with a number of processes."
    )


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Dask logs the traceback of every lost connection; what matters to the user is said here."""
    loggers = [logging.getLogger(f"distributed.{name}") for name in ("client", "core", "utils", "worker", "scheduler")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


class Session:
    """The connection to a scheduler, made anew when the scheduler has been away."""

    def __init__(self, address: str, stack: contextlib.ExitStack, how: dict[str, Any]) -> None:
        self.name = secrets.token_hex(8)
        self.events: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self.address = address
        self._how = how
        if "local" in how:
            import distributed

            start: Any = distributed.LocalCluster
            cluster = start(
                n_workers=1,
                threads_per_worker=how["local"],
                processes=False,  # the items have processes of their own
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
            )
            stack.callback(end_idle, 0.0)
            stack.callback(cluster.close)
            self._how = {"address": cluster}
        self._client = self._connected(CONNECTING)
        stack.callback(self.close)

    def _connected(self, seconds: float) -> Any:
        import distributed

        connect: Any = distributed.Client
        end = time.monotonic() + seconds
        while True:
            try:
                client = connect(**self._how, timeout=CONNECTING, set_as_default=False, name="boundcheck")
            except (OSError, ValueError) as error:  # ValueError: a scheduler file that is being written
                if time.monotonic() > end:
                    raise ClusterLost(f"no scheduler answers at {self.address}: {one_line(error)}.") from error
                time.sleep(_RETRY)
                continue
            client.subscribe_topic(TOPIC, self._heard)
            return client

    def _heard(self, event: tuple[float, Any]) -> None:
        session, place, share = event[1]
        if session == self.name:
            self.events.put(("share", place, share))

    def close(self) -> None:
        """Leaves the cluster; what was asked of it and not finished is cancelled."""
        with contextlib.suppress(Exception):  # a scheduler that is gone cannot be told
            self._client.close(timeout=CONNECTING)

    def workers(self) -> dict[str, int] | None:
        """Address -> threads of every worker; None where the scheduler is away."""
        if self._client.status != "running":
            return None
        try:
            return dict(self._client.nthreads())
        except (OSError, concurrent.futures.CancelledError, asyncio.CancelledError):
            return None

    def cancel(self, future: Any) -> None:
        """Takes a chunk back; its worker stops it within `cluster_worker.POLL` seconds."""
        with contextlib.suppress(Exception):  # a scheduler that is gone cannot be told
            self._client.cancel([future], force=True)

    def reconnect(self) -> None:
        """Waits for the scheduler to come back. Raises ClusterLost where it does not."""
        _LOG.warning("boundcheck: the scheduler at %s is away; waiting for it.", self.address)
        self.close()
        try:
            self._client = self._connected(RECONNECTING)
        except ClusterLost as error:
            raise ClusterLost(
                f"the scheduler at {self.address} was lost and did not come back within {RECONNECTING:g} s; what is "
                "finished is kept, and the same command continues from there."
            ) from error

    def submit(self, chunk: Chunk, number: int, worker: str) -> Any:
        """Sends a chunk to a worker; `events` gets ("done", number, what came of it)."""
        future: Any = self._client.submit(
            carry_out, chunk, key=f"boundcheck-{self.name}-{number}", workers=[worker], pure=False, retries=0
        )
        asyncio.run_coroutine_threadsafe(self._follow(future, number), self._client.loop.asyncio_loop)
        return future

    async def _follow(self, future: Any, number: int) -> None:
        try:
            found = await future
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            self.events.put(("gone", number))
            return
        except Exception as error:
            found = error
        self.events.put(("done", number, found))


def one_line(error: object) -> str:
    """The message of an error on one line, without its last full stop."""
    return " ".join(str(error).split()).rstrip(".")
