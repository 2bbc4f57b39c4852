"""The details of a source that readers see: how much of it was read, and when it was published."""

from __future__ import annotations

from collections.abc import Iterable

from core.answer.place_labels import join_places
from core.base.web_addresses import host_of
from core.reading import Place
from core.search.types import Source

OFFICIAL, CITED, NOT_CITED, AGREEING = "官方", "已引用", "未引用", "未标注，与回答相符"
NO_DATE = "日期不详"
ATTACHED = "附件"
OUTDATED = "旧版，资料中有更新的版本"
_KINDS_WITHOUT_DATE = frozenset({"library", "file"})
"""Kinds of sources whose date is not missed. The library gives the version elsewhere; only the reader knows a file's day."""


def reading_status(source: Source) -> str:
    match source.read:
        case "page":
            read = f"{source.tool_label} 给出" if source.tool else "已读全文"
            return f"{read} · {source.characters:,} 字{_given_words(source)}"
        case "snippet":
            by = f"{source.tool_label} 给出，" if source.tool else ""
            return f"{by}仅摘要（{source.unread}）" if source.unread else f"{by}仅摘要"
        case "file":
            return f"{source.collection_label or source.tool_label or ATTACHED} · {source.characters:,} 字{_given_words(source)}"
        case "library":
            return ""


def _given_words(source: Source) -> str:
    """Return how much of the text the model was given; empty if that is not known, as with older answers."""
    if not source.given:
        return ""
    is_whole = source.given >= source.characters
    if source.given_parts:
        rest = "" if is_whole else f"，读到其中 {source.given:,} 字"
        return f"，分 {source.given_parts} 部分交给模型{rest}"
    if is_whole:
        return "，全文交给模型" if source.read == "file" else ""  # of a page the whole is what one expects
    return f"，交给模型 {source.given:,} 字" + (f"（{source.given_places}）" if source.given_places else "")


def unread_note(source: Source) -> str:
    """Return why only the snippet of a source was read, and what that means for the answer."""
    why = f"没有读到这个网页的全文：{source.unread}。" if source.unread else "没有打开过这个网页。"
    return f"{why}回答只用了搜索引擎给出的摘要。"


def describe_source(source: Source, *, accessed: str = "", places: Iterable[Place] = ()) -> str:
    """Return the details on one line. `accessed`: the day of access, for exports. `places`: the places that the answer
    rests on."""
    visited = f"访问日期 {accessed}" if accessed and source.read not in _KINDS_WITHOUT_DATE else ""
    version = OUTDATED if source.is_outdated else ""
    return " · ".join(
        filter(None, (join_places(places), publication_day(source), version, reading_status(source), visited))
    )


def publication_day(source: Source) -> str:
    """Return the day of publication, or that it is unknown; of a document the day of its file."""
    if source.published and source.collection:
        return f"文件日期 {source.published}"
    return source.published or ("" if source.read in _KINDS_WITHOUT_DATE else NO_DATE)


def is_official(source: Source, domains: Iterable[str]) -> bool:
    """Return whether the host is one of the domains or a subdomain of one. A foreign tool may name any address."""
    host = f".{host_of(source.url)}"
    return not source.tool and any(host.endswith(f".{domain}") for domain in domains)
