"""Diagnosis of the installation: what works, what does not, and how to mend it."""

from __future__ import annotations

import os
import re
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from core.app import App
from core.base.embedding import EmbeddingError
from core.base.errors import AppError
from core.base.extras import EXTRAS, OCR
from core.base.paths import PROGRAM_DIR, USER_DIR
from core.base.text import shorten
from core.base.visitors import Visitor
from core.documents import Access
from core.legal import NoLegalIndex
from core.reading import ReadingError
from core.run import Configured
from core.search import EngineOrder, Rest, SearchEngine, engine_label
from core.search.errors import AllEnginesFailed
from core.search.types import Pause, SearchQuery, first_pause

SETTINGS_FILE = "settings.yaml"
SHOWN_TOOLS = 5
SEARXNG_SETTINGS = PROGRAM_DIR / "deploy" / "searxng" / "settings.yml"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """The result of one check."""

    name: str
    ok: bool
    message: str
    cure: str = ""
    off: bool = False
    """True if it is not in use and nothing depends on it."""
    pause: Pause | None = None
    """The pause of an engine that failed."""

    def to_json(self) -> dict[str, Any]:
        shown = {name: value for name, value in asdict(self).items() if name != "pause"}
        return shown | (self.pause.to_json() if self.pause else {})

    def __str__(self) -> str:
        mark = "–" if self.off else "✓" if self.ok else "✗"
        cure = "".join(f"\n    {line}" for line in self.cure.splitlines())
        pause = f"\n    {self.pause.words(datetime.now().astimezone())}。" if self.pause else ""
        return f"{mark} {self.name}：{self.message}{cure}{pause}"


ProgressCallback = Callable[[int, int, str], object]
"""Callback with the number of finished steps, the number of all steps, and the name of the next one."""


def diagnose(app: App, progress: ProgressCallback = lambda done, steps, name: None) -> list[DoctorCheck]:
    """Run all checks and return their results."""
    steps: dict[str, Callable[[App], list[DoctorCheck]]] = {
        "配置": _check_settings,
        "数据": lambda app: [_check_data_dir(app), _check_database(app), _check_laws(app), *_check_folders(app)],
        "模型": _check_model,
        "引擎": _check_engines,
        "外部工具": _check_tool_servers,
        "阅读": lambda app: [_check_confinement(app), *_check_recognition(app)],
        "接口": lambda app: [_check_api(app)],
        "附加组件": lambda app: [*_missing_extras(), *_check_embedding(app)],
        "缓存": lambda app: [DoctorCheck("缓存", False, warning) for warning in app.cache_warnings],
    }
    checks = []
    for done, (name, check) in enumerate(steps.items()):
        progress(done, len(steps), name)
        checks += check(app)
    return checks


def _check_settings(app: App) -> list[DoctorCheck]:
    python = DoctorCheck("Python", sys.version_info >= (3, 11), ".".join(map(str, sys.version_info[:3])))
    wrong = [
        DoctorCheck(f"配置 {problem.key}", False, f"{problem.reason}，已改用 {problem.used_instead}", "请改正后重启。")
        for problem in app.loaded_settings.problems
    ]
    sample = f"可以把 {PROGRAM_DIR / SETTINGS_FILE} 复制到 {USER_DIR}，在里面修改。"
    cure = "" if (USER_DIR / SETTINGS_FILE).exists() else sample
    return [python, *(wrong or [DoctorCheck("配置", True, "所有值都有效", cure)])]


def _check_data_dir(app: App) -> DoctorCheck:
    folder = app.settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        cure = "请用 DATA_DIR 指定一个可写的目录。"
        return DoctorCheck("数据目录", False, f"{folder} 不可写（{error.strerror}）", cure)
    return DoctorCheck("数据目录", True, f"{folder} 可写")


def _check_database(app: App) -> DoctorCheck:
    kind = "PostgreSQL" if app.settings.database.url else "SQLite"
    try:
        app.store.check()
    except AppError as error:
        return DoctorCheck("对话数据库", False, error.message, error.cure)
    return DoctorCheck("对话数据库", True, f"{kind} 可用")


