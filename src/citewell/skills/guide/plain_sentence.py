"""A sentence of a paper without what only its page needs, and whether it then stands alone. Words
are only ever left out, none is put in.
"""

from __future__ import annotations

import re

from citewell.skills.evidence.prompt_injection import has_prompt_injection
from citewell.text.language import HAN
from citewell.text.sentences import detect_language

FEWEST_WORDS, MOST_WORDS = 7, 70  # of an English statement
FEWEST_HAN, MOST_HAN = 10, 180  # characters of a Chinese one
# share of its words above which a line is names: affiliations, a reference, a heading
CAPITALISED = 0.6

_CITED = re.compile(
    r"\s*[(（][^()（）]{0,400}?(?:\b(?:19|20)\d\d[a-z]?|et al\.|等)(?:[^()（）]{0,400}?)[)）]"
)
_YEAR = re.compile(r"(?:et al\.?|[A-Z][\w'’-]+|等人?)[,，]?\s+[(（]?(?:19|20)\d\d")
_NUMBERED = re.compile(
    r"(?<!文献)(?<!\bin)(?<!\bin\s)(?<!\bof)(?<!\bof\s)(?<!\bby)(?<!\bby\s)\s*\[\d{1,3}(?:\s*[,，"
    r";–-]\s*\d{1,3})*\]"
)
_POINTER = re.compile(
    r"\s*[(（](?:§|see\b|e\.g\.,? see|Sections?|Sec\.|Figures?|Fig\.|Tables?|Tab\.|Appendix|Eq\.|"
    r"如?图|如?表|见|参见|详见)[^()（）]{0,60}[)）]",
    re.IGNORECASE,
)
_NOTE_MARK = re.compile(r"(?<=[a-z\u4e00-\u9fff)”\"][.。!])\s?\d{1,2}$")
ITEM_MARK = re.compile(
    r"^(?:[(（](?:\d{1,2}|[ivx]{1,4}|[a-h]|[一二三四五六七八九十]{1,2})[)）]|(?:\d{1,2}|[ivx]{1,4}|"
    r"[a-h])[.)]\s|\d{1,2}、|[•·●–*▪-]\s|[①-⑳])\s*"
)
_SHOWN = re.compile(
    r"^We (?:can )?see (?:in|from) (?:Figure|Table|Fig\.|Tab\.)\s*\d+ that\s+|^As (?:Figure|Table|"
    r"Fig\.|Tab\.)\s*\d+ (?:shows|indicates|illustrates),\s+|^(?:As (?:can be )?(?:shown|seen|"
    r"illustrated|reported|presented|depicted|listed)\s+(?:in|by)|From|In|According "
    r"to)\s+(?:Figures?|Fig\.|Tables?|Tab\.)\s*[\w.()]+(?:\s*and\s*\w+)?,\s+(?=\w)|^(?:如|由|从|"
    r"根据)?(?:图|表)\s*\d+\s*(?:可以看出|可以看到|可以发现|可见|可知|所示|表明|显示|"
    r"中可以看出)?[，,:：]\s*"
)
_LINK_WORD = re.compile(
    r"^(?:However|Moreover|Furthermore|Additionally|In addition|Besides|Therefore|Thus|Hence|"
    r"Consequently|Accordingly|Nevertheless|Nonetheless|Finally|Lastly|First(?:ly)?|Second(?:ly)?|"
    r"Third(?:ly)?|Fourth(?:ly)?|Fifth(?:ly)?|First of all|Next|Then|Afterwards?|Subsequently|Also|"
    r"Overall|Notably|Specifically|Concretely|To be specific|Similarly|In particular|Likewise|"
    r"Meanwhile|To this end|In summary|To summari[sz]e|In conclusion|Most importantly|More "
    r"importantly|Importantly|Interestingly|Last but not least|In other words|In contrast|By "
    r"contrast|Instead|On the contrary|In light of these advancements|Despite this|As a "
    r"consequence|As a result),\s+|^(?:但是?|然而|因此|此外|同时|另外|首先|其次|再次|最后|最终|"
    r"综上所述|综上|总之|总的来说|为此|不过|而且|并且|因而|由此可见|具体来说|具体而言|具体地|"
    r"值得注意的是|进一步地?|第[一二三四五]|其一|其二|其三|一方面|另一方面)[，,、：:]\s*"
)
_LABELLED = re.compile(rf"^(?:[A-Z][\w-]*(?: [\w-]+){{0,4}}: (?=[A-Z])|[{HAN}]{{2,4}}：)")
_LEANS = re.compile(
    r".*\bfor this \w+, by\b|.*\bthe following (?:[\w-]+ )?(?:format|steps?|examples?)\b|"
    r"^.{0,60}\b(?:them|to (?:achieve|do) (?:this|so)|these (?:sub)?\w+s)\b|[^.]{0,40}\bto "
    r"achieve this\b|^.{0,60}\b(?:for|of|in|to|with|from|by) such\b(?! as\b)|^.{0,40}\bof (?:this|"
    r"that) (?!paper|work|study|survey|article|review|field|area)|^[^,]{0,120}\b(?:much|far|even|"
    r"significantly|considerably) (?:smaller|larger|higher|lower|better|worse|faster|slower|less|"
    r"more)\b(?!.*\b(?:than|compared|when|as)\b)|^(?:Two|Three|Four|Five|Several|Some) (?:(?:main|"
    r"major|key|common|popular|typical) )?(?:strateg|approach|method|categor|type|reason|"
    r"challenge|direction|way|kind|group|class)\w* (?:are|exist|include)\b|^The (?:\w+ed|"
    r"resulting) .{0,60}\bthen\b",
    re.IGNORECASE,
)
_WIDE_HYPHEN = re.compile(r"(?<=\w)- (?=[a-z])(?!(?:and|or|to)\b)")
_DANGLING = re.compile(
    r"^(?:(?:This|These|Those|That|Such|They|Its|Their|Them|He|She|Here|Both|Neither|Otherwise|"
    r"Another|Other|Similar|For (?:example|instance)|On the other hand|To (?:\w+ (?:this|these|"
    r"that|those|it|them|such)|do so)|(?:In|With|From|At|By|For|Of|Among|Unlike|Like|Despite) "
    r"(?:this|these|that|those|such)(?! (?:paper|work|study|survey|article)\b)|(?:While|Although|"
    r"Though|Because|Since|If|When|As) (?:this|these|it|they|that)|The (?:above|former|latter|same|"
    r"other|following|first|second|third|last|reasons?|observed|resulting))\b|It\b(?! (?:is|"
    r"remains|has been) (?:\w+ )?\w+ (?:to|that)\b)|(?:这|该|其|此|它|他们|她|上述|前者|后者|两者|"
    r"二者|如此|由此|以上|例如|比如|与此|相比之下|反之|另一)(?!外))"
)
_OWN_WORK = re.compile(
    r"^(?:This|The present) (?:paper|work|study|article|survey|thesis|review|report)\b",
    re.IGNORECASE,
)
_SIGNPOST = re.compile(
    r"\bas follows\b|\bis organi[sz]ed\b|\bin the (?:following|next)\b|\bcan be found in\b|\brest "
    r"of (?:this|the) paper\b|\b(?:mentioned|discussed|described) (?:above|earlier|before|in "
    r"(?:the )?previous sections?)\b|\bwe (?:now|next|then|first) (?:describe|discuss|present|"
    r"introduce|show)\b|\bwe (?:report|discuss)\b|\bwe (?:start|begin) by\b|\bwe first \w+ "
    r".{0,80}\band then (?:we )?(?:describe|introduce|present)\b|\b(?:is|are) (?:shown|given|"
    r"listed|reported|presented|provided|described|summari[sz]ed|available|illustrated) in\b|"
    r"\b(?:two|three|four|five|several|main|major) (?:\w+ )?(?:observations|limitations|reasons|"
    r"findings|questions|contributions|aspects)\b|\bFigure \d+ (?:shows|illustrates|compares|"
    r"gives|presents)\b|以下(?:局限|不足|问题|贡献|结论)|如下|见附录|结构安排|组织结构|将在第|"
    r"如图\s*\d+所示[。，]|详见|给出了(?:主要)?结果",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"[{}|\\∈∀∃→←⟨⟩∧∨¬⊕]|©|https?:|www\.|\bdoi\b|[A-Za-z0-9]@[A-Za-z]|\bProceedings "
    r"of\b|\bTransactions of\b|\ufffd| \.\.\. ",
    re.IGNORECASE,
)
# N=5 is a setting, all else with that sign a formula or code
_SETTING = re.compile(r"\b\w{1,3}\s?=\s?\d[\d.]*")
_STOPPED = re.compile(r"[.!。！][\"'”’」』)）\]]*$")
_STARTS = re.compile(rf"[\"'“‘「『《(（]?(?:[A-Z0-9]|[{HAN}])")
_HAN = re.compile(f"[{HAN}]")
_BETWEEN_HAN = re.compile(rf"(?<=[{HAN}，。；：、！？）])\s+(?=[{HAN}（])")


