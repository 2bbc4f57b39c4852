"""Prompt templates are files beside this one; `$name` is filled in, everything else is sent as it stands."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.md").read_text("utf-8").strip())


def fill(name: str, **values: str) -> str:
    return _template(name).substitute(values)
