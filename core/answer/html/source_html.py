"""Sources as HTML: the list of references, plain results, and the number in the text with its card.

Everything that a model, an engine or a web page wrote is escaped; links lead only to the source itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from markupsafe import Markup, escape

from core.answer.citation_verdicts import CitationVerdict, agreement_label
from core.answer.html.comparison_html import comparison_html
from core.answer.place_labels import join_places
from core.answer.source_details import (
    AGREEING,
    CITED,
    NOT_CITED,
    OFFICIAL,
    OUTDATED,
    describe_source,
    is_official,
    publication_day,
)
from core.base.text import one_line, shorten
from core.base.web_addresses import host_of
from core.legal.entities import LAWS
from core.reading import Place
from core.search.types import SearchResult, Source

_NOTHING = Markup()
_FIRST_WORDS, _SUMMARY_LENGTH = 36, 120
_WHOLE_SNIPPET = 2_000
_TITLE_LENGTH = 160
_PLACE_LENGTH = 24


def references_html(
    sources: Iterable[Source],
    *,
    anchor: str = "",
    app_url: str = "",
    accessed: str = "",
    places: Mapping[int, Sequence[Place]] = MappingProxyType({}),
) -> Markup:
    """Return the list of references. `accessed`: the day of access, for lists that are read elsewhere. `places`: the
    places in each source that the answer rests on."""
    known = ((source, join_places(places.get(source.number, ()))) for source in sources)
    rows = Markup().join(_reference(source, anchor, app_url, accessed, place) for source, place in known)
    return Markup('<ol class="wy-refs">%s</ol>') % rows


def results_html(results: Iterable[SearchResult], *, app_url: str = "", full_snippets: bool = False) -> Markup:
    """Return search results as HTML. They have no numbers, because the text cannot cite them."""
    length = _WHOLE_SNIPPET if full_snippets else _SUMMARY_LENGTH
    entries = (
        _entry(result.title, result.url, result.snippet, app_url, about=result.published or "", summary_length=length)
        for result in results
    )
    rows = Markup().join(Markup("<li>%s</li>") % entry for entry in entries)
    return Markup('<ul class="wy-refs%s">%s</ul>') % (" whole" if full_snippets else "", rows)


def passages_html(results: Iterable[SearchResult], sources: Iterable[Source]) -> Markup:
    """Return passages of documents, each with the number of its file: several may be of one file."""
    known = {source.url: source for source in sources}
    rows = Markup().join(
        Markup('<li value="%s">%s</li>')
        % (
            source.number,
            _entry(result.title, result.url, result.snippet, "", about=_passage_origin(result, source)),
        )
        for result in results
        if (source := known.get(result.url))
    )
    return Markup('<ol class="wy-refs">%s</ol>') % rows


def _passage_origin(result: SearchResult, source: Source) -> str:
    version = OUTDATED if source.is_outdated else ""
    return " · ".join(
        filter(None, (source.collection_label, publication_day(source) if result.published else "", version))
    )


def source_panel_html(
    sources: Iterable[Source],
    *,
    cited: Collection[int] | None,
    agreeing: Collection[int] = (),
    official: Iterable[str],
    app_url: str = "",
) -> Markup:
    """Return the sources with all details. `cited`: the cited numbers; None while they are not known. `agreeing`: the
    numbers of the others that say a statement all the same."""
    states = None if cited is None else dict.fromkeys(agreeing, AGREEING) | dict.fromkeys(cited, CITED)
    rows = Markup().join(_panel_row(source, states, official, app_url) for source in sources)
    return Markup('<ol class="wy-refs whole">%s</ol>') % rows


def _panel_row(source: Source, states: Mapping[int, str] | None, official: Iterable[str], app_url: str) -> Markup:
    mark = Markup(' <span class="wy-badge">%s</span>') % OFFICIAL if is_official(source, official) else _NOTHING
    state = "" if states is None else states.get(source.number, NOT_CITED)
    known = " · ".join(filter(None, (state, describe_source(source))))
    is_brief = state == NOT_CITED and source.engine == LAWS  # ten whole articles would bury the pages below them
    length = _FIRST_WORDS if is_brief else _WHOLE_SNIPPET
    entry = _entry(source.title, source.url, source.snippet, app_url, mark, known, summary_length=length)
    kind = "cited" if state == CITED else "other"
    return Markup('<li value="%s" class="%s">%s</li>') % (source.number, kind, entry)


def _reference(source: Source, anchor: str, app_url: str, accessed: str, place: str) -> Markup:
    identity = back = _NOTHING
    if anchor:
        identity = Markup(' id="%s-ref-%s"') % (anchor, source.number)
        back = Markup(' <a class="back" href="#%s-cite-%s" title="回到正文">↩</a>') % (anchor, source.number)
    where = Markup(' <span class="place">%s</span>') % place if place else _NOTHING
    details = describe_source(source, accessed=accessed)
    entry = _entry(source.title, source.url, source.snippet, app_url, where + back, details)
    return Markup('<li value="%s"%s>%s</li>') % (source.number, identity, entry)


def _entry(
    title: str,
    url: str,
    snippet: str,
    app_url: str,
    after_domain: Markup = _NOTHING,
    about: str = "",
    *,
    summary_length: int = _SUMMARY_LENGTH,
) -> Markup:
    title = shorten(one_line(title), _TITLE_LENGTH) or "（无标题）"
    href = link_target(url, app_url)
    entry = Markup("<a %s>%s</a>") % (link_attributes(href), title) if href else Markup("<span>%s</span>") % title
    if domain := site_name(url, app_url):
        entry += Markup(' <span class="domain">%s</span>') % domain
    entry += after_domain
    if about:
        entry += Markup('<span class="about">%s</span>') % about
    if summary := shorten(one_line(snippet), summary_length):
        entry += Markup('<span class="summary">%s</span>') % summary
    return entry


_WEB_ADDRESS = re.compile(r"https?://[^\s/?#\\][^\s\x00-\x1f]*", re.IGNORECASE)
_OWN_PAGES = {"/help?article=": "内置手册", "/legal?law=": "本地法规库", "/legal?case=": "本地案例库"}
"""Addresses of this app, as they follow `app_url`, and the names of these pages for readers."""


def link_target(url: str, app_url: str) -> str:
    """Return the address for an href: a web address or a page of this app; else an empty string."""
    own = url.removeprefix(app_url)
    return own if _own_page_name(own) else safe_web_address(url)


def safe_web_address(url: str) -> str:
    return url if _WEB_ADDRESS.fullmatch(url) and host_of(url) else ""


def _own_page_name(path: str) -> str:
    return next((name for start, name in _OWN_PAGES.items() if path.startswith(start)), "")


def site_name(url: str, app_url: str) -> str:
    return _own_page_name(link_target(url, app_url)) or host_of(url)


def link_attributes(href: str) -> Markup:
    """Return the attributes of a link that opens apart. `noreferrer` is `noopener` too."""
    return Markup('href="%s" rel="noreferrer" target="_blank"') % href


def canonical_target(url: str, app_url: str) -> str:
    """Return a form that is equal for two spellings of one address. Links use the source's own spelling."""
    href = link_target(url, app_url)
    try:
        parts = urlsplit(href)
        port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    except ValueError:
        return ""
    return unquote(f"{parts.hostname or ''}{port}{parts.path.rstrip('/')}?{parts.query}") if href else ""


