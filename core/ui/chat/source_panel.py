"""Sources above an answer: a line with their number and a chip for each site, which unfolds into details, other results and the search
ledger."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from core.answer import OFFICIAL, is_official, results_html, site_name, source_panel_html
from core.answer.message import Message
from core.app import App
from core.legal.entities import LIBRARY_LABELS
from core.search.types import SearchResult, Source
from core.ui import session
from core.ui.chat import search_ledger
from core.ui.chat.answer import app_url
from core.ui.escape import draw_html, escape_label

MAX_SITES = 6
"""Number of sites named in the line, which is cut where there is no room for them."""
MAX_NUMBERS = 3
"""Number of a site's sources whose numbers are named."""


def draw(app: App, entry: Message, *, is_last: bool, place: DeltaGenerator | None = None) -> None:
    """Draw the line, in the place of the growing one if that is given. Its contents are written only when somebody opens it."""
    sources = entry.sources
    if not (sources or entry.searches):
        return
    official = app.settings.sources.official_hosts
    title = _title(sources, official, are_unused=bool(entry.text.strip()) and not entry.cited and not entry.agreeing)
    fold = (place.expander if place else st.expander)(
        title, key=f"sources-{entry.id}", type="compact", on_change="rerun"
    )
    if not fold.open:
        return
    with fold:
        _draw_sources(sources, _numbers(entry.cited), official, agreeing=_numbers(entry.agreeing))
        _draw_unnumbered([result for search in entry.searches for result in search.unnumbered_results])
        if entry.searches:
            can_edit = entry.mode == session.mode() == session.CHAT
            search_ledger.draw(app, entry.searches, key=entry.id, can_repeat=is_last, can_edit=can_edit)


def draw_growing(app: App, sources: Sequence[Source], place: DeltaGenerator) -> None:
    """Draw the sources while the answer is being written and its citations are unknown."""
    official = app.settings.sources.official_hosts
    with place.expander(_title(sources, official), type="compact"):
        _draw_sources(sources, None, official)


def _title(sources: Sequence[Source], official: Sequence[str], *, are_unused: bool = False) -> str:
    """Return the number of sources and a chip for each site, with the numbers that the text cites it by."""
    if not sources:
        return "没有来源 · 搜索记录"
    sites: dict[str, list[Source]] = {}
    for source in sources:
        sites.setdefault(_site(source), []).append(source)
    count = f"找到 {len(sources)} 个来源，都没有用到" if are_unused else f"{len(sources)} 个来源"
    return " ".join([count, *(_chip(site, group, official) for site, group in list(sites.items())[:MAX_SITES])])


def _site(source: Source) -> str:
    site = LIBRARY_LABELS.get(source.engine) or site_name(source.url, app_url())
    return source.collection_label or site or source.tool_label or source.title


def _chip(site: str, sources: Sequence[Source], official: Sequence[str]) -> str:
    numbers = "、".join(str(source.number) for source in sources[:MAX_NUMBERS]) + "…" * (len(sources) > MAX_NUMBERS)
    mark = f" · {OFFICIAL}" if is_official(sources[0], official) else ""
    return f":gray-badge[**{numbers}** {escape_label(site)}{mark}]"


def _numbers(sources: Sequence[Source]) -> set[int]:
    return {source.number for source in sources}


def _draw_sources(
    sources: Sequence[Source], cited: set[int] | None, official: Sequence[str], *, agreeing: Collection[int] = ()
) -> None:
    if sources:
        html = source_panel_html(sources, cited=cited, agreeing=agreeing, official=official, app_url=app_url())
        draw_html(html)


def _draw_unnumbered(results: Sequence[SearchResult]) -> None:
    if results:
        words = Markup('<div class="wy-line">另外找到 %s 条，没有取用，所以没有编号。</div>') % len(results)
        draw_html(words + results_html(results, app_url=app_url(), full_snippets=True))
