"""The app with one more address, which answers questions in Agent mode all at once and says how many were answered."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from asgi import SecurityHeaders, healthz, lifespan
from core.app import shared_app


def answer(question: str) -> bool:
    agent = shared_app().agent
    run = agent.start(agent.accept_question(question))
    for _ in run.follow():  # as the page does, in a thread of its own
        pass
    return run.events[-1].type == "usage"


def answer_all(request: Request) -> JSONResponse:
    count = int(request.query_params["count"])
    started = time.perf_counter()
    with ThreadPoolExecutor(count) as readers:
        answered = sum(readers.map(answer, (f"城市{number:03} 的人口" for number in range(count))))
    return JSONResponse({"answered": answered, "seconds": time.perf_counter() - started})


app = st.App(
    str(ROOT / "Home.py"),
    lifespan=lifespan,
    middleware=[Middleware(SecurityHeaders)],
    routes=[Route("/healthz", healthz), Route("/answer-all", answer_all)],
)