def clean_sentence(quote: str) -> str:
    """A sentence without references, pointers, marks and link words of its page."""
    text = _BETWEEN_HAN.sub("", " ".join(quote.split()))
    text = _CITED.sub(lambda m: "" if _YEAR.search(m[0]) else m[0], text)
    text = _POINTER.sub("", _NUMBERED.sub("", text))
    text = _NOTE_MARK.sub("", text)
    if ITEM_MARK.match(text):  # items of a list end with a semicolon
        text = _capitalize_first(
            ITEM_MARK.sub("", re.sub(r"；$", "。", re.sub(r";(?: and)?$", ".", text)))
        )
    # what begins small by itself is the rest of a sentence: `where m is the mass`
    for pattern in (_LINK_WORD, _SHOWN, _LINK_WORD):
        text, left_out = pattern.subn("", text, count=1)
        text = _capitalize_first(text) if left_out else text
    rest = _LABELLED.sub("", text, count=1)
    text = rest if is_complete_sentence(rest) else text
    return re.sub(r"\s+([,.;，。；])", r"\1", _WIDE_HYPHEN.sub("-", text)).strip()


def is_dependent_sentence(text: str) -> bool:
    """Whether it leans on the sentence before it."""
    return bool(_DANGLING.match(text) and not _OWN_WORK.match(text)) or bool(_LEANS.match(text))


