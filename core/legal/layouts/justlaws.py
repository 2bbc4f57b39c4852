"""Layout of github.com/ImCa0/just-laws: docs/<field>/<law>/README.md, with long codes split into files beside it.

Articles are bold (`**第一条**　…`), except those with 之一. A folder may also hold amendments and decisions, which are
laws of their own, and versions.json, which dates the versions in versions/.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from core.base.chinese.calendar import iso_day
from core.legal.entities import Article, Law, LawKind
from core.legal.layouts.corpus_markdown import Heading, parse_articles, parse_blocks
from core.legal.layouts.issuers import find_issuer
from core.legal.layouts.items import Item, Skipped, decode_file
from core.legal.layouts.source_files import SourceFile
from core.legal.text import dates

NAME = "just-laws"

_NOT_LAWS = frozenset({"category", "MessageBoard"})
_OWN_TITLE = ("中华人民共和国", "全国人民代表大会")
_AMENDMENTS = "修正案"

Block = Heading | str
Version = dict[str, Any]
"""Entry of versions.json."""


def is_ours(path: PurePosixPath) -> bool:
    parts = _parts(path)
    return path.suffix == ".md" and len(parts) > 1 and parts[0] not in _NOT_LAWS


def is_metadata(path: PurePosixPath) -> bool:
    return path.name == "versions.json"


def _parts(path: PurePosixPath) -> tuple[str, ...]:
    parts = path.parts
    return parts[parts.index("docs") + 1 :] if "docs" in parts else ()


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    folders: dict[PurePosixPath, dict[str, list[Block]]] = {}
    for entry in files:
        text = decode_file(entry)
        if isinstance(text, Skipped):
            yield text
        else:
            folders.setdefault(entry.path.parent, {})[entry.path.name] = list(parse_blocks(text))
    versions = _read_versions(metadata)
    for folder, contents in folders.items():
        yield from _parse_folder(folder, contents, versions.get(folder, {}))


def _parse_folder(folder: PurePosixPath, contents: dict[str, list[Block]], version: Version) -> Iterator[Item]:
    readme = contents.pop("README.md", None)
    if not readme:
        yield from (Skipped(str(folder / name), "同一文件夹里没有 README.md") for name in contents)
        return
    parts = []
    for name, content in contents.items():
        title = content[0].title if content and isinstance(content[0], Heading) else ""
        if title == _AMENDMENTS:
            yield from (_parse_law(folder / name, amendment, [], {}) for amendment in _split_amendments(content[1:]))
        elif title.startswith(_OWN_TITLE):
            yield _parse_law(folder / name, content, [], {})
        else:
            parts.append(parse_articles(content[1:] if title else content, [title] if title else []))
    yield _parse_law(folder, readme, parts, version)


def _parse_law(path: PurePosixPath, content: list[Block], parts: list[list[Article]], version: Version) -> Item:
    title = content[0]
    if not isinstance(title, Heading):
        return Skipped(str(path), "没有标题")
    head, body = _split_head(content[1:])
    found = sorted(filter(None, [parse_articles(body), *parts]), key=lambda part: part[0].number)
    articles = [article for part in found for article in part]
    if not articles:
        return Skipped(str(path), "没有正文")
    kind = LawKind.CONSTITUTION if _parts(path)[0] == "constitution" else LawKind.STATUTE
    published = iso_day(version.get("promulgatedOn")) or dates.adopted(head)
    return Law(
        name=title.title,
        kind=kind,
        articles=tuple(articles),
        source=f"{NAME}：{'/'.join(_parts(path))}",
        issuer=find_issuer(title.title, head, kind),
        published=published,
        effective=iso_day(version.get("effectiveFrom"))
        or dates.in_force(head, [article.text for article in articles], published),
        history=dates.history(head),
    )


def _split_head(content: list[Block]) -> tuple[list[str], list[Block]]:
    """Return the dated lines under the title, and the rest. A law without chapters continues with its first article."""
    head: list[str] = []
    for block in content:
        if isinstance(block, Heading) or not dates.days_in(block) or block.lstrip("*").startswith("第"):
            break
        head.append(block.strip("*"))
    return head, content[len(head) :]


def _split_amendments(content: list[Block]) -> Iterator[list[Block]]:
    """Yield the amendments of a file. Each begins at a heading of the second level."""
    starts = [place for place, block in enumerate(content) if isinstance(block, Heading) and block.level == 2]
    for start, end in pairwise([*starts, len(content)]):
        yield content[start:end]


def _read_versions(metadata: Iterable[SourceFile]) -> dict[PurePosixPath, Version]:
    """Return the dates of each version, by the folder of its text."""
    found: dict[PurePosixPath, Version] = {}
    for entry in metadata:
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            for version in json.loads(entry.data)["versions"]:
                found[(entry.path.parent / version["entry"]).parent] = version
    return found
