"""Does a text hold a secret: a password, a PIN, a key, a card or identity number? In doubt it does,
for what is not remembered can be said again, and what was remembered has been written down.
"""

from __future__ import annotations

import re
import unicodedata

# What is kept secret in words or figures, and what is so by its number only.
_WORDS = (
    r"pass[ -]?(?:word|code|phrase|wd)s?|pwd|pswd|psw|pw|pin (?:code|number)|api[ _-]?keys?|"
    r"(?:secret|private|access|license|licence|product|activation|encryption|decryption|ssh|gpg|"
    r"pgp|wi-?fi|network|wep|wpa[23]?|"
    r"master|root|signing|bitlocker|recovery|wallet)[ _-]keys?|"
    r"(?:(?:access|api|auth\w*|bearer|refresh|session)[ _-])?tokens?(?! "
    r"(?:budget|limit|count|usage|price|cost)s?\b)|"
    r"(?:log-?in )?credentials?|cvv2?|cvc2?|otp|"
    r"(?:security|recovery|backup|one-time|door|safe|gate|entry|access|alarm|garage|lock|lockbox|"
    r"locker|keypad|unlock|"
    r"verification|2fa|mfa|sms|wi-?fi)(?:['’]s)? (?:codes?|combinations?)|"
    r"(?:seed|recovery|backup|secret|mnemonic|wallet) (?:phrase|words)|mnemonic|security answers?|"
    r"(?:aws|azure|gcp|client|app|api|shared|webhook|jwt|oauth|consumer|signing|session|stripe)[ "
    r"_-]secrets?"
)
_NUMBERED = r"ssn|social security|(?:credit|debit|bank) ?card|card|(?:bank )?account|iban|passport"
_WORDS_ZH = (
    r"密码(?![学锁])|口令|验证码|密钥|秘钥|密匙|私钥|令牌|助记词|种子词|恢复(?:短语|词|密语)|"
    r"安全码|动态码|(?:门禁|门锁|开门|开锁|解锁|提取|"
    r"授权|激活|登[录陆]|访问|恢复|备用|PIN)码|密保(?:答案|问题)"
)
_NUMBERED_ZH = r"银行卡|信用卡|储蓄卡|借记卡|卡号|银行账[号户]|身份证|护照|社保卡?号"
_RULE = (  # "a password is required" tells a rule, not a password
    r"(?:(?:required|needed|not|never|optional|mandatory|case|valid|encrypted|hashed|stored|sent|"
    r"reset|set|changed|expired|"
    r"accepted|issued|at (?:least|most)|up to|too|longer|shorter|the "
    r"same|an?|entered|checked|generated|created|shown|hidden|"
    r"displayed|kept|saved|masked|protected|managed|rotated|revoked|verified|asked|requested|"
    r"locked|compromised|stolen|lost|"
    r"leaked|forgotten|wrong|incorrect|correct|weak|strong|rejected|blocked|unknown|missing|"
    r"billed|counted|charged)\b|"
    r"(?:\w+ed|used|made|given|found|written) "
    r"(?:in|on|at|by|with|from|when|if|for|as|after|per|every|automatically|only)\b)"
)
_RULE_ZH = r"什么|多少|怎|如何|谁|哪|几|必|否|空|由|用|不|按|在|加密|区分"
_ASIDE_ZH = r"长度|位数|强度|规则|要求|有效期|策略|错误"
_TICKET = (  # "my pass is for the whole zone" speaks of a ticket
    r"(?:for|from|on|in|at|to|with|only|also|still|about|good|free|cheap|expensive|monthly|"
    r"weekly|yearly|annual|daily|digital|"
    r"paper|gone|here|there|what|how|when|where|why|my|your|our|this|that|it|yellow|green|blue|"
    r"red|white|black)\b|the\s|\d+\s\w"
)
# What a secret looks like where the words around it do not say that it is one: four characters
# without a space, one of them a figure, that are no amount, time or address; figures alone only
# where the clause ends after them.
_NO_CODE = (
    r"[$€£¥~]|https?:|www\.|[\w.+-]{1,64}@[\w-]{1,64}\.|\d{1,2}:\d\d|\d{4}-\d\d?-\d\d?(?!\d)|"
    r"\d{4}/\d|\d+(?:\.\d+){2}|802\.11|"
    r"\d+(?:[.,]\d+)*[ -]?(?:%|[mck]?m|[mk]?g|[kmg]?hz|[kmg]b(?:it)?(?:/?ps|/s)?|db|k?wh?|k?va?|"
    r"px|dpi|a\.?m|p\.?m|h(?:ours?)?|"
    r"m?s|min(?:utes)?|days?|weeks?|months?|years?|bits?|bytes?|digits?|char\w*|letters?|words?|"
    r"st|nd|rd|th|°\w?|euros?|eur|usd|"
    r"rmb|dollars?|people|pieces|pages?|[元块米天年月日号秒个位字人点次万台层楼]|小时|"
    r"分钟)(?![a-z\d])"
)
_CODE = (
    rf"[\"'“”‘’「『`]?(?!{_NO_CODE})(?:"
    r"(?=[^\s，。；？、]{0,64}[a-z])(?=[^\s，。；？、]{0,64}\d)[a-z\d!#$%&*+@=_^~./-]{4,64}|"
    r"[#*]?(?=(?:[ -]?\d){3})\d{1,32}(?:[ -]\d{1,32}){0,5}[#*]?"
    r"(?=[\"'“”‘’」』`]?\s*(?:$|[^\w\s]|(?:and|but|or|for|on|in|at|now|not|then|please|to|as)\b|"
    r"[呢吗了])))"
)
_IS = (
    r"\s*(?:(?:\bis|\bare|\bwas|['’]s)(?:\s+(?:now|still|just|currently|actually|simply))?\b|[:=]|"
    rf"[是为](?!{_RULE_ZH}))\s*"
)
_IS_ZH = r"\s*(?:现在|目前|就)?(?:就?是|为|成了?|叫|[:：=])\s*"
_OF = r"(?:\s+(?:for|of|to|on|at|in)\s+[\w'’ -]{1,40}?)?"
_LOCKS = (
    r"wi-?fi|wlan|hotspot|router|alarm|safe|vault|door|gate|garage|(?:pad)?lock|lockbox|locker|"
    r"keypad|intercom|pin|voicemail"
)
_MODEL = r"(?-i:[A-Z][A-Za-z]*-?\d{2,4}[A-Z]{0,2}\b)"  # "our router is AX3000"
_LOCKS_ZH = (
    r"门禁|大门|房门|家门|门锁|单元门|楼门|智能锁|密码锁|保险[柜箱]|储物柜|报警器|警报|车库|"
    r"无线网络?|wi-?fi|路由器|热点|网银|"
    r"手机银行|登[录陆入]|账[号户]|帐[号户]"
)
_PLACES = (
    r"wi-?fi|log-?in|e-?mail|mail|admin|root|user|database|db|bank|work|computer|laptop|pc|"
    r"router|server|vpn|account|gmail|google|"
    r"apple|icloud|github|windows|outlook|netflix|amazon|paypal|facebook|steam"
)
_FEW = r"(?:[\w'’.-]{1,40}\s+){0,3}?"
_TOLD = tuple(
    # so that a word of Latin letters ends where Chinese begins
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"\b(?:{_WORDS})\b{_OF}{_IS}(?!{_RULE})[^\s?？]",
        rf"\b(?:{_WORDS})\b\s+\S{{0,64}}?\d{{3}}",
        rf"\b(?:{_WORDS})\b\s+(?![a-z]+-)(?=[a-z]{{0,64}}\d|\d+[a-z]){_CODE}",
        (
            rf"\b(?:{_WORDS}|pass|secret)\b{_OF}(?:\s+(?:is|was|has\s+been|got|"
            rf"gets))?\s+(?:re)?(?:set|changed?|updated)\s+to\s+{_CODE}"
        ),
        rf"(?<!\S){_CODE}[\"'”’]?\s+(?:is|was|as)\s+(?:my|our|the)\s+{_FEW}(?:{_WORDS}|pass|pin)\b",
        (
            rf"\b(?:my|our|{_PLACES})\s+(?:(?:{_PLACES})\s+)?pass{_IS}(?!{_RULE}|"
            rf"{_TICKET})[^\s?？]|\bpass\s*=\s*\S|\bpass{_IS}{_CODE}"
        ),
        rf"\b(?:my|our)\s+{_FEW}secrets?{_IS}(?!{_RULE})[^\s?？]|\bsecrets?{_OF}{_IS}{_CODE}",
        (
            r"\b(?:my|our|the)\s+(?!(?:primary|foreign|sort|partition|"
            rf"public)\b){_FEW}key{_OF}{_IS}{_CODE}"
        ),
        rf"\b(?:my|our|the)\s+(?:code|combination|combo){_OF}{_IS}{_CODE}",
        (
            r"\b(?:code|combination|combo|number|key)\s+(?:for|of|to|"
            rf"on)\s+{_FEW}(?:{_LOCKS})s?{_IS}(?!{_RULE})[^\s?？]"
        ),
        (
            rf"\b(?!(?:router|lock){_IS}{_MODEL})(?:{_LOCKS}){_OF}{_IS}{_CODE}|"
            rf"\bwi-?fi\s+[a-z]{{3,}}\d+\b|\bpin\s+\d{{3,8}}\b"
        ),
        (
            r"\b(?:opens?|opened|unlocks?|unlocked|disarm(?:s|ed)?|switched off|turned "
            rf"off)\s+(?:with|by)\s+{_CODE}"
        ),
        (
            rf"\b(?:log-?ins?|sign-?in|log-?on){_OF}{_IS}(?:[^\s,;，。；]{{1,64}}[, ] "
            rf"?){{0,2}}?{_CODE}"
        ),
        (
            rf"\b(?:log-?ins?|sign-?in|log-?on){_OF}{_IS}(?!https?:|{_RULE})"
            rf"[a-z][\w.@-]{{0,64}}\s*[/:|]\s*[^\s/]{{3}}"
        ),
        (
            rf"\b(?:{_NUMBERED})(?: (?:number|no\.?))?\W{{0,3}}(?:\b(?:is|ends "
            rf"(?:in|with))\b\W*)?[A-Z]{{0,2}}(?:\d[ -]?){{4,}}"
        ),
        (
            rf"(?:{_WORDS_ZH})(?!{_ASIDE_ZH})[^，。；,;？?\s必须应]{{0,8}}?(?:是|为|叫|成了?|"
            rf"[:：=])\s*(?!{_RULE_ZH})[^\s？?吗]"
        ),
        (
            rf"(?:{_WORDS_ZH})\s*[a-z\d]\S{{0,64}}\d|(?:助记词|种子词|恢复(?:短语|词|"
            r"密语))\s*[a-z]+ [a-z]+ [a-z]+"
        ),
        (
            rf"(?:{_LOCKS_ZH})[^，。；,;？?\s]{{0,6}}?{_IS_ZH}(?:{_CODE}|[a-z][\w.@-]{{0,64}}[/|"
            rf"][^\s/]{{3}})"
        ),
        r"用\s*[#*]?\d{4,8}[#*]?\s*(?:开门|开锁|打开|解锁|登[录陆])",
        rf"(?:{_NUMBERED_ZH})(?:号码?)?\s*(?:是|为|[:：])?\s*[A-Z]{{0,2}}\d{{4}}",
    )
)
_OWN = re.compile(
    rf"\b(?:my|our)\s+(?:[\w'’.-]+\s+){{0,3}}(?:{_WORDS}|pin|ssn|iban|"
    r"(?:credit |debit |bank )card|(?:card|account|passport) (?:number|no))\b|"
    rf"(?:我|咱)们?的?[^，。；,;？?\s]{{0,8}}(?:{_WORDS_ZH}|{_NUMBERED_ZH})",
    re.IGNORECASE | re.ASCII,
)
_PIN = re.compile(r"\bPIN\b(?:\s+is)?\W{0,4}\d", re.ASCII)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bglpat-[\w-]{12,}|"
    r"\bxox[abprs]-[\w-]{10,}|"
    r"\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z "
    r"]+-----|\w://[^\s/:@]+:[^\s/@]+@|"
    r"\b\d{3}-\d{2}-\d{4}\b|(?<!\d)\d{17}[\dXx](?![\dA-Za-z])|\b[A-Z]{2}\d{2}"
    r"(?: ?[A-Z0-9]{4}){3,7}\b"
)
_DIGITS = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_RANDOM = re.compile(
    r"(?<![\w/.])(?=\S{0,99}?[a-z])(?=\S{0,99}?[A-Z])(?=\S{0,99}?\d)[A-Za-z0-9+=_-]{24,}(?![\w/.])"
)


def is_secret(text: str) -> bool:
    """Of a statement: whether it tells a secret, or speaks of a password, PIN, key, token, card or
    number of the user's own.
    """
    return bool(_OWN.search(_fold_width(text))) or has_secret(text)


def has_secret(text: str) -> bool:
    """Whether a secret itself stands in it. "How do I reset my password?" tells none."""
    text = _fold_width(text)
    return any(pattern.search(text) for pattern in (_PIN, _SHAPES, _RANDOM, *_TOLD)) or any(
        _is_card(re.sub(r"\D", "", match.group())) for match in _DIGITS.finditer(text)
    )


def _fold_width(text: str) -> str:
    """Wide letters and figures are as good as narrow ones."""
    return unicodedata.normalize("NFKC", text)


def _is_card(digits: str) -> bool:
    """The check digit of payment cards (Luhn)."""
    doubled = [int(d) * (2 if at % 2 else 1) for at, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0
