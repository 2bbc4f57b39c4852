"""A person at the page, in a real Chromium."""

from __future__ import annotations

import shutil
from contextlib import suppress

from playwright.sync_api import Locator, Page, Request, TimeoutError, expect

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)

# As root Chromium has no sandbox to offer; a visit is too short for optimising compilers to pay; the rest keeps it from
# calling its maker.
ARGUMENTS = [
    "--no-sandbox",
    "--js-flags=--no-opt --no-maglev",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
UNCHANGED = """() => new Promise(resolve => {
    const done = () => { observer.disconnect(); resolve() };
    let timer = setTimeout(done, 60);
    const observer = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, 60) });
    observer.observe(document.body, {subtree: true, childList: true, characterData: true});
    setTimeout(done, 3000);
})"""


class Visitor:
    """A person at the page: what they do and, if `watched`, every request that their browser makes to a foreign host."""

    def __init__(self, page: Page, url: str, path: str = "", *, watched: bool = False) -> None:
        self.page = page
        self.url = url
        self._foreign: list[str] = []
        self._is_watched = watched
        page.set_default_timeout(45_000)  # on a busy machine; nobody waits longer than needed
        if watched:  # a hundred files for each visit, each of them told to this process
            page.on("request", self._note)
        page.goto(url + path)
        self.settled()

    def _note(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self._foreign.append(request.url)

    @property
    def foreign(self) -> list[str]:
        assert self._is_watched
        return self._foreign

    def settled(self) -> None:
        """The script has run to its end and the page shows it.

        Streamlit gathers elements for some milliseconds before it draws them, and between two runs nothing runs either:
        the page is at rest when it has not changed for a moment, and the script still does not run.
        """
        while True:
            self.page.wait_for_selector(AT_REST)
            self.page.evaluate(UNCHANGED)
            if self.page.locator(AT_REST).count():
                return

    def ask(self, question: str) -> None:
        box = self.page.get_by_test_id("stChatInputTextArea")
        box.fill(question)
        box.press("Enter")

    def answered(self, text: str) -> None:
        """The last message shows the text. The card of a citation, which is not open, repeats the words of its sentence."""
        expect(self.page.get_by_test_id("stChatMessage").last).to_contain_text(
            text, use_inner_text=True, timeout=45_000
        )
        self.settled()

    def switch(self, name: str) -> Locator:
        """联网 or Agent, at the input."""
        return self.page.get_by_test_id("stBottom").get_by_role("switch", name=name)

    def flip(self, name: str) -> None:
        """As a person does: the switch itself is drawn by its label."""
        self.page.get_by_test_id("stBottom").get_by_test_id("stCheckbox").filter(has_text=name).click()

    def search_on(self) -> None:
        self.flip("联网")
        self.page.get_by_text("联网 已启用").wait_for()
        self.settled()

    def choose_model(self, name: str) -> None:
        self.page.locator(".st-key-model_menu button").click()
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        self.page.locator(".st-key-model_menu").get_by_text(name, exact=True).wait_for()
        self.settled()

    def pick(self, title: str, option: str) -> None:
        """From a list of the panel. One that opens while its surroundings still move is closed again, and opened once more."""
        wanted = self.page.get_by_role("option", name=option, exact=True)
        for _ in range(10):
            self.page.get_by_test_id("stSidebar").get_by_role("combobox", name=title).click()
            with suppress(TimeoutError):
                wanted.wait_for(timeout=3_000)
                break
        wanted.click()
        self.settled()

    def cost_shows(self, text: str) -> None:
        """One line of what the last answer cost is this text. The lines are behind ⋯, which is closed again."""
        self.page.get_by_test_id("stChatMessage").last.get_by_role("button", name="更多").click()
        line = self.page.locator(".wy-menu").filter(visible=True).get_by_text(text, exact=True)
        expect(line).to_be_visible()
        self.page.keyboard.press("Escape")
        expect(line).to_have_count(0)

    @property
    def last_answer(self) -> str:
        return self.page.get_by_test_id("stChatMessage").last.inner_text()
