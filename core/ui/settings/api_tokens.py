"""The interface for other programs (设置 → 接口): whether it is open, its addresses, and tokens.

A token is drawn in the run that made it and is nowhere else: not in the session, not in an address, not in a later run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

import streamlit as st
from markupsafe import Markup

from core.app import App
from core.base.errors import AppError
from core.base.paths import COMMAND
from core.base.settings import are_proxies_configured
from core.base.visitors import LOCAL_NAMES
from core.metrics import Grain
from core.serve import DEFAULT_SCOPES, Outsiders, Scope, is_known_host, scope_labels, token_facts
from core.store import Token
from core.ui import clock, identity, permission
from core.ui.escape import draw_html, escape_label
from core.ui.frame import draw_warning
from core.ui.settings.client_texts import client_texts

SAID = "api_said"
ROUND = "api_round"
"""Session key of a counter in the form's key. After a token was made the form is a new one, and empty."""
EXPIRIES: dict[str, int | None] = {"30 天": 30, "90 天": 90, "365 天": 365, "不过期": None}
REFUSALS = {
    "local": "只有这个安装的管理者可以建令牌。",
    "login": "登录之后可以建令牌。",
    "nobody": f"这里不能建令牌；管理员可以在服务器上运行 `{COMMAND} token create 名称`。",
}
OFF_NOTE = (
    "接口没有打开，令牌现在还不能用。请管理员设置 `API_ENABLED=true`（或在 settings.yaml 的 `api` 下面写 "
    "`enabled: true`），然后重启。"
)


def draw(app: App) -> None:
    """Draw the part 接口 of the page."""
    if said := st.session_state.pop(SAID, ""):
        st.toast(escape_label(said), icon=":material/check_circle:")
    st.caption("其他程序通过接口使用问源：搜索、查法条、核验、提问。程序要带令牌，令牌可以随时撤回。")
    base = _base_address(app)
    _draw_state(app, base)
    list_place = st.container()
    if permission.may_make_tokens(app):
        _draw_new(app, base)
    else:
        st.info(REFUSALS[app.settings.api.tokens_by], icon=":material/lock:")
    with list_place:
        _draw_lists(app)


# ── The addresses ─────────────────────────────────────────────────────────────────────────────────────────────────


def _base_address(app: App) -> str:
    """Return the address of this installation: the configured one, else the one in the reader's browser."""
    here = urlsplit(str(st.context.url or ""))
    page = f"{here.scheme}://{here.netloc}" if here.netloc else app.settings.public.url
    return (app.loaded_settings.configured_public_url or page).rstrip("/")


def _draw_state(app: App, base: str) -> None:
    if not app.settings.api.enabled:
        st.info(OFF_NOTE, icon=":material/power_off:")
        return
    is_local = urlsplit(base).hostname in LOCAL_NAMES
    is_open = is_local and not (Outsiders.were_seen or are_proxies_configured())
    st.write("接口已打开。" + ("这台电脑上的程序，不论是谁的，都可以不带令牌。" if is_open else "地址："))
    columns = st.columns(3)
    for column, (name, path) in zip(columns, _ADDRESSES.items(), strict=True):
        with column:
            st.caption(name)
            st.code(f"{base}{path}", language=None, wrap_lines=True)
    if not is_known_host(app, urlsplit(base).netloc):
        draw_warning(
            "程序用这个主机名会被拒绝。请管理员把 PUBLIC_URL 设成读者打开问源的地址，或把主机名写进 API_HOSTS。"
        )
    if base.startswith("http://") and not is_local:
        draw_warning(
            "地址是 http:// 开头：令牌在网络上不加密，可能被人截取。请管理员换成 HTTPS，并相应修改 PUBLIC_URL。"
        )


_ADDRESSES = {"MCP": "/mcp", "OpenAI 协议": "/v1", "HTTP": "/api/v1"}


# ── A new token ───────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_new(app: App, base: str) -> None:
    shown = st.container()
    st.subheader("新建令牌", anchor=False)
    with st.form(f"new-token-{st.session_state.get(ROUND, 0)}"):
        name = st.text_input("名称", max_chars=40, placeholder="给哪个程序用，例如：我的 Claude")
        scopes = st.pills(
            "可以做什么",
            list(Scope),
            selection_mode="multi",
            default=[scope for scope in Scope if scope in DEFAULT_SCOPES],
            format_func=lambda scope: scope.label,
        )
        expiry = st.segmented_control("多久以后过期", list(EXPIRIES), default="90 天", required=True)
        per_minute = st.number_input(
            "每分钟最多请求几次",
            min_value=1,
            max_value=100_000,
            value=None,
            placeholder=f"不填就是 {app.settings.api.requests_per_minute:,} 次",
        )
        if not st.form_submit_button("新建令牌", type="primary", icon=":material/add:"):
            return
    with shown:
        _create(app, base, name, scopes, days=EXPIRIES[str(expiry)], per_minute=per_minute)


