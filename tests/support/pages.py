"""The chat page without a browser: around the App of a test, and what is drawn on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any

from lxml.html import HtmlElement, fromstring
from streamlit.testing.v1 import AppTest

from core.answer.events import RunEvent
from core.answer.message import Mode
from core.app import App, build_app
from core.search.engine import SearchEngine
from core.ui.chat.composer import AGENT_TOGGLE
from core.ui.chat.settings_panel import MODEL_MENU
from core.ui.session import AGENT, SEARCH_TOGGLE
from support.agents import RunningAgent
from support.base import ROOT, loaded
from support.fake_engines import FakeEngine, results
from support.shared import shared, shared_and_closed


def open_page(**query: str) -> AppTest:
    """With the groups of the settings panel open: what nobody has opened is not drawn."""
    page = AppTest.from_file(str(ROOT / "Home.py"), default_timeout=30)
    page.session_state["panel_搜索设置"] = page.session_state["panel_模型与 Agent"] = True
    page.query_params.update(query)
    page.run()
    assert not page.exception
    return page


def rerun(page: AppTest) -> AppTest:
    """Through Home.py: AppTest takes the files in pages/ for the pages and would leave it out from its second run on."""
    page._page_hash = page._finished_page_script_hash = ""
    page.run()
    assert not page.exception
    return page


def reader(page: AppTest) -> str:
    """To whom the conversations of this page belong: it has no cookie."""
    return f"session {page.session_state['chat'].session_id}"


def search(page: AppTest, *, on: bool) -> AppTest:
    page.toggle(key=SEARCH_TOGGLE).set_value(on)
    return rerun(page)


def choose(page: AppTest, mode: Mode) -> AppTest:
    page.toggle(key=AGENT_TOGGLE).set_value(mode == AGENT)
    return rerun(page)


def ask(page: AppTest, question: str) -> AppTest:
    page.chat_input[0].set_value(question)
    return rerun(page)


def put_back(page: AppTest) -> str:
    """What the program has put into the box."""
    box = page.chat_input[0].proto
    return box.value if box.set_value else ""


def shown(page: AppTest) -> dict[str, Any]:
    widgets = [*page.sidebar.selectbox, *page.sidebar.select_slider]
    chosen = {widget.key.removeprefix("panel_"): widget.value for widget in widgets}
    return {"model": page.menu_button(key=MODEL_MENU).label, **chosen} if page.menu_button else chosen


def pick(page: AppTest, name: str, value: str) -> AppTest:
    if name == "model":
        page.menu_button(key=MODEL_MENU).click(value)
        return rerun(page)
    (widget,) = [
        widget for widget in (*page.sidebar.selectbox, *page.sidebar.select_slider) if widget.key == f"panel_{name}"
    ]
    widget.set_value(value)
    return rerun(page)


def reset(page: AppTest, group: str) -> AppTest:
    page.sidebar.button(key=f"reset-{group}").click()
    return rerun(page)


@contextmanager
def serving(engines: Sequence[SearchEngine] | None = None, /, **environ: str) -> Iterator[App]:
    """Every page that is opened meanwhile is a session of this App's."""
    engines = [FakeEngine("fake", results(9))] if engines is None else engines
    app = build_app(loaded(**environ), engines=engines)
    with shared_and_closed(app):
        yield app


@contextmanager
def page_of(app: App) -> Iterator[AppTest]:
    """The page, answered by this App."""
    with shared(app):
        yield open_page()


@contextmanager
def agent_page(world: RunningAgent) -> Iterator[AppTest]:
    """The page in Agent mode, answered by this world."""
    vars(world.app)["agent"] = world.runner
    with page_of(world.app) as page:
        yield choose(page, AGENT)


def _draw(events: "Sequence[RunEvent]", over: bool) -> None:  # noqa: UP037 - its source is run by itself
    import streamlit as st

    from core.ui.chat.steps import Steps

    steps = Steps(st.container())
    for event in events:
        steps.add_event(event)
    steps.draw()
    if over:
        steps.finish()


def drawn_after(events: Sequence[RunEvent], *, over: bool = False) -> AppTest:
    """The steps as they stand after these events, the run still going on unless it is over."""
    page = AppTest.from_function(_draw, default_timeout=30, kwargs={"events": events, "over": over}).run()
    assert not page.exception
    return page


_STEP = re.compile(
    r'<(?:details|div) class="wy-step (?P<state>\w+)"(?P<open> open)?(?: style="--since:-\d+s")?>(?:<summary>)?'
    r'<b>(?P<title>.*?)</b>(?: <span class="wy-badge">(?P<badge>.*?)</span>)?(?: <span class="facts">(?P<facts>.*?)</span>)?'
)


ANNOUNCEMENT = "wy-step said"


def _found_steps(page: AppTest) -> list[re.Match[str]]:
    return list(_STEP.finditer(html(page)))


