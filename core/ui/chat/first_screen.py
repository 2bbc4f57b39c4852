"""First screen: what the app is, and starter cards. A card fills the box, or opens a page with a sample; nothing is asked by
itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.answer.message import Mode
from core.app import App
from core.legal import law_query
from core.ui import legal_views, session
from core.ui.chat import actions, search_offer
from core.ui.frame import NAME, PURPOSE
from core.ui.settings import connect, model_settings


@dataclass(frozen=True, slots=True)
class StarterCard:
    name: str
    title: str
    description: str
    icon: str
    question: str = ""
    """Question that the card puts into the box."""
    mode: Mode = session.CHAT
    page: str = ""
    """Page that the card opens instead."""
    view: str = ""
    """Part of the page 法规与案例 to open."""


STARTER_CARDS = (
    StarterCard("statute", "查一条法条", "按条号或日常用语查", "gavel", page="legal", view=legal_views.LAWS),
    StarterCard("draft", "核验一份文稿", "先看示例，再核验自己的", "fact_check", page="legal", view=legal_views.DRAFT),
    StarterCard(
        "research",
        "带来源的研究",
        "Agent 分几步搜索和阅读",
        "travel_explore",
        "固态电池离量产还有多远？请从技术、成本和时间三方面说明。",
        session.AGENT,
    ),
    StarterCard(
        "compare",
        "比较两种说法",
        "两边的依据放在一起看",
        "balance",
        "有人说隔夜菜会致癌，有人说可以放心吃，两种说法各有什么依据？",
    ),
    StarterCard("news", "最近的新闻", "先搜索，再按来源回答", "newspaper", "最近一周人工智能领域有哪些重要新闻？"),
    StarterCard("help", "看看怎么用", "开关、来源和引用的标记", "help", page="help"),
)


def draw(place: DeltaGenerator, app: App) -> None:
    connect.show_saved_message()
    with place.container():
        st.header(NAME, anchor=False)
        st.write(PURPOSE)
        with st.container(key="jobs"):
            for card in STARTER_CARDS:
                if not card.page or card.page in app.settings.public.pages:
                    _draw_card(app, card)
            _draw_connect_card(app)
        search_offer.draw_on_first_screen(app)


def _draw_card(app: App, card: StarterCard) -> None:
    label, icon = f"**{card.title}**  \n{card.description}", f":material/{card.icon}:"
    if card.question:
        fill = partial(actions.fill_input, app, card.question, card.mode)
        st.button(label, key=f"fill-{card.name}", icon=icon, width="stretch", on_click=fill)
    elif st.button(label, key=f"open-{card.name}", icon=icon, width="stretch"):
        if card.view:
            legal_views.open_view(card.view)
        if card.view == legal_views.DRAFT:
            st.session_state[legal_views.SAMPLE] = True
        st.switch_page(f"pages/{card.page}.py", query_params=_page_query(app, card))


def _page_query(app: App, card: StarterCard) -> dict[str, str]:
    """Return what the address names: for 查一条法条 an article to begin with."""
    example = app.legal.example_article if card.view == legal_views.LAWS else None
    return law_query(*example) if example else {}


def _draw_connect_card(app: App) -> None:
    """Draw a card that connects a model, if the embedded model answers."""
    if title := model_settings.connect_label(app):
        label = f"**{title}**  \n{connect.EMBEDDED_NOTE}"
        if st.button(label, key="connect-model", icon=":material/power:", width="stretch"):
            model_settings.draw_dialog(app)
