"""The command `ask`: its one document, the model of one question, and conversations that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.store import ConversationNotFound, ConversationStore
from support.base import loaded
from support.command import Core, Done, core
from support.openai_server import Call, OpenAIServer, in_turn, openai_server
from support.reading import kept_workers

__all__ = ["core", "kept_workers"]


def connected(server: OpenAIServer, model: str = "openai:reply") -> dict[str, str]:
    return {"LLM_MODEL": model, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}


def document(done: Done) -> dict[str, Any]:
    (line,) = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_one_document_has_the_whole_answer(core: Core) -> None:
    done = core("ask", "怎么打开联网搜索？", "--search", "--json-answer")
    answer = document(done)
    assert done.returncode == 0
    assert answer["question"] == "怎么打开联网搜索？"
    assert f"[{answer['sources'][0]['number']}]" in answer["text"]
    assert answer["searches"][0]["provider"] == "bundled"
    assert answer["checked"]["statements"][0]["verdict"] == "supported"
    assert answer["complete"] is True
    assert answer["usage"]["total"] > 0
    assert "conversation" not in answer
    assert core("ask", "x", "--json", "--json-answer").returncode == 2


def test_one_document_says_how_an_answer_failed(core: Core) -> None:
    with openai_server() as server:
        done = core("ask", "问", "--json-answer", **connected(server, "openai:disconnect"))
    answer = document(done)
    assert done.returncode == 1
    assert (answer["text"], answer["complete"]) == ("前半句已经写出", False)
    assert answer["error"]["kind"] == "model_disconnected"
    refused = core("ask", " ", "--json-answer")
    assert (refused.returncode, set(document(refused))) == (1, {"error"})


@pytest.mark.parametrize("before", [True, False], ids=["before", "behind"])
def test_the_question_stands_before_or_behind_the_files(core: Core, tmp_path: Path, before: bool) -> None:
    question = "租金多少？" * 60  # longer than the name of a file may be
    files = [tmp_path / "合同.txt", tmp_path / "附件.txt"]
    for file in files:
        file.write_text("月租金为 8,600 元。", "utf-8")
    given = ["--file", *map(str, files)]
    answer = document(core("ask", *([question, *given] if before else [*given, question]), "--json-answer"))
    assert answer["question"] == question
    assert {source["title"] for source in answer["sources"]} <= {"合同.txt", "附件.txt"}
    alone = core("ask", *given, "--json-answer")
    assert (alone.returncode, "缺少 QUESTION" in alone.stderr) == (2, True)


def test_the_question_stands_behind_a_collection(core: Core) -> None:
    told = core("ask", "--collection", "没有", "押金多少？", "--json-answer")
    assert "「没有」" in document(told)["error"]["message"]
    assert core("ask", "--collection", "没有", "--json-answer").returncode == 2


def test_a_batch_prints_one_document_per_line(core: Core) -> None:
    done = core("ask", "-", "--json-answer", stdin="怎么打开联网搜索？\n怎么备份？\n")
    questions = [json.loads(line)["question"] for line in done.stdout.splitlines()]
    assert questions == ["怎么打开联网搜索？", "怎么备份？"]


def test_what_an_agent_announces_is_no_answer(core: Core) -> None:
    call = Call("web_search", '{"query": "怎么打开联网搜索"}')
    with openai_server() as server:
        server.reply = in_turn(["我先去查一下，请稍等。" * 20, call], ["点开关[1]。"])
        done = core("ask", "问", "--mode", "agent", "--json-answer", AGENT_STRATEGY="tools", **connected(server))
    assert document(done)["text"] == "点开关[1]。"


def test_one_question_goes_to_the_named_model(core: Core) -> None:
    with openai_server() as server:
        environment = connected(server, "openai:ok")
        done = core("ask", "问", "--model", "openai:echo", "--json-answer", **environment)
        excerpts = core("ask", "怎么打开联网搜索？", "--search", "--model", "embedded", "--json-answer", **environment)
        wrong = core("ask", "问", "--model", "nosuch:x", **{**environment, "OPENAI_BASE_URL": ""})
    assert {asked["model"] for asked in server.requests} == {"echo"}
    assert document(done)["model"] == "echo"
    assert document(excerpts)["model"] == "内置摘录模型"
    assert wrong.returncode == 1
    assert "nosuch:x" in wrong.stderr


def test_a_kept_conversation_goes_on_with_all_that_was_said(core: Core, tmp_path: Path) -> None:
    (tmp_path / "合同.txt").write_text("租金每月三千元，押金一个月。", "utf-8")
    with openai_server() as server:
        server.reply = in_turn(["租金每月三千元。"], ["押金一个月。"], ["都在合同里。"])
        environment = {**connected(server), "DATA_DIR": str(tmp_path / "data"), "CHECKS_JUDGE": "off"}
        first = core("ask", "租金多少？", "--file", str(tmp_path / "合同.txt"), "--save", "--json", **environment)
        begun = json.loads(first.stdout.splitlines()[0])
        second = core("ask", "那押金呢？", "--continue", begun["id"], "--json-answer", **environment)
        third = core("ask", "在哪里？", "--continue", begun["id"], **environment)
    assert begun["type"] == "conversation"
    assert document(second)["conversation"] == begun["id"]
    last = json.dumps(server.requests[-1], ensure_ascii=False)
    for said in ("租金多少？", "租金每月三千元。", "那押金呢？", "押金一个月。", "在哪里？"):
        assert said in last
    assert "租金每月三千元，押金一个月。" in last, "the file is still there"
    assert third.stdout.startswith("都在合同里。")
    assert f"--continue {begun['id']}" in third.stderr
    store = ConversationStore.from_settings(loaded(DATA_DIR=str(tmp_path / "data")).values)
    kept = store.load(begun["id"], visitor_id="local")
    store.close()
    assert [message.role for message in kept.messages] == ["user", "assistant"] * 3
    assert kept.messages[0].files == ("合同.txt",)


def test_a_conversation_stays_in_its_mode(core: Core, tmp_path: Path) -> None:
    data = {"DATA_DIR": str(tmp_path)}
    begun = document(core("ask", "怎么打开联网搜索？", "--mode", "agent", "--save", "--json-answer", **data))
    again = document(core("ask", "怎么备份？", "--continue", begun["conversation"], "--json-answer", **data))
    chat = core("ask", "怎么备份？", "--continue", begun["conversation"], "--mode", "chat", "--json-answer", **data)
    assert (begun["mode"], again["mode"], document(chat)["mode"]) == ("agent", "agent", "chat")


def test_only_the_operator_opens_a_conversation_of_the_command_line_and_no_other(core: Core, tmp_path: Path) -> None:
    data = {"DATA_DIR": str(tmp_path)}
    begun = document(core("ask", "怎么备份？", "--save", "--json-answer", **data))["conversation"]
    store = ConversationStore.from_settings(loaded(**data).values)
    with pytest.raises(ConversationNotFound):
        store.load(begun, visitor_id="a-browser")
    of_a_page = store.create(visitor_id="a-browser")
    store.close()
    for id in (of_a_page, "nosuch", "../x", ""):
        done = core("ask", "问", f"--continue={id}", **data)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"没有编号为「{id}」的对话。" in done.stderr


def test_the_operator_lists_and_removes_what_was_kept_and_nothing_else(core: Core, tmp_path: Path) -> None:
    data = {"DATA_DIR": str(tmp_path)}
    assert "还没有保存过的对话" in core("conversation", "list", **data).stdout
    first, second = (
        document(core("ask", question, "--save", "--json-answer", **data))["conversation"]
        for question in ("怎么备份？", "怎么恢复？")
    )
    store = ConversationStore.from_settings(loaded(**data).values)
    of_a_page = store.create(visitor_id="a-browser")
    store.close()
    listed = json.loads(core("conversation", "list", "--json", **data).stdout)["conversations"]
    assert [(one["id"], one["title"], one["mode"]) for one in listed] == [
        (second, "怎么恢复？", "chat"),
        (first, "怎么备份？", "chat"),
    ]
    assert core("conversation", "list", **data).stdout.startswith(f"{second} 20")
    assert json.loads(core("conversation", "remove", first, "--json", **data).stdout) == {"id": first, "removed": True}
    assert first not in core("conversation", "list", **data).stdout
    for id in (first, of_a_page, "nosuch"):
        done = core("conversation", "remove", id, **data)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"没有编号为「{id}」的对话。" in done.stderr
    assert core("ask", "问", "--continue", first, **data).returncode == 1
    assert "从数据库里清除" in core("conversation", "remove", second, **data).stdout, "it is still there for a while"


def test_nothing_is_kept_that_nobody_asked_to_keep(core: Core, tmp_path: Path) -> None:
    assert core("ask", "怎么备份？", DATA_DIR=str(tmp_path)).returncode == 0
    store = ConversationStore.from_settings(loaded(DATA_DIR=str(tmp_path)).values)
    assert store.list_conversations("local") == ()
    store.close()


def test_an_answer_that_cannot_be_kept_is_printed_and_the_reason_too(core: Core, tmp_path: Path) -> None:
    (tmp_path / "database").write_text("a file where the folder should be", "utf-8")
    done = core("ask", "怎么打开联网搜索？", "--search", "--save", DATA_DIR=str(tmp_path))
    assert done.returncode == 1
    assert "参考文献" in done.stdout
    assert "打不开对话数据库。" in done.stderr
    assert "--continue" not in done.stderr
