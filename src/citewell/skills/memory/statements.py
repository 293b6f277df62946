"""What a clause states of the one who says it, in English and Chinese: `my plan is Pro` is (plan,
Pro). A pattern matches a whole clause or nothing, so that questions, reports and suppositions state
nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import rjieba

LONGEST_VALUE = 200  # characters


@dataclass(frozen=True, slots=True)
class Stated:
    """`subject`: a lower-case key. `many`: several may hold; else a later one contradicts."""

    subject: str
    value: str
    many: bool = False


# Subjects of both languages that mean the same: a fact told in one is found and contradicted in the
# other.
_SAME = (
    ("name", "姓名", "名字", "名称", "full name"),
    ("plan", "套餐", "subscription", "订阅", "版本套餐"),
    ("company", "公司", "employer", "单位"),
    ("department", "部门", "team"),
    ("office", "办公室"),
    ("office location", "办公室位置"),
    ("company location", "公司位置"),
    ("live in", "住", "city", "城市", "住址", "home address"),
    ("work in", "工作", "work at", "work for"),
    ("role", "身份", "job", "职位", "position", "job title", "岗位", "职业", "title"),
    ("age", "年龄"),
    ("from", "来自", "hometown", "老家", "家乡"),
    ("email", "邮箱", "email address", "e-mail", "电子邮箱"),
    ("phone", "电话", "phone number", "手机", "手机号", "电话号码"),
    ("language", "语言"),
    ("country", "国家"),
    ("birthday", "生日"),
    ("account", "账号", "账户"),
    ("use", "用"),
    ("like", "喜欢", "prefer"),
    ("responsible for", "负责"),
)
_ALIASES = {name: group for group in _SAME for name in group}

_NOT_SUBJECTS = re.compile(  # what these are is said of the question, not of the user
    r"(?:question|query|problem|issue|concern|guess|point|understanding|goal|aim|idea|opinion|"
    r"request|thought|suggestion|"
    r"impression|answer|bad|fault|mistake)s?\b|问题|疑问|意思|意图|想法|目的|目标|建议|理解|"
    r"猜测|感觉|看法|意见|请求|错|需求|重点"
)
_PASSING = re.compile(  # a state of the moment, or no value at all
    r"(?:to|too|very|so|still|now|just|being|going|about|wrong|broken|late|missing|gone|slow|"
    r"stuck|lost|dead|not working|"
    r"that|how|why|what|whether|if|here|there|this|these|it|fine|ok|good|bad|great|(?!(?:during|"
    r"nothing)\b)[a-z]+ing)\b|"
    r"这样|那样|这个|那个|不是|坏|慢|错|丢|怎|如何|为了|想|要|有问题",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(?:located |based |situated )?(?:in|at|near)\s+", re.IGNORECASE)
_CONDITION = re.compile(r"(?:open|closed|free|available|busy|\w{3,}ed)\b", re.IGNORECASE)
_ADJECTIVES = re.compile(
    r"^(?:current|present|new|own|actual|real|usual|present-day)\s+|^(?:现在|目前|当前|新)的?",
    re.IGNORECASE,
)

_S = r"(?P<s>[A-Za-z][\w'’-]*(?:\s+[\w'’-]+){0,3}?)"
_V = r"(?P<v>\S.*)"
_I_AM = r"i(?:['’]m|\s+am)"
_I_HAVE = (
    rf"(?:{_I_AM}\s+on|i(?:['’]ve|\s+have)(?:\s+got)?|i\s+(?:subscribe|upgraded|switched|moved|"
    r"changed)\s+to)"
)
# (pattern, subject or "" where the pattern has it as `s`, many)
_ENGLISH: tuple[tuple[str, str, bool], ...] = (
    (r"my\s+(?:full\s+)?name(?:['’]s|\s+is)\s+" + _V, "name", False),
    (r"(?:please\s+|you\s+can\s+|just\s+)?call\s+me\s+" + _V, "name", False),
    (rf"{_I_AM}\s+called\s+" + _V, "name", False),
    (
        (
            rf"{_I_HAVE}\s+(?:the\s+|an?\s+)?(?P<v>[\w+.-]+(?:\s+[\w+.-]+)?)\s+(?:plan|"
            r"subscription)(?:\s+now)?"
        ),
        "plan",
        False,
    ),
    (rf"{_I_AM}\s+(?P<v>\d{{1,3}})(?:\s+years\s+old)", "age", False),
    (rf"(?:{_I_AM}|i\s+come)\s+(?:originally\s+)?from\s+" + _V, "from", False),
    (rf"(?:i\s+live|{_I_AM}\s+(?:based|living))\s+in\s+" + _V, "live in", False),
    (rf"(?:i\s+work|{_I_AM}\s+working)\s+(?P<s>in|at|for|with)\s+" + _V, "work {s}", False),
    (r"i\s+work\s+as\s+" + _V, "role", False),
    (rf"(?:i\s+work|{_I_AM}\s+working)\s+on\s+" + _V, "work on", True),
    (rf"{_I_AM}\s+(?:responsible\s+for|in\s+charge\s+of)\s+" + _V, "responsible for", True),
    (
        (
            rf"{_I_AM}\s+(?P<v>(?:an?|the)\s+(?!bit|little|lot|few|one\b|same|first|only|fool|"
            r"idiot)\S.*)"
        ),
        "role",
        True,
    ),
    (r"(?:i|we)\s+(?:(?:always|usually|mostly|mainly|currently)\s+)?use\s+" + _V, "use", True),
    (
        r"i\s+(?:(?:always|usually|really)\s+)?(?:prefer|like|love)\s+(?!to\s+(?:know|ask|have|"
        r"see|get)\b)" + _V,
        "like",
        True,
    ),
    (rf"(?:my|our)\s+{_S}\s+(?:is|are)\s+" + _V, "", False),
)
_NOUN = r"(?P<s>[^\s，。是在叫的为]{1,10}?)"
_CHINESE: tuple[tuple[str, str, bool], ...] = (
    (
        (
            r"(?:我(?:的)?(?:名字|姓名)?(?:就?叫|名叫|是叫)|我的?(?:名字|姓名)是|(?:请|"
            r"你?可以)?叫我)(?:做|作)?(?P<v>[^\s，]{1,20}?)(?:就行|就好|吧)?"
        ),
        "姓名",
        False,
    ),
    (
        (
            r"我(?:们)?(?:现在|目前)?(?:是|用的是|买的是|订的是)"
            r"(?P<v>[^\s，]{1,8}版)的?(?:用户|会员|套餐|客户)"
        ),
        "套餐",
        False,
    ),
    (
        r"我(?:们)?(?:已经)?(?:升级|换|改)(?:到|成)了?(?P<v>[^\s，]{1,8}版)(?:套餐)?了?",
        "套餐",
        False,
    ),
    (r"我(?:今年)?(?P<v>\d{1,3}|[一二三四五六七八九十]{1,4})岁了?", "年龄", False),
    (r"我(?:是)?来自(?P<v>\S+)", "来自", False),
    (r"我(?:现在|目前)?(?:住|居住)在?(?P<v>(?!在)\S+)", "住", False),
    (r"我(?:现在|目前)?在(?P<v>\S+?)(?:工作|上班|任职)", "工作", False),
    (r"我(?:现在|目前)?在(?P<v>\S+?(?:部|部门|组|公司|团队))", "工作", False),
    (
        r"我(?:们)?(?:现在|目前|平时|一直|主要|通常)?(?:用的是|使用的是|在用|在使用)(?P<v>\S.*)",
        "用",
        True,
    ),
    (r"我(?:们)?(?:平时|一直|主要|通常)(?:使用|用)(?P<v>\S.*)", "用", True),
    (r"我(?:现在|目前|主要)?负责(?P<v>\S.*)", "负责", True),
    (r"我(?:比较|更|最|很)?(?:喜欢|偏好|习惯)(?P<v>\S.*)", "喜欢", True),
    (rf"(?:我们|咱们|我)的?{_NOUN}(?P<place>在|位于)(?P<v>\S+)", "", False),
    (rf"(?:我们|咱们|我)的{_NOUN}(?:是|为|叫)(?P<v>\S.*)", "", False),
    (r"(?:我们|咱们)(?P<s>公司|部门|团队|办公室|学校|单位|组|店)(?:是|叫)(?P<v>\S.*)", "", False),
    (r"我是(?P<v>(?![不否在说想要来问指为用从一这那谁因被把去第])\S.*)", "身份", True),
)
_PATTERNS = tuple(
    (re.compile(pattern + r"\s*[.!。！~]*", re.IGNORECASE), subject, many)
    for pattern, subject, many in (*_ENGLISH, *_CHINESE)
)


def parse_clause(clause: str) -> Stated | None:
    """What one clause states of its speaker, and not only for the moment; else None."""
    clause = clause.strip()
    for pattern, subject, many in _PATTERNS:
        match = pattern.fullmatch(clause)
        if match:
            found = _build_statement(match, subject, many=many)
            if found is not None:
                return found
    return None


def get_aliases(subject: str) -> tuple[str, ...]:
    """The subjects that mean this one, itself first."""
    return (subject, *(name for name in _ALIASES.get(subject, ()) if name != subject))


def is_same_subject(one: str, other: str) -> bool:
    return other in get_aliases(one)


def _build_statement(match: re.Match[str], subject: str, *, many: bool) -> Stated | None:
    groups = match.groupdict()
    value = match["v"].strip(" .!。！~")
    subject = subject.format(s=(groups.get("s") or "").lower()) or _normalize_subject(match["s"])
    if (
        not value
        or len(value) > LONGEST_VALUE
        or _NOT_SUBJECTS.match(subject)
        or _PASSING.match(value)
    ):
        return None
    if subject == "身份" and _is_person(value):
        return Stated("姓名", value)
    if groups.get("place"):
        return Stated(subject + "位置", value)
    if _PLACE.match(value) and " " not in subject and subject not in _ALIASES.get("role", ()):
        return Stated(subject + " location", _PLACE.sub("", value, count=1), many)
    if _CONDITION.match(value) and not many:
        # one thing among several that may be said of it
        return Stated(f"{subject} {value}".lower(), value, many=True)
    return Stated(subject, value, many)


def _normalize_subject(subject: str) -> str:
    return _ADJECTIVES.sub("", " ".join(subject.lower().replace("’", "'").split()))


def _is_person(value: str) -> bool:
    words = rjieba.tag(value)
    return len(words) == 1 and words[0][1] in {"nr", "nrt"}
