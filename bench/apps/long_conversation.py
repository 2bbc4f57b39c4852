"""The chat page with a conversation of a thousand messages in it."""

import os
import runpy
import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from core.answer.message import Message
from core.ui import session
from core.ui.frame import draw_page_frame

if "chat" not in st.session_state:
    count = int(os.environ["BENCH_MESSAGES"])
    question, answer = "劳动合同什么时候可以解除？" * 3, "用人单位有下列情形之一的，劳动者可以解除劳动合同[1]。" * 8
    st.session_state.chat = session.ChatState(
        messages=[Message("user", question) if n % 2 == 0 else Message("assistant", answer) for n in range(count)]
    )
draw_page_frame()
session.begin_script_run()
runpy.run_path(str(ROOT / "pages" / "chat.py"))
