"""What works in this installation, what does not, and the cure for it."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.app import App
from core.errors import AppError
from core.search.types import SearchQuery


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    message: str
    cure: str = ""
    off: bool = False
    """Not in use, and nothing depends on it."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        mark = "–" if self.off else "✓" if self.ok else "✗"
        cure = "".join(f"\n    {line}" for line in self.cure.splitlines())
        return f"{mark} {self.name}：{self.message}{cure}"


def diagnose(app: App) -> list[Check]:
    return [_python(), *_settings(app), _data_dir(app), _model(app), *_engines(app)]


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", sys.version_info >= (3, 11), version)


def _settings(app: App) -> list[Check]:
    if not app.loaded.problems:
        return [Check("配置", True, "所有值都有效")]
    return [
        Check(f"配置 {problem.key}", False, f"{problem.reason}，已改用 {problem.used}", "请改正后重启。")
        for problem in app.loaded.problems
    ]


def _data_dir(app: App) -> Check:
    folder = app.settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Check("数据目录", False, f"{folder} 不可写（{error.strerror}）", "请用 DATA_DIR 指定一个可写的目录。")
    return Check("数据目录", True, f"{folder} 可写")


def _model(app: App) -> Check:
    if app.model.choice.embedded:
        return Check(
            "模型",
            True,
            "内置摘录模型：只摘录来源中的原句",
            "要使用语言模型，请设置 OPENAI_API_KEY 或 OPENAI_BASE_URL，以及 LLM_MODEL。",
        )
    try:
        seconds = app.model.probe(app.loop)
    except AppError as error:
        return Check("模型", False, f"{app.model.label}：{error.message}", error.cure)
    return Check("模型", True, f"{app.model.label} 在 {seconds:.1f} 秒内作答")


def _engines(app: App) -> list[Check]:
    if not app.search.available:
        return [
            Check("搜索", False, "没有可用的引擎", "请在 SEARCH_PROVIDER_PRIORITY 中加入至少一个引擎。"),
            *_left_out(app),
        ]
    with ThreadPoolExecutor(max_workers=len(app.chain.engines)) as pool:
        checks = list(pool.map(lambda engine: _engine(app, engine.name), app.chain.engines))
    if any(check.ok for check in checks):
        checks = [
            check if check.ok or _chosen(app, engine.name) else replace(check, ok=True, off=True)
            for check, engine in zip(checks, app.chain.engines, strict=True)
        ]
    return [*checks, *_left_out(app), *(Check("缓存", False, warning) for warning in app.search.warnings)]


def _chosen(app: App, name: str) -> bool:
    """Whether somebody set this engine up: then its failure matters even if another engine answers."""
    if name == "searxng":
        return bool(app.settings.searxng.url)
    return name not in {"google", "tavily_keyless", "ddgs", "bundled"}


def _engine(app: App, name: str) -> Check:
    """A real search with this engine alone; the bundled one is asked about itself, the others about the world."""
    question = "怎么打开联网搜索" if name == "bundled" else "今天的新闻"
    try:
        response = app.search.search(SearchQuery(question), engine=name, fresh=True, user=None)
    except AppError as error:
        return Check(f"引擎 {name}", False, error.message, error.cure)
    return Check(f"引擎 {name}", True, f"{response.total_results} 条结果，{response.search_time:.1f} 秒")


def _left_out(app: App) -> list[Check]:
    return [Check(f"引擎 {entry.name}", True, entry.reason, entry.cure, off=True) for entry in app.chain.left_out]
