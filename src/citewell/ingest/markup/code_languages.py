"""Programming languages: by suffix, what marks their comments and texts, and what their definitions
look like. Every pattern is tried at the beginning of a line and never looks further than that line
and the next few.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MODIFIERS: Final = (
    r"(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|"
    r"partial|async|unsafe|extern|inline|"
    r"virtual|override|open|data|inner|companion|suspend|const|constexpr|readonly|local|"
    r"pub(?:\([\w:\s]+\))?|case|implicit|lazy|"
    r"fileprivate|mutating|@\w+|operator|tailrec|annotation|value|expect|actual|\"C\")[ \t]+"
)
_KINDS: Final = (
    r"class|interface|struct|enum(?:[ "
    r"\t]+class)?|trait|impl|def|function|func|fn|fun|module|namespace|protocol|extension|"
    r"object|record|sub|procedure|type|union|actor|mixin|package|macro_rules!|defmodule|defp?|"
    r"defmacro|message|service|rpc|newtype|instance"
)
_KEYWORD = re.compile(
    rf"^(?P<indent>[ \t]*)(?:{_MODIFIERS}){{0,6}}(?P<kind>{_KINDS})\b\*?(?:[ "
    rf"\t]*<[^>\n]{{0,80}}>)?[ \t]+"
    r"(?:\([^)\n]{0,80}\)[ "
    r"\t]*)?(?P<name>~?[\w$]+(?:(?:\.|::)~?[\w$]+)*[?!]?)(?=(?P<call>[ "
    r"\t]*(?:<[^>\n]{0,80}>)?[ \t]*\()?)",
    re.MULTILINE,
)
_NOT_NAMES: Final = (
    r"(?!(?:if|else|for|foreach|while|switch|catch|return|new|throw|do|try|using|lock|sizeof|"
    r"function|await|when|with)\b)"
)
_ARGUMENTS: Final = r"[^;{}=]{0,400}\)[^;{}()=]{0,120}\{"
_TYPED = re.compile(  # int main(int argc) {   public static List<T> find(String name) throws X {
    rf"^(?P<indent>[ \t]*){_NOT_NAMES}"
    rf"(?=[A-Za-z_@][^\n(){{}};=\"']{{1,200}}\()[^\n(]*?(?<=[\s*&>\]])"
    rf"(?P<name>~?[\w:]+(?:::~?\w+)?)(?P<call>[ \t]*\(){_ARGUMENTS}",
    re.MULTILINE,
)
_METHOD = re.compile(  # name(a, b) {    inside a class
    r"^(?P<indent>[ \t]+)(?:(?:async|static|get|set|public|private|protected|readonly|"
    rf"override)[ \t]+){{0,4}}\*?{_NOT_NAMES}"
    rf"(?P<name>[\w$#]+)(?P<call>[ \t]*(?:<[^>\n]{{0,80}}>)?\(){_ARGUMENTS}",
    re.MULTILINE,
)
_ARROW = re.compile(  # export const name = async (a) => {
    r"^(?P<indent>[ \t]*)(?:export[ \t]+)?(?:const|let|var)[ \t]+(?P<name>[\w$]+)"
    r"(?P<call>[ \t]*(?::[^=\n]{0,120})?=[ \t]*(?:async[ \t]*)?"
    r"(?:function\b|\([^)\n]{0,200}\)[^=\n]{0,80}=>|[\w$]+[ \t]*=>))",
    re.MULTILINE,
)
_ASSIGNED = re.compile(
    r"^(?P<indent>[ \t]*)(?P<name>[\w.]+)(?P<call>[ \t]*(?:<-|=)[ \t]*function\b)", re.MULTILINE
)
_SHELL = re.compile(
    r"^(?P<indent>[ \t]*)(?:function[ \t]+)?(?P<name>[\w:.-]+)(?P<call>[ \t]*\([ \t]*\))",
    re.MULTILINE,
)
_CREATE = re.compile(
    r"^(?P<indent>[ \t]*)create[ \t]+(?:or[ \t]+replace[ "
    r"\t]+)?(?:(?:temp|temporary|unique|materialized|virtual)[ \t]+){0,3}"
    r"(?:table|view|function|procedure|trigger|index|type|schema|database)[ \t]+(?:if[ \t]+not[ "
    r"\t]+exists[ \t]+)?"
    r"(?P<name>[\w.\"`\[\]]+)",
    re.MULTILINE | re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"^(?P<indent>)\[+(?P<name>[^\[\]\n]{1,120})\]+[ \t]*(?:[#;].*)?$", re.MULTILINE
)
_KEY = re.compile(r"^(?P<indent>)(?P<name>[\w.\"'/@-]{1,80}):(?=[ \t\n]|$)", re.MULTILINE)
_TARGET = re.compile(r"^(?P<indent>)(?P<name>[\w.%/-]{1,80})[ \t]*:(?![=:])", re.MULTILINE)

_QUOTED: Final = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_SLASHES = re.compile(rf"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|{_QUOTED}|`(?:\\.|[^`\\])*`")
# a single quote begins a lifetime there
_RUST = re.compile(r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|\"(?:\\.|[^\"\\])*\"")
_PYTHON = re.compile(rf'#[^\n]*|"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)|{_QUOTED}')
_HASHES = re.compile(rf"#[^\n]*|{_QUOTED}")
_DASHES = re.compile(rf"--\[\[[\s\S]*?(?:\]\]|\Z)|--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|{_QUOTED}")
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Language:
    """`media_type` of its files; `aside`: comments and texts, in which nothing is defined;
    `definitions`.
    """

    media_type: str
    aside: re.Pattern[str]
    definitions: tuple[re.Pattern[str], ...]


def _define_languages(
    suffixes: str, media: str, aside: re.Pattern[str], *definitions: re.Pattern[str]
) -> dict[str, Language]:
    return dict.fromkeys(suffixes.split(), Language(f"text/x-{media}", aside, definitions))


LANGUAGES: Final[dict[str, Language]] = {
    **_define_languages(".py .pyi .pyw", "python", _PYTHON, _KEYWORD),
    **_define_languages(".js .mjs .cjs .jsx", "javascript", _SLASHES, _KEYWORD, _ARROW, _METHOD),
    **_define_languages(
        ".ts .mts .cts .tsx .vue .svelte", "typescript", _SLASHES, _KEYWORD, _ARROW, _METHOD
    ),
    **_define_languages(".java", "java", _SLASHES, _KEYWORD, _TYPED, _METHOD),
    **_define_languages(".kt .kts", "kotlin", _SLASHES, _KEYWORD),
    **_define_languages(".scala", "scala", _SLASHES, _KEYWORD),
    **_define_languages(".groovy .gradle", "groovy", _SLASHES, _KEYWORD, _TYPED),
    **_define_languages(".dart", "dart", _SLASHES, _KEYWORD, _TYPED),
    **_define_languages(".cs", "csharp", _SLASHES, _KEYWORD, _TYPED),
    **_define_languages(".c .h", "c", _SLASHES, _KEYWORD, _TYPED),
    **_define_languages(".cc .cpp .cxx .hh .hpp .hxx .cu .ino", "c++", _SLASHES, _KEYWORD, _TYPED),
    **_define_languages(".m .mm", "objective-c", _SLASHES, _TYPED),
    **_define_languages(".go", "go", _SLASHES, _KEYWORD),
    **_define_languages(".rs", "rust", _RUST, _KEYWORD),
    **_define_languages(".swift", "swift", _SLASHES, _KEYWORD),
    **_define_languages(".php", "php", _SLASHES, _KEYWORD),
    **_define_languages(".proto .graphql .gql .thrift", "schema", _SLASHES, _KEYWORD),
    **_define_languages(".rb .ex .exs .cr", "ruby", _HASHES, _KEYWORD),
    **_define_languages(".pl .pm", "perl", _HASHES, _KEYWORD),
    **_define_languages(".r .jl", "r", _HASHES, _ASSIGNED, _KEYWORD),
    **_define_languages(".sh .bash .zsh .ksh .fish", "shell", _HASHES, _SHELL, _KEYWORD),
    **_define_languages(".ps1 .psm1", "powershell", _HASHES, _KEYWORD),
    **_define_languages(".lua", "lua", _DASHES, _KEYWORD, _ASSIGNED),
    **_define_languages(".hs .elm", "haskell", _DASHES, _KEYWORD),
    **_define_languages(".sql .ddl", "sql", _DASHES, _CREATE),
    **_define_languages(".yaml .yml", "yaml", _NOTHING, _KEY),
    **_define_languages(".toml .ini .cfg .conf .properties", "ini", _NOTHING, _BRACKETED),
    **_define_languages(".mk", "makefile", _HASHES, _TARGET),
    **_define_languages(".css .scss .sass .less", "css", _NOTHING),
    **_define_languages(".bat .cmd .tf .cmake .diff .patch .dockerfile", "source", _NOTHING),
}
