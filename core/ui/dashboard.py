"""Draws 运行看板: each figure with one sentence on what to see in it, as a chart, and as a table to take away."""

from __future__ import annotations

import csv
import html
import io
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from core.app import App
from core.errors import AppError
from core.metrics.figures import Figures, Moment, read_figures
from core.metrics.spans import SPANS, Span
from core.search.registry import label_of
from core.search.types import CacheLayer
from core.ui.escape import label
from core.ui.render import warning

if TYPE_CHECKING:
    from core.ui.charts import Spec

SPAN, ENGINES = "dashboard_span", "dashboard_engines"
LATEST = 50

SEARCH_OUTCOMES = {"ok": "有结果", "empty": "没有结果", "failed": "失败", "refused": "被限流", "cancelled": "读者离开"}
ANSWER_ENDINGS = {
    "ok": "完成",
    "iterations": "到达次数上限",
    "time": "到达时间上限",
    "loop": "重复操作而停止",
    "user": "读者停止",
    "failed": "失败",
}
TYPES = {"general": "综合", "news": "新闻", "regulation": "法规", "case": "案例"}
LAYERS = {
    CacheLayer.SESSION.value: "会话缓存",
    CacheLayer.SHARED.value: "共享缓存",
    CacheLayer.JOINED.value: "与相同的搜索合并",
    CacheLayer.STALE.value: "过期的旧结果",
    CacheLayer.NONE.value: "重新搜索",
}
MODES = {"chat": "Chat", "agent": "Agent"}
PLACES = {"engine": "引擎", "search": "整次搜索", "answer": "回答"}
NO_PRICE = "未设价格"


class Table(NamedTuple):
    name: str
    """Of the file that it can be saved as."""
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    """Numbers as numbers, None for what cannot be known."""


def draw(app: App) -> None:
    st.header("运行看板", anchor=False)
    settings = app.settings.metrics
    words = "搜索词也会记录，" if settings.queries else "不记录搜索词和回答的内容，"
    st.write(f"这台服务器上的搜索和回答：多少、多快、成不成功、花了多少。{words}保存 {settings.keep_days} 天。")
    if not settings.enabled:
        warning("记录已经关闭，下面是关闭之前的数据。把 METRICS_ENABLED 设为 true 并重启后继续记录。")
    span = _span()
    now = time.time()
    try:
        figures = read_figures(
            app.metrics.store, span, now=now, settings=settings, engines=st.session_state.get(ENGINES) or ()
        )
        _engine_filter(figures)
        if figures.empty:
            _nothing_yet(span)
            return
        _headlines(figures, settings.currency)
        _sections(app, figures, span, now)
    except AppError as error:
        warning(f"运行数据暂时读不出来。{error}")
    if app.metrics.dropped:
        st.caption(f"启动以来有 {app.metrics.dropped:,} 条记录没能写进数据库，没有算在上面。")


def _span() -> Span:
    names = [span.label for span in SPANS]
    chosen = st.segmented_control("最近", names, default=names[1], required=True, key=SPAN, persist_state="session")
    return SPANS[names.index(chosen)]


def _engine_filter(figures: Figures) -> None:
    """Offers what was chosen before as well: another span may know nothing of it."""
    offered = list(dict.fromkeys([*figures.known_engines, *(st.session_state.get(ENGINES) or ())]))
    if offered:
        st.pills(
            "引擎",
            offered,
            selection_mode="multi",
            format_func=lambda engine: label(label_of(engine)),
            key=ENGINES,
            persist_state="session",
            help="只看这些引擎做了什么；不选就是全部。回答、token 和 Agent 与引擎无关，不受影响。",
        )


def _nothing_yet(span: Span) -> None:
    if st.session_state.get(ENGINES):
        st.info("所选的引擎在这段时间里没有记录。请换一段时间，或取消引擎的选择。", icon=":material/filter_alt_off:")
        return
    st.info(
        f"最近 {span.label}还没有记录。到「对话」页打开联网搜索，问一个问题，几秒后这里就会有："
        "搜索和回答的次数、各引擎的成功率和用时、缓存命中率、token 和费用、错误。",
        icon=":material/monitoring:",
    )


