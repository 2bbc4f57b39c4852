"""Layout of github.com/LawRefBook/Laws.

Files are `<folder>/<short name>(YYYY-MM-DD).md`, with the date of adoption. Each has `# full title`, dated events,
`<!-- INFO END -->`, headings and articles. The Civil Code has eight files that name their part in a second `#` heading.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.base.chinese.calendar import iso_day
from core.legal.entities import Law, LawKind
from core.legal.layouts.corpus_markdown import Heading, parse_articles, parse_blocks
from core.legal.layouts.issuers import find_issuer
from core.legal.layouts.items import Item, Skipped, decode_file, path_below
from core.legal.layouts.lawrefbook_cases import parse_lawrefbook_case
from core.legal.layouts.source_files import SourceFile
from core.legal.text import dates
from core.legal.text.law_names import law_key

NAME = "LawRefBook/Laws"

_CASES = "案例"
_KINDS = (
    {"宪法": LawKind.CONSTITUTION, "司法解释": LawKind.INTERPRETATION, "行政法规": LawKind.REGULATION}
    | dict.fromkeys(
        ("宪法相关法", "民法典", "民法商法", "行政法", "经济法", "社会法", "刑法", "诉讼与非诉讼程序法"),
        LawKind.STATUTE,
    )
    | {"部门规章": LawKind.RULE, "DLC": LawKind.LOCAL, "其他": LawKind.OTHER}
)
_FOLDERS = frozenset({_CASES, *_KINDS})
_FILE_DATE = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
INFO_END = "<!-- INFO END -->"


def is_ours(path: PurePosixPath) -> bool:
    return path.suffix == ".md" and path.name != "_index.md" and bool(path_below(path, _FOLDERS))


def is_metadata(path: PurePosixPath) -> bool:
    return path.name == "db.sqlite3"


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    """Yield the laws and cases of a source. Laws in several files come last, joined."""
    known, parts = LawDatabase(metadata), dict[str, list[Law]]()
    for entry in files:
        text = decode_file(entry)
        if isinstance(text, Skipped):
            yield text
        else:
            yield from parse_file(text, path_below(entry.path, _FOLDERS), entry.path, parts, known=known)
    yield from map(join_parts, parts.values())


def parse_file(
    text: str,
    folders: tuple[str, ...],
    path: PurePosixPath,
    parts: dict[str, list[Law]],
    *,
    known: LawDatabase | None = None,
    corpus: str = NAME,
) -> Iterator[Item]:
    """Yield what a file holds: a law, a case, or the reason why it was skipped. A part of a law is added to `parts`
    instead. `folders` is the path of the file from the folder of its kind on."""
    source = f"{corpus}：{'/'.join(folders)}"
    if folders[0] == _CASES:
        yield parse_lawrefbook_case(text, folders, source=source)
        return
    law, is_part = _parse_law(text, folders, source, known or LawDatabase(()))
    if isinstance(law, Skipped):
        yield Skipped(str(path), law.reason)
    elif law.kind is LawKind.OTHER and law.published is None:
        yield Skipped(str(path), "不是法规：没有制定机关和公布日期的资料", stored_as=source)
    elif is_part:
        parts.setdefault(law.name, []).append(law)
    else:
        yield law


def _parse_law(text: str, folders: tuple[str, ...], source: str, known: LawDatabase) -> tuple[Law | Skipped, bool]:
    head, _, body = text.rpartition(INFO_END)
    content = list(parse_blocks(head)) if head else []
    titles = [block.title for block in content if isinstance(block, Heading)]
    if not titles:
        return Skipped("", "没有标题，或没有 <!-- INFO END -->"), False
    name, part = titles[0], titles[1:2]
    events = [block for block in content if isinstance(block, str)]
    articles = parse_articles(parse_blocks(body), part)
    if not articles:
        return Skipped("", "没有正文"), False
    stem = PurePosixPath(folders[-1]).stem
    named = _FILE_DATE.search(stem)
    published = (named and iso_day(named[1])) or dates.adopted(events)
    row = known.row(_FILE_DATE.sub("", stem), published)
    published = published or row.published
    kind = _KINDS[folders[0]]
    # If the database gives one date for both, it only repeats the publication.
    recorded = row.effective if row.effective and row.effective > (published or "") else None
    return Law(
        name=name,
        kind=kind,
        articles=tuple(articles),
        source=source,
        issuer=folders[1] if kind is LawKind.RULE and len(folders) > 2 else find_issuer(name, events, kind),
        published=published,
        effective=dates.in_force(events, [article.text for article in articles], published, recorded),
        repealed=row.expired,
        history=dates.history(events),
    ), bool(part)


def join_parts(parts: list[Law]) -> Law:
    """Join the files of one law. Article numbers run through all parts; any part may state the day of force."""
    parts = sorted(parts, key=lambda part: part.articles[0].number)
    articles = tuple(article for part in parts for article in part.articles)
    effective = next((part.effective for part in parts if part.effective), None)
    return replace(parts[-1], articles=articles, effective=effective, source=parts[0].source.rpartition("/")[0])


@dataclass(frozen=True, slots=True)
class _Row:
    published: str | None = None
    effective: str | None = None
    expired: bool = False


class LawDatabase:
    """Dates and repeals from db.sqlite3, which is less up to date than the texts."""

    def __init__(self, metadata: Iterable[SourceFile]) -> None:
        self._rows: dict[str, list[_Row]] = {}
        for entry in metadata:
            with suppress(sqlite3.Error):
                self._load(entry.data)

    def _load(self, data: bytes) -> None:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(data)
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_progress_handler(lambda: 1, 20_000_000)  # a malicious view could run for ever
            for name, *dated, expired in database.execute("SELECT name, publish, valid_from, expired FROM law"):
                published, effective = map(iso_day, dated)
                self._rows.setdefault(law_key(str(name)), []).append(_Row(published, effective, expired == 1))

    def row(self, name: str, published: str | None) -> _Row:
        rows = self._rows.get(law_key(name), [])
        fitting = [row for row in rows if row.published == published] if published else rows
        return fitting[0] if len(fitting) == 1 or (fitting and published) else _Row()
