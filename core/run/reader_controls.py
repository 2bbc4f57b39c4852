"""The settings that readers may change for themselves, and the options they have. The page only draws them.

Every control is a list, so that a browser cannot choose anything else. The administrator's limits are in the lists: on
a shared installation a long run is not paid for by the reader who asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.base.settings import Settings, choose_model
from core.run.choices import Choices
from core.search import LANGUAGES, TIME_RANGES

_SNIPPET_LENGTHS = (50, 100, 150, 200, 300, 400, 500, 750, 1000)
_TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0)
_SECONDS = (10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0)
_PROMPTS = {"auto": "自动", "chinese": "中文", "english": "英文", "small": "短（小模型用）"}


@dataclass(frozen=True, slots=True)
class Control:
    name: str
    """The name of a field of Choices."""
    title: str
    help: str
    options: Mapping[str, Any]
    """The values by the words that the reader sees."""
    default: str
    """The words for the administrator's setting."""
    is_scale: bool = False
    """True if the options are points on a line."""
    blocked_reason: str = ""
    """The reason why it cannot be used now; empty if it can."""

    def is_changed(self, picked: str | None) -> bool:
        return not self.blocked_reason and picked in self.options and picked != self.default

    def value_to_remember(self, picked: str | None) -> Any:
        """Return the value to remember. None if it is the default, so that a later default of the administrator holds."""
        return self.options[picked] if picked is not None and self.is_changed(picked) else None


@dataclass(frozen=True, slots=True)
class ControlGroup:
    title: str
    controls: tuple[Control, ...]


def control_groups(settings: Settings, picked: Mapping[str, str]) -> tuple[ControlGroup, ...]:
    """Return the controls that this installation offers. `picked`: the words chosen now, by the name of the control."""
    everything = (
        ControlGroup(
            "搜索设置",
            (
                _result_count(settings),
                _language(settings),
                _time_range(),
                _snippet_length(settings),
                _standalone_queries(settings),
            ),
        ),
        ControlGroup(
            "模型与 Agent",
            (
                model := _model(settings),
                _temperature(settings, model.options.get(picked.get("model", ""))),
                _max_iterations(settings),
                _max_execution_time(settings),
                _prompt(settings),
            ),
        ),
    )
    allowed = (ControlGroup(group.title, tuple(_usable_controls(group, settings))) for group in everything)
    return tuple(group for group in allowed if group.controls)


def read_choices(groups: Iterable[ControlGroup], picked: Mapping[str, str]) -> Choices:
    """Return the reader's choices. A missing or blocked control, or an unknown value, leaves the configured setting."""
    controls = [control for group in groups for control in group.controls]
    return Choices(
        **{
            control.name: control.options[picked[control.name]]
            for control in controls
            if control.is_changed(picked.get(control.name))
        }
    )


def restore_picked(groups: Iterable[ControlGroup], remembered: Mapping[str, Any]) -> dict[str, str]:
    """Return the words for values remembered from an earlier session. Values that are no longer offered are left out."""
    return {
        control.name: words
        for group in groups
        for control in group.controls
        for words, value in control.options.items()
        if value is not None and value == remembered.get(control.name)
    }


def _usable_controls(group: ControlGroup, settings: Settings) -> Iterable[Control]:
    return (control for control in group.controls if control.name in settings.panel.allow and len(control.options) > 1)


def _result_count(settings: Settings) -> Control:
    shown = "{} 条".format
    return Control(
        "result_count",
        "取用的结果数",
        "每次搜索后，模型读排在最前面的几条。",
        {shown(count): count for count in (3, 4, 5)},
        shown(settings.search.result_count),
        is_scale=True,
    )


def _language(settings: Settings) -> Control:
    configured = settings.search.language
    options = {"自动": "auto"} | {words: code for code, words in LANGUAGES.items()}
    default = next((words for words, code in options.items() if code == configured), configured)
    return Control(
        "language",
        "语言",
        "自动：跟随问题的语言。有的引擎没有语言参数，这一项对它不起作用。",
        options | {default: configured},
        default,
    )