def _check_laws(app: App) -> DoctorCheck:
    index = app.legal.library.index()
    if index is None:
        message, cure = "是空的：查法条只能用网络搜索，法条核验不可用", NoLegalIndex.default_cure
        return DoctorCheck("法规库", True, message, cure, off=True)
    counts = index.counts()
    newest = max((law.published or "" for law in index.laws()), default="") or "日期不详"
    size = f"{counts['laws']:,} 部法规、{counts['articles']:,} 条、{counts['cases']:,} 个案例"
    cure = f"{index.outdated}请用同样的文本再导入一次。" if index.outdated else ""
    return DoctorCheck("法规库", True, f"{size}，最近一次导入于 {index.imported()}，最新的法规公布于 {newest}", cure)


def _check_folders(app: App) -> list[DoctorCheck]:
    """Return a check of each watched folder: whether it can be listed, and what has become of its files."""
    folders = app.watched_folders.folders if app.settings.documents.enabled else {}
    try:
        known = {one.name: one for one in app.documents.list_collections(Access())} if folders else {}
    except AppError as error:
        return [DoctorCheck("资料文件夹", False, error.message, error.cure)]
    checks = []
    for name, folder in folders.items():
        collection = known.get(name)
        try:
            os.scandir(folder).close()
        except OSError as error:
            cure = "请检查 DOCUMENTS_FOLDERS 和权限。"
            checks.append(DoctorCheck(f"资料文件夹 {name}", False, f"{folder} 打不开（{error.strerror}）", cure))
            continue
        facts = [f"{collection.documents:,} 个文件"] if collection else ["还没有导入，页面启动后开始"]
        facts += [f"{collection.unfinished:,} 个还没有读完"] if collection and collection.unfinished else []
        facts += [f"{collection.unreadable:,} 个无法读取"] if collection and collection.unreadable else []
        checks.append(DoctorCheck(f"资料文件夹 {name}", True, f"{folder}：{'，'.join(facts)}"))
    return checks


def _check_model(app: App) -> list[DoctorCheck]:
    if app.model.choice.is_embedded:
        advice = (
            "要使用语言模型，请在「设置」页面的「模型」里连接，或设置 OPENAI_API_KEY、OPENAI_BASE_URL 和 LLM_MODEL。"
        )
        return [DoctorCheck("模型", True, "内置摘录模型：只摘录来源中的原句", advice)]
    try:
        seconds = app.model.probe(app.loop)
    except AppError as error:
        return [DoctorCheck("模型", False, f"{app.model.label}：{error.message}", error.cure)]
    return [DoctorCheck("模型", True, f"{app.model.label} 在 {seconds:.1f} 秒内作答")]


def _check_engines(app: App) -> list[DoctorCheck]:
    left_out = [
        DoctorCheck(f"引擎 {entry.name}", True, entry.reason, entry.cure_for_administrators, off=True)
        for entry in app.chain.unavailable
    ]
    if not app.search.has_engines:
        order = "引擎的顺序由 SEARCH_PROVIDER_PRIORITY 设置。"
        return [DoctorCheck("搜索", False, "没有可用的引擎", f"{app.chain.no_engine_error.cure}{order}"), *left_out]
    checks = dict(try_engines(app, [engine.name for engine in app.chain.engines]))
    tried = [(checks[engine.name], engine) for engine in app.chain.engines]
    # An engine that nobody set up, of the default order, is not broken where it cannot be reached.
    return [
        *(check if check.ok or engine.is_set_up else replace(check, ok=True, off=True) for check, engine in tried),
        *left_out,
    ]


def _check_tool_servers(app: App) -> list[DoctorCheck]:
    """Return a check of each MCP server: it is connected, and asked for its tools."""
    checks = []
    for server in app.settings.mcp.all_servers:
        name = f"MCP 服务器 {server.name}"
        if not server.enabled:
            checks.append(DoctorCheck(name, True, "未启用", off=True))
            continue
        state = app.loop.submit(app.mcp.check(server.name)).result()
        counted = f"{len(state.listing.tools)} 个工具可用"
        refused = "；".join(f"{one.name} 不能用：{one.reason}" for one in state.listing.refused[:SHOWN_TOOLS])
        message = state.problem or "，".join(filter(None, (counted, refused)))
        cure = "请检查 MCP_SERVERS、MCP_TOKENS，以及它是否已经启动。" if state.problem else ""
        checks.append(DoctorCheck(name, not state.problem, message, cure))
    return checks


