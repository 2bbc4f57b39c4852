"""Findings of the statute check (法条核验) as a row of chips. A click shows the article beside the words of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import streamlit as st
from markupsafe import Markup, escape

from core.base.text import one_line, shorten
from core.legal import DiffSegment, StatuteFinding, StatuteMark, diff_quotation, law_address
from core.ui.escape import draw_html, escape_label

_MAX_CITATION_LENGTH = 40
_COLOURS = {
    StatuteMark.AGREES: "green",
    StatuteMark.DIFFERS: "red",
    StatuteMark.MISSING: "red",
    StatuteMark.NOT_IN_FORCE: "orange",
    StatuteMark.UNKNOWN: "gray",
}
"""Colours of the marks. ○ has none, because it is neutral that an article exists."""
_WITHOUT_NAME = re.compile(r"(?:本|该|同|此|上述|前述)\w{1,4}?(?=第)|(?=第)")


def draw(findings: Sequence[StatuteFinding], *, key: str) -> None:
    """Draw the findings. Equal citations with the same result share one chip."""
    different = {(one.mark, citation_label(one), one.quote, one.note): one for one in findings}
    with st.container(horizontal=True, gap="xsmall"):
        for number, one in enumerate(different.values()):
            label = f"{coloured_mark(one.mark)} {escape_label(citation_label(one))}"
            with st.popover(label, key=f"{key}-{number}", type="tertiary"):
                draw_html(finding_html(one))


def colour_of(mark: StatuteMark) -> str:
    return _COLOURS.get(mark, "")


def coloured_mark(mark: StatuteMark) -> str:
    """Return a mark for a Streamlit label. Its shape says the same as its colour."""
    colour = colour_of(mark)
    return f":{colour}[{mark}]" if colour else mark.value


def mark_html(mark: StatuteMark) -> Markup:
    return Markup('<b class="wy-mark %s">%s</b>') % (colour_of(mark), mark)


def citation_label(finding: StatuteFinding) -> str:
    """Return the citation as written. A bare 第三条 or 本法第三条 gets the name of the law."""
    cited = one_line(finding.cited)
    if found := _WITHOUT_NAME.match(cited):
        cited = f"《{short_name(finding.law_name)}》{cited[found.end() :]}"
    return shorten(cited, _MAX_CITATION_LENGTH)


def short_name(law: str) -> str:
    return law.removeprefix("中华人民共和国")


def finding_html(finding: StatuteFinding) -> Markup:
    """Return the finding in words, the text's claim beside the article, and a link to the article's page."""
    verdict = (mark_html(finding.mark), finding.meaning, finding.note)
    return Markup('<div class="wy-law"><div class="wy-verdict">%s <b>%s。</b>%s</div>%s</div>') % (
        *verdict,
        _details(finding),
    )


def details_html(finding: StatuteFinding) -> Markup:
    """Return the finding without its words, for a place where they stand already."""
    return Markup('<div class="wy-law">%s</div>') % _details(finding)


def _details(finding: StatuteFinding) -> Markup:
    parts = Markup()
    if finding.is_misquoted and finding.quote and finding.text:
        parts += quotation_diff_html(finding.quote, finding.text)
    if finding.text:
        article = _article_section(finding, finding.text)
        parts += _two_columns(finding.claim, article) if finding.claim else article
    return parts


def _article_section(finding: StatuteFinding, text: str) -> Markup:
    name = f"《{finding.law_name}》{finding.article_number}"
    force = f"{finding.effective_date} 起施行" if finding.effective_date else ""
    address = law_address(finding.law_name, finding.article_number, finding.published)
    return (
        Markup('<div class="wy-law-title">%s <span class="wy-dim">%s</span></div>') % (name, force)
        + article_html(text)
        + Markup('<div><a href="%s" target="_blank" rel="noopener">在「法规与案例」页打开</a></div>') % address
    )


def _two_columns(claim: str, article: Markup) -> Markup:
    """Return two columns, which stand below each other on narrow screens."""
    claimed = Markup('<div class="wy-law-title">文中所述</div>') + article_html(claim)
    return Markup('<div class="wy-beside"><div>%s</div><div>%s</div></div>') % (claimed, article)


def article_html(text: str, highlighted: str | None = None) -> Markup:
    """Return an article, one paragraph per line. Lines of `highlighted` (the 款 or 项 that was asked for) are marked."""
    asked = set((highlighted or "").splitlines())
    return Markup().join(
        (Markup("<p><mark>%s</mark></p>") if line in asked else Markup("<p>%s</p>")) % line
        for line in text.splitlines()
        if line.strip()
    )


def quotation_diff_html(quote: str, text: str) -> Markup:
    legend = Markup('<div class="wy-dim">删除线：引文有、条文没有；下划线：条文有、引文没有。</div>')
    return diff_html(diff_quotation(quote, text)) + legend


def diff_html(pieces: Iterable[DiffSegment]) -> Markup:
    return Markup('<p class="wy-diff">%s</p>') % Markup().join(_segment_items(pieces))


def _segment_items(pieces: Iterable[DiffSegment]) -> Iterator[Markup]:
    for piece in pieces:
        if piece.new is None:
            yield escape(piece.old)
            continue
        if piece.old:
            yield Markup("<del>%s</del>") % piece.old
        if piece.new:
            yield Markup("<ins>%s</ins>") % piece.new
