"""Layout of github.com/qisehong/china-law-db: laws/<category>/<field or place>/<full title>(YYYY-MM-DD).md.

Each file has a YAML head and a text without a title line: the events in brackets, headings (first those of the table of
contents) and articles. Files of an older generation are those of LawRefBook with a YAML head.

What the head says is believed only where it was found right. `title` is the first line of the document, so the name of
the file is taken. `implement_date` may be the day of adoption. `status` was wrong in earlier archives, except 现行有效; an
archive with the word 已废止 and without 试行 is a corrected one. 尚未生效 was true on the day of the download only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from core.base.chinese.calendar import iso_day
from core.base.chinese.numerals import NUMERAL
from core.base.text import one_line
from core.legal.entities import Law, LawKind
from core.legal.layouts import lawrefbook
from core.legal.layouts.corpus_markdown import Heading, parse_articles, parse_blocks, without_edition
from core.legal.layouts.issuers import find_issuer
from core.legal.layouts.items import Item, Skipped, decode_file, path_below
from core.legal.layouts.source_files import SourceFile
from core.legal.text import dates
from core.legal.text.amendments import all_amended_law_names, amendment_force
from core.legal.text.law_names import law_key

NAME = "china-law-db"

_KINDS = {
    "宪法": LawKind.CONSTITUTION,
    "法律": LawKind.STATUTE,
    "行政法规": LawKind.REGULATION,
    "监察法规": LawKind.REGULATION,
    "司法解释": LawKind.INTERPRETATION,
    "地方法规": LawKind.LOCAL,
}
_OLDER_FOLDERS = frozenset({"部门规章", "民法典", "其他"})
_FOLDERS = frozenset(_KINDS) | _OLDER_FOLDERS
_HEAD = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_HEAD_VALUE = re.compile(r'^(\w+): "([^"]*)"', re.MULTILINE)
_FILE_DATE = re.compile(r"[(（](\d{4}-\d{2}-\d{2})[)）]$")
_ARTICLE = re.compile(rf"第\s*{NUMERAL}\s*条")
_BRACKETS = re.compile(r"[（(]([^（）()]*(?:[（(][^（）()]*[）)][^（）()]*)*)[）)]")
_EVENT = re.compile("通过|发布|公布|批准|修正|修订|修改|施行")
_FIRST_LINES = 15
"""Number of lines in which the events are looked for."""
_LONGEST_EVENTS = 3_000
_IN_FORCE, _REPEALED, _AMENDED, _COMING, _FORMER_WORD = "现行有效", "已废止", "已被修改", "尚未生效", "试行"


def is_ours(path: PurePosixPath) -> bool:
    return path.suffix == ".md" and path.name != "_index.md" and bool(path_below(path, _FOLDERS))


def is_metadata(path: PurePosixPath) -> bool:
    return False


def confirms(entry: SourceFile) -> bool:
    """Return whether a file is of this layout. LawRefBook has the same folders, but its files have no YAML head."""
    return re.match(rb'(?:\xef\xbb\xbf)?---\r?\ntitle: ".*?\nsynced: "', entry.data[:5_000], re.DOTALL) is not None


def read(files: Iterable[SourceFile], metadata: Iterable[SourceFile]) -> Iterator[Item]:
    archive, parts = _Archive(), dict[str, list[Law]]()
    for entry in files:
        text = decode_file(entry)
        if isinstance(text, Skipped):
            yield text
        elif lawrefbook.INFO_END in text:
            yield from lawrefbook.parse_file(text, _older_path(entry.path), entry.path, parts, corpus=NAME)
        else:
            yield from archive.read(text, entry.path)
    yield from map(lawrefbook.join_parts, parts.values())
    yield from archive.rest()


def _older_path(path: PurePosixPath) -> tuple[str, ...]:
    """Return the path that the file has in LawRefBook, which sorts statutes by field alone."""
    folders = path_below(path, _FOLDERS)
    return folders[1:] if folders[0] == "法律" and len(folders) > 2 else folders


@dataclass(slots=True)
class _Archive:
    """The files of the newer generation. Texts whose status must be judged wait until all were read."""

    _waiting: list[tuple[PurePosixPath, str, Law]] = field(default_factory=list)
    _newest: dict[str, str] = field(default_factory=dict)
    """Newest publication of each law."""
    _forces: dict[tuple[str, str], str] = field(default_factory=dict)
    """Day of force by law and day of publication, as amendments state it."""

    def read(self, text: str, path: PurePosixPath) -> Iterator[Item]:
        head = dict(_HEAD_VALUE.findall((_HEAD.match(text) or ["", ""])[1]))
        law = _parse_law(text, head, path)
        if isinstance(law, Skipped):
            yield law
            return
        self._note(law)
        status = head.get("status", "")
        if status == _IN_FORCE:
            yield law
        else:
            self._waiting.append((path, status, law))

    def _note(self, law: Law) -> None:
        if law.published is None:
            return
        key = law_key(law.name)
        self._newest[key] = max(self._newest.get(key, ""), law.published)
        words = "\n".join(article.text for article in law.articles)
        if day := amendment_force(words, law.published):
            self._forces |= {(law_key(name), law.published): day for name in all_amended_law_names(law.name, words)}

    def rest(self) -> Iterator[Item]:
        found = {status for _, status, _ in self._waiting}
        is_corrected = _REPEALED in found and _FORMER_WORD not in found
        for path, status, law in self._waiting:
            reason = self._why_not(status, law) if is_corrected else f"这份存档的效力标注有错，「{status[:10]}」不可信"
            yield Skipped(str(path), reason) if reason else self._with_status(law, status)

    def _why_not(self, status: str, law: Law) -> str:
        """Return the reason why a text is not imported: it would be shown as the law in force."""
        if status == _REPEALED:
            return ""
        if status == _AMENDED:
            has_newer = (law.published or "") < self._newest.get(law_key(law.name), "")
            return "" if has_newer else "源中标为已被修改，但没有修改后的文本"
        if status == _COMING:
            return "" if self._with_status(law, status).effective else "源中标为尚未生效，但没有写明施行日期"
        return f"效力标注「{status[:10]}」不认识"

    def _with_status(self, law: Law, status: str) -> Law:
        force = law.effective or self._forces.get((law_key(law.name), law.published or ""))
        return replace(law, effective=force, repealed=status == _REPEALED)


def _parse_law(text: str, head: dict[str, str], path: PurePosixPath) -> Law | Skipped:
    folders = path_below(path, _FOLDERS)
    name, published = _title_and_day(path.stem, head)
    kind = _KINDS.get(folders[0])
    content = list(parse_blocks(text))
    articles = parse_articles(content)
    if not name or kind is None or not articles:
        return Skipped(str(path), "没有正文" if name and kind else "没有标题，或不认识的分类")
    words = [article.text for article in articles]
    events, end = _events(content)
    if not articles[0].number.number:  # a text without articles is kept whole, but for its title and its history
        articles = parse_articles(content[end:]) or articles
    return Law(
        name=name,
        kind=kind,
        articles=tuple(articles),
        source=f"{NAME}：{'/'.join(folders[1:] if folders[0] == '法律' else folders)}",
        issuer=one_line(head.get("issuing_authority", "")) or find_issuer(name, events, kind),
        published=published or dates.adopted(events),
        effective=dates.in_force(events, words, published),
        history=dates.history(events),
    )


def _title_and_day(stem: str, head: dict[str, str]) -> tuple[str, str | None]:
    """Return the title, from the name of the file, and the day of publication. A name that was cut is completed from the
    head."""
    dated = _FILE_DATE.search(stem)
    name = one_line(_FILE_DATE.sub("", stem))
    given = "".join(head.get("title", "").split())
    title = given if name and given.startswith(name) else name
    return without_edition(title), iso_day(dated[1] if dated else head.get("publish_date"))


def _events(content: Sequence[Heading | str]) -> tuple[list[str], int]:
    """Return the events in the first brackets one by one (…通过 根据…第一次修正 根据…第二次修正), and the number of blocks
    down to their end. The brackets may be spread over several lines."""
    above = ""
    for place, block in enumerate(content[:_FIRST_LINES], start=1):
        if isinstance(block, Heading) or _ARTICLE.match(block):
            break
        above += block[:_LONGEST_EVENTS]
        for brackets in _BRACKETS.findall(above):
            if _EVENT.search(brackets):
                return re.split(r"\s+(?=根据|[12]\d{3}年)", brackets), place
    return [], 0
