"""Form that connects a model: a service, a key and a model of its list, tested and saved for everybody here.

A key goes from the browser to the server and never back: a saved field is drawn empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from core.app import App
from core.base.errors import AppError
from core.base.logs import hide_typed_in_logs
from core.base.settings import LoadedSettings, Settings, SettingsNotSaved
from core.llm.errors import ModelError
from core.llm.services import (
    LOCAL_SERVICES,
    LONGEST_NAME,
    SERVICES,
    ListedModel,
    Service,
    list_models,
    service,
    service_at,
)
from core.llm.trial import Trial, try_model
from core.ui.escape import label
from core.ui.frame import warning
from core.ui.labels import ORIGINS

SERVICE = "connect_service"
LISTED = "connect_listed"
TRIED = "connect_tried"
SAID = "connect_said"
ROUND = "connect_round"
"""Session key of a counter in the key field's key. After saving the field is a new one, and empty."""

KEY, ADDRESS, MODEL = "OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_MODEL"
SHORTEST_KEY = 8
REFUSED = {
    "local": "只有在运行问源的电脑上打开这个页面，才能在这里修改：密钥由保存它的人付费，连接的模型由所有人使用。管理员可以设置 SETTINGS_EDIT_BY。",
    "login": "只有 SETTINGS_ADMINS 名单里的帐号登录之后，才能在这里修改。",
    "nobody": "这里不能从页面修改，请用环境变量或 settings.yaml。",
}
EMBEDDED = "现在由内置摘录模型回答：它只摘录来源中的原句，不会推理。"


def refused(app: App) -> None:
    st.info(REFUSED[app.settings.settings.edit_by], icon=":material/lock:")


def told() -> None:
    """Show what was saved just before this run."""
    if words := st.session_state.pop(SAID, ""):
        st.toast(label(words), icon=":material/check_circle:")


def save(app: App, changes: dict[str, str], words: str) -> None:
    try:
        app.saved.change(changes)
    except SettingsNotSaved as error:
        warning(str(error))
    else:
        begin_anew(words)


