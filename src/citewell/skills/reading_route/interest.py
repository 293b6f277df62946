"""What an interest asks for: a kind of part that any paper has, or a subject of its own. Meaning
decides, in either language: how near the interest comes to short descriptions of the kinds. No word
of it is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import Final, Literal

from citewell.ingest.paper.section_roles import is_setup_heading
from citewell.ingest.paper.shape import Part
from citewell.models.base import Embedder
from citewell.skills.paper.nearest_example import compare_examples

Kind = Literal["introduction", "related_work", "method", "results", "discussion", "data"]
DESCRIPTIONS: Final[Mapping[Kind, str]] = {
    "introduction": (
        "the motivation of the paper | why the problem matters"
        " | the background and the research question | 研究背景和动机 | 要解决的问题"
    ),
    "related_work": (
        "related work and prior approaches | what others have done before"
        " | comparison with previous methods in the literature | 相关工作 | 前人的研究和已有方法"
    ),
    "method": (
        "the proposed method and its architecture | how the algorithm works step by step"
        " | the training procedure and loss | the design of the model | 方法的原理和步骤"
        " | 模型结构 | 训练过程"
    ),
    "results": (
        "the experimental results | evaluation against baselines"
        " | accuracy and performance figures | how well does it perform | ablation study"
        " | 实验结果 | 性能和准确率 | 与基线的对比评估"
    ),
    "discussion": (
        "limitations and weaknesses | what the approach fails at"
        " | conclusions and future directions | open problems | 局限性和不足 | 未来工作 | 结论"
    ),
    "data": (
        "the datasets and corpora | how the data was collected and annotated"
        " | size of the data set | 数据集 | 语料的收集和标注"
    ),
}
NEAREST: Final = 2  # descriptions of a kind that count
# Mean cosine of those up to which an interest is a subject and from which on it asks for a part.
# 15 interests in other subjects came to 0.773 to 0.847, ten that name a part to 0.834 to 0.919.
SUBJECT, NAMED = 0.81, 0.855
# of two kinds whose cosines differ by so much, one is asked for e times as much
SPREAD: Final = 0.005


@dataclass(frozen=True, slots=True)
class Interest:
    """`kinds`: shares, sum 1, of what kind of part is asked for. `named`: 0 of a subject, 1 where a
    part is meant for sure.
    """

    kinds: Mapping[Kind, float]
    named: float

    def weigh_part(self, part: Part) -> float:
        """How much a part is of the kind that is asked for, 0 to 1. An appendix tells at length
        what the paper proper says.
        """
        if part.appendix:
            return 0.0
        data = self.kinds["data"] if is_setup_heading(part.heading) else 0.0
        own = next((share for kind, share in self.kinds.items() if kind == part.role), 0.0)
        return self.named * max(data, own)


async def read_interest(text: str, embedder: Embedder) -> Interest:
    """Raises ModelUnavailable."""
    cosines = await compare_examples(text, DESCRIPTIONS, embedder)
    near = {kind: sum(each[:NEAREST]) / NEAREST for kind, each in cosines.items()}
    best = max(near.values())
    shares = {kind: exp((value - best) / SPREAD) for kind, value in near.items()}
    whole = sum(shares.values())
    named = min(1.0, max(0.0, (best - SUBJECT) / (NAMED - SUBJECT)))
    return Interest({kind: share / whole for kind, share in shares.items()}, named)
