"""Wherever an answer is checked, a configured model is used: a real one that is small enough to be written by the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.answer.check_results import AnswerCheck, Verdict
from core.answer.citation_verdicts import list_verdicts
from core.answer.message import Message, message_from_run
from core.app import App
from core.base.embedding import MODEL, Embedder
from core.command_line import main
from core.reading import Page
from core.run import AnswerOptions, check_pasted_text, parse_pasted_sources
from core.search.types import SearchResult
from support.base import ROOT
from support.fake_engines import FakeEngine
from support.scripted_app import scripted_app

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from support.tiny_embedder import write_model

GROUPS = ("雾笛响吼", "鱼虾")
SAID = "大雾期间，鸣笛一直响到天明。"
PAGE = f"灯塔高三十米，建于一九二〇年。{SAID}守塔人日落前点灯。"
PARAPHRASE = "起霾时分须大声呼吼[1]。"
FOUND = SearchResult("灯塔", "https://a.example/", "灯塔", "a.example", engine="fake", rank=1, text=PAGE)
SEARCH = AnswerOptions(search=True)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model", GROUPS)


def answered(app: App) -> Message:
    return message_from_run(list(app.chat.stream("雾天怎么办", options=SEARCH)), seconds=1)


def in_chat(app: App) -> AnswerCheck | None:
    return answered(app).check


def repeated(app: App) -> AnswerCheck | None:
    message = answered(app)
    bare = replace(message, events=tuple(event for event in message.events if event.type != "checked"))
    return app.checks.check_for(bare, lambda: {1: Page.from_search_result(FOUND)}, patience=60)


def revised(app: App) -> AnswerCheck | None:
    message = answered(app)
    other = replace(message, text="另一个回答。")
    started = app.chat.start_revision(other, AnswerCheck(), {1: Page.from_search_result(FOUND)}, AnswerOptions())
    return started.result(60).check


def pasted(app: App) -> AnswerCheck | None:
    sources = parse_pasted_sources(f"[1]\n{PAGE}")
    return check_pasted_text(PARAPHRASE, sources, app.reader, app.checks.meaning).check


@pytest.mark.parametrize("way", [in_chat, repeated, revised, pasted])
def test_a_paraphrase_is_open_wherever_it_is_checked(way: Callable[[App], AnswerCheck | None], model: Path) -> None:
    for embedding, verdict in (("", Verdict.ABSENT), (str(model), Verdict.UNCHECKED)):
        says = [[PARAPHRASE], [PARAPHRASE]]
        with scripted_app(says=says, engines=[FakeEngine("fake", [FOUND])], LEGAL_EMBEDDING=embedding) as (app, _):
            checked = way(app)
        assert checked is not None
        (claim,) = list_verdicts(checked)
        assert claim.verdict is verdict
        assert embedding == "" or claim.passage == SAID


def test_one_model_serves_the_checks_and_the_library(model: Path) -> None:
    with scripted_app(says=[], LEGAL_EMBEDDING=str(model)) as (app, _):
        assert app.checks.meaning is not None
        assert app.legal.library._embedder is app.checks.meaning._embedder
    with scripted_app(says=[]) as (app, _):
        assert app.checks.meaning is None


@pytest.mark.parametrize("state", ["used", "gone", "garbage", "other outputs"])
def test_pairs_and_files_in_the_terminal(
    model: Path, tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if state == "gone":
        (model / MODEL).unlink()
    elif state == "garbage":
        (model / MODEL).write_bytes(b"no model")
    elif state == "other outputs":
        _rename_output(model / MODEL)
    monkeypatch.setenv("LEGAL_EMBEDDING", str(model))
    monkeypatch.setenv("SEARCH_PROVIDER_PRIORITY", "bundled")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "1.txt").write_text(PAGE, "utf-8")
    (tmp_path / "answer.md").write_text(f"{PARAPHRASE}\n\n鲜活虾类不宜冷藏过夜[1]。", "utf-8")
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"statement": "起霾时分须大声呼吼。", "source": PAGE}), "utf-8")
    assert main(["check", "--pairs", str(tmp_path / "pairs.jsonl"), "--json"]) == 0
    pair = json.loads(capfd.readouterr().out)
    assert main(["check", str(tmp_path / "answer.md"), "--sources", str(tmp_path / "sources"), "--json"]) == 0
    paraphrase, unfounded = json.loads(capfd.readouterr().out)["statements"]
    assert (pair["verdict"], paraphrase["verdict"]) == ("unchecked", "unchecked")
    assert unfounded["verdict"] == ("absent" if state == "used" else "unchecked")
    assert (pair["evidence"] == SAID) is (state == "used")


def _rename_output(file: Path) -> None:
    import onnx

    model = onnx.load(file)
    model.graph.node[-1].output[0] = model.graph.output[0].name = "something_else"
    onnx.save(model, file)


_LOAD = """
import ctypes, sys
from core.base.embedding import Embedder

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            print(getenv(b"ORT_DISABLE_TELEMETRY").decode())

getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
sys.meta_path.insert(0, Watch())
print(Embedder(sys.argv[1]).width)
"""


def test_the_model_reports_nothing_to_its_makers(model: Path) -> None:
    """onnxruntime reads the variable when it is imported, and reports its use some seconds later."""
    variables = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    command = [sys.executable, "-c", _LOAD, str(model)]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)
    *seen, width = done.stdout.split()
    assert set(seen) == {"1"}, "whenever it is looked for"
    assert width == str(Embedder(str(model)).width)
