"""How much of the reader's own files reaches the model: read from what the model's server was sent."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.answer import reading_status
from core.answer.events import Answer, RunEvent, RunFailed, SourcesGiven
from core.answer.message import message_from_run
from core.answer.stored_message import decode_message, encode_message
from core.app import App, build_app
from core.reading import Page, RankedPassages
from core.run.question import AnswerOptions
from core.search.types import SearchResult
from support.base import loaded
from support.fake_engines import FakeEngine
from support.openai_server import OpenAIServer, in_turn, openai_server
from support.sectioned import sectioned_page

PAGES = 40
NEEDLE = "风琴修理师每逢闰年领取三十七枚铜纽扣"
QUESTION = "风琴修理师每逢闰年领取几枚铜纽扣？"
FILLER = "本馆的陈列柜在春季擦拭一次，由值班人员登记，登记簿放在前台的抽屉里，任何人都可以查看。"
WEB = "铜纽扣厂今年扩建了车间，风琴厂参观了新的流水线，领取的手册印着厂里的历史。" * 100


def page_text(number: int) -> str:
    text = f"第{number}节 陈列与登记\n" + "\n".join(f"{FILLER}（{number}-{line}）" for line in range(60))
    return f"{text}\n{NEEDLE}。" if number == 31 else text


LONG = sectioned_page("馆规.pdf", [page_text(number) for number in range(1, PAGES + 1)])
"""112,000 characters on 40 pages."""


@contextmanager
def asking(window: int | None, **environ: str) -> Iterator[tuple[App, OpenAIServer]]:
    """The app with a model whose service lists this context length."""
    with openai_server() as server:
        entry: dict[str, Any] = {"id": "reply", "object": "model", "max_model_len": window}
        server.listing = (200, json.dumps({"data": [entry]}).encode())
        address = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply"}
        engine = FakeEngine("fake", web_results())
        app = build_app(loaded(**address, CHAT_STANDALONE_QUERIES="false", **environ), engines=[engine])
        try:
            yield app, server
        finally:
            app.close()


def web_results() -> list[SearchResult]:
    return [SearchResult("铜纽扣", f"https://{n}.example/", "铜纽扣", f"{n}.example", text=WEB) for n in range(3)]


def sent(server: OpenAIServer, request: int = 0) -> str:
    return "\n".join(str(message["content"]) for message in server.requests[request]["messages"])


def ask(app: App, *files: Page, question: str = QUESTION, mode: str = "chat", search: bool = False) -> list[RunEvent]:
    service = app.agent if mode == "agent" else app.chat
    events = list(service.stream(question, options=AnswerOptions(files=files, search=search)))
    assert not [event for event in events if isinstance(event, RunFailed)]
    return events


def lines_sent(prompt: str) -> int:
    return sum(f"（{number}-{line}）" in prompt for number in range(1, PAGES + 1) for line in range(60))


REACT_END: Sequence[Any] = ["Thought: 好\nFinal Answer: 三十七枚[1]。"]


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("search", [False, True])
def test_a_file_that_fits_goes_whole_also_beside_web_pages(mode: str, *, search: bool) -> None:
    with asking(131_072, AGENT_STRATEGY="react") as (app, server):
        server.reply = lambda asked: REACT_END if mode == "agent" else ["三十七枚[1]。"]
        ask(app, LONG, mode=mode, search=search)
        prompt = sent(server)
    assert NEEDLE in prompt
    assert lines_sent(prompt) == PAGES * 60
    assert f"全文 {LONG.length:,} 字，都在下面。" in prompt
    assert "（第 31 页）第31节" in prompt


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("window", [32_768, None])
def test_of_one_that_does_not_fit_the_model_gets_what_was_asked_for_and_hears_of_the_rest(
    mode: str, window: int | None
) -> None:
    with asking(window, AGENT_STRATEGY="react") as (app, server):
        server.reply = lambda asked: REACT_END if mode == "agent" else ["三十七枚[1]。"]
        ask(app, LONG, mode=mode, search=True)
        prompt = sent(server)
    assert NEEDLE in prompt
    assert 0 < lines_sent(prompt) < PAGES * 60 / 2
    assert f"全文 {LONG.length:,} 字，下面只是其中 " in prompt
    assert "没看到的内容不能说文件里没有" in prompt
    assert "目录: 第1节 陈列与登记（第 1 页）；第2节 陈列与登记（第 2 页）" in prompt


def test_the_window_may_be_configured_and_the_smaller_number_counts() -> None:
    with asking(None, LLM_CONTEXT_TOKENS="262144") as (app, server):
        ask(app, LONG)
        assert lines_sent(sent(server)) == PAGES * 60
    with asking(262_144, LLM_CONTEXT_TOKENS="32768") as (app, server):
        ask(app, LONG)
        assert lines_sent(sent(server)) < PAGES * 60 / 2
    with asking(262_144, CHAT_SOURCE_TOKENS="2000") as (app, server):
        ask(app, LONG)
        assert lines_sent(sent(server)) < PAGES * 60 / 10


def test_short_files_are_whole_beside_a_long_one() -> None:
    short = sectioned_page("便条.pdf", ["馆长的猫叫作星期三。" + FILLER * 10])
    with asking(32_768) as (app, server):
        ask(app, LONG, short)
        prompt = sent(server)
    assert short.text in prompt
    assert NEEDLE in prompt


def unnumbered_line(page: int, line: int) -> str:
    """A line that is on one page only and has no number in it."""
    return f"{FILLER}〔{chr(0x5200 + page)}{chr(0x6200 + line)}〕"


UNNUMBERED = sectioned_page(
    "馆规.pdf", ["\n".join(unnumbered_line(page, line) for line in range(50)) for page in range(1, PAGES + 1)]
)
"""As long a file whose pages do not have their number in the text: only its place says which page it is."""


@pytest.mark.parametrize(
    ("question", "pages"), [("第 14 页讲什么？", [14]), ("请解释第三到五页", [3, 4, 5]), ("What is on page 22?", [22])]
)
def test_a_page_that_the_question_names_goes_in_whole(question: str, pages: list[int]) -> None:
    with asking(16_384) as (app, server):
        ask(app, UNNUMBERED, question=question)
        prompt = sent(server)
    for page in pages:
        assert all(unnumbered_line(page, line) in prompt for line in range(50))
        assert f"（第 {page} 页）{unnumbered_line(page, 0)}" in prompt


# ── What readers are told of it ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_the_source_says_how_much_the_model_was_given_and_of_which_pages(mode: str) -> None:
    with asking(16_384, AGENT_STRATEGY="react") as (app, server):
        server.reply = lambda asked: REACT_END if mode == "agent" else ["三十七枚[1]。"]
        events = ask(app, LONG, mode=mode)
        prompt = sent(server)
    message = message_from_run(events, seconds=1, mode="agent" if mode == "agent" else "chat")
    (source,) = message.sources
    assert source.given == pytest.approx(len(quoted(prompt)), abs=5)
    assert 4_000 < source.given < LONG.length / 4
    assert f"附件 · {LONG.length:,} 字，交给模型 {source.given:,} 字（第 " in reading_status(source)
    assert "31" in source.given_places
    (told,) = [event for event in events if isinstance(event, SourcesGiven)]
    numbers = {"number": 1, "characters": LONG.length, "given": source.given, "givenPlaces": source.given_places}
    assert told.to_json() == {"type": "sources_given", "sources": [numbers]}
    (answer,) = [event for event in events if isinstance(event, Answer)]
    assert answer.sources == (source,), "what is cited, exported and printed says the same"
    assert answer.to_json()["sources"][0]["given"] == source.given
    stored = decode_message(encode_message(message), id="x", role="assistant", text=message.text, created=1.0)
    assert stored.sources == stored.cited == (source,)


def quoted(prompt: str) -> str:
    """The text of the file in a prompt, without the marks of its lines and places."""
    lines = [line.removeprefix("> ") for line in prompt.splitlines() if line.startswith("> ")]
    text = "\n".join(line for line in lines if line != "……")
    return re.sub(r"（第 \d+ 页）", "", text)


def test_a_whole_file_is_said_to_be_whole() -> None:
    with asking(131_072) as (app, _):
        (source,) = message_from_run(ask(app, LONG), seconds=1).sources
    assert reading_status(source) == f"附件 · {LONG.length:,} 字，全文交给模型"


@pytest.mark.parametrize(
    ("unread", "where"),
    [((2, 5, 6), "（第 2、5–6 页是图像）"), ((), "")],
    ids=["pages in the middle", "it is not known where"],
)
@pytest.mark.parametrize("window", [131_072, 16_384])
def test_of_a_file_that_was_read_in_part_the_model_hears_that_there_is_more_and_not_that_it_comes_later(
    window: int, unread: tuple[int, ...], where: str
) -> None:
    with asking(window) as (app, server):
        ask(app, replace(LONG, is_cut=True, unread_pages=unread))
        prompt = sent(server)
    assert f"从文件里读出 {LONG.length:,} 字，" in prompt
    assert f"文件里还有没读出来的内容{where}，不能说文件里没有。" in prompt
    assert "全文 " not in prompt
    assert "正文全文" not in prompt
    assert "后面的" not in prompt


def test_a_long_file_is_fitted_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranking 2,000,000 characters takes a third of a second, in which all other answers would stand still."""
    threads: set[str] = set()
    rank = RankedPassages.__init__

    def noting(*args: Any, **options: Any) -> None:
        threads.add(threading.current_thread().name)
        rank(*args, **options)

    monkeypatch.setattr(RankedPassages, "__init__", noting)
    with asking(16_384, AGENT_STRATEGY="react", READING_PAGES="1") as (app, server):
        ask(app, LONG)
        read = ["Thought: 再读\nAction: read_page\nAction Input: 1"]
        server.reply = in_turn(read, REACT_END)
        ask(app, LONG, mode="agent")
        assert "已读全文：[1]" in sent(server, -1)
    assert threads
    assert "wenyuan-loop" not in threads
