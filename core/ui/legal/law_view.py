"""Law that an address names, in the named version or in the one in force at a named time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from core.base.text import one_line, shorten
from core.legal import ArticleNumber, LawVersion, LegalIndex, Period, law_query, parse_period, version_on
from core.ui.escape import draw_html
from core.ui.frame import draw_warning
from core.ui.legal import legal_page
from core.ui.legal.law_filters import DAY_LABEL
from core.ui.statute_findings import short_name

_MAX_NAMES = 12


@dataclass(frozen=True)
class LawView:
    """A law in one version, as the page shows it. It keeps its index, so an import that ends meanwhile changes nothing."""

    index: LegalIndex
    law: LawVersion
    current: LawVersion
    as_of: Period | None = None
    note: str = ""
    """Note about the version of that time."""

    def query(self, article: ArticleNumber | None = None, law: LawVersion | None = None) -> dict[str, str]:
        """Return the query parameters of an article or a version. The day is kept unless a version was chosen."""
        number = str(article or "") or None
        if self.as_of and law is None:
            return law_query(self.law.name, number, as_of=self.as_of.iso)
        law = law or self.law
        return law_query(law.name, number, law.published if law != self.current else None)

    def link(self, text: str, article: ArticleNumber | None = None, law: LawVersion | None = None) -> Markup:
        return legal_page.link_html(text, self.query(article, law))


def find_law_view(index: LegalIndex, current: LawVersion, version: str, as_of: str) -> LawView:
    if version:
        named = next((one for one in index.versions(current.key) if one.published == version), None)
        if named is None:
            draw_warning("库中没有这个日期公布的版本，显示的是现行版本。")
        return LawView(index, named or current, current)
    period = parse_period(as_of)
    if period is None:
        if as_of:
            draw_warning(f"「{shorten(one_line(as_of), 20)}」不是日期，显示的是现行版本。")
        return LawView(index, current, current)
    then = version_on(index, current.key, period)
    return LawView(index, then.law, current, period, then.note)


def draw_day_field(view: LawView) -> None:
    """Draw the field 按哪一天的法律. The typed day becomes part of the address and replaces a chosen version."""
    key = f"law-on-{view.current.key}"
    legal_page.draw_address_box(
        DAY_LABEL,
        view.as_of.iso if view.as_of else "",
        key=key,
        icon=":material/event:",
        placeholder=DAY_LABEL,
        on_change=_choose_day,
        args=(key,),
    )


def _choose_day(key: str) -> None:
    typed = (st.session_state[key] or "").strip()
    period = parse_period(typed)
    st.session_state[f"{key}-seen"] = period.iso if period else ""
    st.query_params.pop("version", None)
    st.query_params["on"] = period.iso if period else typed
    if not typed:
        del st.query_params["on"]


def draw_version_note(view: LawView, number: ArticleNumber | None) -> None:
    """Draw which version this is, and whether the law was repealed."""
    if view.as_of:
        st.info(view.note or f"{view.as_of.spaced}施行的就是这个版本，也是现行版本。", icon=":material/event:")
    elif view.law != view.current:
        st.info("这不是现行版本，请核对事情发生时适用的是哪一版。", icon=":material/history:")
    if view.law != view.current:
        legal_page.draw_link("查看现行版本", view.query(number, view.current), icon=":material/update:")
    if lines := [*repealed_by_html(view.index, view.current.key), *_repeals_html(view)]:
        draw_html(Markup('<div class="wy-law">%s</div>') % Markup().join(lines))


def repealed_by_html(index: LegalIndex, key: str) -> Iterator[Markup]:
    """Yield a line with the article that repealed this law."""
    if repeal := index.repeal(key):
        law = index.version(repeal.law_id)
        number = str(repeal.number)
        link = legal_page.link_html(f"《{short_name(law.name)}》{number}", law_query(law.name, number))
        yield Markup("<p>%s 起由%s废止。</p>") % (repeal.since, link)


def _repeals_html(view: LawView) -> Iterator[Markup]:
    """Yield a line with the laws that this one repealed, as one of its last articles says."""
    repealed = view.index.repealed_by(view.law.id)
    if not repealed:
        return
    number = repealed[0][1].number
    article = view.link(str(number), number)
    names = [_law_link(view.index, key) for key, _ in repealed]
    shown = Markup("、").join(names[:_MAX_NAMES])
    if rest := names[_MAX_NAMES:]:
        shown += Markup("<details><summary>另外 %s 部</summary>%s</details>") % (len(rest), Markup("、").join(rest))
    yield Markup('<div class="wy-replaced">施行后废止的法律（%s）：%s</div>') % (article, shown)


def _law_link(index: LegalIndex, key: str) -> Markup:
    name = next((version.name for version in index.versions(key)), None)
    return legal_page.link_html(f"《{short_name(name)}》", law_query(name)) if name else Markup("《%s》") % key