def _check_confinement(app: App) -> DoctorCheck:
    try:
        confinement = app.reader.confinement()
    except ReadingError as error:
        return DoctorCheck("阅读", False, f"解析网页和文件的进程没有启动：{error.short_reason}")
    if not confinement.missing:
        walls = "seccomp、Landlock" if confinement.landlock else "seccomp；内核没有 Landlock"
        return DoctorCheck("阅读", True, f"解析网页和文件的进程由内核封闭（{walls}）")
    done = "仍然阅读" if app.reader.may_be_unconfined else "网页和文件都不读"
    cure = "请在较新的 Linux（x86_64 或 aarch64）上运行，或在没有重要数据的机器上设置 READING_UNCONFINED=1。"
    missing = "、".join(confinement.missing)
    return DoctorCheck("阅读", False, f"不能封闭解析网页和文件的进程，缺少 {missing}，{done}", cure)


def _check_recognition(app: App) -> Iterator[DoctorCheck]:
    """Check that the text of scans can be recognized, where that is installed."""
    if not app.reader.can_recognize:
        return
    try:
        missing = "、".join(app.reader.recognizer_confinement().missing)
    except ReadingError as error:
        cure = f"请重新运行 {OCR.command}；内存少于 1 GB 的机器用不了。"
        yield DoctorCheck("文字识别", False, f"识别文字的进程没有启动：{error.short_reason}", cure)
        return
    if not missing:
        yield DoctorCheck("文字识别", True, "扫描件和图片可以识别，进程由内核封闭")
        return
    done = "仍然识别" if app.reader.may_be_unconfined else "不识别"
    yield DoctorCheck("文字识别", False, f"不能封闭识别文字的进程，缺少 {missing}，{done}")


def _missing_extras() -> list[DoctorCheck]:
    """Return what could be installed besides. Who has set up something that needs it is told by its own check."""
    return [
        DoctorCheck(f"附加组件 {extra.name}", True, extra.missing.rstrip("。"), extra.cure, off=True)
        for extra in EXTRAS.values()
        if not extra.is_installed
    ]


def _check_embedding(app: App) -> Iterator[DoctorCheck]:
    """Check that the model of meanings can be used, if there is to be one."""
    if app.embedder:
        try:
            width = app.embedder.width
        except EmbeddingError as error:
            yield DoctorCheck("语义模型", False, error.message, error.cure)
        else:
            yield DoctorCheck("语义模型", True, f"可用，{width} 维")


def _check_api(app: App) -> DoctorCheck:
    """Check that the interface for other programs is not open in a way that gives tokens away."""
    try:
        tokens = len(app.tokens.list_tokens(None))
    except AppError as error:
        return DoctorCheck("接口", False, error.message, error.cure)
    if not app.settings.api.enabled:
        unused = f"，{tokens:,} 个令牌用不了" if tokens else ""
        return DoctorCheck("接口", True, f"没有打开{unused}", "要打开，请设置 API_ENABLED=true，然后重启。", off=True)
    if app.settings.public.is_unencrypted:
        message = f"已打开，{tokens:,} 个令牌，但 PUBLIC_URL 是 http://：令牌在网络上不加密，可能被人截取"
        cure = "请用 HTTPS（反向代理，见手册「怎么在一台服务器上部署」），再把 PUBLIC_URL 改成 https:// 开头的地址。"
        return DoctorCheck("接口", False, message, cure)
    return DoctorCheck("接口", True, f"已打开，{tokens:,} 个令牌")


# ── One engine ────────────────────────────────────────────────────────────────────────────────────────────────────


def try_engines(
    app: App, names: Collection[str], *, visitor: Visitor | None = None
) -> Iterator[tuple[str, DoctorCheck]]:
    """Test engines at the same time, in the time of one search, and yield each result when it is known."""
    pool = ThreadPoolExecutor(max_workers=len(names), thread_name_prefix="wenyuan-engine-test")
    try:
        asked = {pool.submit(try_engine, app, name, visitor=visitor): name for name in names}
        for ended in as_completed(asked):
            yield asked[ended], ended.result()
    finally:  # the caller may have gone: do not wait for the rest
        pool.shutdown(wait=False, cancel_futures=True)


