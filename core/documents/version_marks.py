"""What the name and the beginning of a file say about its version: day, number, and that it is no longer valid."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

HEAD_LENGTH = 800
"""Length of the beginning of a text in which it says which version it is."""
TITLE_LINES = 3
LONGEST_TITLE = 60
SEARCHED_LENGTH = 50_000
"""Length of the beginning of a text in which it says what it replaces."""
_SEPARATORS = re.compile(r"[\s\-_.,;:+()（）\[\]【】《》「」—–、，。；：·~]+")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = r"(?P<month_name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DATES = tuple(
    re.compile(rf"(?<![\d.]){pattern}(?!\d)", re.IGNORECASE)
    for pattern in (
        rf"{_YEAR} ?年度? ?(?:(?P<month>1[0-2]|0?[1-9]) ?月(?: ?(?P<day>3[01]|[12]\d|0?[1-9]) ?[日号])?)?(?:版|(?=\D|$))",
        rf"{_YEAR}(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])",
        rf"{_YEAR}[-./_ ](?P<month>1[0-2]|0?[1-9])(?:[-./_ ](?P<day>3[01]|[12]\d|0?[1-9]))?",
        rf"{_YEAR}(?P<month>0[1-9]|1[0-2])",
        rf"(?:(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)? )?{_MONTH_NAME}\.?,? {_YEAR}",
        rf"{_MONTH_NAME}\.? (?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?,? {_YEAR}",
        _YEAR,
    )
)
_LABELLED = re.compile(
    r"(?:发布|颁布|公布|印发|签发|生效|施行|实施|执行|修订|修改|更新|编制|制定|制表|日期|时间|版本|date|updated|effective|issued"
    r"|revised|revision|published|version|prepared)[^\n。]{0,24}",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![a-z])(?:v|ver|version|rev|revision|版本号?|版次)[ .:：]*(\d+(?:\.\d+){0,3})(?![\w])|第 ?([一二三四五六七八九十]+|\d+) ?版",
    re.IGNORECASE,
)
_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九十")}


def _apart(*words: str, end: str = "") -> re.Pattern[str]:
    """Return a pattern of words that stand apart in a name, or of `end` at its end: 旧 does not stand apart in 旧城改造."""
    alone = rf"(?<![^\s(（\[【,，.+])(?:{'|'.join(words)})(?![^\s)）\]】,，.+])"
    return re.compile(rf"{alone}|(?:{end})(?=[\s)）\]】]*$)" if end else alone, re.IGNORECASE)


_DRAFT = _apart("draft", "wip", end="初稿|草稿|草案|征求意见稿|讨论稿|送审稿")
_FINAL = _apart(
    "final", "latest", "current", "approved", "新", end="终稿|定稿|最终版?|最终稿|正式版|正式稿|最新版?|新版"
)
_INVALID_NAME = _apart(
    *(
        "superseded",
        "obsolete",
        "deprecated",
        "outdated",
        "旧版?",
        "旧稿",
        "老版",
        "旧版本",
        "历史版本",
        "停用",
        "过期",
        "失效",
    ),
    *("已?作废", "已?废止", "已?废弃", "已停用", "已过期", "已失效", "已?被取代"),
    end="已?作废|已废止|已废弃|已停用|已过期|已失效|已被取代|旧版本?|旧稿|老版本?",
)
_OLD_NAME = _apart("archived?", "old", "backup", "bak", "previous", "legacy", "备份", "存档", "归档", "历史", "旧文件")
_COPY = re.compile(r"副本|(?<![a-z])copy(?: of)?(?![a-z])|[(（]\d{1,2}[)）]", re.IGNORECASE)
_CHANGED = _apart("new", "revised", "updated", "版", "稿", end="修订版|修订稿|修改版|修改稿|更新版|修正版")
_PERIODICAL = re.compile(
    r"[日周旬月季年]报|纪要|会议记录|报告|通报|简报|总结|工资|台账|流水|账单|对账|日志|minutes|reports?|weekly|monthly|log|notes|newsletter"
)
_THIS = (
    r"本(?:文件|文|制度|规定|规范|办法|细则|通知|公告|方案|合同|协议|手册|指南|流程|标准|版本|版|表|页|价目表|报价单?)"
)
_INVALID_TEXT = re.compile(
    rf"{_THIS}[^。\n《》]{{0,16}}(?:废止|作废|失效|停止执行|停止使用|不再(?:适用|执行|有效|使用))"
    rf"|{_THIS}?[^。\n]{{0,6}}已?(?:被|由)[^。\n]{{1,40}}(?:取代|代替|替代)"
    r"|[【（(\[](?:已|现已|本版)?(?:废止|作废|失效|停用)[】）)\]]"
    r"|(?:仅供|只作)(?:存档|历史)(?:参考|查阅)?|请(?:勿再|不要再)(?:使用|引用)"
    r"|this (?:document|version|file|policy|page|memo|report|edition|guide|price list)[^.\n]{0,30}"
    r"(?:superseded|obsolete|deprecated|outdated|no longer (?:valid|in (?:force|effect|use)))"
    r"|(?:note|warning|notice|status)[^.\n]{0,60}(?:superseded by|obsolete|deprecated|no longer (?:valid|in (?:force|effect)))",
    re.IGNORECASE,
)
_REPLACES = re.compile(
    r"(?:取代|代替|替代|替换|废止|supersedes|replaces)(?:了|原有?的?|之前的?|此前的?|旧的?|the|:|：|\s)*《(?P<after>[^《》\n]{2,60})》"
    r"|《(?P<before>[^《》\n]{2,60})》[^。；\n《》]{0,20}(?:同时|即行|随之|予以|自行|一并|相应)?(?:废止|作废|失效|停止执行)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VersionMarks:
    """What a file says about its version."""

    stem: str
    """The name without marks of a version: files with the same one may be versions of each other."""
    date: str = ""
    """Year, month or day that its name or beginning states: 2025, 2025-06, 2025-06-30."""
    number: tuple[int, ...] = ()
    """Number of the version: v1.2 is (1, 2)."""
    rank: int = 0
    """-1 of a draft, 1 of a final text."""
    is_invalid: bool = False
    """True if it says of itself that it is no longer valid."""
    is_old: bool = False
    """True if it lies where old files are kept."""
    title: str = ""
    """Its title, without marks of a version."""
    replaces: tuple[str, ...] = ()
    """Names without marks of a version of what it says it replaces."""

    @property
    def is_periodical(self) -> bool:
        """True if its name is of files that appear again and again, none of which replaces the others: 会议纪要, 月报."""
        return bool(_PERIODICAL.search(self.stem))


def read_marks(name: str, text: str) -> VersionMarks:
    """Return what the name and the beginning of the text say."""
    folders, base = _name_parts(name)
    head = unicodedata.normalize("NFKC", text[:HEAD_LENGTH])
    titles = [line.strip("#* ") for line in head.splitlines() if line.strip()][:TITLE_LINES]
    titles = [line for line in titles if len(line) <= LONGEST_TITLE and "《" not in line]
    is_draft = _DRAFT.search(base) or any(map(_DRAFT.search, titles))
    is_invalid = _INVALID_NAME.search(base) or any(map(_INVALID_NAME.search, (*titles, *folders)))
    return VersionMarks(
        stem_of(name),
        find_date(base) or _stated_date(head) or find_date("/".join(folders)),
        _number_in(base) or next(filter(None, map(_number_in, titles)), ()),
        -1 if is_draft else 1 if _FINAL.search(base) else 0,
        is_invalid=bool(is_invalid or _INVALID_TEXT.search(head)),
        is_old=bool(_OLD_NAME.search(base) or any(map(_OLD_NAME.search, folders))),
        title=_without_marks(titles[0]) if titles else "",
        replaces=tuple(dict.fromkeys(filter(None, map(_replaced, _REPLACES.finditer(text[:SEARCHED_LENGTH]))))),
    )


def stem_of(name: str) -> str:
    """Return the name without folders, ending and marks of a version; empty if nothing else is left."""
    return _without_marks(_name_parts(name)[1])


def is_among_old_files(name: str) -> bool:
    """Return whether a file lies in a folder where old files are kept."""
    return any(map(_OLD_NAME.search, _name_parts(name)[0]))


def _without_marks(base: str) -> str:
    for pattern in (*_DATES, _NUMBER, _COPY):
        base = pattern.sub(" ", base)
    for pattern in (_DRAFT, _FINAL, _INVALID_NAME, _OLD_NAME, _CHANGED):
        base = pattern.sub(" ", base)
    return " ".join(_SEPARATORS.sub(" ", base.lower()).split())


def find_date(text: str) -> str:
    """Return the first date in the text, as exact as it is."""
    found = [(match.start(), -match.end(), match) for pattern in _DATES if (match := pattern.search(text))]
    return _iso(min(found, key=lambda one: one[:2])[2]) if found else ""


def full_day(text: str) -> str | None:
    """Return the day that the beginning of a text states; None unless it is a whole date."""
    date = _stated_date(unicodedata.normalize("NFKC", text[:HEAD_LENGTH]))
    return date if len(date) == len("2025-01-31") else None


def _stated_date(head: str) -> str:
    """Return the date behind a word like 发布日期 or Updated, else the first one in the title."""
    for labelled in _LABELLED.finditer(head):
        if date := find_date(labelled[0]):
            return date
    lines = [line for line in head.splitlines() if line.strip()]
    return find_date("\n".join(lines[:TITLE_LINES]))


def _iso(match: re.Match[str]) -> str:
    parts = match.groupdict()
    named = (parts.get("month_name") or "").lower()[:3]
    month = _MONTHS.index(named) + 1 if named else int(parts.get("month") or 0)
    day = int(parts.get("day") or 0)
    return parts["year"] + (f"-{month:02}" if month else "") + (f"-{day:02}" if month and day else "")


def _name_parts(name: str) -> tuple[list[str], str]:
    """Return the folders, and the name without its ending; underscores and hyphens are blanks, except in dates."""
    *folders, base = unicodedata.normalize("NFKC", name).lower().split("/")
    return [_spaced(folder) for folder in folders], _spaced(re.sub(r"\.[a-z0-9]{1,5}$", "", base))


def _spaced(name: str) -> str:
    return re.sub(r"(?<!\d)-|-(?!\d)", " ", name.replace("_", " "))


def _number_in(text: str) -> tuple[int, ...]:
    match = _NUMBER.search(text)
    if match is None:
        return ()
    if match[1]:
        return tuple(int(part[:6]) for part in match[1].split("."))
    return (_chinese_number(match[2]),)


def _chinese_number(digits: str) -> int:
    if digits.isdigit():
        return int(digits[:6])
    tens, has_ten, ones = digits.rpartition("十")
    value = _CHINESE_DIGITS.get(ones[:1], 0)
    return value + 10 * _CHINESE_DIGITS.get(tens[:1], 1) if has_ten else value


def _replaced(match: re.Match[str]) -> str:
    return _without_marks(_spaced((match["after"] or match["before"]).lower()))