def _create(
    app: App, base: str, name: str, scopes: Sequence[Scope], *, days: int | None, per_minute: int | None
) -> None:
    try:
        token, secret = app.tokens.create(identity.reader(), name, scopes, days=days, per_minute=per_minute)
    except AppError as error:
        draw_warning(str(error))
        return
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    st.success(
        f"令牌「{escape_label(token.name)}」建好了。它只显示这一次，请现在就复制；页面一变化就再也看不到了。",
        icon=":material/key:",
    )
    st.code(secret, language=None, wrap_lines=True)
    st.caption("或者直接复制这些配置，令牌已经填好：")
    is_unencrypted = base.startswith("http://") and urlsplit(base).hostname not in LOCAL_NAMES
    texts = client_texts(base, secret, is_unencrypted=is_unencrypted)
    for tab, text in zip(st.tabs([text.program for text in texts]), texts, strict=True):
        with tab:
            st.caption(text.where)
            st.code(text.text, language=text.language, wrap_lines=True)


# ── The tokens ────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_lists(app: App) -> None:
    may_edit = permission.may_edit(app)
    try:
        own = app.tokens.list_tokens(identity.reader())
        known = {token.id for token in own}
        others = [token for token in app.tokens.list_tokens(None) if token.id not in known] if may_edit else []
        uses = _recent_uses(app) if own or others else {}
    except AppError as error:
        draw_warning(f"令牌暂时读不出来。{error}")
        return
    for title, tokens in (("我的令牌", own), ("其他人建的令牌", others)):
        if tokens:
            st.subheader(title, anchor=False)
        for token in tokens:
            _draw_token(app, token, uses.get(token.id, ""))


def _recent_uses(app: App) -> Mapping[str, str]:
    """Return by token how often it was used today and in seven days, in words; nothing where this is not recorded."""
    if not app.settings.metrics.enabled:
        return {}
    now = clock.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today, week, refused = Counter[str](), Counter[str](), Counter[str]()
    for start, counted in ((midnight, today), (midnight - timedelta(days=6), week)):
        # Requests are counted by the hour; in some zones a day begins within one.
        hour = Grain.HOUR.start(start.timestamp())
        for use in app.metrics_store.token_uses(hour, now.timestamp() + 1):
            counted[use.token_id] += use.times
            if counted is week and use.outcome == "refused":
                refused[use.token_id] += use.times
    words = {id: f"今天 {today[id]:,} 次请求，7 天 {times:,} 次" for id, times in week.items()}
    return {id: said + (f"，其中 {refused[id]:,} 次被拒绝" if refused[id] else "") for id, said in words.items()}


def _draw_token(app: App, token: Token, uses: str) -> None:
    now = clock.now()
    with st.container(horizontal=True, wrap=False, vertical_alignment="top"):
        state = Markup(' <span class="state failed">已过期</span>') if token.is_expired(now.timestamp()) else Markup()
        facts = " · ".join((*token_facts(token, now), *([uses] if uses else [])))
        draw_html(
            Markup('<div class="wy-engine"><b>%s</b>%s<div class="note">可以%s</div><div class="note">%s</div></div>')
            % (token.name, state, scope_labels(token.scopes) or "做的事这个版本都不支持", facts)
        )
        with st.popover("撤回", icon=":material/block:", key=f"withdrawal-{token.id}"):
            st.write("撤回以后，用它的程序马上进不来，它的用量记录也会删除，不能恢复。")
            if st.button("撤回令牌", key=f"withdraw-{token.id}", type="primary"):
                _withdraw(app, token)


def _withdraw(app: App, token: Token) -> None:
    try:
        app.tokens.withdraw(token.id, None if permission.may_edit(app) else identity.reader())
    except AppError as error:
        draw_warning(str(error))
    else:
        st.session_state[SAID] = f"令牌「{token.name}」已撤回。"
        st.rerun()
