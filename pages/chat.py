"""对话: the conversation. Reads what was typed, starts a run, draws it."""

import streamlit as st

from core.app import shared_app
from core.chat import ChatOptions
from core.conversation import Message
from core.errors import InputError
from core.ui import render, state

state.through_router()
app = shared_app()
chat = state.chat()

# --- what was asked ---------------------------------------------------------------------------------------------

question = st.chat_input("问一个问题，Enter 发送，Shift+Enter 换行", key=state.CHAT_INPUT) or state.take_suggestion()
if question and question.strip():
    try:
        run_question = app.chat.accept(question)
    except InputError as error:
        chat.refused = (str(error), question)
    else:
        chat.refused = None
        chat.interrupt()
        options = ChatOptions(search=state.search_enabled(), user=chat.session_id)
        chat.run = app.chat.start(run_question, history=tuple(chat.messages), options=options)
        chat.messages.append(Message("user", run_question))

# --- the conversation so far --------------------------------------------------------------------------------------

if not chat.messages:
    render.welcome(app)
render.history(chat)
if chat.run is not None:
    render.live(chat)
if chat.refused:
    render.refused(*chat.refused)

app.warm_up()  # the page is painted: now nobody waits for it
