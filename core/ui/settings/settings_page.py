"""Settings page (设置). Only the open part is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby

import streamlit as st
from markupsafe import Markup
from streamlit.delta_generator import DeltaGenerator

from core.app import App
from core.base.errors import AppError
from core.base.paths import COMMAND
from core.base.settings import NOT_SET, SettingEntry, format_value, list_settings
from core.doctor import DiagnosisResult, DoctorCheck, EngineState, engine_states, searxng_settings, try_engines
from core.llm import estimate_tokens
from core.llm.errors import ModelError
from core.run.prompts import PromptPreview
from core.search.errors import NoEngine
from core.search.types import Source
from core.ui import clock, identity, permission, session
from core.ui.advice import advice_html, pause_words
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_open_tab, draw_warning
from core.ui.labels import MODES, ORIGINS
from core.ui.settings import api_tokens, connect, engine_form, model_settings, tool_servers

ENGINE_TESTS = "engine_tests"
ROLES = {"system": "系统消息", "human": "用户消息"}
LANGUAGES = {"chinese": "chinese：中文问题", "english": "english：英文问题", "small": "small：小模型"}
CHAT_VARIANTS = {"": "当前设置", **LANGUAGES, "native": "模型自带搜索"}
AGENT_VARIANTS = {"": "当前设置", **LANGUAGES}
AGENT_VARIANTS |= {f"{name}_tools": f"{label}，模型自带的工具调用" for name, label in LANGUAGES.items()}
EXAMPLE_QUESTION = "离婚冷静期是多久？"
EXAMPLE_SOURCES = (
    Source(
        1,
        "中华人民共和国民法典 第一千零七十七条",
        "https://example.org/civil-code/1077",
        "自婚姻登记机关收到离婚登记申请之日起三十日内，任何一方不愿意离婚的，可以向婚姻登记机关撤回离婚登记申请。",
    ),
    Source(2, "离婚登记怎么办理", "https://example.org/divorce", "离婚登记分为申请、受理、冷静期、审查和登记五步。"),
)


def draw(app: App) -> None:
    """Draw the page with its tabs."""
    st.header("设置", anchor=False)
    st.write("在这里连接模型和引擎，保存后立即对所有人生效；其他设置请用 settings.yaml 或环境变量修改，然后重启。")
    engines = engine_states(app, clock.now())  # opens the cache, whose problems are among the warnings
    for text in _warnings(app):
        draw_warning(text)
    parts: dict[str, Callable[[App], None]] = {
        "模型": model_settings.draw,
        "引擎": partial(_draw_engines, engines=engines),
        "外部工具": tool_servers.draw,
        "配置": _draw_configuration,
        "诊断": _draw_diagnosis,
        "提示词": _draw_prompts,
        "接口": api_tokens.draw,
    }
    draw_open_tab(parts, app, key="settings_part")


def _warnings(app: App) -> Iterator[str]:
    yield from app.cache_warnings
    try:
        app.store.check()
    except AppError as error:
        yield str(error)


# ── Configuration ─────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_configuration(app: App) -> None:
    if problems := app.loaded_settings.problems:
        lines = "\n".join(f"- {escape_label(str(problem))}" for problem in problems)
        st.warning(f"有 {len(problems)} 处写法无法使用，请改正后重启：\n{lines}", icon=":material/warning:")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.text_input("查找设置", placeholder="名字、作用或值", icon=":material/search:").strip().lower()
        only_changed = st.toggle("只看改过的")
    settings = list_settings(app.loaded_settings)
    found = [entry for entry in settings if _matches(entry, wanted) and (entry.is_changed or not only_changed)]
    if not found:
        st.info("没有符合条件的设置。" if wanted else "没有改过任何设置，全部是默认值。", icon=":material/info:")
    for group, members in groupby(found, key=lambda entry: entry.group):
        rows = list(members)
        changed = sum(entry.is_changed for entry in rows)
        note = f"，改过 {changed} 项" if changed else ""
        with st.expander(f"{group}（{len(rows)} 项{note}）", expanded=bool(wanted or only_changed)):
            draw_html(Markup().join(map(_setting_html, rows)))


def _matches(entry: SettingEntry, wanted: str) -> bool:
    return wanted in f"{entry.variable} {entry.group} {entry.meaning} {entry.value}".lower()


def _setting_html(entry: SettingEntry) -> Markup:
    origin = ORIGINS[entry.origin]
    if entry.origin == "environment":
        origin += f" {entry.variable}"
    if entry.is_invalid:
        origin = f"默认（{origin} 的值无法使用）"
    elif entry.is_changed:
        default = format_value(entry.default)
        origin += f" · 默认值 {default}" if default != NOT_SET else " · 默认未设置"
    changed = " changed" if entry.is_changed else ""
    return Markup(
        '<div class="wy-setting%s"><div><code>%s</code><div class="note">%s</div></div>'
        '<div><div class="value">%s</div><div class="note">%s</div></div></div>'
    ) % (changed, entry.variable, entry.meaning, entry.value, origin)


# ── Engines ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_engines(app: App, engines: list[EngineState]) -> None:
    st.caption("按顺序使用，前一个失败或太慢时换下一个。「测试」会真的搜索一次，不用缓存，计入你的搜索次数。")
    if not engines:
        st.info(f"没有配置任何引擎。{NoEngine.default_cure}", icon=":material/info:")
    connect.show_saved_message()
    may_edit = permission.may_edit(app)
    if not may_edit:
        connect.draw_refusal(app)
    usable, unusable = ([engine for engine in engines if engine.is_usable is in_use] for in_use in (True, False))
    tests: dict[str, DoctorCheck] = st.session_state.setdefault(ENGINE_TESTS, {})
    all_of_them = len(usable) > 1 and st.button("全部测试", icon=":material/network_check:")
    summary = st.empty()
    rows = {engine.name: _draw_engine_row(app, engine, tests, may_edit=may_edit) for engine in usable}
    if unusable:
        st.subheader("还不能使用", anchor=False)
        for engine in unusable:
            _draw_engine_row(app, engine, tests, may_edit=may_edit)
    asked = [name for name, (_, pressed) in rows.items() if pressed or all_of_them]
    if asked:  # after all rows are drawn, so that no row waits for a test
        _run_tests(app, {name: rows[name][0] for name in asked}, tests)
    if all_of_them:
        good = sum(tests[name].ok for name in asked)
        summary.caption(f"测试了 {len(asked)} 个引擎：{good} 个成功，{len(asked) - good} 个失败，原因见各行。")


def _draw_engine_row(
    app: App, engine: EngineState, tests: Mapping[str, DoctorCheck], *, may_edit: bool
) -> tuple[DeltaGenerator, bool]:
    """Draw an engine. Returns the place of its state, and whether it is to be tested."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="top"):
        place = st.empty()
        draw_html(_engine_html(engine, tests.get(engine.name)), place)
        if may_edit:
            engine_form.draw(app, engine.name)
        return place, engine.is_usable and st.button("测试", key=f"test-{engine.name}")