def _headlines(figures: Figures, currency: str) -> None:
    searches, answers = figures.search_outcomes, figures.answer_outcomes
    cost = NO_PRICE if figures.cost is None else f"{figures.cost:,.2f} {currency}"
    with st.container(horizontal=True):
        for name, value, meaning in (
            ("搜索", f"{searches.total():,} 次", "包括由缓存回答的和没有成功的。"),
            ("有结果", _percent(figures.success), "有结果的搜索占全部搜索的比例，读者中途离开的不算。"),
            ("缓存命中", _percent(figures.hit_rate), "由会话缓存或共享缓存直接回答的搜索的比例。"),
            ("被限流", f"{figures.refused:,} 次", "超过每个用户每分钟的上限（SEARCH_RATE_LIMIT）而没有执行的搜索。"),
            ("回答", f"{answers.total():,} 次", "两种模式合计，包括没有完成的。"),
            ("估算费用", cost, "按 METRICS_PRICES 的单价计算，没有单价的模型不计。"),
        ):
            st.metric(name, value, help=meaning, width="content")


def _sections(app: App, figures: Figures, span: Span, now: float) -> None:
    from core.ui import charts
    from core.ui.charts import AMBER, BLUE, GREEN, GREY, MAUVE, RED, TEAL

    search_colours = dict(zip(SEARCH_OUTCOMES.values(), (TEAL, AMBER, RED, BLUE, GREY), strict=True))
    _section(
        "搜索的次数",
        "柱子越高，搜索越多；红色是失败，蓝色是超过每分钟上限被拒绝的。",
        _moments(figures.searches, SEARCH_OUTCOMES, "搜索"),
        lambda: charts.timeline(
            _moment_rows(figures.searches, SEARCH_OUTCOMES), search_colours, span=span, now=now, unit="次数（次）"
        ),
        shown=bool(figures.searches),
    )
    answer_colours = dict(zip(ANSWER_ENDINGS.values(), (TEAL, AMBER, MAUVE, GREEN, GREY, RED), strict=True))
    _section(
        "回答的次数",
        "红色是失败；到达上限的 Agent 仍然给出了回答。",
        _moments(figures.answers, ANSWER_ENDINGS, "回答"),
        lambda: charts.timeline(
            _moment_rows(figures.answers, ANSWER_ENDINGS), answer_colours, span=span, now=now, unit="次数（次）"
        ),
        shown=bool(figures.answers),
    )
    attempt_colours = {
        "有结果": TEAL,
        "没有结果": AMBER,
        "失败": RED,
        "被抢先": BLUE,
        "休息中": GREY,
        "额度已满": MAUVE,
    }
    _section(
        "各引擎的成功与转交",
        "一条是一个引擎。绿色以外的部分都转交给了下一个引擎；红色多，说明这个引擎常常失败。",
        _engines(figures),
        lambda: charts.stacked(_attempt_rows(figures, list(attempt_colours)), attempt_colours, unit="次数（次）"),
        shown=bool(figures.engines),
    )
    timed = [row for row in _latency_rows(figures) if row["amount"] is not None]
    _section(
        "各引擎的用时",
        "p50：一半的答复比它快；p95：每 20 次里最慢的 1 次大约要这么久。误差不超过 5 %。",
        Table(
            "engine-seconds",
            ("引擎", "答复（次）", "p50（秒）", "p95（秒）"),
            [
                (
                    label_of(one.engine),
                    one.seconds.steps.total(),
                    _rounded(one.seconds.at(0.5)),
                    _rounded(one.seconds.at(0.95)),
                )
                for one in figures.engines
                if one.seconds.steps
            ],
        ),
        lambda: charts.side_by_side(timed, {"p50": TEAL, "p95": AMBER}, unit="秒"),
        shown=bool(timed),
    )
    layer_colours = dict(zip(LAYERS.values(), (TEAL, GREEN, BLUE, AMBER, GREY), strict=True))
    _section(
        "缓存",
        "灰色是真正去搜索的部分，其余省下了一次搜索；黄色是引擎都失败时拿出来的旧结果。",
        _caches(figures),
        lambda: charts.stacked(_cache_rows(figures), layer_colours, unit="占搜索的比例", as_shares=True),
        shown=bool(figures.caches),
    )
    used = [model for model in figures.models if model.input or model.output]
    _section(
        "Token 和费用",
        f"每个模型读入和写出的 token；费用按 METRICS_PRICES 的单价估算，没有单价的写「{NO_PRICE}」。",
        _models(figures, app.settings.metrics.currency),
        lambda: charts.stacked(
            [
                {"name": model.model, "what": what, "times": times, "place": place}
                for model in used
                for place, (what, times) in enumerate((("读入", model.input), ("写出", model.output)))
            ],
            {"读入": BLUE, "写出": TEAL},
            unit="token（个）",
        ),
        shown=bool(used),
    )
    _answers(figures)
    iterations = _iteration_rows(figures)
    _section(
        "Agent 的循环次数",
        _agent_sentence(figures),
        Table("agent", ("模型问了几次", "运行（次）"), [(row["name"], row["times"]) for row in iterations]),
        lambda: charts.columns(iterations, x="一次运行中问模型的次数", unit="运行（次）"),
        shown=bool(iterations),
    )
    error_colours = dict(zip(PLACES.values(), (AMBER, MAUVE, RED), strict=True))
    _section(
        "错误",
        "从多到少。引擎的错误多半由下一个引擎补上，整次搜索和回答的错误读者看得到。",
        _errors(figures),
        lambda: charts.stacked(_error_rows(figures), error_colours, unit="次数（次）"),
        shown=bool(figures.errors),
        otherwise="这段时间没有错误。",
    )
    _latest(app, span.since(now))