def steps(page: AppTest) -> list[str]:
    return [unescape(" ".join(filter(None, (found["title"], found["facts"])))) for found in _found_steps(page)]


def states(page: AppTest) -> list[tuple[str, bool]]:
    """Each step's state, and whether it is open."""
    return [(found["state"], bool(found["open"])) for found in _found_steps(page)]


def step(page: AppTest, number: int) -> str:
    """The HTML of one step, with its details."""
    starts = [found.start() for found in _found_steps(page)]
    return html(page)[starts[number] : [*starts, None][number + 1]]


def announcement(page: AppTest, number: int) -> str:
    """The short thought that announces a step, on the line right above it; empty where there is none."""
    lines = fromstring(f"<main>{html(page)}</main>").xpath("//*[starts-with(@class, 'wy-step ')]")
    places = [place for place, line in enumerate(lines) if line.get("class") != ANNOUNCEMENT]
    before = lines[places[number] - 1] if places[number] else None
    return before.text_content() if before is not None and before.get("class") == ANNOUNCEMENT else ""


def html(part: Any) -> str:
    """Without the page's script."""
    drawn = (element.proto for element in part.get("html"))
    return " ".join(proto.body for proto in drawn if not proto.unsafe_allow_javascript)


def last_answer(page: AppTest) -> HtmlElement:
    """All that is drawn of the last message, in the order of the page."""
    return fromstring(f"<main>{html(page.chat_message[-1])}</main>")


@dataclass(frozen=True)
class Reference:
    number: str
    title: str
    address: str
    summary: str
    about: str
    """What is known of it: its date, and how much of it was read."""


ANSWER_TEXT = "[contains(concat(' ', @class, ' '), ' wy-answer ')]"
"""What an XPath to the text of an answer asks of an element. A new answer's has a second class."""


def references(page: AppTest) -> list[Reference]:
    """The list under the heading 参考文献 of the last answer, below its text; empty where there is no heading."""
    message = last_answer(page)
    headings = message.xpath("//*[@class='wy-refs-title'][. = '参考文献']")
    if not headings:
        return []
    (heading,) = headings
    (shown,) = heading.xpath("following-sibling::*[1][self::ol][@class='wy-refs']")
    assert heading.xpath(f"preceding::*{ANSWER_TEXT}"), "the answer comes first"
    assert not shown.xpath(f"following::*{ANSWER_TEXT}"), "all of it"
    return [_reference(row) for row in shown.xpath("li")]


def _reference(row: HtmlElement) -> Reference:
    summary, about = (row.xpath(f"string(span[@class='{name}'])") for name in ("summary", "about"))
    return Reference(row.get("value"), row.xpath("string(a[1])"), row.xpath("string(a[1]/@href)"), summary, about)


def citations(page: AppTest) -> list[tuple[str, str]]:
    """The superscripts in the text of the last answer: each number, and where it leads."""
    marks = last_answer(page).xpath(f"//*{ANSWER_TEXT}//sup[contains(concat(@class, ' '), 'cite ')]")
    return [(mark.xpath("string(a[1])"), mark.xpath("string(a[1]/@href)")) for mark in marks]


def open_sources(page: AppTest) -> AppTest:
    """Of the last answer, as a click does."""
    page.session_state[f"sources-{page.session_state['chat'].messages[-1].id}"] = True
    return rerun(page)


def values(elements: Any) -> str:
    return " ".join(str(element.value) for element in elements)


def costs(page: AppTest) -> list[list[str]]:
    """What each answer cost, as the lines behind its ⋯; the first one is the total, where there is one."""
    menus = fromstring(f"<main>{html(page.main)}</main>").xpath("//*[@class='wy-menu']")
    return [[line.text_content() for line in menu.xpath("div")] for menu in menus]


def open_check(page: AppTest) -> AppTest:
    """The fold 核验 of the last answer, as a click does."""
    page.session_state[f"claims-{page.session_state['chat'].messages[-1].id}"] = True
    return rerun(page)


def check_title(page: AppTest) -> str:
    """The line of the fold 核验 of the last answer; empty where there is none."""
    folds = page.chat_message[-1].expander
    return next((fold.label.replace("\\", "") for fold in folds if fold.label.startswith("核验")), "")


def chips(page: AppTest) -> list[str]:
    """Return the labels of the findings in the fold 核验 of the last answer, without their colours."""
    open_check(page)

    def labels(element: Any) -> Iterator[str]:
        for child in element.children.values():
            if hasattr(child, "children"):
                label = child.proto.popover.label if child.proto and hasattr(child.proto, "popover") else ""
                yield from [label] if label else []
                yield from labels(child)

    plain = (re.sub(r"^:\w+\[(.)\]", r"\1", label) for label in labels(page.chat_message[-1]))
    return [label for label in plain if label[0] in "✓○✗≠⌛？"]