# ── Numbers with their cards ──────────────────────────────────────────────────────────────────────────────────────

_FRAGMENT_END = 10
"""Characters at each end of a passage: enough to find it, and few enough to survive small edits."""


@lru_cache(maxsize=1024)
def number_html(source: Source, app_url: str) -> Markup:
    """Return the number of a source as a link. Cached: a growing answer cites the same few sources again and again."""
    target = link_target(source.url, app_url)
    if not target:
        return escape(source.number)
    title = f"{one_line(source.title)} — {site_name(source.url, app_url)}"
    return Markup('<a %s title="%s">%s</a>') % (link_attributes(target), title, source.number)


def chip_html(
    source: Source, app_url: str, *, identity: Markup = _NOTHING, verdict: CitationVerdict | None = None
) -> Markup:
    """Return the number, the sign of its verdict, and a card that opens over it, as a tap gives it the focus."""
    target = link_target(source.url, app_url)
    place = shorten(verdict.place_label, _PLACE_LENGTH) if verdict else ""
    says = "，".join(filter(None, (f"来源 {source.number}", verdict.label if verdict else "", place)))
    shown = agreement_label(source.number) if verdict and not verdict.is_citation else source.number
    number = Markup("<span>%s</span>") % shown
    if source.read == "file" and verdict and verdict.evidence:
        number = passage_button(source.number, verdict.evidence[0].start, shown, says=says)
    elif target:
        number = Markup('<a %s aria-label="%s">%s</a>') % (link_attributes(target), says, shown)
    mark = (
        Markup('<i aria-hidden="true">%s</i>') % verdict.mark
        if verdict and verdict.is_decided and verdict.mark
        else _NOTHING
    )
    kind = f"cite {verdict.css_class}" if verdict else "cite"
    where = Markup("<small>%s</small>") % place if place else _NOTHING
    inside = number + where + mark + _card_html(source, app_url, verdict)
    return Markup('<sup class="%s"%s tabindex="-1">%s</sup>') % (kind, identity, inside)


