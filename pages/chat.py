"""对话: the conversation. What was typed is handled by callbacks (core/ui/chat/actions.py); this draws what there is."""

import streamlit as st

from core.app import shared_app
from core.ui import keeping, session
from core.ui.chat import actions, render
from core.ui.frame import warning

session.through_router()
app = shared_app()
chat = session.chat()

stop_button = st.bottom.empty()  # above the box
typed = st.chat_input("问一个问题，Enter 发送，Shift+Enter 换行", key=session.CHAT_INPUT, on_submit=actions.submit)
actions.hear(typed)
keeping.show_in_address()

# What is drawn in a placeholder goes at once when the placeholder is empty; anything else would stay, faded, until the
# answer is complete.
first_screen = st.empty()
if not chat.messages:
    render.welcome(first_screen, app)
if problem := keeping.problem(app):
    warning(problem)
render.history(chat)
answer = st.empty()
if chat.run is not None:
    render.live(answer, stop_button, chat)
render.follow_ups(chat)
if chat.refused:
    render.refused(*chat.refused)

keeping.watch(app)
app.warm_up()  # the page is painted: now nobody waits for it
if session.mode() == session.AGENT:
    render.import_agent()
