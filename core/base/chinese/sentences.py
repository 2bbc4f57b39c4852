"""Split text into sentences and find those that are about a question, for snippets and quotes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from core.base.chinese.script import to_simplified
from core.base.text import one_line, shorten, terms_of_clean

QUESTION_WORDS = (
    "可不可以|需不需要|什么时候|为什么|怎么样|怎么办|什么样|能不能|是不是|有没有|会不会|要不要|该不该"
    "|怎么|怎样|如何|什么|为何|是否|能否|可以|哪里|哪儿|哪个|哪些|哪种|哪家|多少|多久|请问|吗"
)
"""Words that make a Chinese sentence a question, longer words first."""
# Words that ask or connect and say nothing about the subject of a sentence. A word is listed only if it is not part
# of ordinary nouns: 都 would cut 首都, 请 would cut 申请.
_CHINESE_STOP_WORDS = (
    f"{QUESTION_WORDS}|请帮我|告诉我|想知道|几个|几种|帮我|我想|想要|一下"
    "|这个|那个|这些|那些|意思|干嘛|应该|需要|哪|几|谁|呢|吧|啊|呀|么|啥|的|了|是|我|你|您|它|他|她|在|把"
)
_ENGLISH_STOP_WORDS = (
    "a|about|am|an|and|any|are|as|at|be|between|but|by|can|could|did|do|does|for|from|get|give|had|has|have|how|i|if|in|into|is|it"
    "|its|let|many|may|me|mean|more|most|much|my|of|on|or|please|s|shall|should|so|t|tell|than|that|the|their|them|then|there|these|they|this"
    "|those|to|was|we|were|what|when|where|which|who|whom|whose|why|will|with|would|you|your"
)
_FIRST = "".join({word[0] for word in _CHINESE_STOP_WORDS.split("|")})
_STOP_WORDS = re.compile(
    # Looking at one character first, which nearly always rules the words out, takes a quarter of the time.
    rf"[^\w.+#-]+|(?=[{_FIRST}])(?:{_CHINESE_STOP_WORDS})"
    rf"|(?=[a-z])(?<![a-z0-9_.-])(?:{_ENGLISH_STOP_WORDS})(?![a-z0-9_-])|[.-]+(?=\s|$)",
    re.IGNORECASE,
)

# Quoted or bracketed text stays with its sentence, whatever punctuation it holds.
_SENTENCE_END = re.compile(
    r"「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|（[^（）\n]*）|《[^《》\n]*》"
    r"|(?P<end>[。！？]+[”」』）]*|[!?]+(?=\s|$)|(?<!\d)(?<!\b[A-Z])[.](?=\s+[^a-z\s]|\s*$)|\n)"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of the text in order, each exactly as it is written."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence, without the blanks around it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if match["end"]]
    spans = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        left = text[start:end].lstrip()
        if left:
            spans.append((end - len(left), end - len(left) + len(left.rstrip())))
    return spans


def key_phrases(text: str) -> list[str]:
    """Return the phrases that the text is about, in its own words: 打开联网搜索 for 怎么打开联网搜索？"""
    line = one_line(text)
    spaced = _STOP_WORDS.sub(lambda empty: " " * len(empty[0]), to_simplified(line))
    return [line[phrase.start() : phrase.end()] for phrase in re.finditer(r"\S+", spaced)]


def key_terms(text: str) -> list[str]:
    return [term for phrase in phrase_terms(text) for term in phrase]


def phrase_terms(text: str) -> list[list[str]]:
    """Return the index terms of each key phrase. A single character left between two stop words is dropped."""
    found = map(terms_of_clean, key_phrases(text))
    phrases = ([term for term in phrase if len(term) > 1 or term.isdigit()] for phrase in found)
    return [phrase for phrase in phrases if phrase]


def idf_weights(question_terms: Iterable[str], documents: Sequence[Collection[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each term of the question: the fewer documents have it, the higher."""
    return {term: _idf(term, documents) for term in question_terms}


def _idf(term: str, documents: Sequence[Collection[str]]) -> float:
    having = sum(term in document for document in documents)
    whole_word = 2.0 if term.isascii() else 1.0  # a Chinese word is about two pairs of characters
    return whole_word * math.log(1 + (len(documents) + 1) / (having + 0.5))


def coverage(weights: Mapping[str, float], present: Collection[str]) -> float:
    """Return the share of the question, from 0 to 1, that the present terms account for."""
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in present) / total if total else 0.0


def best_passage(text: str, weights: Mapping[str, float], limit: int) -> str:
    """Return whole sentences, at most `limit` characters, that cover most of the question and begin to the point."""
    parts = [(sentence, set(key_terms(sentence))) for sentence in split_sentences(text)]
    best, best_score = "", -1.0
    for start, (opening, first) in enumerate(parts):
        passage, present = opening, first
        for sentence, found in parts[start + 1 :]:
            longer = _join(passage, sentence)
            if len(longer) > limit:
                break
            passage, present = longer, present | found
        score = coverage(weights, present) + coverage(weights, first)
        if score > best_score and len(passage) <= limit:
            best, best_score = passage, score
    return best or shorten(one_line(text), limit)


def _join(left: str, right: str) -> str:
    return f"{left} {right}" if left[-1].isascii() else left + right


_FENCED_CODE = re.compile(r"^[ \t]*(```|~~~).*?\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"^([ \t]*\|.*)\n[ \t]*\|[ \t:|-]+\n((?:[ \t]*\|.*(?:\n|\Z))+)", re.MULTILINE)
_BLOCK_MARK = re.compile(r"^(?:\s*(?:>|[-*+](?=\s)|\d+[.)](?=\s)|\[[ x]\]))*\s*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"\*\*|__(?=\W)|(?<=\W)__|`+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|<br */?>")
_LONGEST_CODE = 120


def markdown_to_text(markdown: str) -> str:
    """Return a Markdown article as running text, one line per block, without marks, headings and long listings."""
    markdown = _FENCED_CODE.sub(lambda code: _code_as_quote(code[2]), markdown)
    markdown = _TABLE.sub(_table_as_lines, markdown)
    lines = [_plain_line(line) for line in markdown.splitlines() if not line.lstrip().startswith("#")]
    return re.sub(r"：\n", "：", "\n".join(line for line in lines if line))


def _code_as_quote(code: str) -> str:
    code = one_line(code)
    return f"「{code}」" if len(code) <= _LONGEST_CODE else ""


def _table_as_lines(table: re.Match[str]) -> str:
    """Return each row of a table as a phrase: `name：heading value，heading value`. Two columns need no heading."""
    _, *headings = _cells(table[1])
    lines = []
    for name, *values in map(_cells, table[2].strip().splitlines()):
        parts = values if len(values) == 1 else map(" ".join, zip(headings, values, strict=False))
        lines.append(f"{name}：{'，'.join(parts)}\n")
    return "".join(lines)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _plain_line(line: str) -> str:
    line = _BLOCK_MARK.sub("", line, count=1).strip()
    line = _EMPHASIS.sub("", _LINK.sub(r"\1", line)).strip()
    return line if not line or line[-1] in "。！？：；，、.!?:;" else f"{line}。"
