"""法条核验: verified citations as a row of chips. One click shows the article, and where the quotation departs from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import streamlit as st

from core.base.text import one_line, shorten
from core.legal.address import law_address
from core.legal.text.difference import difference
from core.legal.verify import Mark, Verdict
from core.ui.escape import label

_WORDS_LENGTH = 40
_WITHOUT_NAME = re.compile(r"(?:本|该|同|此|上述|前述)\w{1,4}?(?=第)|(?=第)")


def draw(checks: Sequence[Verdict], *, key: str) -> None:
    """The same words with the same result are one chip."""
    different = {(check.mark, words(check), check.quote): check for check in checks}
    with st.container(horizontal=True, gap="xsmall"):
        for number, check in enumerate(different.values()):
            with st.popover(f"{check.mark} {label(words(check))}", key=f"{key}-{number}", type="tertiary"):
                st.html(details(check))


def words(check: Verdict) -> str:
    """The citation as it was written; where that is only 第三条 or 本法第三条, with the name of the law."""
    cited = one_line(check.cited)
    if found := _WITHOUT_NAME.match(cited):
        cited = f"《{short_name(check.law_name)}》{cited[found.end() :]}"
    return shorten(cited, _WORDS_LENGTH)


def short_name(law: str) -> str:
    return law.removeprefix("中华人民共和国")


def details(check: Verdict) -> str:
    """The verdict in words, the article, and the way to its page."""
    remark = f"{check.mark} {check.mark.meaning}。{'' if check.mark is Mark.DIFFERS else check.note}"
    force = f"{check.effective_date} 起施行" if check.effective_date else "施行日期未知"
    parts = [f'<div class="wy-line"><b>{escape(remark)}</b></div>']
    if check.mark is Mark.DIFFERS and check.quote and check.text:
        parts.append(difference_html(check.quote, check.text))
    if check.text:
        name = f"《{check.law_name}》{check.article_number}"
        address = law_address(check.law_name, check.article_number, check.published)
        parts += [
            f'<div class="wy-law-title">{escape(name)} <span class="wy-dim">{escape(force)}</span></div>',
            article_html(check.text),
            f'<div><a href="{escape(address)}" target="_blank" rel="noopener">在「法规与案例」页打开</a></div>',
        ]
    return f'<div class="wy-law">{"".join(parts)}</div>'


def article_html(text: str, marked: str | None = None) -> str:
    """An article, one paragraph a line; the lines of `marked` (the 款 or 项 that was asked for) stand out."""
    asked = set((marked or "").splitlines())
    return "".join(
        f"<p><mark>{escape(line)}</mark></p>" if line in asked else f"<p>{escape(line)}</p>"
        for line in text.splitlines()
        if line.strip()
    )


def difference_html(quote: str, text: str) -> str:
    pieces = "".join(
        escape(piece.quoted)
        if piece.real is None
        else (f"<del>{escape(piece.quoted)}</del>" if piece.quoted else "")
        + (f"<ins>{escape(piece.real)}</ins>" if piece.real else "")
        for piece in difference(quote, text)
    )
    return (
        f'<p class="wy-diff">{pieces}</p><div class="wy-dim">删除线：引文有、条文没有；下划线：条文有、引文没有。</div>'
    )
