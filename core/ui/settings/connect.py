"""Form that connects a model: a service, a key and a model of its list, tested and saved for everybody here.

A key goes from the browser to the server and never back: a saved field is drawn empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.base.logs import hide_typed_key_in_logs
from core.base.paths import COMMAND
from core.base.settings import Settings, SettingsNotSaved, is_claimed, with_owner
from core.llm import (
    LOCAL_SERVICES,
    MAX_NAME_LENGTH,
    SERVICES,
    ConnectionTestResult,
    ListedModel,
    ModelService,
    find_service,
    list_models,
    run_connection_test,
    service_for_address,
)
from core.llm.errors import ModelError
from core.ui import identity
from core.ui.escape import escape_label
from core.ui.frame import draw_warning
from core.ui.labels import ORIGINS

SERVICE = "connect_service"
LISTED = "connect_listed"
TRIED = "connect_tried"
SAID = "connect_said"
ROUND = "connect_round"
"""Session key of a counter in the key field's key. After saving the field is a new one, and empty."""

KEY, ADDRESS, MODEL = "OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_MODEL"
MIN_KEY_LENGTH = 8
REFUSALS = {
    "local": "只有这个安装的管理者才能在这里修改：密钥由保存它的人付费，连接的模型由所有人使用。"
    f"管理者请在运行问源的电脑上执行 `{COMMAND} setup-link`，用这个浏览器打开它打印的链接。",
    "login": "只有 SETTINGS_ADMINS 名单里的帐号登录之后，才能在这里修改。",
    "nobody": "这里不能从页面修改，请用环境变量或 settings.yaml。",
}
EMBEDDED_NOTE = "还没有连接模型：现在只能摘录来源中的原句，不能写作。"


def draw_refusal(app: App) -> None:
    st.info(REFUSALS[app.settings.settings.edit_by], icon=":material/lock:")


def show_saved_message() -> None:
    """Show what was saved just before this run."""
    if message := st.session_state.pop(SAID, ""):
        st.toast(escape_label(message), icon=":material/check_circle:")


def save(app: App, changes: dict[str, str], saved_message: str, *, then: Callable[[], None] | None = None) -> None:
    """Save settings, and draw the page again. `then` is called before."""
    visitor = identity.visitor()
    try:
        app.saved_settings.change(lambda saved: changes | ({} if is_claimed(saved) else with_owner(saved, visitor)))
    except SettingsNotSaved as error:
        draw_warning(str(error))
    else:
        reset_form(saved_message, then=then)


