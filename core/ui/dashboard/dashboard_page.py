"""Dashboard page (运行看板): for each part a sentence, a chart, and the same figures as a table to download.

Only the open part is drawn. Only the page itself imports this module, because the charts import Altair.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.answer.step_words import provider_label
from core.app import App
from core.base.errors import AppError
from core.metrics import TIME_SPANS, DashboardReport, Grain, OutcomeCount, SpanStats, TimeSpan, read_report
from core.search.types import CacheLayer
from core.ui import clock, figure_table
from core.ui.dashboard import api_use, charts, headlines
from core.ui.dashboard.charts import AMBER, BLUE, GREEN, GREY, MAUVE, RED, TEAL, Row, Spec
from core.ui.dashboard.headlines import NO_PRICE
from core.ui.escape import escape_label
from core.ui.figure_table import Table
from core.ui.frame import draw_open_tab, draw_warning
from core.ui.labels import MODES, SEARCH_TYPES

SPAN, ENGINES, PART = "dashboard_span", "dashboard_engines", "dashboard_part"
LATEST_COUNT = 50

SEARCH_OUTCOMES = {
    "ok": "有结果",
    "empty": "没有结果",
    "failed": "失败",
    "refused": "超出限额",
    "cancelled": "中途离开",
}
ANSWER_ENDINGS = {
    "ok": "完成",
    "iterations": "到达次数上限",
    "time": "到达时间上限",
    "loop": "重复操作而停止",
    "user": "读者停止",
    "failed": "失败",
}
LAYERS = {
    CacheLayer.SESSION.value: "会话缓存",
    CacheLayer.SHARED.value: "共享缓存",
    CacheLayer.JOINED.value: "与相同的搜索合并",
    CacheLayer.STALE.value: "过期的旧结果",
    CacheLayer.NONE.value: "重新搜索",
}
UNITS = {Grain.MINUTE: "分钟", Grain.HOUR: "小时", Grain.DAY: "天"}
ERROR_PLACES = {"engine": "引擎", "search": "整次搜索", "answer": "回答"}

SEARCH_COLOURS = dict(zip(SEARCH_OUTCOMES.values(), (TEAL, AMBER, RED, BLUE, GREY), strict=True))
ANSWER_COLOURS = dict(zip(ANSWER_ENDINGS.values(), (TEAL, AMBER, MAUVE, GREEN, GREY, RED), strict=True))
ATTEMPT_COLOURS = {"有结果": TEAL, "没有结果": AMBER, "失败": RED, "被抢先": BLUE, "暂停中": GREY, "额度已满": MAUVE}
LAYER_COLOURS = dict(zip(LAYERS.values(), (TEAL, GREEN, BLUE, AMBER, GREY), strict=True))
PROMISED_PARTS = (
    ("speed", "成功率、用时和错误率", "搜索成不成功，回答要多久，错误占多少，与之前同样长的一段时间相比。"),
    ("bar_chart", "次数", "每分钟、每小时或每天有多少次搜索和回答，多少失败，多少超出限额。"),
    ("travel_explore", "引擎和缓存", "每个引擎的成功率和用时，多少次转交给了下一个，多少搜索由缓存回答。"),
    ("payments", "模型和费用", "每个模型读入和写出多少 token，估算花了多少，Agent 循环了几次。"),
    ("error", "错误", "什么错误，出在哪里，出现了多少次。"),
    ("list_alt", "记录", "最新的搜索和回答；每张图和每个表都可以下载为 CSV。"),
)
"""Parts that an empty dashboard announces: icon, name and meaning."""

PLACE_COLOURS = dict(zip(ERROR_PLACES.values(), (AMBER, MAUVE, RED), strict=True))


@dataclass(frozen=True)
class DashboardView:
    """Data of one drawing of the dashboard."""

    app: App
    report: DashboardReport
    span: TimeSpan
    now: float
    places: Iterator[DeltaGenerator]
    """Columns for the next elements."""

    @property
    def figures(self) -> SpanStats:
        return self.report.whole


def draw(app: App) -> None:
    with st.container(key="dashboard"):  # the style sheet gives this key the whole width
        _draw(app)


def _draw(app: App) -> None:
    st.header("运行看板", anchor=False)
    settings = app.settings.metrics
    words = "搜索词也会记录，" if settings.queries else "不记录搜索词和回答的内容，"
    st.write(f"这台服务器上搜索和回答的次数、速度、成功率和费用。{words}保存 {settings.keep_days} 天。")
    if not settings.enabled:
        draw_warning("记录已经关闭，下面是关闭之前的数据。管理员在设置中打开并重启以后，继续记录。")
    choices, now = st.container(horizontal=True, gap="medium"), time.time()
    with choices:
        span = _draw_span_choice()
    try:
        engines = st.session_state.get(ENGINES) or ()
        report = read_report(app.metrics_store, span, now=now, settings=settings, engines=engines)
        with choices:
            _draw_engine_filter(report)
        use = api_use.read_use(app, span, now)
        if report.whole.is_empty:
            _draw_empty(span)
            if use:
                api_use.draw(use, span, now)
        else:
            headlines.draw(report, span, settings.currency)
            of_programs: dict[str, Callable[[DashboardView], None]] = {
                "接口": lambda view: api_use.draw(use, view.span, view.now)
            }
            parts = PARTS | of_programs if use or app.settings.api.enabled else PARTS
            draw_open_tab(parts, DashboardView(app, report, span, now, _two_columns()), key=PART)
            st.caption(_zone_note(span, now))
    except AppError as error:
        draw_warning(f"运行数据暂时读不出来。{error}")
    if app.metrics.dropped:
        st.caption(f"启动以来有 {app.metrics.dropped:,} 条记录没能写进数据库，没有算在上面。")


def _draw_span_choice() -> TimeSpan:
    names = [span.label for span in TIME_SPANS]
    chosen = st.segmented_control("最近", names, default=names[1], required=True, key=SPAN, persist_state="session")
    return TIME_SPANS[names.index(chosen)]


def _draw_engine_filter(report: DashboardReport) -> None:
    """Draw the engine filter. Engines chosen before are offered too, even if this span has no record of them."""
    offered = list(dict.fromkeys([*report.known_engines, *(st.session_state.get(ENGINES) or ())]))
    if offered:
        st.pills(
            "引擎",
            offered,
            selection_mode="multi",
            format_func=lambda engine: escape_label(provider_label(engine)),
            key=ENGINES,
            persist_state="session",
            help="只看这些引擎做了什么；不选就是全部。回答、token 和 Agent 与引擎无关，不受影响。",
        )


def _draw_empty(span: TimeSpan) -> None:
    if st.session_state.get(ENGINES):
        st.info("所选的引擎在这段时间里没有记录。请换一段时间，或取消引擎的选择。", icon=":material/filter_alt_off:")
        return
    st.info(
        f"最近 {span.label}还没有记录。到「对话」页打开联网搜索，问一个问题，几秒后刷新，这里就会有：",
        icon=":material/monitoring:",
    )
    places = _two_columns()
    for icon, name, meaning in PROMISED_PARTS:
        with next(places), st.container(border=True, height="stretch"):
            st.markdown(f":material/{icon}: **{name}**")
            st.caption(meaning)


def _two_columns() -> Iterator[DeltaGenerator]:
    """Yield places in rows of two columns, which stand below each other on a phone."""
    while True:
        yield from st.columns(2)


def _zone_note(span: TimeSpan, now: float) -> str:
    reader, server = datetime.fromtimestamp(now, clock.reader_zone()), datetime.fromtimestamp(now).astimezone()
    if span.grain is Grain.DAY and reader.utcoffset() != server.utcoffset():
        return f"一天从服务器的零点算起，服务器的时区是 UTC{server.isoformat()[-6:]}。"
    return f"时间按你的时区（UTC{reader.isoformat()[-6:]}）显示。"


def _draw_section(
    view: DashboardView, title: str, sentence: str, chart: Spec, table: Table, *, is_alone: bool = False
) -> None:
    """Draw a chart with its table. A chart alone in its part has the table open in the other column."""
    with next(view.places):
        st.subheader(title, anchor=False)
        st.caption(sentence)
        st.vega_lite_chart(chart, width="stretch", alt=f"{title}。{sentence}")
        if not is_alone:
            with st.expander("表格", icon=":material/table:"):
                figure_table.draw(table)
    if is_alone:
        with next(view.places):
            figure_table.draw(table)


# ── Over time ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_over_time(view: DashboardView) -> None:
    unfinished = f"最右边颜色较淡的是现在这一{UNITS[view.span.grain]}，还没有结束。"
    for title, sentence, name, moments, words, colours in (
        (
            "搜索的次数",
            "红色是失败，蓝色是超过每分钟上限被拒绝的。",
            "searches",
            view.report.searches,
            SEARCH_OUTCOMES,
            SEARCH_COLOURS,
        ),
        (
            "回答的次数",
            "红色是失败；到达上限的 Agent 仍然给出了回答。",
            "answers",
            view.report.answers,
            ANSWER_ENDINGS,
            ANSWER_COLOURS,
        ),
    ):
        if moments:
            rows = _moment_rows(moments, words)
            _draw_section(
                view,
                title,
                sentence + unfinished,
                charts.timeline(rows, colours, span=view.span, now=view.now, unit="次数（次）"),
                _moment_table(name, view, moments, words),
            )


def _moment_rows(moments: Sequence[OutcomeCount], words: dict[str, str]) -> list[Row]:
    places = {outcome: place for place, outcome in enumerate(words)}
    return [
        {"start": one.start, "what": words[one.outcome], "times": one.times, "place": places[one.outcome]}
        for one in moments
    ]


def _moment_table(name: str, view: DashboardView, moments: Sequence[OutcomeCount], words: dict[str, str]) -> Table:
    counted: dict[int, Counter[str]] = {}
    for moment in moments:
        counted.setdefault(moment.start, Counter())[moment.outcome] = moment.times
    began = _format_day if view.span.grain is Grain.DAY else _format_time
    rows = [(began(start), *(times[outcome] for outcome in words)) for start, times in sorted(counted.items())]
    return Table(name, ("开始时间", *(f"{word}（次）" for word in words.values())), rows)


# ── Engines and caches ────────────────────────────────────────────────────────────────────────────────────────────


def _draw_engines(view: DashboardView) -> None:
    engines = view.figures.engines
    if not engines:
        st.caption("这段时间没有问过任何引擎。")
        return
    counted = [
        (provider_label(one.engine), (one.ok, one.empty, one.failed, one.overtaken, one.resting, one.limited))
        for one in engines
    ]
    rows = [
        {"name": name, "what": what, "times": times, "place": place}
        for name, numbers in counted
        for place, (what, times) in enumerate(zip(ATTEMPT_COLOURS, numbers, strict=True))
        if times
    ]
    _draw_section(
        view,
        "各引擎的成功与转交",
        "一条是一个引擎。绿色以外的部分都转交给了下一个引擎；红色多，说明这个引擎常常失败。",
        charts.stacked_bars(rows, ATTEMPT_COLOURS, unit="次数（次）"),
        Table(
            "engines",
            ("引擎", "成功率", "转交率", *(f"{word}（次）" for word in ATTEMPT_COLOURS), "接手成功（次）"),
            [
                (name, _percent(one.success_rate), _percent(one.handover_rate), *numbers, one.fallback_answers)
                for one, (name, numbers) in zip(engines, counted, strict=True)
            ],
        ),
    )
    if timed := [one for one in engines if one.seconds.steps]:
        _draw_section(
            view,
            "各引擎的用时",
            "p50：一半的答复比它快；p95：每 20 次里最慢的 1 次大约要这么久。误差不超过 5 %。",
            charts.grouped_bars(
                [
                    {"name": provider_label(one.engine), "what": what, "amount": one.seconds.percentile(share)}
                    for one in timed
                    for what, share in (("p50", 0.5), ("p95", 0.95))
                ],
                {"p50": TEAL, "p95": AMBER},
                unit="秒",
            ),
            Table(
                "engine-seconds",
                ("引擎", "答复（次）", "p50（秒）", "p95（秒）"),
                [
                    (provider_label(one.engine), one.seconds.steps.total(), *_percentiles(one.seconds.percentile))
                    for one in timed
                ],
            ),
        )


def _draw_caches(view: DashboardView) -> None:
    caches = [(SEARCH_TYPES.get(one.type, one.type), one) for one in view.figures.caches]
    if not caches:
        st.caption("这段时间没有完成的搜索。")
        return
    rows = [
        {"name": name, "what": word, "times": one.layers[layer], "place": place}
        for name, one in caches
        for place, (layer, word) in enumerate(LAYERS.items())
        if one.layers[layer]
    ]
    _draw_section(
        view,
        "各类搜索由谁回答",
        "灰色是真正去搜索的部分，其余省下了一次搜索；黄色是引擎都失败时拿出来的旧结果。",
        charts.stacked_bars(rows, LAYER_COLOURS, unit="占搜索的比例", as_shares=True),
        Table(
            "caches",
            ("类型", "命中率", *(f"{word}（次）" for word in LAYERS.values())),
            [(name, _percent(one.hit_rate), *(one.layers[layer] for layer in LAYERS)) for name, one in caches],
        ),
        is_alone=True,
    )


# ── Models and the agent ──────────────────────────────────────────────────────────────────────────────────────────


def _draw_models(view: DashboardView) -> None:
    models = view.figures.models
    if not models:
        st.caption("这段时间没有回答。")
        return
    rows = [
        {"name": one.model, "what": what, "times": times, "place": place}
        for one in models
        for place, (what, times) in enumerate((("读入", one.input), ("写出", one.output)))
        if times
    ]
    if rows:
        currency = view.app.settings.metrics.currency
        _draw_section(
            view,
            "Token 和费用",
            f"每个模型读入和写出的 token；费用按设置中的单价估算，没有单价的写「{NO_PRICE}」。",
            charts.stacked_bars(rows, {"读入": BLUE, "写出": TEAL}, unit="token（个）"),
            Table(
                "models",
                ("模型", "回答（次）", "读入（token）", "写出（token）", "其中有估算", f"费用（{currency}）"),
                [
                    (
                        one.model,
                        one.answers,
                        one.input,
                        one.output,
                        "有" if one.is_estimated else "没有",
                        NO_PRICE if one.cost is None else round(one.cost, 4),
                    )
                    for one in models
                ],
            ),
        )
    _draw_agent(view)
    st.subheader("回答的用时", anchor=False)
    st.caption("从提问到写完，只算完成的回答。Agent 要搜索和思考几轮，通常更久。")
    columns = ("模式", "回答（次）", "完成（次）", "停止（次）", "失败（次）", "p50（秒）", "p95（秒）")
    modes = [
        (
            MODES.get(one.mode, one.mode),
            one.endings.total(),
            *map(one.count_ending, ("ok", "stopped", "failed")),
            *_percentiles(one.seconds.percentile),
        )
        for one in view.figures.modes
    ]
    figure_table.draw(Table("modes", columns, modes))


def _draw_agent(view: DashboardView) -> None:
    models = view.figures.models
    iterations = sum((model.iterations for model in models), Counter[int]())
    if not iterations:
        return
    calls = sum(model.tool_calls for model in models) / iterations.total()
    rows = [{"name": str(often), "times": runs} for often, runs in sorted(iterations.items())]
    _draw_section(
        view,
        "Agent 的循环次数",
        f"越靠右，想得越久；多数都在最右边，说明次数上限可能太小。平均每次运行调用 {calls:.1f} 次工具。",
        charts.column_chart(rows, x="一次运行中问模型的次数", unit="运行（次）"),
        Table("agent", ("模型问了几次", "运行（次）"), sorted(iterations.items())),
    )


# ── Errors and records ────────────────────────────────────────────────────────────────────────────────────────────


def _draw_errors(view: DashboardView) -> None:
    errors = view.figures.errors
    if not errors:
        st.caption("这段时间没有错误。")
        return
    together: Counter[tuple[str, str]] = Counter()
    for one in errors:
        together[_error_sentence(one.kind), ERROR_PLACES[one.where]] += one.times
    places = list(ERROR_PLACES.values())
    rows = [
        {"name": name, "what": place, "times": times, "place": places.index(place)}
        for (name, place), times in together.most_common()
    ]
    _draw_section(
        view,
        "错误",
        "从多到少。引擎的错误多半由下一个引擎补上，整次搜索和回答的错误读者看得到。",
        charts.stacked_bars(rows, PLACE_COLOURS, unit="次数（次）"),
        Table(
            "errors",
            ("哪里", "引擎", "错误", "代号", "次数（次）"),
            [
                (
                    ERROR_PLACES[one.where],
                    provider_label(one.engine) or None,
                    _error_sentence(one.kind),
                    one.kind,
                    one.times,
                )
                for one in errors
            ],
        ),
        is_alone=True,
    )


def _draw_latest(view: DashboardView) -> None:
    since = view.span.start(view.now)
    st.caption(f"这段时间最新的 {LATEST_COUNT} 次搜索和 {LATEST_COUNT} 次回答，不受引擎筛选影响。")
    st.subheader("最近的搜索", anchor=False)
    figure_table.draw(_latest_searches(view.app, since))
    st.subheader("最近的回答", anchor=False)
    figure_table.draw(_latest_answers(view.app, since))


def _latest_searches(app: App, since: float) -> Table:
    records = app.metrics_store.latest_searches(since, LATEST_COUNT)
    words = ["搜索词"] if any(record["query"] for record in records) else []
    rows = [
        (
            _format_time(record["at"], seconds=True),
            SEARCH_TYPES.get(record["type"], record["type"]),
            provider_label(record["engine"]) or None,
            SEARCH_OUTCOMES.get(record["outcome"], record["outcome"]),
            LAYERS[record["cache"]] if record["cache"] else None,
            round(record["seconds"], 2),
            _error_sentence(record["kind"]) if record["kind"] else None,
            *(record["query"] for _ in words),
        )
        for record in records
    ]
    return Table("latest-searches", ("时间", "类型", "引擎", "结果", "缓存", "用时（秒）", "错误", *words), rows)


def _latest_answers(app: App, since: float) -> Table:
    rows = [
        (
            _format_time(record["at"], seconds=True),
            MODES.get(record["mode"], record["mode"]),
            record["model"],
            _ending(record["ending"], record["kind"]),
            round(record["seconds"], 2),
            *(record[count] for count in ("input", "output", "iterations", "tool_calls")),
        )
        for record in app.metrics_store.latest_answers(since, LATEST_COUNT)
    ]
    counts = ("读入（token）", "写出（token）", "循环（次）", "工具（次）")
    columns = ("时间", "模式", "模型", "结果", "用时（秒）", *counts)
    return Table("latest-answers", columns, rows)


PARTS: dict[str, Callable[[DashboardView], None]] = {
    "次数": _draw_over_time,
    "引擎": _draw_engines,
    "缓存": _draw_caches,
    "模型": _draw_models,
    "错误": _draw_errors,
    "记录": _draw_latest,
}


# ── Words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ending(ending: str, kind: str) -> str:
    if ending == "failed":
        return f"失败：{_error_sentence(kind)}"
    return ANSWER_ENDINGS.get(kind or ending, ending)


def _error_sentence(kind: str) -> str:
    """Return the sentence of the error with this kind."""
    return _error_sentences().get(kind, kind)


@cache
def _error_sentences() -> dict[str, str]:
    sentences = {"internal": "程序内部出错", "busy": "同时进行的搜索太多"}
    errors: list[type[AppError]] = [AppError]
    for error in errors:
        sentences.setdefault(error.kind, error.default_message.rstrip("。"))
        errors += error.__subclasses__()
    return sentences


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _percentiles(percentile: Callable[[float], float | None]) -> list[float | None]:
    """Return p50 and p95, rounded."""
    return [None if seconds is None else round(seconds, 2) for seconds in map(percentile, (0.5, 0.95))]


def _format_day(at: float) -> str:
    """Return the date on the calendar of this machine, which days are counted by."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d")


def _format_time(at: float, *, seconds: bool = False) -> str:
    format = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"
    return datetime.fromtimestamp(at, clock.reader_zone()).strftime(format)
