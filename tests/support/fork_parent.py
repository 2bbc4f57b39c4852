"""A program that imports everything once and then becomes a server of the app, as often as it is asked to.

Each line of its input is an order (`support.forked_server`); it answers with the process that carries it out, a fork of itself.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import runpy
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

LATER = (
    *("streamlit.web.cli", "streamlit.web.server.starlette.starlette_agent_routes", "streamlit.material_icon_names"),
    *("uvicorn.main", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto", "anyio._backends._asyncio"),
    *("langchain.chat_models", "openai.resources.chat", "sqlalchemy.dialects.sqlite", "cryptography.fernet"),
)
"""What a server imports when it first needs it."""


def main() -> None:
    sys.path[0] = str(Path(__file__).resolve().parent.parent.parent)  # as for `python -m` there
    import_everything()
    look_around()
    signal.signal(signal.SIGCHLD, bury)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            become(**order)
            return
        print(pid, flush=True)  # noqa: T201 (the answer)


def import_everything() -> None:
    import core

    ours = (module.name for module in pkgutil.walk_packages(core.__path__, "core."))
    for name in (*LATER, *(name for name in ours if name != "core.__main__")):
        importlib.import_module(name)


def look_around() -> None:
    """What a server looks up once: the components of all packages, the files of all modules."""
    from streamlit.components.v2 import manifest_scanner

    found = manifest_scanner.scan_component_manifests()
    manifest_scanner.scan_component_manifests = lambda *_, **__: found
    inspect.getmodule(inspect.currentframe())


def bury(*_: Any) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def become(arguments: list[str], environ: Mapping[str, str], log: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environ)
    redirect(0, os.devnull, os.O_RDONLY)
    redirect(1, log, os.O_WRONLY | os.O_CREAT)
    os.dup2(1, 2)
    sys.argv = ["streamlit", *arguments]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def redirect(descriptor: int, path: str, flags: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


if __name__ == "__main__":
    main()