def reset_form(saved_message: str, *, then: Callable[[], None] | None = None) -> None:
    """Draw the page again with empty fields. `then` is called before."""
    if then is not None:
        then()
    for key in (LISTED, TRIED):
        st.session_state.pop(key, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    st.session_state[SAID] = saved_message
    st.rerun()


def draw_locked(variables: tuple[str, ...]) -> None:
    st.caption(
        f":material/lock: {escape_label('、'.join(variables))} 由环境变量（或 secrets.toml）设置，优先于页面，所以这里不能改。"
        "要在这里改，请先去掉它，再重启。"
    )


def checked_settings(app: App, changes: dict[str, str]) -> Settings | None:
    """Return the settings with these changes, or None and a warning if one of the values cannot be saved."""
    proposed = app.loaded_settings.with_changes(changes)
    for problem in proposed.problems:
        if problem.key in changes:
            draw_warning(f"{problem.reason}。")
            return None
    return proposed.values


# ── The current model ─────────────────────────────────────────────────────────────────────────────────────────────────


def draw_current_model(app: App) -> None:
    if app.model.choice.is_embedded:
        st.write(EMBEDDED_NOTE)
        return
    origin = ORIGINS[app.loaded_settings.origins[MODEL if app.settings.llm.model else KEY]]
    provider = service_for_address(app.settings.openai.base_url).label if app.model.choice.provider == "openai" else ""
    facts = "，".join(filter(None, (provider, f"来自{origin}")))
    st.write(f"现在由 **{escape_label(app.model.label)}** 回答（{escape_label(facts)}）。")


def draw_disconnect(app: App) -> None:
    saved = [name for name in (KEY, ADDRESS, MODEL) if app.loaded_settings.origins[name] == "page"]
    if saved and st.button("断开", icon=":material/power_off:"):
        save(app, dict.fromkeys(saved, ""), "已断开，保存的密钥已删除。")


# ── The form ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ModelConnection:
    service: ModelService
    base_url: str
    api_key: str = field(repr=False)
    changes: dict[str, str] = field(default_factory=dict, repr=False)
    """Settings that are saved for it."""


def draw_form(app: App, *, then: Callable[[], None] | None = None) -> None:
    """Draw the form: connection, model, test and save. `then` is called after it was saved: it answers a question again."""
    connection = _fixed_connection(app) or _draw_connection(app)
    if connection is None:
        return
    model = _draw_model(app, connection)
    if not model:
        return
    changes = connection.changes | ({} if app.loaded_settings.locking_variables("llm") else {MODEL: f"openai:{model}"})
    proposed = checked_settings(app, changes)
    if proposed is None:
        return
    with st.container(horizontal=True):
        test = st.button("测试", icon=":material/network_check:")
        keep = st.button(
            "保存并重新回答" if then else "保存", icon=":material/save:", type="primary", disabled=not changes
        )
    draw_test(app, proposed, is_requested=test)
    if keep:
        save(app, changes, f"已保存，从{'现在' if then else '下一个问题'}起由 {model} 回答。", then=then)


def _fixed_connection(app: App) -> ModelConnection | None:
    """Return the connection that the environment fixes, or None. Then only the model may be chosen."""
    locked = app.loaded_settings.locking_variables("openai")
    if not locked:
        return None
    draw_locked(locked)
    base_url = _current_address(app)
    return ModelConnection(service_for_address(base_url), base_url, _current_key(app, base_url))


def _current_address(app: App) -> str:
    return app.settings.openai.base_url or find_service("openai").base_url


def _draw_connection(app: App) -> ModelConnection | None:
    """Draw the fields of a connection. Returns None while something is missing."""
    chosen = _draw_service(app)
    address = _draw_address(app, chosen) if chosen.is_self_hosted else chosen.base_url
    current = _current_key(app, address)
    key = key_field(chosen, has_key=bool(current)) or current
    if not address or (chosen.needs_key and len(key) < MIN_KEY_LENGTH):
        return None
    changes = {ADDRESS: address, KEY: key}
    proposed = checked_settings(app, changes)
    return ModelConnection(chosen, proposed.openai.base_url or address, key, changes) if proposed else None


def _draw_service(app: App) -> ModelService:
    here = {local.service.id: local for local in LOCAL_SERVICES.find()}
    if SERVICE not in st.session_state:
        offered = next(iter(here), SERVICES[0].id)
        connected = service_for_address(app.settings.openai.base_url).id
        st.session_state[SERVICE] = offered if app.model.choice.is_embedded else connected
    chosen = pick_service(SERVICES, key=SERVICE)
    for id, local in here.items():
        if id != chosen.id:
            st.button(
                f"在本机找到了 {local.service.label}（{len(local.models)} 个模型），用它",
                key=f"connect-here-{id}",
                icon=":material/computer:",
                type="tertiary",
                on_click=st.session_state.__setitem__,
                args=(SERVICE, id),
            )
    return chosen


def pick_service(services: Sequence[ModelService], *, key: str) -> ModelService:
    """Draw the choice of a service and return it."""
    st.session_state.setdefault(key, services[0].id)
    picked = st.pills(
        "服务",
        [entry.id for entry in services],
        format_func=lambda id: find_service(id).label,
        key=key,
        required=True,
        persist_state="session",
    )
    chosen = find_service(str(picked))
    abilities = {"思考": chosen.thinks, "调用工具": chosen.calls_tools, "自带联网搜索": chosen.searches}
    if known := [words for words, has in abilities.items() if has]:
        st.caption(f"{chosen.label}：部分模型支持{'、'.join(known)}。")
    return chosen


def _draw_address(app: App, chosen: ModelService) -> str:
    now = app.settings.openai.base_url or ""
    shows = service_for_address(now) == chosen and "@" not in now  # there may be a password before the @
    return st.text_input(
        "地址",
        now if shows else chosen.base_url,
        key=f"connect-address-{chosen.id}",
        placeholder="http://127.0.0.1:8000/v1",
        max_chars=500,
    ).strip()


def _current_key(app: App, address: str) -> str:
    """Return the current key if it belongs to this address. A key is never sent to another address."""
    key = app.settings.openai.api_key
    return key.get_secret_value() if key and _current_address(app) == address.rstrip("/") else ""


def key_field(chosen: ModelService, *, has_key: bool = False) -> str:
    """Draw the key field and return what was typed. It is hidden in logs."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            "密钥" if chosen.needs_key else "密钥（没有可不填）",
            type="password",
            key=f"connect-key-{chosen.id}-{st.session_state.get(ROUND, 0)}",
            placeholder="已有密钥，留空则不变" if has_key else "粘贴到这里",
            max_chars=1000,
            live="500ms",
        ).strip()
        if chosen.key_page:
            st.link_button("获取密钥", chosen.key_page, icon=":material/open_in_new:", type="tertiary")
    hide_typed_key_in_logs(typed)
    return typed


# ── Its models ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_model(app: App, connection: ModelConnection) -> str:
    current = app.model.choice.name
    if locked := app.loaded_settings.locking_variables("llm"):
        draw_locked(locked)
        return current
    return pick_model(connection, current=current if app.settings.openai.base_url == connection.base_url else "")


def pick_model(connection: ModelConnection, *, current: str = "") -> str:
    """Draw the choice of a model, from the service's list or as typed."""
    listed = _cached_models(connection)
    key = f"connect-model-{connection.service.id}"
    if isinstance(listed, str):
        draw_warning(listed)
        return st.text_input("模型名", current, key=f"{key}-typed", max_chars=MAX_NAME_LENGTH).strip()
    contexts = {model.name: model.context for model in listed}
    names = list(contexts)
    picked = st.selectbox(
        f"模型 :gray[共 {len(names)} 个，也可以自己输入]",
        names,
        index=names.index(current) if current in names else 0,
        format_func=lambda name: f"{name}（上下文 {contexts[name]:,}）" if contexts.get(name) else name,
        key=key,
        accept_new_options=True,
    )
    return str(picked or "").strip()[:MAX_NAME_LENGTH]


def _cached_models(connection: ModelConnection) -> tuple[ListedModel, ...] | str:
    """Return the models of a service, or the reason why there is no list. Fetched once per address and key."""
    asked = (connection.base_url, connection.api_key)
    if st.session_state.get(LISTED, (None,))[0] != asked:
        with st.spinner("正在读取模型列表…"):
            st.session_state[LISTED] = (asked, _fetch_models(connection))
    listed: tuple[ListedModel, ...] | str = st.session_state[LISTED][1]
    return listed


def _fetch_models(connection: ModelConnection) -> tuple[ListedModel, ...] | str:
    try:
        return list_models(connection.base_url, connection.api_key, params=connection.service.list_params)
    except ModelError as error:
        return str(error)


# ── A trial ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def draw_test(app: App, settings: Settings, *, is_requested: bool) -> None:
    """Test the model of these settings if requested, and draw the last result for the same settings."""
    asked = (settings.openai, settings.llm.model)
    if is_requested:
        with st.spinner("正在试着提问…"):
            st.session_state[TRIED] = (asked, _run_test(app, settings))
    tried, outcome = st.session_state.get(TRIED, (None, ""))
    if tried == asked:
        _draw_outcome(outcome)


def _run_test(app: App, settings: Settings) -> ConnectionTestResult | str:
    try:
        return app.loop.submit(run_connection_test(settings, limit=app.model_limit)).result()
    except AppError as error:
        return str(error)


def _draw_outcome(outcome: ConnectionTestResult | str) -> None:
    if isinstance(outcome, str):
        draw_warning(f"测试失败：{outcome}")
        return
    tools = {True: "能调用工具", False: "不能调用工具", None: "没有试出能不能调用工具"}[outcome.calls_tools]
    facts = (
        f"{outcome.first_seconds:.1f} 秒后开始回答，共 {outcome.seconds:.1f} 秒",
        "逐字输出" if outcome.streams else "一次输出全文，不是逐字",
        "会先思考" if outcome.thinks else "没有输出思考过程",
        tools,
    )
    st.success(f"测试成功：{'；'.join(facts)}。", icon=":material/check_circle:")
    st.caption(f"它说：{escape_label(outcome.answer)}")
