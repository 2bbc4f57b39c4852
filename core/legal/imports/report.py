"""Report of an import: its counts, changes, skipped files and problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.legal.layouts.items import Skipped

_MAX_REASONS = 1_000
_COUNTS = ("laws", "articles", "cases", "unchanged")


@dataclass(frozen=True, slots=True)
class LawChange:
    law: str
    kind: Literal["新增", "修改", "文字有变化", "废止"]
    published_before: str | None = None
    """Publication day of the newest version before the import; `published_after` is that of the newest one now."""
    published_after: str | None = None

    def to_json(self) -> dict[str, Any]:
        days = {"before": self.published_before, "after": self.published_after}
        return {"lawName": self.law, "change": self.kind, **days}


@dataclass(slots=True)
class ImportReport:
    """The outcome of importing one source, or of updating all of them."""

    source: str = ""
    layout: str = ""
    laws: int = 0
    articles: int = 0
    cases: int = 0
    unchanged: int = 0
    """Number of versions that the index had in the same words."""
    changes: list[LawChange] = field(default_factory=list)
    """Laws that were added, amended or repealed; empty after the first import."""
    skipped: list[Skipped] = field(default_factory=list)
    """The first thousand of `skipped_count`."""
    skipped_count: int = 0
    seconds: float = 0.0
    up_to_date: bool = False
    """True if nothing was read: the file is that of the last import, or cannot be reached."""
    size: int = 0
    """Bytes of a download."""
    sha256: str = ""
    vectors: int | None = None
    """Number of texts that were new to the embedding model; None without a model."""
    problem: str = ""
    """Reason why a source was not read or no vectors were computed. The library is in use all the same."""
    sources: list[ImportReport] = field(default_factory=list)
    """Report of each source, if all were updated."""

    @property
    def has_failed(self) -> bool:
        """True if no source could be read, so that nobody knows whether anything has changed."""
        return all(one.problem and one.up_to_date for one in self.sources or [self])

    @classmethod
    def combine(cls, sources: list[ImportReport], changes: list[LawChange]) -> ImportReport:
        """Return the sum of the reports of several sources. `changes` are those of all of them together."""
        return cls(
            changes=changes,
            skipped=[entry for one in sources for entry in one.skipped],
            up_to_date=all(one.up_to_date for one in sources),
            sources=sources,
            skipped_count=sum(one.skipped_count for one in sources),
            seconds=sum(one.seconds for one in sources),
            **{name: sum(getattr(one, name) for one in sources) for name in _COUNTS},
        )

    def skip(self, skipped: Skipped) -> None:
        self.skipped_count += 1
        if len(self.skipped) < _MAX_REASONS:
            self.skipped.append(skipped)

    @property
    def problems(self) -> Sequence[str]:
        """One sentence per source that was not read, and one for vectors that were not computed."""
        sources = [f"{one.source}：{one.problem}" for one in self.sources if one.problem]
        return [*sources, self.problem] if self.problem else sources

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("source", "layout", *_COUNTS, "vectors")} | {
            "changed": [change.to_json() for change in self.changes],
            "skipped": self.skipped_count,
            "reasons": [{"path": entry.path, "reason": entry.reason} for entry in self.skipped],
            "seconds": round(self.seconds, 2),
            "upToDate": self.up_to_date,
            **({"bytes": self.size, "sha256": self.sha256} if self.sha256 else {}),
            **({"problem": self.problem} if self.problem else {}),
            **({"sources": [one.to_json() for one in self.sources]} if self.sources else {}),
        }
