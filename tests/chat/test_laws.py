"""Chat mode with an imported law library: its articles are sources beside the web's, and no proof that the web was searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.answer.events import Answer, Checked, Notice, RunEvent, SearchFinished
from core.answer.html.source_html import references_html
from core.answer.message import Message, message_from_run
from core.app import build_app
from core.legal.entities import LAWS
from core.run.query_rewriting import Rewriter
from core.run.question import AnswerOptions
from core.search.errors import EngineTimeout, EngineUnavailable
from core.ui.chat.step_lines import has_search_failed, lines_of
from support import everyday_laws, invented
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.openai_server import openai_server
from support.scripted_app import scripted_app

SEARCH = AnswerOptions(search=True)
QUESTION = "公司延长工作时间不支付工资报酬，违法吗"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laws")
    invented.library(folder / "data", invented.jsonl(folder / "laws.jsonl", *everyday_laws.LAWS))
    return folder / "data"


def searches(events: list[RunEvent]) -> list[SearchFinished]:
    return [event for event in events if isinstance(event, SearchFinished)]


def test_articles_come_first_with_their_whole_text_and_then_the_web(data_dir: Path) -> None:
    says = "延长工作时间的，支付不低于工资的百分之一百五十的工资报酬[1]。网上也这么说[8]。"
    with scripted_app(says=[[says]], engines=[FakeEngine("fake", results(5))], DATA_DIR=str(data_dir)) as (app, model):
        events = list(app.chat.stream(QUESTION, options=SEARCH))
    laws, web = searches(events)
    assert laws.response.provider == LAWS
    assert [source.number for source in (*laws.sources, *web.sources)] == list(range(1, 13))
    assert laws.sources[0].title == "《中华人民共和国劳动法》第四十四条"
    prompt = str(model.asked[-1][-1].content)
    assert "休息日安排劳动者工作又不能安排补休的，支付不低于工资的百分之二百" in prompt
    assert "URL: 本地法规库" in prompt
    assert "第5条摘要" in prompt
    (answer,) = (event for event in events if isinstance(event, Answer))
    assert [source.number for source in answer.sources] == [1, 8]
    assert answer.sources[0].read == "library"
    assert "本地法规库" in references_html(answer.sources, app_url="http://localhost:8501")
    (check,) = (event.check for event in events if isinstance(event, Checked))
    assert check.statements[0].citations[0].check.verdict.value == "supported"
    assert [line.title for line in lines_of(events).visible] == [f"查法规「{QUESTION}」", f"搜索「{QUESTION}」"]
    assert lines_of(events).totals == "已搜索 1 次 · 查法规 1 次"
    assert len(message_from_run(events, seconds=1.0).sources) == 12


@pytest.mark.parametrize("question", ["今天天气怎么样", "Python 怎么排序"])
def test_other_questions_are_answered_as_without_a_library(data_dir: Path, question: str) -> None:
    with scripted_app(says=[["好[1]"]], engines=[FakeEngine("fake", results(5))], DATA_DIR=str(data_dir)) as (app, _):
        (found,) = searches(list(app.chat.stream(question, options=SEARCH)))
    assert found.response.provider == "fake"


def test_a_failed_web_search_is_one_although_the_articles_are_used(data_dir: Path) -> None:
    engines = [FakeEngine("fake", EngineTimeout())]
    with scripted_app(says=[["按条文[1]。"]], engines=engines, DATA_DIR=str(data_dir)) as (app, model):
        events = list(app.chat.stream("休息日安排劳动者工作，要支付多少工资报酬", options=SEARCH))
    laws, web = searches(events)
    assert [has_search_failed(found.response) for found in (laws, web)] == [False, True]
    (notice,) = (event for event in events if isinstance(event, Notice))
    assert "没有网页" in notice.text
    assert "没有搜到内容" not in notice.text
    prompt = str(model.asked[-1][-1].content)
    assert "不是网页" in prompt
    assert "百分之二百" in prompt
    (answer,) = (event for event in events if isinstance(event, Answer))
    assert answer.sources == laws.sources[:1]


@pytest.mark.parametrize("said", ["以下回答没有来源可以引用。", "这次没有搜到内容，以下回答没有来源。"])
def test_what_an_engine_says_is_told_word_for_word(data_dir: Path, said: str) -> None:
    """What the answer rests on is known, and not read from a sentence."""
    engines = [FakeEngine("fake", EngineUnavailable(said, cure="甲。"))]
    with scripted_app(says=[["按条文[1]。"]], engines=engines, DATA_DIR=str(data_dir)) as (app, _):
        events = list(app.chat.stream("休息日安排劳动者工作，要支付多少工资报酬", options=SEARCH))
    (notice,) = (event for event in events if isinstance(event, Notice))
    assert notice.text == f"{said}以下回答只有本地法规库的条文可以引用，没有网页。甲。也可以先关闭联网搜索。"


def test_long_articles_leave_room_for_the_web(tmp_path: Path) -> None:
    long = [{"number": f"第{n}条", "text": "违约金的数额由法院酌情减少。" * 200} for n in "一二三"]
    law = invented.jsonl(tmp_path / "law.jsonl", {"name": "违约金法", "articles": long})
    invented.library(tmp_path / "data", law)
    with scripted_app(says=[["好"]], engines=[FakeEngine("fake", results(5))], DATA_DIR=str(tmp_path / "data")) as (
        app,
        model,
    ):
        laws, web = searches(list(app.chat.stream("违约金法怎么规定违约金", options=SEARCH)))
    assert len(laws.sources) == 3
    assert web.sources
    assert "标题1" in str(model.asked[-1][-1].content)


def test_a_broken_library_breaks_no_answer(tmp_path: Path) -> None:
    library = invented.library(tmp_path, invented.jsonl(tmp_path / "laws.jsonl", *everyday_laws.LAWS))
    (library.folder / str(library.version) / "laws.sqlite3").write_bytes(b"not a database")
    with scripted_app(says=[["好[1]"]], engines=[FakeEngine("fake", results(5))], DATA_DIR=str(tmp_path)) as (app, _):
        events = list(app.chat.stream(QUESTION, options=SEARCH))
    assert [found.response.provider for found in searches(events)] == ["fake"]


HISTORY = (Message("user", "老板让我天天加班，要求支付加班工资"), Message("assistant", "可以要求支付加班工资。"))


def followed_up(data_dir: Path, question: str, query: str) -> list[SearchFinished]:
    """With a model that takes a follow-up to mean this query."""
    with openai_server() as server:
        server.reply = lambda asked: [query] if "最后一个问题：" in str(asked["messages"]) else ["好[1]"]
        environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:reply"}
        app = build_app(loaded(DATA_DIR=str(data_dir), **environ), engines=[FakeEngine("fake", results(5))])
        app.chat.rewriter = Rewriter(seconds=20)
        try:
            return searches(list(app.chat.stream(question, HISTORY, SEARCH)))
        finally:
            app.close()


def test_a_rewriting_does_not_switch_the_library_off(data_dir: Path) -> None:
    laws, web = followed_up(data_dir, "那他延长工作时间不支付工资报酬，违法吗", "老板让我天天")
    assert web.response.query.text == "老板让我天天"
    assert laws.sources[0].title == "《中华人民共和国劳动法》第四十四条"


def test_what_a_model_took_it_to_mean_is_found_beside_the_readers_own_words(data_dir: Path) -> None:
    laws, _ = followed_up(data_dir, "那他还克扣工资，违法吗", "老板 克扣工资 休息日安排劳动者工作 不支付工资报酬")
    assert {"《中华人民共和国劳动法》第四十四条", "《中华人民共和国劳动法》第五十条"} <= {
        source.title for source in laws.sources
    }


def test_a_follow_up_that_says_nothing_alone_is_looked_up_as_what_it_means(data_dir: Path) -> None:
    laws, _ = followed_up(data_dir, "那怎么算呢？", "老板加班要求支付加班工资")
    assert laws.sources[0].title == "《中华人民共和国劳动法》第四十四条"


def test_an_article_that_the_reader_names_comes_first_whatever_it_was_taken_to_mean(data_dir: Path) -> None:
    laws, _ = followed_up(data_dir, "那劳动法第五十条呢", "老板加班 支付工资报酬")
    assert laws.sources[0].title == "《中华人民共和国劳动法》第五十条"


def test_articles_are_those_of_the_time_that_the_question_is_about(tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    with scripted_app(says=[["好[1]"]], engines=[FakeEngine("fake", results(2))], DATA_DIR=str(tmp_path / "data")) as (
        app,
        _,
    ):
        laws, _ = searches(list(app.chat.stream("2015 年的事，灯塔法第二条怎么规定", options=SEARCH)))
    assert (
        laws.sources[0].title
        == "《中华人民共和国灯塔法》第二条 · 这是 2015 年施行的版本（2010-05-01 公布），不是现行文本"
    )
    assert "问题说的是 2015 年的事，按当时的法律查找。" in laws.response.notes


def test_a_law_that_is_newer_than_the_question_says_so_to_the_reader(tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    with scripted_app(says=[["好[1]"]], engines=[FakeEngine("fake", results(2))], DATA_DIR=str(tmp_path / "data")) as (
        app,
        _,
    ):
        laws, _ = searches(list(app.chat.stream("1960 年的事，灯塔法第二条怎么规定", options=SEARCH)))
    assert "1960 年" in laws.sources[0].title.partition(" · ")[2]
