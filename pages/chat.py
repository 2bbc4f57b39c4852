"""对话: the conversation. Callbacks handle the input (core/ui/chat/actions.py); this script draws the current state."""

import streamlit as st

from core.ui import conversation_sync, session
from core.ui.chat import actions, composer, first_screen, render, sidebar
from core.ui.frame import page_title, warning

session.through_router()
app = session.app()
chat = session.chat()
page_title(chat.title)

typed, stop_button = composer.draw(app)
actions.hear(typed)
conversation_sync.update_address()
sidebar.draw(app, on_chat_page=True)  # after the input, whose switches must react first

# A placeholder removes its content at once when it is emptied. Anything else would stay, faded, until the
# answer is complete.
welcome = st.empty()
if all(message.role == "note" for message in chat.messages):
    first_screen.draw(welcome, app)
if problem := conversation_sync.storage_problem(app):
    warning(problem)
render.history(app, chat)
answer = st.empty()
suggestions = st.empty()
if chat.pending is not None:
    render.prepare(answer)
    actions.start_pending(app, is_shown=True)
if chat.run is not None:
    render.live(app, answer, stop_button, chat)
render.read_only(app, chat)
render.follow_ups(app, suggestions, chat)

conversation_sync.watch_unsaved(app)
app.warm_up()  # the page is painted, so the warm-up delays nobody
if session.mode() == session.AGENT:
    render.import_agent()
