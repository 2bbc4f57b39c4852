"""The peer: the same job in stock Streamlit, a search and the openai package's stream through `st.write_stream`."""

import os

import httpx
import streamlit as st
from openai import OpenAI


@st.cache_resource
def client() -> OpenAI:
    return OpenAI()


if question := st.chat_input("ask"):
    st.chat_message("user").write(question)
    sources = ""
    if searxng := os.environ.get("SEARXNG_URL"):
        found = httpx.get(f"{searxng}/search", params={"q": question, "format": "json"}).json()["results"]
        sources = "\n".join(f"{one['title']} {one['url']} {one['content']}" for one in found)
    stream = client().chat.completions.create(
        model=os.environ["LLM_MODEL"].removeprefix("openai:"),
        messages=[{"role": "system", "content": sources}, {"role": "user", "content": question}],
        stream=True,
    )
    st.chat_message("assistant").write_stream(stream)
