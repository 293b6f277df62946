"""What answer a question wants: by patterns where they can, else by the nearest example."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from citewell.models.base import Embedder
from citewell.text.entities import extract_entities

RULE_CONFIDENCE = 0.9
# their answers may be spread over several passages
WIDE = frozenset({"comparison", "list", "summary"})
# by example alone 36 of 40 were right on the probes in the notes on models
NEAREST_CONFIDENCE = 0.75
DEFAULT_CONFIDENCE = 0.5

# In order: the first pattern that matches names the intent.
_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "smalltalk",
        (
            r"^\W*(?:hi|hello|hey|thanks?(?: you)?(?: very much)?|good "
            r"(?:morning|evening|afternoon)|bye)\W*$"
        ),
        r"^\W*(?:你好|您好|谢谢[你您]?|再见|早上好|晚上好|在吗)\W*$",
    ),
    ("summary", r"\b(?:summari[sz]e|summary|overview|tl;?dr)\b", r"总结|概括|摘要|概述"),
    (
        "comparison",
        r"\b(?:compare|comparison|differen(?:ce|t)|versus|vs|better than)\b",
        r"区别|不同|对比|比较|相比",
    ),
    (
        "procedure",
        r"\bhow (?:do|can|should|would|to)\b|\bsteps?\b",
        r"怎么(?!样)|如何|怎样|步骤|流程",
    ),
    ("reason", r"\bwhy\b|\bwhat (?:is|was|are) the reason", r"为什么|为何|原因|何故"),
    ("list", r"\b(?:list|which of|what are)\b", r"哪些|列出|有什么|包括什么"),
    (
        "definition",
        r"^\W*what (?:is|does) (?:an? )?[\w -]{2,30} mean\W*$|\bdefin(?:e|ition)\b",
        r"什么是|是什么意思|定义",
    ),
    (
        "fact",
        # "how high is it" and its like; not "how are you", which is asked of nobody's documents
        (
            r"\b(?:who|whom|whose|when|where|which|what|how(?! are (?:you|things)\b| is (?:it "
            r"going|your)\b)(?= \w))\b"
        ),
        r"谁|几|多[少久长高大重远深宽厚快早晚]|何时|什么|哪|何|(?<![你您])呢\W*$",
    ),
    (
        "yes_no",
        r"^\W*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had)\b",
        r"吗\W*$|是否|能不能|可不可以|有没有",
    ),
)
RULES = tuple(
    (label, re.compile(f"{english}|{chinese}", re.IGNORECASE)) for label, english, chinese in _RULES
)

EXAMPLES: dict[str, tuple[str, ...]] = {
    "fact": (
        *("the price of the large model", "opening hours on Sunday", "保修期", "公司地址和电话"),
        # what goes on with the question before
        *("and for children", "the same in winter", "另外一个的", "只看第二年"),
    ),
    "procedure": (
        "getting a refund for a broken unit",
        "replace the filter cartridge",
        "申请年假",
        "更换滤芯",
    ),
    "definition": ("meaning of gross weight", "the term carry-over", "有效期的含义", "名词解释"),
    "reason": ("cause of the alarm light", "指示灯闪烁的缘故"),
    "comparison": ("basic plan or premium plan", "标准版还是专业版"),
    "list": ("all benefits of employees", "全部配件"),
    "summary": ("main points of this document", "这份文件的要点"),
    "yes_no": ("allowed to work from home on Friday", "允许带宠物上班"),
    "smalltalk": ("nice to meet you", "how are you today", "很高兴认识你", "今天过得怎么样"),
}


@dataclass(frozen=True, slots=True)
class Intent:
    label: str
    confidence: float


def has_pattern(text: str) -> bool:
    """Whether any rule fires: the text asks in one of the known ways."""
    return any(pattern.search(text) for _, pattern in RULES)


async def classify_intent(text: str, embedder: Embedder | None) -> Intent:
    """By rule where one fires, else by the nearest labelled example, else `fact`."""
    for label, pattern in RULES:
        if pattern.search(text):
            return Intent(label, RULE_CONFIDENCE)
    if embedder is None:
        return Intent("fact", DEFAULT_CONFIDENCE)
    labels = [label for label, texts in EXAMPLES.items() for _ in texts]
    examples = await embedder.passages([text for texts in EXAMPLES.values() for text in texts])
    likeness = examples @ await embedder.query(text)
    # whoever names something asks about it: "2022 World Cup final, men's singles champion"
    if extract_entities(text):
        likeness[[label == "smalltalk" for label in labels]] = -1.0
    return Intent(labels[int(np.argmax(likeness))], NEAREST_CONFIDENCE)