def _run_tests(app: App, places: Mapping[str, DeltaGenerator], tests: dict[str, DoctorCheck]) -> None:
    """Test engines and show each result as soon as it is known."""
    states = {engine.name: engine for engine in engine_states(app, clock.now())}
    for name, place in places.items():
        draw_html(_engine_html(states[name], None, testing=True), place)
    for name, tests[name] in try_engines(app, list(places), visitor=identity.rate_limited_visitor()):
        after = next(engine for engine in engine_states(app, clock.now()) if engine.name == name)
        draw_html(_engine_html(after, tests[name]), places[name])


def _engine_html(engine: EngineState, test: DoctorCheck | None, *, testing: bool = False) -> Markup:
    state_class = "off" if not engine.is_usable else "resting" if engine.reason else "ready"
    is_in_result = test is not None and test.message == engine.reason
    because = advice_html(f"{engine.reason}{engine.cure}") if engine.reason and not is_in_result else Markup()
    name = f"{engine.position} {engine.label}" if engine.is_usable else engine.label
    return Markup(
        '<div class="wy-engine"><div><b>%s</b> <code>%s</code> <span class="state %s">%s</span></div>'
        '<div class="note">%s</div>%s</div>'
    ) % (name, engine.name, state_class, engine.state, because, _test_result(test, testing=testing))


def _test_result(test: DoctorCheck | None, *, testing: bool) -> Markup:
    if testing:
        return Markup('<div class="note wy-waiting">正在测试</div>')
    if test is None:
        return Markup()
    word = "测试成功" if test.ok else "测试失败"
    return Markup('<div class="note"><b>%s</b>：%s</div>') % (word, advice_html(f"{test.message}{test.cure}"))


