"""The words of the program: one term for each thing, the marks of Chinese print, no names that only administrators know.

Reads every Chinese string literal of the program (not docstrings or comments), the texts of the scripts and of the style sheet,
the manual and the descriptions of the settings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from core.app import extra_sections
from core.base.settings import list_settings, load_settings
from support.base import ROOT

CHINESE = re.compile("[\u4e00-\u9fff]")


class Place(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text[:80]!r}"


def literals(path: str, source: str) -> Iterator[Place]:
    """Yield the Chinese string literals of a Python module. A string that stands alone is a docstring."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in alone:
            yield Place(path, node.lineno, "".join(_part(value) for value in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield Place(path, node.lineno, node.value)


def _part(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else "{}"


_SCRIPT_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _lines(file: Path) -> Iterator[Place]:
    """Yield the lines of a file; of scripts and style sheets without comments."""
    text = file.read_text("utf-8")
    if file.suffix in {".js", ".css"}:
        text = _SCRIPT_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        yield Place(str(file.relative_to(ROOT)), number, line)


def program() -> list[Place]:
    """Return the Chinese literals of the program."""
    files = [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "Home.py", ROOT / "asgi.py"]
    found = (one for file in files for one in literals(str(file.relative_to(ROOT)), file.read_text("utf-8")))
    return [one for one in found if CHINESE.search(one.text)]


def pages_and_papers() -> list[Place]:
    """Return the lines of scripts, style sheet, manual and settings. Prompts speak to models, in words that were tried."""
    files = [*ROOT.glob("core/ui/**/*.js"), ROOT / "core/ui/style.css", *ROOT.glob("docs/manual/*.md")]
    files += [ROOT / "README.zh-CN.md", ROOT / "settings.yaml"]
    return [line for file in files for line in _lines(file)]


PROGRAM, PAPERS = program(), pages_and_papers()

# ── One term for each thing ───────────────────────────────────────────────────────────────────────────────────────────

RETIRED = {
    "智能体": "Agent",
    "账本": "搜索记录",
    "已启用|已禁用": "打开、关闭：已启用、已禁用只是开关的状态",
    "核对(?:结果|程序|了|过|的)|(?:依据|引用|法条|案号|重新|自动|没有|未|粘贴文字)核对": "核验：「请核对」只对读者说",
    "没有可以核对|逐句核对|正在核对": "核验",
}
"""Terms that are used no more, as patterns, and what is written instead. The verb stays where the reader is asked to look
for himself: 请核对."""
MAY_USE = {
    ("core/ui/chat/composer.py", "已启用|已禁用"): "the states of the toggle, fixed by the requirements",
    ("docs/manual/04-search-toggle.md", "已启用|已禁用"): "describes the states of the toggle",
    ("docs/manual/06-choose-mode.md", "已启用|已禁用"): "describes the states of the toggle",
}


def retired_terms(places: list[Place]) -> list[str]:
    return [
        f"{place}: {instead}"
        for place in places
        for pattern, instead in RETIRED.items()
        if re.search(pattern, place.text) and (place.path, pattern) not in MAY_USE
    ]


def test_each_thing_has_one_term() -> None:
    assert retired_terms([*PROGRAM, *PAPERS]) == []


@pytest.mark.parametrize(
    "words", ["智能体最多几轮", "搜索账本", "联网搜索已启用。", "引用核对的结果", "按核对结果改写"]
)
def test_a_retired_term_is_found_wherever_it_is_planted(words: str) -> None:
    (planted,) = literals("core/x.py", f'"""{words}"""\ndef f():\n    """{words}"""\n    return "{words}"  # {words}\n')
    assert planted.line == 4, "docstrings and comments are not shown"
    assert retired_terms([planted])
    assert retired_terms([*literals("core/x.py", f'f"{words}{{x}}"[0]')])


def test_no_exception_is_left_over() -> None:
    for path, pattern in MAY_USE:
        assert re.search(pattern, (ROOT / path).read_text("utf-8")), path


# ── Names that only administrators know ───────────────────────────────────────────────────────────────────────────────

VARIABLES = {entry.variable for entry in list_settings(load_settings(sections=extra_sections()))}
OTHER_NAMES = {"HTTP_PROXY", "HTTPS_PROXY", "REQUESTS_CA_BUNDLE", "STREAMLIT_SERVER_COOKIE_SECRET"}
NAME = re.compile(rf"(?<![A-Z0-9_])(?:{'|'.join(sorted(VARIABLES | OTHER_NAMES))})(?![A-Z0-9_])|环境变量")
FOR_ADMINISTRATORS = {
    "core/backup.py": "a command",
    "core/commands/": "commands",
    "core/doctor.py": "the diagnosis",
    "core/base/redis_link.py": "a warning of the diagnosis",
    "core/base/settings/": "problems and descriptions of settings",
    "core/reading/settings.py": "descriptions of settings",
    "core/reading/prompt_injection.py": "reads words that others write",
    "core/search/registry.py": "the cure for the diagnosis",
    "core/serve/errors.py": "what programs are answered",
    "core/serve/http/description.py": "what their authors read",
    "core/store/saved_settings.py": "saving settings",
    "core/ui/labels.py": "the origin of a setting",
    "core/ui/settings/": "the page of settings",
}
"""Where names of environment variables may stand: what only those see who run the program."""
DESCRIPTION = "没有设置 SEARXNG_URL 时使用的公共实例"
"""The description of a setting of an engine."""


def variable_names(places: list[Place]) -> list[str]:
    readers = (one for one in places if not one.path.startswith(tuple(FOR_ADMINISTRATORS)))
    return [str(one) for one in readers if NAME.search(one.text) and not one.text.startswith(DESCRIPTION)]


def test_readers_are_not_told_names_of_environment_variables() -> None:
    assert variable_names(PROGRAM) == []


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "DATA_DIR", "HTTPS_PROXY"])
def test_a_name_is_found_in_a_sentence_for_readers(name: str) -> None:
    assert variable_names([Place("core/llm/errors.py", 1, f"请检查 {name}。")])
    assert not variable_names([Place("core/doctor.py", 1, f"请检查 {name}。")])


# ── The marks of Chinese print ────────────────────────────────────────────────────────────────────────────────────────

READS_TEXTS = (
    "core/agent/",
    "core/answer/citations.py",
    "core/base/chinese/",
    "core/base/settings/",
    "core/checks/",
    "core/comparison/",
    "core/documents/version_marks.py",
    "core/legal/",
    "core/reading/",
    "core/run/judge_passages.py",
    "core/run/page_mentions.py",
    "core/run/query_rewriting.py",
    "core/run/whole_reading.py",
    "core/search/prompt_format.py",
    "core/ui/legal/draft_sample.py",
)
"""Where most literals are patterns that read the texts of others, or prompts. 公文 quotes with “ ” too."""
SHOWN = [one for one in PROGRAM if not one.path.startswith(READS_TEXTS)]
WRONG_MARKS = {
    "“|”": "「」",
    "[\u4e00-\u9fff][,;!?](?![a-z])": "，；！？",
    "！": "。",
    r"[\u4e00-\u9fff]\.\.\.": "…",
    r"(?<!全文共)\{\}(?:个|条|次|秒|处|页|部|轮|分钟)": "a blank before the unit",
}


def wrong_marks(places: list[Place]) -> list[str]:
    return [f"{one}: {right}" for one in places for wrong, right in WRONG_MARKS.items() if re.search(wrong, one.text)]


def test_sentences_have_the_marks_of_chinese_print() -> None:
    assert wrong_marks(SHOWN) == []


@pytest.mark.parametrize("words", ["点“设置”", "好,请看", "太好了！", "等等...", "{}条"])
def test_a_wrong_mark_is_found(words: str) -> None:
    assert wrong_marks([Place("core/ui/x.py", 1, words)])
