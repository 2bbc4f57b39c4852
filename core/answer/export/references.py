"""The references of a conversation for programs that manage references (Zotero, EndNote, JabRef): RIS, BibTeX, CSL-JSON.

Each source stands there once, however many answers cite it. What is not known is left out: no author is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from enum import Enum
from typing import Any
from urllib.parse import quote

from core.answer.export import common
from core.answer.html.source_html import canonical_target, safe_web_address, site_name
from core.answer.message import Message
from core.answer.place_labels import join_numbers, join_places
from core.base.text import is_chinese, one_line
from core.legal.entities import CASES, LAWS, LIBRARY_LABELS
from core.search.types import Source


class Kind(Enum):
    """The kind of a source, as (CSL, RIS, BibTeX) name it."""

    PAGE = ("webpage", "ELEC", "online")
    STATUTE = ("legislation", "STAT", "legislation")
    CASE = ("legal_case", "CASE", "jurisdiction")
    FILE = ("report", "RPRT", "report")


@dataclass(frozen=True, slots=True)
class Reference:
    id: str
    kind: Kind
    title: str
    """The title; of a statute its name, without the number of the article."""
    section: str
    """The article of a statute, such as 第一千零七十九条."""
    site: str
    """The site of a page; of an article or a case the library that has it."""
    address: str
    """A web address; empty for what has none."""
    published: str
    """ISO day; of a statute the day of the version. Empty if unknown."""
    accessed: str
    language: str
    note: str
    pages: tuple[int, ...] = ()
    """The pages that the answers rest on."""


def list_references(messages: Iterable[Message], zone: tzinfo | None = None) -> list[Reference]:
    """Return every source that the answers cite once, in the order of the text."""
    answers = [message for message in messages if message.role == "assistant"]
    cited: dict[str, list[tuple[int, Message, Source]]] = {}
    for place, answer in enumerate(answers, 1):
        for source in answer.cited:
            cited.setdefault(_identity(source), []).append((place, answer, source))
    return [_reference(number, uses, zone) for number, uses in enumerate(cited.values(), 1)]


def _identity(source: Source) -> str:
    """Return what two citations of one source have in common. Files and pages of ours may have no web address."""
    return canonical_target(source.url, "") or f"{source.url} {one_line(source.title)}"


def _reference(number: int, uses: Sequence[tuple[int, Message, Source]], zone: tzinfo | None) -> Reference:
    _, answer, source = uses[0]
    kind = _kind(source)
    title, section = one_line(source.title) or "（无标题）", ""
    if kind is Kind.STATUTE and (named := _STATUTE.match(title)):
        title, section = named["law"], named["article"] or ""
    return Reference(
        id=f"wenyuan{number}",
        kind=kind,
        title=title,
        section=section,
        site=(
            source.collection_label
            or LIBRARY_LABELS.get(source.engine, "")
            or site_name(source.url, "")
            or source.tool_label
        ),
        address=safe_web_address(source.url),
        published=source.published if source.published and _DAY.fullmatch(source.published) else "",
        accessed=common.format_day(answer, zone) if kind is Kind.PAGE else "",
        language="zh-CN" if is_chinese(source.title) else "",
        note="问源：" + "，".join(_use(place, by, one) for place, by, one in uses),
        pages=tuple(page for _, by, one in uses for at in by.places.get(one.number, ()) if (page := at.page)),
    )


def _use(place: int, answer: Message, source: Source) -> str:
    where = join_places(answer.places.get(source.number, ()))
    return f"第 {place} 个回答的 [{source.number}]{f'（{where}）' if where else ''}"


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_STATUTE = re.compile(r"《(?P<law>[^》]+)》(?P<article>第\S+?条(?:之[一二三四五六七八九十]+)?)?")


def _kind(source: Source) -> Kind:
    match source.engine, source.read:
        case (engine, _) if engine == LAWS:
            return Kind.STATUTE
        case (engine, _) if engine == CASES:
            return Kind.CASE
        case (_, "file"):
            return Kind.FILE
    return Kind.PAGE


# ── CSL-JSON ──────────────────────────────────────────────────────────────────────────────────────────────────────


def as_csl_json(messages: Iterable[Message], *, zone: tzinfo | None = None) -> str:
    """Return the references as CSL-JSON."""
    entries = [_csl(reference) for reference in list_references(messages, zone)]
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _csl(reference: Reference) -> dict[str, Any]:
    known = {
        "id": reference.id,
        "type": reference.kind.value[0],
        "title": reference.title,
        "section": reference.section,
        "container-title" if reference.kind is Kind.PAGE else "source": reference.site,
        "page": join_numbers(reference.pages, ", ", "-"),
        "URL": reference.address,
        "issued": _csl_date(reference.published),
        "accessed": _csl_date(reference.accessed),
        "language": reference.language,
        "note": reference.note,
    }
    return {name: value for name, value in known.items() if value}


def _csl_date(day: str) -> dict[str, list[list[int]]]:
    return {"date-parts": [[int(part) for part in day.split("-")]]} if day else {}


# ── RIS ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_ris(messages: Iterable[Message], *, zone: tzinfo | None = None) -> str:
    """Return the references as RIS. Its lines end as on Windows, and it knows no escapes: one value, one line."""
    return "".join(f"{line}\r\n" for reference in list_references(messages, zone) for line in _ris_lines(reference))


def _ris_lines(reference: Reference) -> Iterator[str]:
    known = {
        "ID": reference.id,
        "TI": reference.title,
        "SE": reference.section,
        "T2" if reference.kind is Kind.PAGE else "DP": reference.site,
        "SP": join_numbers(reference.pages, ", ", "-"),
        "PY": reference.published[:4],
        "DA": _ris_date(reference.published),
        "UR": reference.address,
        "Y2": _ris_date(reference.accessed),
        "LA": reference.language,
        "N1": reference.note,
    }
    yield f"TY  - {reference.kind.value[1]}"
    yield from (f"{tag}  - {value}" for tag, value in known.items() if value)
    yield "ER  - "
    yield ""


def _ris_date(day: str) -> str:
    return f"{day.replace('-', '/')}/" if day else ""


# ── BibTeX ────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_bibtex(messages: Iterable[Message], *, zone: tzinfo | None = None) -> str:
    """Return the references as BibTeX with the types of biblatex, in UTF-8."""
    return "\n".join(_bibtex(reference) for reference in list_references(messages, zone))


def _bibtex(reference: Reference) -> str:
    known = {
        "title": f"{{{_tex(reference.title)}}}",  # inner braces: its letters keep their case
        "number": _tex(reference.section),
        "organization" if reference.kind is Kind.PAGE else "howpublished": _tex(reference.site),
        "pages": join_numbers(reference.pages, ", ", "--"),
        "date": reference.published,
        "year": reference.published[:4],
        "url": quote(reference.address, safe=_IN_ADDRESSES),
        "urldate": reference.accessed,
        "language": reference.language,
        "note": _tex(reference.note),
    }
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in known.items() if value)
    return f"@{reference.kind.value[2]}{{{reference.id},\n{fields}}}\n"


_IN_ADDRESSES = "%:/?#[]@!$&'()*+,;=~-._"
_TEX: Mapping[int, str] = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&#$_"}
    | {
        "\\": r"{\textbackslash}",
        # A field's braces must be in pairs, also those behind a backslash.
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX)
