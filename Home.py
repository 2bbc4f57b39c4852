"""The router: page settings, navigation and what every page shares. `streamlit run Home.py` or, hardened, asgi.py."""

import streamlit as st

from core.ui import render, sidebar, state

st.set_page_config(page_title="问源", page_icon=":material/menu_book:", layout="centered")

chat = st.Page("pages/chat.py", title="对话", icon=":material/forum:", url_path="chat", default=True)
help_page = st.Page("pages/help.py", title="帮助", icon=":material/help:", url_path="help")

page = st.navigation([chat, help_page])
render.style()
state.begin()
sidebar.draw(on_chat_page=page == chat)
page.run()
