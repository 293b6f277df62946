"""Does a text hold a secret: a password, a PIN, a key, a card or identity number? The one rule: in doubt it does, for what is
not remembered can be said again, and what was remembered has been written down.
"""

from __future__ import annotations

import re

# What is kept secret in words or figures, and what is so by its number only.
_WORDS = (
    r"pass(?:word|code|phrase|wd)s?|pwd|pin (?:code|number)|api[ _-]?keys?|(?:secret|private|access|license) keys?|"
    r"(?:(?:access|api|auth\w*|bearer|refresh|session)[ _-])?tokens?|(?:login )?credentials?|cvv2?|cvc2?|otp|"
    r"(?:security|recovery|one-time|door|safe) codes?"
)
_NUMBERED = r"ssn|social security|(?:credit|debit|bank) ?card|card|(?:bank )?account|iban|passport"
_WORDS_ZH = r"密码|口令|验证码|密钥|秘钥|私钥|令牌|助记词|安全码"
_NUMBERED_ZH = r"银行卡|信用卡|储蓄卡|借记卡|卡号|银行账[号户]|身份证|护照|社保卡?号"
_RULE = (  # "a password is required" tells a rule, not a password
    r"(?:required|needed|not|never|optional|mandatory|case|valid|encrypted|hashed|stored|sent|reset|set|changed|expired|"
    r"accepted|issued|at (?:least|most)|up to|too|longer|shorter|the same|an?)\b"
)
_RULE_ZH = r"什么|多少|必|否|空|由|用|不|加密|区分"
_TOLD = re.compile(
    rf"\b(?:{_WORDS})\b(?:\s+(?:for|of|to|on|at)\s+[\w' -]{{1,40}}?)?\s*(?:\bis\b|\bare\b|\bwas\b|[:：=])\s*(?!{_RULE})\S|"
    rf"\b(?:{_WORDS})\b\s+\S*\d{{3}}|"
    rf"\b(?:{_NUMBERED})(?: (?:number|no\.?))?\W{{0,3}}(?:\b(?:is|ends (?:in|with))\b\W*)?[A-Z]{{0,2}}(?:\d[ -]?){{4,}}|"
    rf"(?:{_WORDS_ZH})(?!长度|位数|强度|规则|要求|有效期|策略|错误)"
    rf"[^，。；,;？?\s必须应]{{0,8}}?(?:是|为|叫|[:：=])\s*(?!{_RULE_ZH})[^\s？?吗]|"
    rf"(?:{_WORDS_ZH})\s*[A-Za-z\d]\S*\d|"
    rf"(?:{_NUMBERED_ZH})(?:号码?)?\s*(?:是|为|[:：])?\s*[A-Z]{{0,2}}\d{{4}}",
    re.IGNORECASE,
)
_OWN = re.compile(
    rf"\b(?:my|our)\s+(?:[\w'’.-]+\s+){{0,3}}(?:{_WORDS}|pin|ssn|iban|"
    r"(?:credit |debit |bank )card|(?:card|account|passport) (?:number|no))\b|"
    rf"(?:我|咱)们?的?[^，。；,;？?\s]{{0,8}}(?:{_WORDS_ZH}|{_NUMBERED_ZH})",
    re.IGNORECASE,
)
_PIN = re.compile(r"\bPIN\b(?:\s+is)?\W{0,4}\d")
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{16,}|\bglpat-[\w-]{12,}|\bxox[abprs]-[\w-]{10,}|"
    r"\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]+-----|\w://[^\s/:@]+:[^\s/@]+@|"
    r"\b\d{3}-\d{2}-\d{4}\b|(?<!\d)\d{17}[\dXx](?![\dA-Za-z])|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b"
)
_DIGITS = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_RANDOM = re.compile(r"(?<![\w/.])(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)[A-Za-z0-9+=_-]{24,}(?![\w/.])")


def is_secret(text: str) -> bool:
    """Whether it tells, or speaks of the user's own, password, PIN, key, token, card or identity number."""
    return bool(
        _OWN.search(text) or _PIN.search(text) or _TOLD.search(text) or _SHAPES.search(text) or _RANDOM.search(text)
    ) or any(_is_card(re.sub(r"\D", "", match.group())) for match in _DIGITS.finditer(text))


def _is_card(digits: str) -> bool:
    """The check digit of payment cards (Luhn)."""
    doubled = [int(d) * (2 if at % 2 else 1) for at, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0
