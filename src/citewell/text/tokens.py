"""Tokenizes texts for the keyword index, and questions for searching it. Both are cut the same way.
Chinese is cut by jieba in search mode, and every two neighbouring characters are a token too,
because a dictionary alone misses words (研究人员用量子计算 cut as 用量|子 would lose 量子). A
change here needs a migration that writes the `words` table again.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

LONGEST = 64  # characters of one token; longer ones (base64, hashes, endless words) are cut
MOST_QUERY_TOKENS = 256
_USUAL = 32  # characters of a word whose tokens are remembered

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CJK = _HAN + "\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af"
_PART = rf"[^\W_{_CJK}]+"
_PIECE = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    rf"|(?P<word>{_PART}(?:[.\-_/:@&+]{_PART})*(?:[%‰°#]|\+\+)?)"
    r"|(?P<sign>[\u2600-\u27bf\U0001f000-\U0001faff])"
)
_PART_ASCII = "[a-z0-9]+"  # of folded text: all else of `_PIECE` takes characters beyond ASCII
_WORD_ASCII = re.compile(rf"{_PART_ASCII}(?:[.\-_/:@&+]{_PART_ASCII})*(?:[%#]|\+\+)?")
_HAN_RUN = re.compile(rf"[{_HAN}]+|[^{_HAN}]+")
_ATOM = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SAME = str.maketrans("\u2010\u2011\u2012\u2013\u2212\u2019", "-----'")

_STOP_EN = """
    a an and any are as at be been but by can could did do does for from had has have how i if in
    into is it its me my of on or our please shall should so tell than that the their them then
    there these they this those to us was we were what when where which who whom whose why will with
    would you your
"""
_STOP_ZH = """
    的 地 得 了 着 过 是 在 有 和 与 及 或 就 都 也 还 而 但 并 把 被 从 到 以 为 对 于 由 向 让 使
    会 能 要 可 请 吗 呢 吧 啊 呀 么 嘛 我 你 您 他 她 它 这 那 哪 谁 几 何 个 一个 一些 一下 我们
    你们 他们 她们 它们 咱们 这个 那个 这些 那些 这里 那里 这样 那样 哪个 哪些 哪里 哪儿 什么 什么样
    什么时候 怎么 怎么样 怎样 如何 为什么 为何 是否 是不是 有没有 能否 多少 请问 告诉 可以 能够 应该
    需要 以及 关于 对于 根据 因为 所以 如果 但是 并且 而且 或者 还是
