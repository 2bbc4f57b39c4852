"""The peer: an agent as LangChain's documentation builds one for Streamlit, with its AgentExecutor and its callback handler."""

import os
import warnings

import httpx
import streamlit as st

warnings.simplefilter("ignore")
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_community.callbacks.streamlit import StreamlitCallbackHandler
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def web_search(query: str) -> str:
    """Search the web."""
    found = httpx.get(f"{os.environ['SEARXNG_URL']}/search", params={"q": query, "format": "json"}).json()["results"]
    return "\n".join(f"{one['title']} {one['url']} {one['content']}" for one in found)


@st.cache_resource
def executor() -> AgentExecutor:
    model = ChatOpenAI(model=os.environ["LLM_MODEL"].removeprefix("openai:"), streaming=True)
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from what you find."), ("human", "{input}"), ("placeholder", "{agent_scratchpad}")]
    )
    return AgentExecutor(agent=create_tool_calling_agent(model, [web_search], prompt), tools=[web_search])


if question := st.chat_input("ask"):
    st.chat_message("user").write(question)
    with st.chat_message("assistant"):
        shown = StreamlitCallbackHandler(st.container())
        st.write(executor().invoke({"input": question}, {"callbacks": [shown]})["output"])
