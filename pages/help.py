"""帮助: the built-in manual. The bundled search engine cites the same articles."""

import itertools

import streamlit as st

from core.search import find_article, manual_articles
from core.ui import session
from core.ui.chat import actions

session.require_router()

slug = st.query_params.get("article", "")
article = find_article(slug) if slug else None

if article is not None:
    st.button("全部文章", icon=":material/arrow_back:", type="tertiary", on_click=st.query_params.clear)
    st.header(article.title, anchor=False)
    st.caption(article.section)
    st.markdown(article.body)
    st.stop()

st.header("帮助", anchor=False)
if slug:
    st.warning("手册里没有这篇文章，可能已经改名。请从下面的目录中选择。", icon=":material/search_off:")
st.write("这是随程序附带的手册：没有网络时也能阅读，也是内置搜索引擎的资料来源。")
wanted = st.text_input("查找文章", placeholder="输入标题或关键词中的字", icon=":material/search:").strip().lower()
articles = [entry for entry in manual_articles() if wanted in f"{entry.title} {' '.join(entry.keywords)}".lower()]
if not articles:
    st.info("没有标题或关键词包含这些字的文章。也可以回到对话页，打开联网搜索后直接提问。", icon=":material/info:")
for section, entries in itertools.groupby(articles, key=lambda entry: entry.section):
    with st.expander(section, expanded=True), st.container(gap=None):
        for entry in entries:
            st.button(entry.title, key=entry.slug, type="tertiary", on_click=actions.open_article, args=(entry.slug,))
