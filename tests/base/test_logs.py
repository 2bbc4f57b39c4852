from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import re
from collections.abc import Callable
from contextvars import copy_context
from datetime import datetime
from functools import partial
from itertools import count
from threading import Event

import pytest

from core.base.logs import (
    MAX_TYPED_KEYS,
    RedactingFilter,
    RepetitionFilter,
    add_log_ids,
    configure_logging,
    hide_in_logs,
    hide_typed_key_in_logs,
    redact,
)
from core.base.threads import LoopThread, ThreadPool, run_in_thread

KEY = "tvly-abcdefghij0123456789"


@pytest.fixture
def logged() -> tuple[logging.Logger, io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter([KEY, "hunter22"]))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    return logger, stream


def test_a_key_in_message_arguments_and_exception_is_hidden(logged: tuple[logging.Logger, io.StringIO]) -> None:
    logger, stream = logged
    try:
        try:
            raise ValueError(f"https://api.example/search?api_key={KEY}&q=x")
        except ValueError as error:
            raise RuntimeError("password is hunter22") from error
    except RuntimeError:
        logger.exception("call with %s failed", KEY)
    text = stream.getvalue()
    assert KEY not in text
    assert "hunter22" not in text
    assert "Traceback" in text
    assert "call with *** failed" in text


@pytest.mark.parametrize(
    ("text", "hidden", "kept"),
    [
        ("Authorization: Bearer abc.def-ghi_123", "abc.def", "Bearer"),
        ("{'x-api-key': 'secretvalue123'}", "secretvalue", "x-api-key"),
        ("GET /s?q=%E4%BD%A0&api_key=ABCDEF123456&num=10", "ABCDEF", "num=10"),
        ("redis://user:pa55word@host:6379/0", "pa55word", "host:6379"),
        ("key sk-proj-abcdefghijklmnop1234 rejected", "abcdefghijklmnop", "rejected"),
        ('"api_key": "zzzzzzzzzz", "model": "m"', "zzzz", '"model": "m"'),
    ],
)
def test_unknown_keys_are_recognised_by_their_shape(text: str, hidden: str, kept: str) -> None:
    result = redact(text)
    assert hidden not in result
    assert kept in result


