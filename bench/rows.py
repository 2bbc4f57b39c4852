"""One measured figure, beside its limit and its peer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    name: str
    value: float
    unit: str
    limit: float | None = None
    """At most this, unless `at_least`."""
    peer: str = ""
    peer_value: float | None = None
    at_least: bool = False
    in_ratio: bool = True
    """Whether it says something how many times the peer's value this is: not of what may be nought."""

    @property
    def ratio(self) -> float | None:
        return self.value / self.peer_value if self.in_ratio and self.peer_value else None

    @property
    def ok(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def cells(self) -> list[str]:
        limit = "" if self.limit is None else f"{'≥' if self.at_least else '≤'} {self.limit:.3g}"
        peer = f"{self.peer}: {self.peer_value:.3g}" if self.peer_value is not None else self.peer
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return [self.name, f"{self.value:.3g} {self.unit}", limit, peer, ratio, "ok" if self.ok else "MISSED"]


HEADER = ["figure", "measured", "limit", "beside", "ratio", ""]


def table(rows: list[Row]) -> str:
    return markdown_table(HEADER, (row.cells() for row in rows))


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *lines))
