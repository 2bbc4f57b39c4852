"""The router: page settings, navigation and what all pages share.

Start it with `streamlit run Home.py`, or hardened with asgi.py.
"""

import streamlit as st

from core.ui import conversation_sync, document_access, identity, session, setup_link
from core.ui.chat import actions, sidebar
from core.ui.frame import draw_page_frame, set_page_title

draw_page_frame()
identity.forget_other_browser()
app = session.begin_script_run()

chat = st.Page("pages/chat.py", title="对话", icon=":material/forum:", url_path="chat", default=True)
others = [
    st.Page("pages/legal.py", title="法规与案例", icon=":material/gavel:", url_path="legal"),
    st.Page("pages/documents.py", title="资料库", icon=":material/folder_open:", url_path="documents"),
    st.Page("pages/dashboard.py", title="运行看板", icon=":material/monitoring:", url_path="dashboard"),
    st.Page("pages/settings.py", title="设置", icon=":material/settings:", url_path="settings"),
    st.Page("pages/help.py", title="帮助", icon=":material/help:", url_path="help"),
]
shown = [other for other in others if other.url_path in app.settings.public.pages]
if not document_access.is_offered(app):
    shown = [other for other in shown if other.url_path != "documents"]
page = st.navigation([chat, *shown])
setup_link.redeem_from_address(app)
sidebar.restore(app)
if page == chat:
    conversation_sync.open_from_address(app)
    actions.fill_from_address(app)
    actions.submit_stashed(app)
    actions.start_pending(app, is_shown=False)  # while the model thinks, there is time to draw
else:
    session.chat().stop_run()  # the reader has left the chat page
    set_page_title(page.title)
    sidebar.draw(app, on_chat_page=False)
page.run()