def _time_range() -> Control:
    return Control(
        "time_range",
        "时间范围",
        "只找最近发表的网页。范围太小时可能没有结果。",
        {"不限": None} | {words: time_range for time_range, words in TIME_RANGES.items()},
        "不限",
    )


def _snippet_length(settings: Settings) -> Control:
    configured, shown = settings.search.snippet_length, "{} 字".format
    return Control(
        "snippet_length",
        "摘要长度",
        "每条结果给模型看多少字。越长，用的 token 越多；来源的总量另有上限。",
        {shown(length): length for length in sorted({*_SNIPPET_LENGTHS, configured})},
        shown(configured),
        is_scale=True,
    )


def _standalone_queries(settings: Settings) -> Control:
    options = {"补全后搜索": True, "用原话搜索": False}
    return Control(
        "standalone_queries",
        "追问的搜索词",
        "像「那第二种呢？」这样的追问，先补上前面说过的内容再搜索。第一个问题总是用原话上网搜索。法律问题还会请模型改写成法条用语，只查本地法规库。选「用原话搜索」时都不改写。",
        options,
        next(words for words, on in options.items() if on == settings.chat.standalone_queries),
    )


def _model(settings: Settings) -> Control:
    default = choose_model(settings).label
    options = {default: settings.llm.model}
    for name in settings.llm.models:
        if name != settings.llm.model:
            label = choose_model(Choices(model=name).apply_to(settings)).label
            options[name if label in options else label] = name
    return Control("model", "模型", "从下一个问题起，由这个模型回答。", options, default)


def _temperature(settings: Settings, model: str | None) -> Control:
    configured, shown = settings.llm.temperature, "{:g}".format
    default = "模型自定" if configured is None else shown(configured)
    points = sorted({*_TEMPERATURES, *([] if configured is None else [configured])})
    embedded = choose_model(Choices(model=model).apply_to(settings)).is_embedded
    return Control(
        "temperature",
        "温度",
        "越低越稳定，越高越多样。有的模型只接受自己的默认值。",
        ({default: None} if configured is None else {}) | {shown(degree): degree for degree in points},
        default,
        is_scale=True,
        blocked_reason="内置摘录模型没有这一项。" if embedded else "",
    )


def _max_iterations(settings: Settings) -> Control:
    configured, shown = settings.agent.max_iterations, "{} 轮".format
    most = max(configured, settings.panel.max_iterations or 0)
    return Control(
        "max_iterations",
        "Agent 最多几轮",
        f"到了上限，就根据已经找到的内容回答。这里最多可以选 {shown(most)}。",
        {shown(rounds): rounds for rounds in range(1, most + 1)},
        shown(configured),
        is_scale=True,
    )


def _max_execution_time(settings: Settings) -> Control:
    configured, shown = settings.agent.max_execution_time, "{:g} 秒".format
    most = max(configured, settings.panel.max_execution_time or 0)
    points = {*(seconds for seconds in _SECONDS if seconds < most), configured, most}
    return Control(
        "max_execution_time",
        "Agent 最长时间",
        f"到了时间，就根据已经找到的内容回答。这里最多可以选 {shown(most)}。",
        {shown(seconds): seconds for seconds in sorted(points)},
        shown(configured),
        is_scale=True,
    )


def _prompt(settings: Settings) -> Control:
    """Return one control for both modes. If they are configured differently, the default leaves each as it is."""
    in_chat, in_agent = settings.chat.prompt, settings.agent.prompt
    default = _PROMPTS[in_chat] if in_chat == in_agent else "管理员的设置"
    options = {words: name for name, words in _PROMPTS.items()}
    return Control(
        "prompt",
        "提示词",
        "自动：按问题的语言和模型的大小选择。",
        options if default in options else {default: None} | options,
        default,
    )
