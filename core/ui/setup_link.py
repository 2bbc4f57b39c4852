"""The setup link: whoever opens it may change the settings of the installation from now on, in this browser."""

from __future__ import annotations

import streamlit as st

from core.app import App
from core.base.paths import COMMAND
from core.base.settings import SETUP_QUERY, SettingsNotSaved, SetupLinks
from core.ui import identity
from core.ui.frame import draw_warning

_DONE = "现在可以用这个浏览器修改「设置」里的模型和引擎。"
_INVALID = f"这个设置链接已经用过，或者过期了。请在运行问源的电脑上执行 {COMMAND} setup-link，打开它打印的新链接。"


def redeem_from_address(app: App) -> None:
    """Redeem the link that this page was opened with, if it was."""
    token = st.query_params.pop(SETUP_QUERY, None)
    if token is None:
        return
    try:
        is_valid = SetupLinks(app.saved_settings).redeem(token, identity.visitor())
    except SettingsNotSaved as error:
        draw_warning(str(error))
        return
    if is_valid:
        st.toast(_DONE, icon=":material/key:")
    else:
        draw_warning(_INVALID)
