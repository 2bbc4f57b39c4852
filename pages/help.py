"""帮助: the built-in manual. The same articles are what the bundled search engine cites."""

import itertools

import streamlit as st

from core.manual import find, manual

slug = st.query_params.get("article", "")
article = find(slug) if slug else None

if article is not None:
    if st.button("全部文章", icon=":material/arrow_back:", type="tertiary"):
        st.query_params.clear()
        st.rerun()
    st.caption(article.section)
    st.header(article.title, anchor=False)
    st.markdown(article.body)
    st.stop()

st.header("帮助", anchor=False)
if slug:
    st.warning("手册里没有这篇文章，可能已改名。请从下面的目录中选择。", icon=":material/search_off:")
st.write("这是随程序附带的手册，没有网络时也能阅读，也是内置搜索引擎的资料来源。")
for section, articles in itertools.groupby(manual(), key=lambda article: article.section):
    st.subheader(section, anchor=False)
    for entry in articles:
        if st.button(entry.title, key=f"article-{entry.slug}", type="tertiary"):
            st.query_params["article"] = entry.slug
            st.rerun()