# ── Diagnosis ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_diagnosis(app: App) -> None:
    st.caption(f"与 {COMMAND} doctor 相同：检查配置、数据、模型和每个引擎，需要几秒到一分钟。")
    is_requested = st.button("运行诊断", icon=":material/stethoscope:", type="primary")
    progress = st.empty()
    if is_requested:
        progress.progress(0.0, "正在等待另一次诊断结束…")
        app.diagnosis.run(
            lambda done, steps, name: progress.progress(done / steps, f"正在检查{name}（{done + 1}/{steps}）")
        )
        progress.empty()
    if app.diagnosis.last is not None:
        _draw_findings(app.diagnosis.last, pause=app.diagnosis.PAUSE_SECONDS)
    _draw_searxng()


def _draw_findings(findings: DiagnosisResult, *, pause: float) -> None:
    at = findings.checked_at.astimezone(clock.reader_zone())
    st.caption(f"诊断于 {at:%H:%M:%S}，结果对所有人相同，{pause:.0f} 秒内不会重复运行。")
    unused = [check for check in findings.checks if check.off]
    for check in sorted(findings.checks, key=lambda check: check.ok):  # what needs attention comes first
        if not check.off:
            _draw_finding(check)
    if unused:
        with st.expander(f"其他引擎（{len(unused)}），不影响使用"):
            for check in unused:
                _draw_finding(check)


def _draw_finding(check: DoctorCheck) -> None:
    word, state_class = ("未使用", "off") if check.off else ("正常", "ready") if check.ok else ("有问题", "failed")
    finding = Markup(
        '<div class="wy-engine"><span class="state %s">%s</span> <b>%s</b><div class="note">%s%s</div></div>'
    )
    advice = Markup().join(Markup("<div>%s</div>") % part for part in (advice_html(check.cure), _pause(check)) if part)
    draw_html(finding % (state_class, word, check.name, check.message, advice))


def _pause(check: DoctorCheck) -> str:
    return f"{pause_words(check.pause)}。" if check.pause else ""


def _draw_searxng() -> None:
    st.subheader("SearXNG 的 settings.yml", anchor=False)
    st.caption(
        "自建 SearXNG 时直接使用：已打开 JSON、关闭限制器、启用中文引擎，密钥每次重新生成。"
        "放到 SearXNG 的 /etc/searxng/settings.yml，重启 SearXNG，再把它的地址写入 SEARXNG_URL。"
    )
    text = searxng_settings()
    st.code(text, language="yaml", wrap_lines=True)
    st.download_button(
        "下载 settings.yml",
        text.encode(),
        file_name="settings.yml",
        mime="application/yaml",
        icon=":material/download:",
        on_click="ignore",
    )


# ── Prompts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_prompts(app: App) -> None:
    st.caption("模型收到的就是下面的文字。这里只填好模板，不会调用模型。")
    mode = st.segmented_control(
        "模式", list(MODES), default=session.CHAT, format_func=MODES.__getitem__, required=True, key="preview_mode"
    )
    variants = CHAT_VARIANTS if mode == session.CHAT else AGENT_VARIANTS
    variant = st.selectbox("模板", list(variants), format_func=variants.__getitem__, key=f"preview_{mode}")
    question = st.text_input("示例问题", EXAMPLE_QUESTION, max_chars=200).strip() or EXAMPLE_QUESTION
    try:
        with st.spinner("正在填写模板…"):
            preview = _preview(app, mode, question, variant)
    except ModelError as error:
        draw_warning(f"模型无法使用，不知道它会收到哪一种提示词：{error}")
        return
    if preview.notice:
        draw_warning(preview.notice)
    with st.expander(f"模板原文：{escape_label(preview.path.name)}"):
        st.code(preview.template, language="markdown", wrap_lines=True)
    tokens = sum(estimate_tokens(text) for _, text in preview.messages)
    st.caption(f"填好之后，约 {tokens:,} tokens：")
    for role, text in preview.messages:
        draw_html(Markup('<div class="wy-line"><b>%s</b></div>') % ROLES[role])
        st.code(text, language=None, wrap_lines=True)


def _preview(app: App, mode: str, question: str, variant: str) -> PromptPreview:
    """Return the filled prompts. Agent mode imports LangChain, so only its preview waits for that."""
    if mode == session.AGENT:
        return app.agent.preview(question, variant)
    return app.chat.preview(question, EXAMPLE_SOURCES, variant)
