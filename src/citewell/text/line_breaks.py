"""Which line breaks end a sentence: blank lines, list items, headings, table rows, code; a
soft-wrapped line does not. A decision looks at two neighbouring lines only, so that the whole is
one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.text.language import CJK, HAN

_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+")
_COUNT_ZH = "[一二三四五六七八九十百千零〇两0-9]"
LIST_ITEM = re.compile(
    rf"""
    [-*+•·●○■□▪◦‣➢✓–—]\s+\S
    | \d{{1,3}} (?: [.)]\s+\S | [、．]\S | [.)](?=[{HAN}]) )
    | [(（] (?: {_COUNT_ZH}{{1,4}} | [a-zA-Z] | [ivx]{{1,4}} ) [)）]
    | [一二三四五六七八九十百]{{1,4}} [、.．]
    | [a-zA-Z][)）]\s* \S
    | [ivxIVX]{{1,5}} [.)] \s+\S
    | [①-⑳⑴-⒇]
    | \[\d{{1,3}}\] \s* \S
    """,
    re.VERBOSE,
)
CHAPTER = re.compile(
    rf"(?:第\s*{_COUNT_ZH}{{1,6}}\s*[编部卷篇章节回](?:\s|[:：]|$|"
    rf"(?=[{HAN}])(?![的是中里和与及对将在介讲主共]))|(?i:chapter|part|appendix|"
    rf"section)\s+(?:\d{{1,3}}|[IVXL]{{1,6}}|[A-Z])\b)"
)
_CHAPTER_KIND = re.compile(r"[编部卷章回篇节]|part|chapter|appendix|section", re.IGNORECASE)
_CHAPTER_LEVEL = {
    **dict.fromkeys(("编", "部", "卷", "part"), 1),
    **dict.fromkeys(("章", "回", "chapter", "appendix"), 2),
    **dict.fromkeys(("篇", "节", "section"), 3),
}
_MARKUP = re.compile(r"#{1,6}\s|[=\-_*~]{3,}\s*$|```|~~~|\||>")
# `key: value`, `key = value`: a row of a table, of a form, of front matter, of settings
_FIELD = re.compile(r"[^\s:：|.。,，=][^:：|.。,，=]{0,39}(?:[:：]\s|：|\s=\s|=(?=\S))\s*\S")
_NO_HEADING_END = ".,;:!?，。；：！？、…-—(（"
WIDEST_WRAP = 200  # nobody wraps by hand at more than this: such a line is a paragraph of its own
LONGEST_HEADING = 60
_SPACE = re.compile(r"\s+")
_CHINESE_WRAP = re.compile(rf"(?<=[{CJK}])\s*\n\s*(?=[{CJK}])")


def join_wrapped_lines(text: str) -> str:
    """White space is one space, and none where a line of Chinese was wrapped."""
    return _SPACE.sub(" ", _CHINESE_WRAP.sub("", text.strip()))


def get_chapter_level(line: str) -> int:
    """The rank of a line naming a part (1), chapter (2) or section (3); 0 for any other."""
    named = CHAPTER.match(line)
    longest = LONGEST_HEADING // 2 if line[0] == "第" else LONGEST_HEADING
    if not named or len(line) > longest or line[-1] in _NO_HEADING_END:
        return 0
    kind = _CHAPTER_KIND.search(named.group())
    return _CHAPTER_LEVEL[kind.group().lower()] if kind else 2


def split_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Spans between line breaks that end a sentence, stripped; blank ones left out."""
    start = end = -1  # of the block so far
    before = ""  # the line before, as it stands
    opens = True  # whether `before` began a block
    last_break = 0
    for match in _LINE.finditer(text):
        line = match.group()
        if not line.strip():
            continue
        gap = text[last_break : match.start()]
        last_break = match.end()
        if start >= 0 and (_is_paragraph_break(gap) or _is_sentence_break(before, line, opens)):
            yield start, end
            start = -1
        opens = start < 0
        if opens:
            start = match.start() + len(line) - len(line.lstrip())
        end = match.start() + len(line.rstrip())
        before = line
    if start >= 0:
        yield start, end


def _is_paragraph_break(gap: str) -> bool:
    """Whether more than one line break lies in `gap`, or one that always means a new paragraph."""
    return (
        gap.replace("\r\n", "\n").count("\n") > 1 or "\f" in gap or "\u2029" in gap or "\r\r" in gap
    )


def _is_sentence_break(before: str, line: str, opens: bool) -> bool:
    """Whether the break between `before` and `line` ends a sentence. `opens`: `before` is the first
    line of its block.
    """
    left, right = before.strip(), line.lstrip()
    if len(left) > WIDEST_WRAP or left[-1] in "{};" or " | " in left or " | " in right:
        return True
    if _FIELD.match(left) and _FIELD.match(right):
        return True
    if _MARKUP.match(right) or (opens and _MARKUP.match(left)) or LIST_ITEM.match(right):
        return True
    indent, indent_before = len(line) - len(right), len(before) - len(before.lstrip())
    if line.startswith("\u3000") or (
        indent > indent_before + 1 and not (opens and LIST_ITEM.match(left))
    ):
        return True
    if get_chapter_level(right):
        return True
    return opens and _is_heading(left, right)


def _is_heading(line: str, following: str) -> bool:
    """A short first line without end punctuation, before a much longer one, or named a chapter."""
    if len(line) > LONGEST_HEADING or line[-1] in _NO_HEADING_END:
        return False
    return bool(CHAPTER.match(line)) or len(following) > 1.6 * len(line)
