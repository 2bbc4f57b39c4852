"""Findings of the statute check (法条核验) as a row of chips. A click shows the article beside the words of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import streamlit as st
from markupsafe import Markup, escape

from core.base.text import one_line, shorten
from core.legal.address import law_address
from core.legal.text.difference import Stretch, difference
from core.legal.verify import Mark, Verdict
from core.ui.escape import draw_html, label

_WORDS_LENGTH = 40
_COLOURS = {
    Mark.AGREES: "green",
    Mark.DIFFERS: "red",
    Mark.MISSING: "red",
    Mark.NOT_IN_FORCE: "orange",
    Mark.UNKNOWN: "gray",
}
"""Colours of the marks. ○ has none, because it is neutral that an article exists."""
_WITHOUT_NAME = re.compile(r"(?:本|该|同|此|上述|前述)\w{1,4}?(?=第)|(?=第)")


def draw(checks: Sequence[Verdict], *, key: str) -> None:
    """Draw the findings. Equal citations with the same result share one chip."""
    different = {(check.mark, words(check), check.quote, check.note): check for check in checks}
    with st.container(horizontal=True, gap="xsmall"):
        for number, check in enumerate(different.values()):
            with st.popover(f"{coloured(check.mark)} {label(words(check))}", key=f"{key}-{number}", type="tertiary"):
                draw_html(details(check))


def coloured(mark: Mark) -> str:
    """Return a mark for a Streamlit label. Its shape says the same as its colour."""
    colour = _COLOURS.get(mark)
    return f":{colour}[{mark}]" if colour else mark.value


def badge(mark: Mark, said: str) -> str:
    """Return a mark with its meaning for a Streamlit label, for long lists."""
    return f":{_COLOURS.get(mark, 'blue')}-badge[{mark} {label(said)}]"


def mark_html(mark: Mark) -> Markup:
    return Markup('<b class="wy-mark %s">%s</b>') % (_COLOURS.get(mark, ""), mark)


def words(check: Verdict) -> str:
    """Return the citation as written. A bare 第三条 or 本法第三条 gets the name of the law."""
    cited = one_line(check.cited)
    if found := _WITHOUT_NAME.match(cited):
        cited = f"《{short_name(check.law_name)}》{cited[found.end() :]}"
    return shorten(cited, _WORDS_LENGTH)


def short_name(law: str) -> str:
    return law.removeprefix("中华人民共和国")


def details(check: Verdict) -> Markup:
    """Return the finding in words, the text's claim beside the article, and a link to the article's page."""
    parts = Markup('<div class="wy-verdict">%s <b>%s。</b>%s</div>') % (
        mark_html(check.mark),
        check.meaning,
        check.note,
    )
    if check.misquoted and check.quote and check.text:
        parts += difference_html(check.quote, check.text)
    if check.text:
        parts += _beside(check.claim, _article(check, check.text)) if check.claim else _article(check, check.text)
    return Markup('<div class="wy-law">%s</div>') % parts


def _article(check: Verdict, text: str) -> Markup:
    name = f"《{check.law_name}》{check.article_number}"
    force = f"{check.effective_date} 起施行" if check.effective_date else ""
    address = law_address(check.law_name, check.article_number, check.published)
    return (
        Markup('<div class="wy-law-title">%s <span class="wy-dim">%s</span></div>') % (name, force)
        + article_html(text)
        + Markup('<div><a href="%s" target="_blank" rel="noopener">在「法规与案例」页打开</a></div>') % address
    )


def _beside(claim: str, article: Markup) -> Markup:
    """Return two columns, which stand below each other on narrow screens."""
    said = Markup('<div class="wy-law-title">文中所述</div>') + article_html(claim)
    return Markup('<div class="wy-beside"><div>%s</div><div>%s</div></div>') % (said, article)


def article_html(text: str, marked: str | None = None) -> Markup:
    """Return an article, one paragraph per line. Lines of `highlighted` (the 款 or 项 that was asked for) are marked."""
    asked = set((marked or "").splitlines())
    return Markup().join(
        (Markup("<p><mark>%s</mark></p>") if line in asked else Markup("<p>%s</p>")) % line
        for line in text.splitlines()
        if line.strip()
    )


def difference_html(quote: str, text: str) -> Markup:
    legend = Markup('<div class="wy-dim">删除线：引文有、条文没有；下划线：条文有、引文没有。</div>')
    return changes_html(difference(quote, text)) + legend


def changes_html(pieces: Iterable[Stretch]) -> Markup:
    return Markup('<p class="wy-diff">%s</p>') % Markup().join(_changes(pieces))


def _changes(pieces: Iterable[Stretch]) -> Iterator[Markup]:
    for piece in pieces:
        if piece.real is None:
            yield escape(piece.quoted)
            continue
        if piece.quoted:
            yield Markup("<del>%s</del>") % piece.quoted
        if piece.real:
            yield Markup("<ins>%s</ins>") % piece.real
