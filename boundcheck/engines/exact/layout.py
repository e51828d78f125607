"""Where the blocks of the state are, and the distinct samples of a client."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq_mat

Key = tuple[str, str, int]  # "server" or "client", name, and which of what the clients keep (0 for the server)


@dataclass(frozen=True)
class Layout:
    """Where the blocks of the state begin: x first, then the others, then the constant 1.

    d: dimension. keys: the blocks in order. copies: where it is random which client holds which model, there is a copy
    of all this, its constant included, for every assignment, multiplied by the indicator of that assignment; then one
    more constant 1.
    """

    d: int
    keys: tuple[Key, ...] = (("server", "x", 0),)
    copies: int = 1

    @property
    def size(self) -> int:
        """Coordinates of the state, the constant included."""
        return self.each if self.copies == 1 else self.copies * self.each + 1

    @property
    def each(self) -> int:
        """Coordinates of one copy."""
        return self.d * len(self.keys) + 1

    @property
    def moving(self) -> int:
        """Coordinates without the constant."""
        return self.size - 1

    def place(self, key: Key, copy: int = 0) -> int:
        """First coordinate of a block."""
        return copy * self.each + self.d * self.keys.index(key)

    def block(self, first: int) -> fmpq_mat:
        """The (d, D) matrix that picks the d coordinates from `first` on, in whichever copy is not 0."""
        picked = fmpq_mat(self.d, self.size)
        for copy in range(self.copies):
            for k in range(self.d):
                picked[k, copy * self.each + first + k] = 1
        return picked

    @property
    def one(self) -> fmpq_mat:
        """The (1, D) row that picks the constant."""
        row = fmpq_mat(1, self.size)
        row[0, self.size - 1] = 1
        return row

    def repeated(self, p: fmpq_mat) -> fmpq_mat:
        """The (d, d) matrix on every block of the moving coordinates."""
        out = fmpq_mat(self.moving, self.moving)
        for first in range(0, self.moving, self.d):
            for a in range(self.d):
                for b in range(self.d):
                    out[first + a, first + b] = p[a, b]
        return out


@dataclass(frozen=True)
class Samples:
    """The distinct samples of a client: Hessians (one where all agree), offsets o (d, 1), how often each occurs."""

    hessians: tuple[fmpq_mat, ...]
    offsets: tuple[fmpq_mat, ...]
    counts: tuple[int, ...]

    @property
    def alike(self) -> bool:
        """Whether all Hessians agree."""
        return len(self.hessians) == 1

    @property
    def total(self) -> int:
        """How many samples the client holds."""
        return sum(self.counts)
