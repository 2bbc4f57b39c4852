"""对话: the conversation. Callbacks handle the input (core/ui/chat/actions.py); this script draws the current state."""

import streamlit as st

from core.ui import conversation_sync, session
from core.ui.chat import actions, composer, first_screen, live_answer, sidebar, source_desk, source_texts, transcript
from core.ui.frame import draw_warning, set_page_title

session.require_router()
app = session.app()
chat = session.chat()
set_page_title(chat.title)

actions.submit_scanned(app)
typed, stop_button = composer.draw(app)
actions.stash_first_input(typed)
conversation_sync.update_address()
sidebar.draw(app, on_chat_page=True)  # after the input, whose switches must react first

# A placeholder removes its content at once when it is emptied. Anything else would stay, faded, until the
# answer is complete.
welcome = st.empty()
if all(message.role == "note" for message in chat.messages):
    first_screen.draw(welcome, app)
if problem := conversation_sync.storage_problem(app):
    draw_warning(problem)
transcript.draw_history(app, chat)
answer = st.empty()
suggestions = st.empty()
if chat.pending is not None:
    live_answer.draw_preparing(answer)
    actions.start_pending(app, is_shown=True)
if chat.run is not None:
    live_answer.follow_run(app, answer, stop_button, chat)
transcript.draw_read_only_note(app, chat)
transcript.draw_follow_ups(app, suggestions, chat)
source_desk.draw(app, chat)
source_texts.draw_wanted(app, chat)

conversation_sync.watch_unsaved(app)
conversation_sync.tell_other_tabs()
conversation_sync.watch_checks(app)
app.warm_up()  # the page is painted, so the warm-up delays nobody
if session.mode() == session.AGENT:
    live_answer.start_agent_import()
