"""What is said of a paper's structure, in both languages.

The one rule: every sentence says no more than was counted or found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_TEXTS: Final = {
    "en": {
        "title": "The title of the paper is “{title}”.",
        "authors": "The authors of the paper are {names}.",
        "author": "The author of the paper is {names}.",
        "first": "The first author named is {names}.",
        "last": "The last author named is {names}.",
        "pages": "The paper has {n} pages{printed}.",
        "printed": ", printed as {first} to {last}",
        "count": "The paper has {n} {things}: {items}.",
        "count_gap": "I found {n} {things} in the paper, though their numbers run to {most}: "
        "{items}.",
        "none": "I found no {things} in the paper.",
        "references": "The paper's list of references has {n} entries.",
        "item": "{label} (page {page}): {caption}",
        "item_unpaged": "{label}: {caption}",
        "short": "{label} (page {page})",
        "entry": "{label} is: {entry}",
        "where": "{label} is on page {page}{printed_page}{section}.",
        "where_section": "{label} is on page {page}{printed_page}.",
        "where_sections": "{label} runs from page {page} to page {last}.",
        "printed_page": " (printed as {page})",
        "in_section": ", in the section “{section}”",
        "first_page": "The opening pages say: {line}",
        "keywords": "The keywords are: {words}.",
        "cites": "Yes, the list of references has {label}: {entry}",
        "cites_not": "No entry of the paper's list of references names {work}.",
        "reference_label": "Reference {label}",
        "equation_label": "Equation {label}",
    },
    "zh": {
        "title": "论文的标题是《{title}》。",
        "authors": "论文的作者是{names}。",
        "author": "论文的作者是{names}。",
        "first": "署名的第一位作者是{names}。",
        "last": "署名的最后一位作者是{names}。",
        "pages": "论文共 {n} 页{printed}。",
        "printed": "（印刷页码 {first} 至 {last}）",
        "count": "论文有 {n} {things}：{items}。",
        "count_gap": "在论文中找到 {n} {things}，但编号到 {most}：{items}。",
        "none": "在论文中没有找到{things}。",
        "references": "论文的参考文献表有 {n} 条。",
        "item": "{label}（第{page}页）：{caption}",
        "item_unpaged": "{label}：{caption}",
        "short": "{label}（第{page}页）",
        "entry": "{label}是：{entry}",
        "where": "{label}在第{page}页{printed_page}{section}。",
        "where_section": "{label}在第{page}页{printed_page}。",
        "where_sections": "{label}从第{page}页到第{last}页。",
        "printed_page": "（印刷页码 {page}）",
        "in_section": "，“{section}”一节",
        "first_page": "论文开头写着：{line}",
        "keywords": "关键词是：{words}。",
        "cites": "是的，论文的参考文献表中有 {label}：{entry}",
        "cites_not": "论文的参考文献表中没有提到{work}的条目。",
        "reference_label": "参考文献{label}",
        "equation_label": "式{label}",
    },
}
_THINGS: Final = {
    "en": {
        "figure": ("figure", "figures"),
        "table": ("table", "tables"),
        "equation": ("numbered equation", "numbered equations"),
        "section": ("section", "sections"),
        "numbered_section": ("numbered section", "numbered sections"),
        "author": ("author", "authors"),
        "reference": ("list of references", "list of references"),
    },
    "zh": {
        "figure": ("幅图", "带题注的图"),
        "table": ("个表", "带题注的表"),
        "equation": ("个带编号的公式", "带编号的公式"),
        "section": ("个章节", "章节"),
        "numbered_section": ("个带编号的章", "带编号的章节"),
        "author": ("位作者", "作者"),
        "reference": ("条参考文献", "参考文献表"),
    },
}


def format_fact(key: str, lang: str, **values: str) -> str:
    return _TEXTS["zh" if lang == "zh" else "en"][key].format(**values)


def format_noun(kind: str, n: int, lang: str) -> str:
    """The noun as it stands behind a number; behind none, alone."""
    one, other = _THINGS["zh" if lang == "zh" else "en"][kind]
    if lang == "zh":
        return one if n else other
    return one if n == 1 else other


def join_items(items: Sequence[str], lang: str) -> str:
    """`a, b and c`, `a、b和c`."""
    if lang == "zh":
        return "、".join(items[:-1]) + ("和" if len(items) > 1 else "") + "".join(items[-1:])
    return ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + "".join(items[-1:])