"""
STOP_EN = frozenset(_STOP_EN.split())
STOP_ZH = frozenset(_STOP_ZH.split())

_local = threading.local()


def tokenize_for_index(text: str) -> list[str]:
    """Every token of `text`, in order, repeats included: what a chunk is stored under."""
    folded = _fold_text(text)
    tokens: list[str] = []
    if folded.isascii():
        for piece in _WORD_ASCII.findall(folded):
            tokens += _tokenize_word(piece)
        return tokens
    for kind, piece, number in _split_pieces(folded):
        if kind == "cjk":
            tokens += [number + piece[0]] if number else []
            tokens += _tokenize_cjk(piece)
        else:
            tokens += _tokenize_word(piece)
    return tokens


def tokenize_query(text: str) -> list[str]:
    """The tokens to search for, each once, without stop words unless there is nothing else."""
    return _collect_query_tokens(text, skip=True) or _collect_query_tokens(text, skip=False)


def tag_words(run: str) -> list[tuple[str, str]]:
    """The words of a run of Chinese characters in order, each with jieba's tag of its kind (n noun,
    v verb, ns place, ...).
    """
    return [(str(word), str(tag)) for word, tag in _load_jieba().tag(run)]


def is_prefix(token: str) -> bool:
    """A single Chinese character is looked for as the start of a token: of every pair."""
    return len(token) == 1 and re.fullmatch(f"[{_CJK}]", token) is not None


def build_filter_tokens(
    *, collection: str = "", doc_id: str = "", lang: str = "", kind: str = ""
) -> list[str]:
    """The tokens that filters ask for, one a value given, of letters that no tokenizer splits.
    Chunks of kind `text` have no mark of their kind: those of before there were kinds have none
    either.
    """
    mark = hashlib.sha256(collection.encode()).hexdigest()[:16] if collection else ""
    named = {"c_": mark, "d_": doc_id, "l_": lang, "k_": "" if kind == "text" else kind}
    return [prefix + value for prefix, value in named.items() if value]


def _collect_query_tokens(text: str, *, skip: bool) -> list[str]:
    tokens: list[str] = []
    for kind, piece, number in _split_pieces(_fold_text(text)):
        if kind == "cjk":
            tokens += [number + piece[0]] if number else []
            unit = piece[0] if number else ""  # alone it would find every word that begins so
            tokens += [token for token in _tokenize_cjk_query(piece, skip=skip) if token != unit]
        elif not (skip and piece in STOP_EN):
            tokens += _tokenize_word(piece)
    return list(dict.fromkeys(tokens))[:MOST_QUERY_TOKENS]


def _fold_text(text: str) -> str:
    """Half width, lower case, one kind of hyphen, no thousands separators."""
    text = unicodedata.normalize("NFKC", text).translate(_SAME).casefold()
    return _THOUSANDS.sub("", text).replace("'s ", " ").replace("'", "")


def _split_pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """(kind, piece, number): `number` before a Chinese piece, its unit (14天, 14 天), or empty."""
    number, number_end = "", -2
    for match in _PIECE.finditer(text):
        kind, piece = str(match.lastgroup), match.group()
        near = match.start() == number_end or (
            match.start() == number_end + 1 and text[number_end] == " "
        )
        yield kind, piece, number if near and kind == "cjk" else ""
        is_number = _ATOM.fullmatch(piece) is not None and piece[0].isdigit()
        number, number_end = (piece, match.end()) if is_number else ("", -2)


def _tokenize_cjk(run: str) -> list[str]:
    """Words of two characters and more, the pairs that are not words, and the last character (so
    that any one character of the run begins some token).
    """
    words = [word for word in _segment_words(run) if len(word) > 1]
    known = set(words)
    return [*words, *(pair for pair in _get_bigrams(run) if pair not in known), run[-1]]


def _tokenize_cjk_query(run: str, *, skip: bool) -> list[str]:
    """As `_tokenize_cjk`, but pairs do not reach over stop words: 么是 of 什么是 means nothing."""
    tokens: list[str] = []
    for stretch in _split_at_stop_words(run) if skip else [run]:
        words = [word for word in _segment_words(stretch) if len(word) > 1]
        tokens += [*words, *_get_bigrams(stretch)] if len(stretch) > 1 else [stretch]
    return tokens


def _split_at_stop_words(run: str) -> list[str]:
    stretches = [""]
    for word in _segment_words(run, search=False):
        if word in STOP_ZH:
            stretches.append("")
        else:
            stretches[-1] += word
    return [stretch for stretch in stretches if stretch]


def _get_bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _segment_words(run: str, *, search: bool = True) -> list[str]:
    """Words by jieba of the Chinese characters; kana and hangul, which it does not know, stay in
    one piece and get pairs.
    """
    jieba = _load_jieba()
    words: list[str] = []
    for part in _HAN_RUN.findall(run):
        if re.match(f"[{_HAN}]", part):
            words += jieba.cut_for_search(part) if search else jieba.cut(part)
        else:
            words.append(part[:LONGEST])
    return words


def _tokenize_word(piece: str) -> Sequence[str]:
    return _tokenize_cached(piece) if len(piece) <= _USUAL else _build_word_tokens(piece)


def _build_word_tokens(piece: str) -> Sequence[str]:
    """The piece whole (v2.1, a-100, 2024-05-01, 3.5%), its stemmed parts, joined parts (a100)."""
    if not piece.isascii():
        piece = "".join(
            c for c in unicodedata.normalize("NFKD", piece) if not unicodedata.combining(c)
        )
    atoms = _ATOM.findall(piece)
    if not atoms or len(atoms) > 8:  # more: a path or an address, found by its parts
        return [_normalize_atom(atom) for atom in atoms] or [piece]
    tokens = [_normalize_atom(atom) for atom in atoms]
    if piece != atoms[0]:
        tokens.append(piece[:LONGEST])
    if 1 < len(atoms) <= 3 and "." not in piece and "".join(atoms) != piece:
        tokens.append("".join(atoms)[:LONGEST])
    return tokens


@lru_cache(maxsize=30_000)
def _tokenize_cached(piece: str) -> Sequence[str]:
    return tuple(_build_word_tokens(piece))


def _normalize_atom(atom: str) -> str:
    if atom.isdigit():
        return atom[:LONGEST].lstrip("0") or "0"
    if atom.isascii() and atom.isalpha():
        return str(_get_stemmer().stemWord(atom[:LONGEST]))
    return atom[:LONGEST]


def _get_stemmer() -> Any:
    """One a thread: a Stemmer keeps a buffer and must not be shared."""
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        import Stemmer

        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return stemmer


@cache
def _load_jieba() -> Any:
    import rjieba  # 0.1 s: its dictionary loads with the module

    return rjieba