def _section(
    title: str,
    sentence: str,
    table: Table,
    chart: Callable[[], Spec],
    *,
    shown: bool,
    otherwise: str = "",
) -> None:
    if not (shown or otherwise):
        return
    st.subheader(title, anchor=False)
    st.caption(sentence if shown else otherwise)
    if shown:
        st.vega_lite_chart(chart(), width="stretch", alt=f"{title}。{sentence}")
        _take_away(table)


def _take_away(table: Table) -> None:
    with st.expander("表格", icon=":material/table:"):
        _table(table)


def _table(table: Table) -> None:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    st.html(f'<table class="wy-figures"><tr>{head}</tr>{rows}</table>')
    st.download_button(
        "下载 CSV",
        lambda: as_csv(table),
        file_name=f"wenyuan-{table.name}.csv",
        mime="text/csv",
        key=f"csv-{table.name}",
        icon=":material/download:",
        on_click="ignore",
    )


def _cell(value: Any) -> str:
    if isinstance(value, int | float):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{'–' if value is None else html.escape(str(value))}</td>"


def as_csv(table: Table) -> bytes:
    """With the mark by which Excel knows UTF-8; a cell of text never becomes a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow(
            f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value for value in row
        )
    return file.getvalue().encode("utf-8-sig")


# ── Figures as rows ───────────────────────────────────────────────────────────────────────────────────────────────


def _moment_rows(moments: Sequence[Moment], words: dict[str, str]) -> list[dict[str, Any]]:
    places = {outcome: place for place, outcome in enumerate(words)}
    return [
        {
            "start": moment.start,
            "what": words[moment.outcome],
            "times": moment.times,
            "place": places[moment.outcome],
        }
        for moment in moments
    ]


def _moments(moments: Sequence[Moment], words: dict[str, str], name: str) -> Table:
    counted: dict[int, dict[str, int]] = {}
    for moment in moments:
        counted.setdefault(moment.start, {})[moment.outcome] = moment.times
    rows = [(_clock(start), *(found.get(word, 0) for word in words)) for start, found in sorted(counted.items())]
    file = "searches" if name == "搜索" else "answers"
    return Table(file, ("开始时间", *(f"{word}（次）" for word in words.values())), rows)


def _attempt_rows(figures: Figures, words: list[str]) -> list[dict[str, Any]]:
    return [
        {"name": label_of(engine.engine), "what": what, "times": times, "place": place}
        for engine in figures.engines
        for place, (what, times) in enumerate(
            zip(
                words,
                (engine.ok, engine.empty, engine.failed, engine.overtaken, engine.resting, engine.limited),
                strict=True,
            )
        )
        if times
    ]


def _engines(figures: Figures) -> Table:
    columns = (
        "引擎",
        "成功率",
        "转交率",
        "有结果（次）",
        "没有结果（次）",
        "失败（次）",
        "被抢先（次）",
        "休息中（次）",
        "额度已满（次）",
        "接手成功（次）",
    )
    rows = [
        (
            label_of(engine.engine),
            _percent(engine.success),
            _percent(engine.handed_on),
            engine.ok,
            engine.empty,
            engine.failed,
            engine.overtaken,
            engine.resting,
            engine.limited,
            engine.relieved,
        )
        for engine in figures.engines
    ]
    return Table("engines", columns, rows)


def _latency_rows(figures: Figures) -> list[dict[str, Any]]:
    return [
        {"name": label_of(engine.engine), "what": what, "amount": engine.seconds.at(share)}
        for engine in figures.engines
        for what, share in (("p50", 0.5), ("p95", 0.95))
    ]


def _cache_rows(figures: Figures) -> list[dict[str, Any]]:
    return [
        {"name": TYPES.get(cache.type, cache.type), "what": word, "times": cache.layers[layer], "place": place}
        for cache in figures.caches
        for place, (layer, word) in enumerate(LAYERS.items())
        if cache.layers[layer]
    ]


def _caches(figures: Figures) -> Table:
    rows = [
        (
            TYPES.get(cache.type, cache.type),
            _percent(cache.hit_rate),
            *(cache.layers[layer] for layer in LAYERS),
        )
        for cache in figures.caches
    ]
    return Table("caches", ("类型", "命中率", *(f"{word}（次）" for word in LAYERS.values())), rows)


def _models(figures: Figures, currency: str) -> Table:
    rows = [
        (
            model.model,
            model.answers,
            model.input,
            model.output,
            "有" if model.estimated else "没有",
            NO_PRICE if model.cost is None else round(model.cost, 4),
        )
        for model in figures.models
    ]
    return Table(
        "models", ("模型", "回答（次）", "读入（token）", "写出（token）", "其中有估算", f"费用（{currency}）"), rows
    )


def _answers(figures: Figures) -> None:
    if not figures.modes:
        return
    st.subheader("回答的用时", anchor=False)
    st.caption("从提问到写完，只算完成的回答。Agent 要搜索和思考几轮，通常更久。")
    rows = [
        (
            MODES.get(mode.mode, mode.mode),
            mode.endings.total(),
            mode.of("ok"),
            mode.of("stopped"),
            mode.of("failed"),
            _rounded(mode.seconds.at(0.5)),
            _rounded(mode.seconds.at(0.95)),
        )
        for mode in figures.modes
    ]
    columns = ("模式", "回答（次）", "完成（次）", "停止（次）", "失败（次）", "p50（秒）", "p95（秒）")
    _table(Table("modes", columns, rows))


def _iteration_rows(figures: Figures) -> list[dict[str, Any]]:
    together: dict[int, int] = {}
    for model in figures.models:
        for iterations, times in model.iterations.items():
            together[iterations] = together.get(iterations, 0) + times
    return [{"name": str(iterations), "times": times} for iterations, times in sorted(together.items())]


def _agent_sentence(figures: Figures) -> str:
    runs = sum(model.iterations.total() for model in figures.models)
    calls = sum(model.tool_calls for model in figures.models)
    often = f"平均每次运行调用 {calls / runs:.1f} 次工具。" if runs else ""
    return f"越靠右，想得越久；多数都在最右边，说明次数上限可能太小。{often}"


def _error_rows(figures: Figures) -> list[dict[str, Any]]:
    together: Counter[tuple[str, str]] = Counter()
    for error in figures.errors:
        together[_sentence(error.kind), PLACES[error.where]] += error.times
    words = list(PLACES.values())
    return [
        {"name": name, "what": place, "times": times, "place": words.index(place)}
        for (name, place), times in together.most_common()
    ]


def _errors(figures: Figures) -> Table:
    rows = [
        (
            PLACES[error.where],
            label_of(error.engine) if error.engine else "",
            _sentence(error.kind),
            error.kind,
            error.times,
        )
        for error in figures.errors
    ]
    return Table("errors", ("哪里", "引擎", "错误", "代号", "次数（次）"), rows)


def _latest(app: App, since: float) -> None:
    st.subheader("最近的记录", anchor=False)
    st.caption(f"这段时间最新的 {LATEST} 次搜索和 {LATEST} 次回答，不受引擎筛选影响。")
    with st.expander("最近的搜索", icon=":material/search:"):
        _table(_latest_searches(app, since))
    with st.expander("最近的回答", icon=":material/forum:"):
        _table(_latest_answers(app, since))


def _latest_searches(app: App, since: float) -> Table:
    records = app.metrics.store.latest_searches(since, LATEST)
    with_words = any(record["query"] for record in records)
    rows = [
        (
            _clock(record["at"], seconds=True),
            TYPES.get(record["type"], record["type"]),
            label_of(record["engine"]) if record["engine"] else None,
            SEARCH_OUTCOMES.get(record["outcome"], record["outcome"]),
            LAYERS[record["cache"]] if record["cache"] else None,
            round(record["seconds"], 2),
            _sentence(record["kind"]) if record["kind"] else None,
            *([record["query"]] if with_words else []),
        )
        for record in records
    ]
    columns = ("时间", "类型", "引擎", "结果", "缓存", "用时（秒）", "错误", *(["搜索词"] if with_words else []))
    return Table("latest-searches", columns, rows)


def _latest_answers(app: App, since: float) -> Table:
    rows = [
        (
            _clock(record["at"], seconds=True),
            MODES.get(record["mode"], record["mode"]),
            record["model"],
            _ending(record["ending"], record["kind"]),
            round(record["seconds"], 2),
            record["input"],
            record["output"],
            record["iterations"],
            record["tool_calls"],
        )
        for record in app.metrics.store.latest_answers(since, LATEST)
    ]
    columns = (
        "时间",
        "模式",
        "模型",
        "结果",
        "用时（秒）",
        "读入（token）",
        "写出（token）",
        "循环（次）",
        "工具（次）",
    )
    return Table("latest-answers", columns, rows)


# ── Words ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ending(ending: str, kind: str) -> str:
    if ending == "failed":
        return f"失败：{_sentence(kind)}"
    return ANSWER_ENDINGS.get(kind or ending, ending)


def _sentence(kind: str) -> str:
    """What the error with this kind says."""
    return {"internal": "程序内部出错", "busy": "同时进行的搜索太多"}.get(kind) or _happened().get(kind, kind)


def _happened() -> dict[str, str]:
    found: dict[str, str] = {}
    to_see = [AppError]
    while to_see:
        error = to_see.pop()
        found.setdefault(error.kind, error.happened.rstrip("。"))
        to_see += error.__subclasses__()
    return found


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


def _clock(at: float, *, seconds: bool = False) -> str:
    """On the reader's clock, which need not be the server's."""
    offset = st.context.timezone_offset
    zone = None if offset is None else timezone(-timedelta(minutes=offset))
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