def try_engine(app: App, name: str, *, visitor: Visitor | None = None) -> DoctorCheck:
    """Make a real search with this engine alone."""
    question = next(engine.test_question for engine in app.chain.engines if engine.name == name)
    check = DoctorCheck(f"引擎 {name}", ok=False, message="")
    try:
        response = app.search.search(SearchQuery(question), engine=name, skip_caches=True, visitor=visitor)
    except AllEnginesFailed as error:
        return replace(check, message=error.message, cure=error.cure, pause=first_pause(error.attempts))
    except AppError as error:
        return replace(check, message=error.message, cure=error.cure)
    if response.from_cache:  # the engine failed, and what it found earlier was served instead
        attempt = response.attempts[0]
        return replace(check, message=attempt.reason, cure=attempt.cure, pause=attempt.pause)
    first = f"；第一条：{shorten(response.results[0].title, 40)}" if response.results else ""
    return replace(check, ok=True, message=f"{len(response.results)} 条结果，{response.search_time:.1f} 秒{first}")


@dataclass(frozen=True, slots=True)
class EngineState:
    """The state of one engine for the settings page."""

    name: str
    label: str
    state: str
    """State in Chinese: 就绪 · 12 分钟前失败过，暂停到 12:03 · 缺少密钥 …"""
    reason: str = ""
    cure: str = ""
    position: int = 0
    """Position in the order in which engines are asked; 0 for one that cannot be used."""

    @property
    def is_usable(self) -> bool:
        return self.position > 0


def engine_states(app: App, now: datetime) -> list[EngineState]:
    """Return the usable engines in the configured order, then the others. `now` is on the reader's clock."""
    order = {name: place for place, name in enumerate(app.settings.section(EngineOrder).provider_priority)}
    rests = app.search.engine_rests()
    usable = sorted(app.chain.engines, key=lambda engine: order.get(engine.name, len(order)))
    return [
        *(
            replace(_usable_state(engine, rests[engine.name], now), position=place)
            for place, engine in enumerate(usable, 1)
        ),
        *(
            EngineState(entry.name, engine_label(entry.name), entry.state, entry.reason, entry.cure_for_administrators)
            for entry in sorted(app.chain.unavailable, key=lambda entry: order.get(entry.name, len(order)))
        ),
    ]


def _usable_state(engine: SearchEngine, rest: Rest | None, now: datetime) -> EngineState:
    name, label, lacks = engine.name, engine_label(engine.name), engine.missing_setup
    if rest:
        return EngineState(name, label, rest.pause.words(now), rest.reason, rest.cure)
    if lacks:
        return EngineState(name, label, lacks.state, lacks.message, lacks.cure)
    return EngineState(name, label, "就绪")


# ── For the page ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class DiagnosisResult:
    """The checks of one diagnosis, and its time."""

    checks: tuple[DoctorCheck, ...]
    checked_at: datetime


class Diagnosis:
    """The last diagnosis, shared by all visitors: however often they click, engines and model are asked now and then."""

    PAUSE_SECONDS = 30.0

    def __init__(self, app: App, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._app = app
        self._clock = clock
        self._lock = threading.Lock()
        self._last: tuple[Configured, DiagnosisResult] | None = None

    @property
    def last(self) -> DiagnosisResult | None:
        """The last result, unless the settings have changed since."""
        return self._last[1] if self._last and self._last[0] is self._app.configured else None

    def run(self, progress: ProgressCallback = lambda done, steps, name: None) -> DiagnosisResult:
        """Return a new diagnosis, or the last one if it is less than half a minute old."""
        with self._lock:
            last = self.last
            if last is None or not 0 <= (self._clock() - last.checked_at).total_seconds() < self.PAUSE_SECONDS:
                examined = self._app.configured
                last = DiagnosisResult(tuple(diagnose(self._app, progress)), self._clock())
                self._last = examined, last
            return last


def searxng_settings() -> str:
    """Return a settings.yml for one's own SearXNG, with a fresh secret key."""
    text = SEARXNG_SETTINGS.read_text("utf-8")
    return re.sub(r"# secret_key：.*", f'secret_key: "{secrets.token_hex(32)}"', text)
