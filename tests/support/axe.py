"""axe-core, which judges whether a page can be used by everybody. `make test` installs it from npm into .venv."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from support.visitor import Visitor

AXE = Path(sys.prefix) / "npm" / "node_modules" / "axe-core" / "axe.min.js"
View = tuple[int, Literal["light", "dark"]]
EVERY_VIEW: tuple[View, ...] = ((390, "dark"), (390, "light"), (1280, "dark"), (1280, "light"))
BOTH_WAYS: tuple[View, ...] = ((390, "dark"), (1280, "light"))
"""What is too narrow is so in any colour, and what is too pale at any width. The sidebar is seen where it is wide only."""

STREAMLITS_OWN = {
    "presentation-role-conflict": {
        "[data-testid=stFileUploaderDropzone]": "where files are dropped has a name and says that it has no meaning; the button in it has both",
    },
}
"""What Streamlit does wrong where no page of ours reaches: by rule, selectors of the elements with the reason."""

_RUN = "async within => (await axe.run(within, {resultTypes: ['violations']})).violations"
_TOLD = """scheme => ['html', '[data-testid=stApp]'].every(
    name => getComputedStyle(document.querySelector(name)).colorScheme == scheme)"""


def judge(visitor: Visitor, views: Sequence[View] = BOTH_WAYS, *, within: str = "html") -> list[str]:
    """What is wrong with the page as it is. It is left wide and light.

    Nothing moves meanwhile: a colour on its way to another one is neither.
    """
    if not AXE.exists():
        pytest.skip("no axe-core here: make test installs it where there is npm")
    page, wrong = visitor.page, list[str]()
    page.emulate_media(reduced_motion="reduce")
    for width, scheme in views:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(_TOLD, arg=scheme)
        visitor.settled()
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE.read_text("utf-8"))
        wrong += (f"{width} {scheme} {line}" for line in _found(page.evaluate(_RUN, within), visitor))
    return wrong


def _found(violations: list[dict[str, Any]], visitor: Visitor) -> list[str]:
    return [
        f"{violation['id']}: {node['html'][:120]} {_why(node)}"
        for violation in violations
        for node in violation["nodes"]
        if not _is_streamlits_own(violation["id"], node, visitor)
    ]


def _why(node: dict[str, Any]) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])


def _is_streamlits_own(rule: str, node: dict[str, Any], visitor: Visitor) -> bool:
    element = visitor.page.locator(" ".join(node["target"])).first
    known = STREAMLITS_OWN.get(rule, {})
    return any(element.evaluate("(element, selector) => element.matches(selector)", selector) for selector in known)
