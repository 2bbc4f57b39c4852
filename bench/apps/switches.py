"""The peer: the same switches, a box and two pages, in bare Streamlit."""

import streamlit as st

STATES = {True: "已启用", False: "已禁用"}


def chat() -> None:
    with st.bottom.container(horizontal=True):
        for name, key in (("联网", "search"), ("Agent", "agent")):
            st.toggle(f"{name} {STATES[st.session_state.get(key, False)]}", key=key, persist_state="session")
    st.chat_input("ask")
    st.header("问源")
    st.write("提出问题，得到每句话都能查到来源的回答。")
    for row in range(2):
        for column, place in enumerate(st.columns(3)):
            place.button(f"一件事 {row} {column}", width="stretch")


def manual() -> None:
    st.header("帮助")
    st.write("这是随程序附带的手册：没有网络时也能阅读，也是内置搜索引擎的资料来源。")
    st.text_input("查找文章")
    for section in range(12):
        with st.expander(f"一节 {section}", expanded=True):
            for entry in range(8):
                st.button(f"一篇 {section} {entry}", type="tertiary")


st.navigation([st.Page(chat, title="对话", default=True), st.Page(manual, title="帮助", url_path="help")]).run()