def begin_anew(words: str) -> None:
    """Draw the page again with empty fields."""
    for key in (LISTED, TRIED):
        st.session_state.pop(key, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    st.session_state[SAID] = words
    st.rerun()


def locked(held: tuple[str, ...]) -> None:
    st.caption(
        f":material/lock: {label('、'.join(held))} 由环境变量（或 secrets.toml）设置，优先于页面，所以这里不能改。"
        "要在这里改，请先去掉它，再重启。"
    )


def unusable(proposed: LoadedSettings, changes: dict[str, str]) -> str:
    """Return the reason why one of these values cannot be saved, or an empty string."""
    return next((problem.reason for problem in proposed.problems if problem.key in changes), "")


# ── The current model ─────────────────────────────────────────────────────────────────────────────────────────────────


def in_use(app: App) -> None:
    if app.model.choice.embedded:
        st.write(EMBEDDED)
        return
    origin = ORIGINS[app.loaded.origins[MODEL if app.settings.llm.model else KEY]]
    provider = service_at(app.settings.openai.base_url).label if app.model.choice.provider == "openai" else ""
    facts = "，".join(filter(None, (provider, f"来自{origin}")))
    st.write(f"现在由 **{label(app.model.label)}** 回答（{label(facts)}）。")


def disconnect(app: App) -> None:
    saved = [name for name in (KEY, ADDRESS, MODEL) if app.loaded.origins[name] == "page"]
    if saved and st.button("断开", icon=":material/power_off:"):
        save(app, dict.fromkeys(saved, ""), "已断开，保存的密钥已删除。")


# ── The form ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Connection:
    service: Service
    base_url: str
    api_key: str = field(repr=False)
    changes: dict[str, str] = field(default_factory=dict, repr=False)
    """Settings that are saved for it."""


def form(app: App) -> None:
    """Draw the form: connection, model, test and save."""
    connection = _held_connection(app) or _connection(app)
    if connection is None:
        return
    model = _model(app, connection)
    if not model:
        return
    changes = connection.changes | ({} if app.loaded.held("llm") else {MODEL: f"openai:{model}"})
    proposed = app.loaded.proposing(changes)
    if problem := unusable(proposed, changes):
        warning(f"{problem}。")
        return
    with st.container(horizontal=True):
        test = st.button("测试", icon=":material/network_check:")
        keep = st.button("保存", icon=":material/save:", type="primary", disabled=not changes)
    trial(app, proposed.values, wanted=test)
    if keep:
        save(app, changes, f"已保存，从下一个问题起由 {model} 回答。")


def _held_connection(app: App) -> Connection | None:
    """Return the connection that the environment fixes, or None. Then only the model may be chosen."""
    held = app.loaded.held("openai")
    if not held:
        return None
    locked(held)
    openai = app.settings.openai
    base_url = openai.base_url or service("openai").base_url
    key = openai.api_key.get_secret_value() if openai.api_key else ""
    return Connection(service_at(base_url), base_url, key, changes={})


def _connection(app: App) -> Connection | None:
    """Draw the fields of a connection. Returns None while something is missing."""
    chosen = _service(app)
    address = _address(app, chosen) if chosen.own_address else chosen.base_url
    kept = _kept_key(app, address)
    typed = type_key(chosen, kept=bool(kept))
    if not address or (chosen.needs_key and len(typed or kept) < SHORTEST_KEY):
        return None
    changes = {ADDRESS: address, KEY: typed or kept}
    proposed = app.loaded.proposing(changes)
    if problem := unusable(proposed, changes):
        warning(f"{problem}。")
        return None
    return Connection(chosen, proposed.values.openai.base_url or address, typed or kept, changes)


def _service(app: App) -> Service:
    here = {found.service.id: found for found in LOCAL_SERVICES.found()}
    if SERVICE not in st.session_state:
        connected = not app.model.choice.embedded
        st.session_state[SERVICE] = (
            service_at(app.settings.openai.base_url).id if connected else next(iter(here), SERVICES[0].id)
        )
    chosen = pick_service(SERVICES, key=SERVICE)
    for id, found in here.items():
        if id != chosen.id:
            st.button(
                f"在本机找到了 {found.service.label}（{len(found.models)} 个模型），用它",
                key=f"connect-here-{id}",
                icon=":material/computer:",
                type="tertiary",
                on_click=st.session_state.__setitem__,
                args=(SERVICE, id),
            )
    return chosen


def pick_service(services: Sequence[Service], *, key: str) -> Service:
    """Draw the choice of a service and return it."""
    st.session_state.setdefault(key, services[0].id)
    picked = st.pills(
        "服务",
        [entry.id for entry in services],
        format_func=lambda id: service(id).label,
        key=key,
        required=True,
        persist_state="session",
    )
    chosen = service(str(picked))
    if known := _known(chosen):
        st.caption(f"{chosen.label}：{known}，因模型而异。")
    return chosen


def _known(chosen: Service) -> str:
    """Return the known abilities of a service's models. Unknown ones are left out."""
    abilities = (("会思考", chosen.thinks), ("能调用工具", chosen.calls_tools), ("自带联网搜索", chosen.searches))
    return "、".join(words for words, has in abilities if has)


def _address(app: App, chosen: Service) -> str:
    now = app.settings.openai.base_url or ""
    shows = service_at(now) == chosen and "@" not in now  # there may be a password before the @
    return st.text_input(
        "地址",
        now if shows else chosen.base_url,
        key=f"connect-address-{chosen.id}",
        placeholder="http://127.0.0.1:8000/v1",
        max_chars=500,
    ).strip()


def _kept_key(app: App, address: str) -> str:
    """Return the current key if it belongs to this address. A key is never sent to another address."""
    openai = app.settings.openai
    if openai.api_key is None or (openai.base_url or service("openai").base_url) != address.rstrip("/"):
        return ""
    return openai.api_key.get_secret_value()


def type_key(chosen: Service, *, kept: bool = False) -> str:
    """Draw the key field and return what was typed. It is hidden in logs."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            "密钥" if chosen.needs_key else "密钥（服务没有设密钥就留空）",
            type="password",
            key=f"connect-key-{chosen.id}-{st.session_state.get(ROUND, 0)}",
            placeholder="已有密钥，留空则不变" if kept else "粘贴到这里",
            max_chars=1000,
            live="500ms",
        ).strip()
        if chosen.key_page:
            st.link_button("获取密钥", chosen.key_page, icon=":material/open_in_new:", type="tertiary")
    hide_typed_in_logs(typed)
    return typed


# ── Its models ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _model(app: App, connection: Connection) -> str:
    if held := app.loaded.held("llm"):
        locked(held)
        return app.model.choice.name
    return pick_model(
        connection, now=app.model.choice.name if app.settings.openai.base_url == connection.base_url else ""
    )


def pick_model(connection: Connection, *, now: str = "") -> str:
    """Draw the choice of a model, from the service's list or as typed."""
    listed = _listed(connection)
    key = f"connect-model-{connection.service.id}"
    if isinstance(listed, str):
        warning(listed)
        return st.text_input("模型名", now, key=f"{key}-typed", max_chars=LONGEST_NAME).strip()
    names = {model.name: model for model in listed}
    picked = st.selectbox(
        f"模型 :gray[这家服务列出了 {len(names)} 个，也可以直接写名字]",
        list(names),
        index=list(names).index(now) if now in names else 0,
        format_func=lambda name: _described(names.get(name) or ListedModel(name)),
        key=key,
        accept_new_options=True,
    )
    return str(picked or "").strip()[:LONGEST_NAME]


def _described(model: ListedModel) -> str:
    return f"{model.name}（上下文 {model.context:,}）" if model.context else model.name


def _listed(connection: Connection) -> tuple[ListedModel, ...] | str:
    """Return the models of a service, or the reason why there is no list. Fetched once per address and key."""
    asked = (connection.base_url, connection.api_key)
    before, outcome = st.session_state.get(LISTED, (None, ""))
    if before != asked:
        with st.spinner("正在读取模型列表…"):
            outcome = _list(connection)
        st.session_state[LISTED] = (asked, outcome)
    found: tuple[ListedModel, ...] | str = outcome
    return found


def _list(connection: Connection) -> tuple[ListedModel, ...] | str:
    try:
        return list_models(connection.base_url, connection.api_key, params=connection.service.list_params)
    except ModelError as error:
        return str(error)


# ── A trial ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def trial(app: App, settings: Settings, *, wanted: bool) -> None:
    """Test the model of these settings if requested, and draw the last result for the same settings."""
    asked = (settings.openai, settings.llm.model)
    if wanted:
        with st.spinner("正在问它一句话…"):
            st.session_state[TRIED] = (asked, _try(app, settings))
    tried, outcome = st.session_state.get(TRIED, (None, ""))
    if tried == asked:
        _draw_outcome(outcome)


def _try(app: App, settings: Settings) -> Trial | str:
    try:
        return app.loop.submit(try_model(settings, limit=app.calls)).result()
    except AppError as error:
        return str(error)


def _draw_outcome(outcome: Trial | str) -> None:
    if isinstance(outcome, str):
        warning(f"测试失败：{outcome}")
        return
    tools = {True: "能调用工具", False: "不能调用工具", None: "没有试出能不能调用工具"}[outcome.calls_tools]
    found = (
        f"{outcome.first_seconds:.1f} 秒后开始回答，共 {outcome.seconds:.1f} 秒",
        "逐字输出" if outcome.streams else "一次输出全文，不是逐字",
        "会先思考" if outcome.thinks else "没有输出思考过程",
        tools,
    )
    st.success(f"测试成功：{'；'.join(found)}。", icon=":material/check_circle:")
    st.caption(f"它说：{label(outcome.said)}")