def is_signpost(text: str) -> bool:
    """Whether it only says what comes where."""
    return bool(_SIGNPOST.search(text))


def is_complete_sentence(text: str) -> bool:
    """Whether it reads as a whole sentence of prose."""
    noisy = _NOISE.search(text) or has_prompt_injection(text) or "=" in _SETTING.sub("", text)
    if noisy or not _STOPPED.search(text) or not _STARTS.match(text):
        return False
    if any(text.count(opening) != text.count(closing) for opening, closing in ("()", "（）", "“”")):
        return False
    if detect_language(text) == "zh":
        return FEWEST_HAN <= len(_HAN.findall(text)) <= MOST_HAN
    words = re.findall(r"[^\W\d_][\w'’-]*", text)
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS:
        return False
    capitals = sum(str(word)[0].isupper() for word in words)
    return capitals <= CAPITALISED * len(words)


def shorten_sentence(text: str, most: int) -> str:
    """The beginning of a sentence, cut between words."""
    if len(text) <= most:
        return text
    cut = text[:most]
    return (cut.rpartition(" ")[0] if " " in cut[most // 2 :] else cut).rstrip(
        " ,，、;；:：(（"
    ) + "…"


def _capitalize_first(text: str) -> str:
    return text[:1].upper() + text[1:]
