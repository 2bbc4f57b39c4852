"""What an answer is compared with where its source is a library of the program's own: all that the library holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.answer.check_results import AnswerCheck, Verdict
from core.answer.events import Checked
from core.answer.message import Message, message_from_run
from core.answer.source_details import reading_status
from core.base.settings import ModelChoice
from core.legal.entities import LAWS
from core.llm import estimate_tokens
from core.run.answer_checking import AnswerChecks
from core.run.given_texts import fair_share, format_within_budget, max_articles
from core.run.question import AnswerOptions
from core.run.run_sources import RunSources
from core.run.source_budget import SourceBudget
from core.search.engines.bundled import BundledEngine
from core.search.types import SearchQuery, SearchResult
from core.store.ids import new_conversation_id
from support import invented
from support.agents import agent, final
from support.base import loaded
from support.scripted_app import scripted_app
from support.waiting import until

TITLE = "灯塔怎样检修"
ARTICLE = "守塔人应当在日落前点灯。\n\n" + "灯塔的维护费用由海事部门承担。" * 40 + "\n\n灯塔每年检修 12 次。"
STATED = "灯塔每年检修 12 次[1]。灯塔每年检修 30 次[1]。守塔人可以从当地渔业合作社领取免费的冬季棉衣[1]。"
AS_CHECKED = [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.ABSENT]


@pytest.fixture
def manual(tmp_path: Path) -> BundledEngine:
    (tmp_path / "1-lamp.md").write_text(f"---\ntitle: {TITLE}\n---\n{ARTICLE}", "utf-8")
    return BundledEngine(public_url="http://localhost:8501", folder=tmp_path)


def verdicts(check: AnswerCheck | None) -> list[Verdict]:
    assert check is not None
    return [citation.check.verdict for statement in check.statements for citation in statement.citations]


def test_the_model_reads_as_little_as_before_and_the_source_stays_the_librarys(manual: BundledEngine) -> None:
    run_sources, settings = RunSources(), loaded().values
    (source,) = run_sources.add_results(manual.search(SearchQuery(TITLE), 3))
    assert (source.read, source.characters, reading_status(source)) == ("library", 0, "")
    told = format_within_budget([source], settings, pages=run_sources.pages, question=TITLE)
    assert told == format_within_budget([source], settings, pages={}, question=TITLE)
    assert "灯塔每年检修 12 次" in run_sources.pages[1].text


def _articles(*texts: str) -> list[SearchResult]:
    return [
        SearchResult(
            f"《灯塔法》第{n}条",
            f"https://law.example/{n}",
            text[:50],
            "law.example",
            engine=LAWS,
            read="library",
            text=f"《灯塔法》第{n}条（有效）\n{text}",
        )
        for n, text in enumerate(texts, 1)
    ]


def test_ten_articles_leave_half_of_the_budget_and_short_ones_are_whole() -> None:
    short, long = (
        "守塔人应当在日落前点灯。",
        "灯塔的费用由海事部门承担。" * 60 + "浮标每年检修 12 次。" + "守塔人按月领取津贴。" * 60,
    )
    run_sources, settings = RunSources(), loaded().values
    sources = run_sources.add_results(_articles(*[short] * 7, *[long] * 3))
    kept, told, _ = format_within_budget(sources, settings, pages=run_sources.pages, question="浮标多久检修")
    assert kept == sources
    assert told.count(short) == 7
    assert told.count("浮标每年检修 12 次。") == 3, "of a long one, what the question is about"
    assert estimate_tokens(told) <= 3_000 * 0.75


@pytest.mark.parametrize(
    ("tokens", "model", "most"),
    [(3_000, "gpt-5", 10), (1_500, "gpt-5", 5), (200, "gpt-5", 3), (3_000, "qwen2.5-1.5b", 5)],
)
def test_a_small_budget_and_a_small_model_get_fewer_articles(tokens: int, model: str, most: int) -> None:
    assert max_articles(SourceBudget.fixed(tokens), ModelChoice("openai", model)) == most


@pytest.mark.parametrize(
    ("lengths", "room", "share"), [([10, 20], 100, 20), ([10, 500, 500], 210, 100), ([], 100, 0), ([50, 50], 10, 5)]
)
def test_short_texts_leave_their_room_to_long_ones(lengths: list[int], room: int, share: int) -> None:
    assert fair_share(lengths, room) == share


@pytest.mark.parametrize("keeps", ["true", "false"])
def test_it_is_compared_with_the_whole_and_kept_where_pages_are(manual: BundledEngine, keeps: str) -> None:
    with scripted_app(says=[[STATED]], engines=[manual], READING_KEEP=keeps) as (app, _):
        id = new_conversation_id()
        app.outbox.create(id, owner=None, visitor_id="me", mode="chat")
        run = app.chat.start(app.chat.accept_question(TITLE, options=AnswerOptions(search=True)))
        saving = app.keeper.save_while_running(run, id, visitor_id="me")
        assert list(run.iter_events())
        saving.result(60)
        assert app.outbox.flush(60)
        pages = app.read_pages.load(id, run.id, visitor_id="me")
        (stored,) = app.store.load(id, visitor_id="me").messages
    assert verdicts(run.message().check) == AS_CHECKED
    assert verdicts(stored.check) == (AS_CHECKED if keeps == "true" else [Verdict.UNCHECKED] * len(AS_CHECKED))
    assert stored.sources[0].read == "library"
    assert not any(result.text for search in stored.searches for result in search.response.results)
    assert ["灯塔每年检修 12 次" in page.text for page in pages.values()] == ([True] if keeps == "true" else [])
    if keeps == "true":
        assert verdicts(_repeated(stored, pages)) == AS_CHECKED


def _repeated(message: Message, pages: object) -> AnswerCheck | None:
    checks = AnswerChecks()
    without = replace(message, events=tuple(event for event in message.events if not isinstance(event, Checked)))
    until(lambda: checks.check_for(without, lambda: pages) is not None)  # type: ignore[arg-type, return-value]
    try:
        return checks.check_for(without, lambda: pages)  # type: ignore[arg-type, return-value]
    finally:
        checks.close()


def test_an_article_of_a_law_is_compared_with_all_that_was_shown_of_it(tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    says = (
        ["Thought: 要查\nAction: regulation_search\nAction Input: 灯塔法第四条"],
        final("违反本法第二条、第三条之一规定的，处警告[1]。该法自2020年10月1日起施行[1]。违反的处罚款五千元[1]。"),
    )
    with agent(*says, environ={"DATA_DIR": str(tmp_path / "data")}) as world:
        message = message_from_run(world.ask("灯塔法怎么处罚？"), seconds=1.0, mode="agent")
    first, second, third = verdicts(message.check)
    assert first is Verdict.SUPPORTED
    assert second in {Verdict.SUPPORTED, Verdict.UNCHECKED}
    assert third is not Verdict.SUPPORTED
    assert message.sources[0].read == "library"
