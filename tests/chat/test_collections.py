"""Chat mode with collections of documents: their files are sources beside the web's, for whoever may read them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.answer.events import Answer, Checked, Notice, RunEvent, SearchFinished
from core.answer.message import Message, message_from_run
from core.app import App, build_app
from core.documents import Access
from core.search.types import DOCUMENTS
from core.ui.chat.step_lines import has_search_failed, lines_of
from support.base import loaded
from support.fake_engines import FakeEngine, results
from support.filled_collections import LEASE, LEAVE, OWNER, STRANGER, ask_in, fill_collection
from support.pdf_files import pdf_file
from support.reading import kept_workers
from support.scripted import ScriptedChatModel
from support.scripted_app import scripted_app

__all__ = ["kept_workers"]

QUESTION = "月租金是多少？"
PDF = pdf_file(["房屋租赁合同", "灯塔街 12 号。"], ["第二条 租金", "月租金为人民币八千六百元，每季度首月五日前支付。"])


@pytest.fixture
def data_dir(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def searches(events: Sequence[RunEvent]) -> list[SearchFinished]:
    return [event for event in events if isinstance(event, SearchFinished)]


def prompt_of(model: ScriptedChatModel) -> str:
    return str(model.asked[-1][-1].content)


def notices(events: Sequence[RunEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def answer_of(events: Sequence[RunEvent]) -> Answer:
    (answer,) = (event for event in events if isinstance(event, Answer))
    return answer


def test_without_the_web_a_collection_answers_and_the_step_says_where(data_dir: str) -> None:
    with scripted_app(says=[["月租金为八千六百元[1]。"]], DATA_DIR=data_dir) as (app, model):
        collection = fill_collection(app, "合同", lease_pdf=PDF, leave_txt=LEAVE)
        events = list(app.chat.stream(QUESTION, options=ask_in(collection)))
    (found,) = searches(events)
    assert found.response.provider == DOCUMENTS
    assert found.sources[0].title == "lease.pdf"
    assert (found.sources[0].collection, found.sources[0].published) == ("合同", "2026-03-01")
    prompt = prompt_of(model)
    assert "出处: 用户的资料「合同」中的文件" in prompt
    assert "月租金为人民币八千六百元" in prompt
    assert "日期: 2026-03-01" in prompt
    assert [source.number for source in answer_of(events).sources] == [1]
    (check,) = (event.check for event in events if isinstance(event, Checked))
    citation = check.statements[0].citations[0].check
    assert citation.verdict.value == "supported"
    assert citation.evidence[0].place is not None
    assert citation.evidence[0].place.page == 2
    (line,) = lines_of(events).visible
    assert line.title == f"查资料「{QUESTION}」"
    assert "在资料「合同」中找到" in line.facts
    assert "lease.pdf · 第 2 页" in line.details
    assert "八千六百元" in line.details
    assert lines_of(events).totals == "查资料 1 次"


def test_the_web_comes_behind_the_collections_and_each_source_says_where_it_is_from(data_dir: str) -> None:
    engines = [FakeEngine("fake", results(3))]
    with scripted_app(says=[["八千六百元[1]，网上也说[3]。"]], engines=engines, DATA_DIR=data_dir) as (app, model):
        first = fill_collection(app, "合同", lease_txt=LEASE)
        second = fill_collection(app, "制度", leave_txt=LEAVE.replace("年假", "租金补贴"))
        events = list(app.chat.stream("租金是多少？", options=ask_in(first, second, search=True)))
    documents, web = searches(events)
    assert {source.collection for source in documents.sources} == {"合同", "制度"}
    assert [source.number for source in (*documents.sources, *web.sources)] == [1, 2, 3, 4, 5]
    prompt = prompt_of(model)
    assert "用户的资料「合同」" in prompt
    assert "用户的资料「制度」" in prompt
    assert "URL: https://" in prompt
    assert lines_of(events).totals == "已搜索 1 次 · 查资料 1 次"
    assert len(message_from_run(events, seconds=1.0).sources) == 5


def test_a_follow_up_is_searched_as_it_was_rewritten(data_dir: str) -> None:
    history = (Message("user", "灯塔街 12 号的月租金是多少？"), Message("assistant", "八千六百元。"))
    says = [["灯塔街 12 号 租金 什么时候支付"], ["每季度首月五日前[1]。"]]
    with scripted_app(says=says, DATA_DIR=data_dir) as (app, _):
        collection = fill_collection(app, "合同", lease_txt=LEASE)
        events = list(app.chat.stream("那什么时候交？", history, ask_in(collection)))
    (found,) = searches(events)
    assert found.response.query.text == "灯塔街 12 号 租金 什么时候支付"
    assert found.sources


def test_nothing_found_is_said_to_the_reader_and_to_the_model(data_dir: str) -> None:
    with scripted_app(says=[["不知道。"]], DATA_DIR=data_dir) as (app, model):
        collection = fill_collection(app, "合同", lease_txt=LEASE)
        events = list(app.chat.stream("zebra quantum", options=ask_in(collection)))
    assert notices(events)[0] == "在资料「合同」中没有找到与问题有关的内容。可以换一种说法再问。"
    assert "没有找到与问题有关的内容" in prompt_of(model)
    (found,) = searches(events)
    assert not has_search_failed(found.response)
    (line,) = lines_of(events).visible
    assert line.facts.startswith("在资料中没有找到")


def lose_texts(app: App) -> None:
    with app.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE document_texts")


def lose_everything(app: App) -> None:
    with app.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE documents")


@pytest.mark.parametrize(
    ("damage", "said"), [(lose_texts, "资料「合同」没有查成："), (lose_everything, "有一个资料集打不开：")]
)
def test_a_library_that_fails_costs_a_sentence(data_dir: str, damage: Callable[[App], None], said: str) -> None:
    engines = [FakeEngine("fake", results(3))]
    with scripted_app(says=[["网上说[1]。"]], engines=engines, DATA_DIR=data_dir) as (app, model):
        collection = fill_collection(app, "合同", lease_txt=LEASE)
        damage(app)
        events = list(app.chat.stream(QUESTION, options=ask_in(collection, search=True)))
    documents, web = searches(events)
    assert not documents.sources
    assert has_search_failed(documents.response)
    assert notices(events)[0].startswith(said)
    assert answer_of(events).sources == web.sources[:1]
    assert "没有查成" in prompt_of(model)


@pytest.mark.parametrize("access", [STRANGER, Access(), Access(None, ("0123456789abcdefghijklmn",))])
def test_nobody_else_reaches_a_collection_by_its_id(data_dir: str, access: Access) -> None:
    with scripted_app(says=[["不知道。"]], DATA_DIR=data_dir) as (app, model):
        collection = fill_collection(app, "合同", lease_txt=LEASE)
        events = list(app.chat.stream(QUESTION, options=ask_in(collection, access=access)))
    assert not answer_of(events).sources
    assert "八千六百" not in str(model.asked)
    assert "合同" not in "".join(notices(events))
    assert notices(events)[0].startswith("有一个资料集打不开：没有这个资料集，或者它不是你的。")


def test_a_shared_collection_answers_those_who_have_the_share(data_dir: str) -> None:
    with scripted_app(says=[["八千六百元[1]。"], ["八千六百元[1]。"]], DATA_DIR=data_dir) as (app, _):
        collection = fill_collection(app, "合同", lease_txt=LEASE)
        guest = replace(STRANGER, shares=(app.documents.share_collection(collection.id, OWNER),))
        assert answer_of(list(app.chat.stream(QUESTION, options=ask_in(collection, access=guest)))).sources
        app.documents.unshare_collection(collection.id, OWNER)
        assert not answer_of(list(app.chat.stream(QUESTION, options=ask_in(collection, access=guest)))).sources


def test_one_collection_that_is_gone_does_not_hide_the_others(data_dir: str) -> None:
    with scripted_app(says=[["八千六百元[1]。"]], DATA_DIR=data_dir) as (app, _):
        gone, kept = fill_collection(app, "旧"), fill_collection(app, "合同", lease_txt=LEASE)
        app.documents.delete_collection(gone.id, OWNER)
        events = list(app.chat.stream(QUESTION, options=ask_in(gone, kept)))
    assert answer_of(events).sources
    assert notices(events)[0].endswith("这次没有查它。")


def test_without_a_model_the_right_sentence_is_quoted(data_dir: str) -> None:
    with closing(build_app(loaded(DATA_DIR=data_dir), engines=[])) as app:
        collection = fill_collection(app, "合同", lease_pdf=PDF, leave_txt=LEAVE)
        answer = answer_of(list(app.chat.stream(QUESTION, options=ask_in(collection))))
        nothing = answer_of(list(app.chat.stream("zebra quantum", options=ask_in(collection))))
    assert "月租金为人民币八千六百元，每季度首月五日前支付。[1]" in answer.text
    assert answer.sources[0].title == "lease.pdf"
    assert not nothing.sources


def test_an_older_version_of_a_file_is_shown_and_sent_as_one(data_dir: str) -> None:
    """So that the newest can be asked for."""
    says = "最新的月租金是八千六百元[1]。"
    with scripted_app(says=[[says]], DATA_DIR=data_dir) as (app, model):
        collection = app.documents.create_collection("合同", OWNER)
        for name, text, day in (
            ("租赁合同 2024.txt", LEASE.replace("八千六百", "七千九百"), "2024-03-01"),
            ("租赁合同 2026.txt", LEASE, "2026-03-01"),
        ):
            app.documents.add_document(collection.id, name, text.encode(), OWNER, modified=day)
        assert app.documents.wait_until_indexed(collection.id, OWNER, seconds=60)
        events = list(app.chat.stream("最新的月租金是多少？", options=ask_in(collection)))
    (found,) = searches(events)
    assert [(source.title, source.is_outdated) for source in found.sources] == [
        ("租赁合同 2026.txt", False),
        ("租赁合同 2024.txt", True),
    ]
    new, old = prompt_of(model).split("[2]", 1)
    assert "日期: 2026-03-01" in new
    assert "旧版" not in new
    assert "版本: 旧版" in old
    (line,) = lines_of(events).visible
    assert line.details.count("旧版，资料中有更新的版本") == sum(
        result.url == found.sources[1].url for result in found.response.results
    )
    assert "引擎" not in line.details, "no engine was asked"


def test_stopping_ends_an_answer_that_waits_for_the_library(data_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searching, may_go_on = threading.Event(), threading.Event()

    def search(*arguments: object, **named: object) -> tuple[()]:
        searching.set()
        assert may_go_on.wait(30)
        return ()

    with scripted_app(says=[["好"]], DATA_DIR=data_dir) as (app, model):
        collection = fill_collection(app, "合同", lease_txt=LEASE)
        monkeypatch.setattr(app.documents, "search", search)
        run = app.chat.start(app.chat.accept_question(QUESTION, options=ask_in(collection)), grace=30.0)
        try:
            assert searching.wait(30)
            run.cancel()
            run.end_future.result(30)
        finally:
            may_go_on.set()
        assert run.message().stop_note
        assert not model.asked


def test_without_a_model_older_versions_are_quoted_only_where_their_year_is_asked_for(data_dir: str) -> None:
    with closing(build_app(loaded(DATA_DIR=data_dir), engines=[])) as app:
        collection = app.documents.create_collection("合同", OWNER)
        for year, rent in (("2024", "七千九百"), ("2026", "八千六百")):
            text = LEASE.replace("八千六百", rent).encode()
            app.documents.add_document(collection.id, f"租赁合同 {year}.txt", text, OWNER)
        assert app.documents.wait_until_indexed(collection.id, OWNER, seconds=60)
        newest, older = (
            answer_of(list(app.chat.stream(question, options=ask_in(collection)))).text
            for question in ("月租金是多少？", "2024 年的月租金是多少？")
        )
    assert "八千六百" in newest
    assert "七千九百" not in newest
    assert "七千九百" in older
