"""The peer: the same answer through st.write_stream."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from bench.answers import PAUSE, long_answer


def pieces() -> Iterator[str]:
    for piece in long_answer():
        yield piece
        time.sleep(PAUSE)


if st.chat_input("ask"):
    st.write_stream(pieces())
    st.write("end of answer")