@pytest.mark.parametrize(
    "text",
    ["1,204 tokens used", "max_tokens: 4096", "搜索词：劳动合同法第三十八条", "https://example.org/a?b=c", "sk-ip"],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


def test_wrong_arguments_do_not_leak(logged: tuple[logging.Logger, io.StringIO]) -> None:
    logger, stream = logged
    logger.warning("one %s two %s", KEY)  # noqa: PLE1206 the mistake is what is tested
    assert KEY not in stream.getvalue()
    assert "unprintable" in stream.getvalue()


def test_nobody_forges_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(level="INFO")
    logging.getLogger("x").warning("model said: %s", "oops\n2026-01-01 00:00:00 INFO core: all is well\r\x1b[2K\u2028y")
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert "\x1b" not in written
    assert "oops\\n2026" in written


def test_a_fault_that_repeats_itself_does_not_fill_the_disk(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(level="INFO")
    for number in range(10_000):
        logging.getLogger("asyncio").error("socket.accept() out of system resource %d", number)
    logging.getLogger("asyncio").error("something else")
    written = capsys.readouterr().err.splitlines()
    assert len(written) == 51
    assert "further records of this kind are left out" in written[49]
    assert "something else" in written[50]


def test_after_a_minute_it_is_said_again() -> None:
    now = 0.0
    kept = RepetitionFilter(limit=2, seconds=60, clock=lambda: now)
    numbers = count()

    def passes() -> bool:
        return kept.filter(logging.LogRecord("x", logging.ERROR, "f", 1, "fault %d", (next(numbers),), None))

    assert [passes() for _ in range(4)] == [True, True, False, False]
    now = 61.0
    assert passes()


def test_a_fault_that_lasts_is_said_once_and_then_every_ten_minutes() -> None:
    now = 0.0
    kept = RepetitionFilter(clock=lambda: now)

    def say(level: int, text: str, *given: str) -> str:
        record = logging.LogRecord("x", level, "f", 1, text, given, None)
        return record.getMessage() if kept.filter(record) else ""

    assert say(logging.WARNING, "%s is away", "redis") == "redis is away"
    assert say(logging.WARNING, "%s is away", "searxng") == "searxng is away"
    for _ in range(120):
        now += 4.9
        assert say(logging.WARNING, "%s is away", "redis") == ""
    now += 15
    assert (
        say(logging.WARNING, "%s is away", "redis")
        == "redis is away (said 120 more times since it was last written here)"
    )
    assert [say(logging.INFO, "found 10 results") for _ in range(3)] == ["found 10 results"] * 3
    for number in range(3_000):
        say(logging.WARNING, str(number))
    assert len(kept._said) <= kept.MAX_TEXTS


def test_another_exception_under_the_same_words_is_another_fault(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(kind: type[Exception]) -> None:
        raise kind("text that differs from time to time")

    def fail_elsewhere() -> None:
        raise KeyError

    configure_logging(level="INFO")
    for failing in (partial(fail, KeyError), partial(fail, KeyError), partial(fail, ValueError), fail_elsewhere):
        try:
            failing()
        except Exception:
            logging.getLogger("asgi").exception("page failed")
    logging.getLogger("asgi").error("page failed")
    logging.getLogger("asgi").exception("page failed")  # outside of any exception
    written = capsys.readouterr().err
    assert written.count("ERROR asgi: page failed") == 4
    assert [line.partition(":")[0] for line in written.splitlines() if line.startswith(("Key", "Value"))] == [
        "KeyError",
        "ValueError",
        "KeyError",
    ]


def lines_of(work: Callable[[], None], capsys: pytest.CaptureFixture[str], **options: str) -> list[str]:
    configure_logging(level="INFO", **options)
    work()
    return capsys.readouterr().err.splitlines()


def test_each_line_says_whose_it_is_also_in_the_threads_that_were_started(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("x")
    pool, loop, done = ThreadPool(), LoopThread(), Event()

    def work_in_pool(id: str) -> None:
        log.info("in the pool for %s", id)
        done.set()

    async def answer(id: str) -> None:
        add_log_ids(question=id)
        log.info("on the loop for %s", id)
        await run_in_thread(lambda: log.info("in a thread for %s", id), name="t")
        await asyncio.to_thread(log.info, "in asyncio's for %s", id)
        pool.start(partial(work_in_pool, id))
        done.wait(10)
        done.clear()

    def ask() -> None:
        add_log_ids(conversation="conversation-of-32-characters")
        for id in ("first", "second"):
            loop.submit(answer(id)).result()
        log.info("outside")

    lines = lines_of(lambda: copy_context().run(ask), capsys)
    loop.stop()
    ids = [re.search(r"\[(.*?)\]", line)[1] for line in lines]  # type: ignore[index]
    mine = f"{os.getpid()} conversation=conversa"
    assert ids == [f"{mine} question=first"] * 4 + [f"{mine} question=second"] * 4 + [mine]


def test_as_json_every_line_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        add_log_ids(question="abc")
        logging.getLogger("x").info("找到 %d 条\n%s", 10, "sk-0123456789abcdef0123")
        try:
            1 / 0  # noqa: B018
        except ZeroDivisionError:
            logging.getLogger("x").exception("broken")

    found, failed = map(json.loads, lines_of(lambda: copy_context().run(fail), capsys, format="json"))
    assert (found["level"], found["logger"], found["process"]) == ("INFO", "x", os.getpid())
    assert (found["question"], found["message"]) == ("abc", "找到 10 条\\nsk-***")
    assert datetime.fromisoformat(found["time"])
    assert "ZeroDivisionError" in failed["exception"]


def test_what_came_to_be_known_later_is_hidden_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(secrets=["first-secret"])
    hide_in_logs(["second-secret"])
    hide_typed_key_in_logs("typed-key-0123456789")
    logging.getLogger("x").warning("first-secret second-secret typed-key-0123456789")
    assert capsys.readouterr().err.endswith("*** *** ***\n")


def test_configured_again_it_remembers_what_was_said_and_what_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    """As a server does: when it starts, and when its app is opened."""
    for secret in ("first-secret", "second-secret"):
        configure_logging(secrets=[secret])
        logging.getLogger("x").warning("it is away")
    logging.getLogger("x").warning("first-secret second-secret")
    assert [line.partition("x: ")[2] for line in capsys.readouterr().err.splitlines()] == ["it is away", "*** ***"]


def test_as_json_it_is_valid_on_a_terminal_without_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr("sys.stderr", terminal)
    configure_logging(format="json")
    logging.getLogger("x").warning("\u00e9 \U0001f600 \u95ee")
    terminal.flush()
    assert json.loads(terminal.buffer.getvalue())["message"] == "\u00e9 \U0001f600 \u95ee"


def test_nobody_blanks_out_words_or_fills_the_memory_by_typing(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(secrets=["first-secret"])
    for typed in (
        "WARNING",
        "the-conversation-database",
        "core.store.database: the",
        "",
        *(f"key-{n:020}" for n in range(2_000)),
    ):
        hide_typed_key_in_logs(typed)
    logging.getLogger("x").warning("the-conversation-database first-secret")
    assert "the-conversation-database ***" in capsys.readouterr().err
    (known,) = (
        filter
        for handler in logging.getLogger().handlers
        for filter in handler.filters
        if isinstance(filter, RedactingFilter)
    )
    assert len(known.typed_keys) == MAX_TYPED_KEYS
