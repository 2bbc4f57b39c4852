"""来源原文 without a browser: the passage that was clicked, the page of a PDF, and who may see it."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from collections.abc import Iterator

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.answer.html.text_window import WHOLE_TEXT, WINDOW
from core.app import App
from core.documents import Access
from core.ui import identity
from core.ui.chat.source_texts import NO_PAGES, WANTED
from support.openai_server import OpenAIServer, openai_server
from support.pages import ask, html, open_page, rerun, serving
from support.pdf_files import pdf_file
from support.reading import kept_workers

__all__ = ["kept_workers"]

PENALTY = "逾期付款的，每日按未付金额的万分之五支付违约金。"
LEASE = pdf_file(["海州港灯塔租约"], ["第三条 违约", PENALTY], ["附件清单"])
MINE, OTHERS = "m" * 32, "o" * 32


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as server:
        server.reply = lambda request: [f"{PENALTY.removesuffix('。')}[1]。"]
        yield server


@pytest.fixture
def app(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    be(MINE, monkeypatch)
    with serving(OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k", LLM_MODEL="openai:reply", CHAT_FOLLOW_UPS="0") as app:
        yield app


def be(who: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "visitor", lambda: who)


def answered_page(app: App, name: str = "租约.pdf", body: bytes = LEASE) -> AppTest:
    page = open_page()
    page.chat_input[0].upload(name, body)
    page = rerun(ask(page, "违约金怎么算？"))
    app.outbox.flush(10)
    return page


def answer(page: AppTest) -> str:
    id: str = [one.id for one in page.session_state["chat"].messages if one.role == "assistant"][-1]
    return id


def position(page: AppTest) -> str:
    """Of the passage that the answer cites, as its chip names it."""
    found: set[str] = set(re.findall(r'data-passage="1/(\d+)"', html(page)))
    assert len(found) == 1
    return found.pop()


def want(page: AppTest, wanted: str) -> AppTest:
    """As the script of the page asks for it after a click."""
    page.text_input(key=WANTED).set_value(wanted)
    return rerun(page)


def want_page(page: AppTest, id: str = "", at: str = "", *, click: int = 1) -> AppTest:
    return want(page, f"{id or answer(page)}/1/{at or position(page)}/page/{click}")


def pictures(page: AppTest) -> list[Image.Image]:
    data = re.findall('src="data:image/png;base64,([^"]+)"', html(page))
    return [Image.open(io.BytesIO(b64decode(one))) for one in data]


def test_the_clicked_passage_is_marked_below_the_name_of_its_page(app: App) -> None:
    page = answered_page(app)
    want(page, f"{answer(page)}/1/{position(page)}/text/1")
    assert f'<mark class="supported wanted" title="有据：{PENALTY}">{PENALTY}<' in html(page)
    assert '<span class="place">第 2 页</span>第三条 违约\n<mark' in html(page)
    assert "第 2 页" in [one.value for one in page.markdown]


def test_the_page_is_a_picture_for_whoever_has_the_conversation_alone(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = want_page(answered_page(app))
    (picture,) = pictures(page)
    assert (255, 232, 140) in {colour for _, colour in picture.getcolors(1_000_000) or ()}
    id, at = answer(page), position(page)
    be(OTHERS, monkeypatch)
    stranger = answered_page(app, "别的.txt", PENALTY.encode())
    assert pictures(want_page(stranger, id, at)) == []
    assert "海州港" not in html(stranger)
    assert pictures(open_page(c=page.session_state["chat"].conversation_id)) == []


@pytest.mark.parametrize(
    "wanted", ["", "/", "x/1/0/page/1", "{}/9/0/page/1", "{}/1/99999999999/page/1", "{}/1/-4/page/1"]
)
def test_the_field_may_hold_anything(app: App, wanted: str) -> None:
    page = answered_page(app)
    want(page, wanted.format(answer(page)))
    assert len(pictures(page)) == wanted.startswith("{}/1")


def test_a_share_shows_the_pages_until_it_is_withdrawn(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    page = answered_page(app)
    chat = page.session_state["chat"]
    share = app.store.share(chat.conversation_id, visitor_id=identity.reader())
    be(OTHERS, monkeypatch)
    reader = want_page(open_page(s=share))
    assert len(pictures(reader)) == 1
    be(MINE, monkeypatch)
    app.store.stop_sharing(chat.conversation_id, visitor_id=identity.reader())
    be(OTHERS, monkeypatch)
    assert pictures(want_page(reader, click=2)) == []
    assert "没有保存这个来源的文字" in "".join(one.value for one in reader.info)


def test_the_pages_of_a_file_in_a_collection_are_for_those_who_may_open_that(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = Access(identity.reader())
    collection = app.documents.create_collection("合同", access)
    app.documents.add_document(collection.id, "租约.pdf", LEASE, access)
    assert app.documents.wait_until_indexed(collection.id, access, seconds=60)
    page = open_page()
    page.checkbox(key=f"collection-{collection.id}").check()
    page = rerun(ask(rerun(page), "逾期付款的违约金怎么算？"))
    app.outbox.flush(10)
    assert len(pictures(want_page(page))) == 1
    share = app.store.share(page.session_state["chat"].conversation_id, visitor_id=identity.reader())
    be(OTHERS, monkeypatch)
    reader = open_page(s=share)
    want_page(reader)
    assert pictures(reader) == []
    assert f">{PENALTY}<" in html(reader)  # the text that the answer used
    assert NO_PAGES in [one.value for one in reader.caption]


def test_a_file_whose_bytes_were_not_kept_says_so(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    be(MINE, monkeypatch)
    model = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "LLM_MODEL": "openai:reply"}
    with serving(READING_KEPT_FILE_MEGABYTES="0", CHAT_FOLLOW_UPS="0", **model) as app:
        page = want_page(answered_page(app))
        assert pictures(page) == []
        assert f">{PENALTY}<" in html(page)
        assert NO_PAGES in [one.value for one in page.caption]
        assert "看这一页" not in [button.label for button in page.button]


def test_the_pages_of_a_deleted_conversation_are_gone(app: App) -> None:
    page = want_page(answered_page(app))
    app.store.delete(page.session_state["chat"].conversation_id, visitor_id=identity.reader())
    assert pictures(want_page(page, click=2)) == []


def test_of_a_long_text_only_what_is_around_the_passage_is_sent(app: App) -> None:
    lines = [f"第 {number} 款，双方另行约定的事项之{number}，以书面为准。" for number in range(1, 40_001)]
    lines[30_000] = PENALTY
    page = answered_page(app, "租约.txt", "\n".join(lines).encode())
    want(page, f"{answer(page)}/1/{position(page)}/text/1")
    (shown,) = [
        element.proto.body for element in page.get("html") if element.proto.body.startswith('<div class="wy-page-text"')
    ]
    assert f"{PENALTY}<" in shown
    assert WINDOW // 2 < len(shown) < WHOLE_TEXT
    labels = [button.label for button in page.button]
    before, after = (int(one.split()[1].replace(",", "")) for one in labels if re.match("[前后]面还有", one))
    assert before + after + WINDOW == pytest.approx(len("\n".join(lines)), abs=1_000)