def _card_html(source: Source, app_url: str, verdict: CitationVerdict | None) -> Markup:
    title = shorten(one_line(source.title), _TITLE_LENGTH) or "（无标题）"
    known = " · ".join(filter(None, (site_name(source.url, app_url), describe_source(source))))
    inside = Markup("<b>%s</b><span>%s</span>") % (title, known)
    if verdict is not None:
        inside += verdict_html(verdict, source, app_url)
    else:
        inside += _quote_html(escape(shorten(one_line(source.snippet), _SUMMARY_LENGTH)))
        inside += _source_link(source, app_url, "", "打开来源")
    return Markup('<span class="wy-card" role="note">%s</span>') % inside


def verdict_html(verdict: CitationVerdict, source: Source | None, app_url: str) -> Markup:
    """Return the verdict, the statement beside the passage of the source, and a link to it."""
    inside = Markup('<span class="wy-verdict %s">%s</span>') % (verdict.css_class, verdict.heading)
    inside += comparison_html(verdict)
    words = "在原文中查看" if verdict.passage else "打开来源"
    if source and source.read == "file":
        return inside + (passage_button(source.number, verdict.evidence[0].start) if verdict.evidence else _NOTHING)
    return inside + (_source_link(source, app_url, verdict.passage, words) if source else _NOTHING)


def passage_button(
    number: int, start: int, shown: object = "在原文中查看", *, says: str = "", form: Literal["text", "page"] = "text"
) -> Markup:
    """Return the button that opens 来源原文 at a passage of a source (core/ui/scripts/passages.js), or its page.

    `says`: what is read aloud, if it is not what is shown."""
    name = Markup(' aria-label="%s"') % says if says else _NOTHING
    passage = f"{number}/{start}/page" if form == "page" else f"{number}/{start}"
    return Markup('<button type="button" data-passage="%s"%s>%s</button>') % (passage, name, shown)


def _quote_html(passage: Markup) -> Markup:
    return Markup("<q>%s</q>") % passage if passage else _NOTHING


def _source_link(source: Source, app_url: str, passage: str, words: str) -> Markup:
    target = link_target(source.url, app_url)
    return Markup("<a %s>%s</a>") % (link_attributes(passage_link(target, passage)), words) if target else _NOTHING


def passage_link(address: str, passage: str) -> str:
    """Return the address of a passage within a page, as a text fragment: browsers scroll to it and highlight it."""
    passage = one_line(passage)
    if not passage or not _WEB_ADDRESS.fullmatch(address):
        return address
    whole = len(passage) <= 3 * _FRAGMENT_END
    ends = [passage] if whole else [passage[:_FRAGMENT_END], passage[-_FRAGMENT_END:]]
    text = ",".join(quote(end, safe="").replace("-", "%2D") for end in ends)
    return f"{address}{'' if '#' in address else '#'}:~:text={text}"
