"""The Markdown document of a confirmed chain, with everything hostile that people may have
typed.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from citewell.config import IngestSettings
from citewell.ingest.markup.markdown import parse
from citewell.store.confirmed.item_files import (
    clean_text,
    escape_block,
    fence_code,
    read_front_matter,
    render_document,
    render_front_matter,
)
from citewell.store.confirmed.types import Confirmation, Confirmed
from citewell.types import IntentAnalysis

HEADINGS = [
    "# 人工确认的问答链路",
    "## 用户问题",
    "## 意图分析 (正确范式)",
    "## 执行逻辑 (标准答案)",
    "## 最终回答",
    "## 验证信息",
]
HOSTILE = [
    "---\nid: other\n---\n# x",
    "a\n---\nb",
    "a\n===\nb",
    "...\n",
    "# x\n## 用户问题\nno",
    "```\n# out\n```",
    "````sql\nDROP TABLE x\n````\n~~~\ny",
    "!!python/object/apply:os.system ['true']",
    "*anchor &anchor {a: b} [c, d] | > % @ `",
    "title: yes\npriority: low",
    "null",
    "~",
    "2024-01-01",
    "0x1F",
    "1e3",
    "yes",
    "- a\n- b\n1. c\n2) d",
    "> quoted\n    code\n\tcode",
    "<script>alert(1)</script>\n<!-- hidden -->\n<h1>no</h1>",
    "[link](http://x.example)\n![image](y.png)\n[ref]: http://x.example",
    "| a | b |\n|---|---|\n| c | d |",
    "a\n:-:\nb",
    "**bold** _em_ ~~struck~~ snake_case_name \\ &amp; &#35;",
    "\x00\x1b[31mred\x07\r\nend\u2028line\u2029par\x85nel",
    "\u202eright to left\u2066\u2069\ufeff\u200b",
    "half \ud800 characters \udfff",
    "emoji 👩‍👩‍👧 and 𝔘 and 漢字",
    "q" * 5000,
    "long words " * 500,
    "'single' \"double\" `tick` \\backslash",
    "trailing space  \nand tab\t\nnext\\",
    " \u3000 \n\u3000\nwide space",
    "",
]


def item(hostile: str) -> Confirmed:
    return Confirmed(
        item_id="qa_confirmed_tr_1",
        trace_id="tr_1",
        agent="data",
        question=hostile,
        lang="en",
        intent=IntentAnalysis(
            intent_type=hostile, parameters={hostile: hostile}, reasoning=hostile
        ),
        logic=hostile,
        answer=hostile,
        state="active",
        confirmed_by=[Confirmation(user_id=hostile, trace_id="tr_1", at=1705572000.0)],
    )


def hold(hostile: str) -> None:
    """The front matter reads back equal; headings and fences are ours alone; what was typed is read
    as text.
    """
    written = render_document(item(hostile))
    assert read_front_matter(written) == {
        "id": "qa_confirmed_tr_1",
        "title": clean_text(hostile),
        "category": "confirmed_qa",
        "tags": ["auto-generated", "human-verified", *([clean_text(hostile)] if hostile else [])],
        "priority": "high",
    }
    front, _, body = written.partition("\n---\n\n")
    assert len(front.splitlines()) == 6, "each field on one line"
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body)
    opened = [token for token in tokens if token.type == "heading_open"]
    said = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert [
        f"{token.markup} {words}" for token, words in zip(opened, said, strict=True)
    ] == HEADINGS
    fences = [token for token in tokens if token.type == "fence"]
    assert [token.info for token in fences] == ["json", "sql"]
    assert fences[1].content.strip("\n") == clean_text(hostile).strip("\n")
    assert json.loads(fences[0].content) == {clean_text(hostile): clean_text(hostile)}
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert kinds <= {"heading", "inline", "paragraph", "fence", "bullet_list", "list_item"}
    inner = {child.type for token in tokens for child in token.children or []}
    # `strong_open` is of the labels that stand there in bold
    assert inner <= {
        "text",
        "text_special",
        "hardbreak",
        "strong_open",
        "strong_close",
        "softbreak",
    }
    assert (
        sum(child.type == "strong_open" for token in tokens for child in token.children or []) == 5
    )


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(hostile: str) -> None:
    hold(hostile)


def test_naughty_strings(shared_data: Path) -> None:
    """Every string of the big list."""
    with (shared_data / "robustness" / "naughty_strings.jsonl").open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    assert len(texts) > 100
    for text in texts:
        hold(text)


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_indexed_is_what_was_typed(hostile: str) -> None:
    """Our own parser, by which the document is indexed, gives the words back, and no section that
    is not ours.
    """
    read = parse(render_document(item(hostile)).encode("utf-8"), "x.md", IngestSettings())
    words = re.sub(r"\s", "", clean_text(hostile))
    assert words in re.sub(r"\s", "", read.text)
    assert {path[-1] for section in read.sections if (path := section.heading_path)} <= {
        each.lstrip("# ") for each in HEADINGS
    }


def test_the_documents_own_form() -> None:
    """Spec 004, section 4.2, word for word."""
    made = item("IT cost 有哪些服务").model_copy(
        update={
            "intent": IntentAnalysis(
                intent_type="general_query",
                parameters={"function": "IT"},
                reasoning="用户询问 IT。",
            ),
            "logic": "SELECT service\nFROM costs",
            "answer": "IT 费用包含：\n- Mail\n- Hosting",
            "confirmed_by": [Confirmation(user_id="User", trace_id="tr_1", at=1705572000.0)],
        }
    )
    assert render_document(made) == (
        "---\n"
        "id: qa_confirmed_tr_1\n"
        "title: IT cost 有哪些服务\n"
        "category: confirmed_qa\n"
        "tags: [auto-generated, human-verified, general_query]\n"
        "priority: high\n"
        "---\n\n"
        "# 人工确认的问答链路\n\n"
        "## 用户问题\nIT cost 有哪些服务\n\n"
        "## 意图分析 (正确范式)\n"
        "- **意图类型**: general_query\n"
        '- **参数提取**:\n```json\n{\n  "function": "IT"\n}\n```\n'
        "- **分析思路**: 用户询问 IT。\n\n"
        "## 执行逻辑 (标准答案)\n```sql\nSELECT service\nFROM costs\n```\n\n"
        "## 最终回答\nIT 费用包含：\\\n\\- Mail\\\n\\- Hosting\n\n"
        "## 验证信息\n- **验证时间**: 2024-01-18T10:00:00Z\n- **验证人**: User\n"
    )


def test_pieces() -> None:
    assert fence_code("a ``` b ```` c", "sql").splitlines()[0] == "`````sql"
    assert escape_block("1. a\n\n\n\nb_c _d_") == "1\\. a\n\nb_c \\_d\\_"
    assert render_front_matter({"a": "---\n# x"}) == '---\na: "---\\n# x"\n---'
    with pytest.raises(ValueError, match="no front matter"):
        read_front_matter("# x\n")
