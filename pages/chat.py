"""对话: the conversation. What was typed is handled by callbacks (core/ui/actions.py); this draws what there is."""

import streamlit as st

from core.app import shared_app
from core.ui import actions, render, state

state.through_router()
app = shared_app()
chat = state.chat()

st.chat_input("问一个问题，Enter 发送，Shift+Enter 换行", key=state.CHAT_INPUT, on_submit=actions.submit)
actions.start_pending(app)

if not chat.messages:
    render.welcome(app)
render.history(chat)
if chat.run is not None:
    render.live(chat)
if chat.refused:
    render.refused(*chat.refused)

app.warm_up()  # the page is painted: now nobody waits for it
