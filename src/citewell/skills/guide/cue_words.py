"""Words by which a sentence of a paper shows its purpose, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from citewell.skills.guide.paper_name import OWN_WORK
from citewell.skills.paper.reading_context import Slot


def compile_any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _weigh(weight: float, *patterns: str) -> tuple[re.Pattern[str], float]:
    return compile_any(*patterns), weight


COMPARED: Final = compile_any(
    r"\b(?:outperform|improv|boost|gain|surpass|exceed|reduc|increas|decreas|declin|drop|"
    r"halv|doubl|cut)\w*\b",
    r"\b(?:better|higher|lower|larger|smaller|faster|slower|worse|less|fewer|more) "
    r"(?:\w+ )?than\b|\bstate-of-the-art\b",
    r"\b(?:best|lowest|highest|largest|smallest|fewest|fastest|fell|falls?|rose|rises?|"
    r"beats?|saved|lowers|against)\b",
    "优于|提高|提升|高于|低于|超过|超越|达到|降低|降至|降到|升至|升到|减少|缩短|最优|最好|"
    "最高|最低|最大|最小|下降|上升|领先|[高低快慢多少][了]?\\s*\\d",
)
CUES: Final[Mapping[Slot, tuple[tuple[re.Pattern[str], float], ...]]] = {
    "problem": (
        _weigh(
            0.8,
            r"\b(?:challeng|obstacle|bottleneck|gap\b|drawback|difficult|struggl|suffer|"
            r"prone to|hamper|harder)\w*",
            "挑战|难以|瓶颈|困难|受限|制约|无能为力",
        ),
        _weigh(
            0.5,
            r"\b(?:lack|fail|limited|cannot|costly|expensive|remains?|insufficient|"
            r"despite|unable|unclear|costs?\b)\w*",
            "缺乏|不足|尚未|较差|昂贵|无法|忽略|问题|很少|耗时",
        ),
        _weigh(
            0.3,
            r"\b(?:important|crucial|essential|central|requires?|need(?:s|ed)?)\b",
            "重要|关键|亟需|迫切|需要",
        ),
    ),
    "contributions": (
        _weigh(
            0.8,
            r"\b(?:propose|present|introduce|novel|new "
            r"(?:method|model|framework|approach|dataset|benchmark|task)|"
            r"first to|contributions?|collect|define a|comprehensive|exhaustive|taxonomy)\w*\b",
            "提出|首次|创新|贡献|构建了?|设计了?|发布",
        ),
        _weigh(0.4, r"\b(?:in this|this|our) (?:paper|work|study|survey)\b", "本文|本研究"),
        (OWN_WORK, 0.4),
    ),
    "method": (
        _weigh(
            0.6,
            r"\b(?:consists? of|decompos\w+|compris\w+|modules?|components?|stages?|steps?|"
            r"pipeline|framework|categori[sz]\w+|taxonom\w+|joins?|parts)\b",
            "由.{1,20}(?:组成|构成)|模块|分为|阶段|步骤|框架|流程",
        ),
        _weigh(
            0.4,
            r"\b(?:translat|generat|execut|delegat|train|encod|optimi[sz]|refin|revis|retriev|"
            r"convert|combin|appl|comput|learn|utili[sz]|leverag|integrat|perform|prompt|correct|"
            r"predict|turns|reads|maps?)\w*\b",
            "利用|采用|通过|输入|输出|生成|编码|训练|融合|计算|检索|引入|使用|修正|改写|召回|排序",
        ),
        _weigh(
            0.4,
            r"\bwe (?:first|then|use|utili[sz]e|adopt|train|apply|employ|leverage|combine|"
            r"delegate|execute)\b|\b(?:first|then|afterwards?|subsequently)\b",
            "首先|然后|其次|最后|接着|随后|先.{2,40}再",
        ),
    ),
    "results": (
        (COMPARED, 0.7),
        _weigh(
            0.5,
            r"\b(?:achiev\w*|results? (?:show|indicate|suggest|demonstrate)|we "
            r"(?:find|observe|found|show)|on average|"
            r"compared (?:to|with)|findings|has (?:generally )?shown|reports?)\b",
            "结果表明|实验表明|实验结果|平均|相比|取得|发现|说明",
        ),
    ),
    "limits": (
        _weigh(
            0.4, r"\b(?:limitation|shortcoming|drawback|weakness|caveat)s?\b", "局限|不足|缺点|限制"
        ),
        _weigh(
            0.6,
            r"\b(?:cannot|does not|do not|did not|fails?|struggle\w*|unable|only|bounded|"
            r"difficult\w*|higher cost|expensive|depends? on|relies on|requires?|lack|open "
            r"(?:question|challenge|problem)|remains?|unclear|underexplored|uncertain|nothing is "
            r"known|incurs?|not (?:well-)?\w+)\b",
            "仅|只|未能|无法|尚未|有待|依赖|较高|较慢|难以|不能|没有|需要更|低于|不足",
        ),
        _weigh(
            0.3,
            r"\bfuture (?:work|research|stud)\w*|\bin (?:the )?future\b",
            "未来|今后|下一步|后续",
        ),
    ),
}
ASKED: Final[Mapping[Slot, Mapping[str, str]]] = {
    "problem": {
        "en": "What problem the paper addresses, why it matters and what earlier work lacks.",
        "zh": "论文要解决什么问题，为什么重要，已有研究有什么不足。",
    },
    "contributions": {
        "en": "What is new in this paper: its main contributions.",
        "zh": "论文的创新点和主要贡献。",
    },
    "method": {
        "en": "How the proposed method works, step by step.",
        "zh": "所提方法的原理和步骤。",
    },
    "results": {
        "en": "The main results and findings, with their figures.",
        "zh": "主要实验结果和结论，以及具体数值。",
    },
    "limits": {
        "en": "The limitations of the method, what it cannot do, its costs and what is left to do.",
        "zh": "方法的局限和不足，代价，以及未来工作。",
    },
}
