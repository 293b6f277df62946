"""Source code and configuration to documents."""

from __future__ import annotations

import time

import pytest

from citewell.config import IngestSettings
from citewell.ingest import PARSERS
from citewell.ingest.markup import code
from citewell.ingest.markup.code_languages import LANGUAGES

SETTINGS = IngestSettings()
PYTHON = '''"""Doc with def fake(): in it."""

import os


# why
@decorated
class Server(Base):
    """class Fake"""

    async def start(self) -> None:
        def inner():
            pass

\tdef tabbed(self): pass


def main(): ...
'''


def sections(text: str, name: str) -> list[str]:
    document = code.parse(text.encode(), name, SETTINGS)
    assert document.text == text.strip("\n")
    return [" > ".join(section.heading_path) for section in document.sections]


def test_text_stays_and_definitions_are_sections() -> None:
    """Not a character moves; a section begins with the comments and decorators of its definition;
    words in texts are none.
    """
    document = code.parse(PYTHON.encode(), "a.py", SETTINGS)
    assert document.text == PYTHON.strip("\n")
    assert (document.title, document.media_type) == ("a.py", "text/x-python")
    assert sections(PYTHON, "a.py") == [
        "",
        "Server",
        "Server > start()",
        "Server > tabbed()",
        "main()",
    ]
    server = document.sections[1]
    assert document.text[server.start : server.end].startswith("# why\n@decorated\nclass Server")


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        (
            "a.java",
            """package x;
/** Doc. */
@Service
public class Foo<T> extends Bar {
    public Foo(int x) { this.x = x; }
    public static <T> List<T> find(String n) throws X {
        if (x) { return 1; }
        for (;;) { y(); }
    }
}""",
            ["x", "Foo", "Foo > Foo()", "Foo > find()"],
        ),
        (
            "a.ts",
            """export interface Props { a: string }
export default class App {
  private async load(id: number): Promise<void> {
    if (a) { b(); }
  }
}
export const use = (a: string) => {
};""",
            ["Props", "App", "App > load()", "use()"],
        ),
        (
            "a.cpp",
            """namespace n {
template <typename T>
class Bar {
  int size() const { return 1; }
};
}
int Bar::go(int a,
    int b) {
  while (x) { }
}
static void help(void)
{
}""",
            ["n", "Bar", "Bar > size()", "Bar::go()", "help()"],
        ),
        (
            "a.cs",
            (
                "namespace X.Y\n{\n    class A\n    {\n        public int Run(string a)\n       "
                " {\n        }\n    }\n}\n"
            ),
            ["X.Y", "X.Y > A", "X.Y > A > Run()"],
        ),
        (
            "a.rs",
            (
                "/// Doc\n#[derive(Debug)]\npub struct Foo<'a> { x: &'a str }\nimpl<'a> Foo<'a> "
                "{\n    pub fn new() {}\n}\n"
            ),
            ["Foo", "Foo", "Foo > new()"],
        ),
        (
            "a.go",
            (
                "package main\n\n// Run runs.\nfunc (s *Server) Run() error {\n}\ntype Server "
                "struct {\n}\n"
            ),
            ["main", "Run()", "Server"],
        ),
        (
            "a.rb",
            "module A\n  class B\n    def go!(x)\n    end\n  end\nend\n",
            ["A", "A > B", "A > B > go!()"],
        ),
        ("a.sh", "foo() {\n  x\n}\nfunction bar {\n  y\n}\n", ["foo()", "bar()"]),
        (
            "a.sql",
            (
                "-- create table no (x)\nCREATE TABLE users (id int);\ncreate or replace view v "
                "as select 1;\n"
            ),
            ["users", "v"],
        ),
        ("a.r", "f <- function(x) {\n}\n", ["f()"]),
        ("a.toml", "x = 1\n[tool.x]\na = 1\n[[list]]\nb = 2\n", ["", "tool.x", "list"]),
        ("a.yml", "name: x\non:\n  push:\njobs:\n  a: 1\n", ["name", "on", "jobs"]),
    ],
)
def test_languages(name: str, text: str, wanted: list[str]) -> None:
    """Definitions are found in each language; conditions, loops and calls are none."""
    assert sections(text, name) == wanted


def test_every_language_is_read() -> None:
    """The table of parsers and the table of languages name the same suffixes."""
    assert all(suffix in PARSERS for suffix in LANGUAGES)
    assert {suffix for suffix, parser in PARSERS.items() if parser is PARSERS[".py"]} == set(
        LANGUAGES
    )


@pytest.mark.parametrize(
    "text",
    [
        "var a=1;" * 300_000,
        "'" * 300_000,
        "`\\" * 150_000,
        "a b(\n" * 60_000,
        "class A" + "<" * 50 + "\n",
        "/*" * 200_000,
    ],
)
def test_hostile_code(text: str) -> None:
    """Nothing that can be written takes the patterns long."""
    started = time.process_time()
    code.parse((text * 10 if len(text) < 100 else text).encode(), "a.java", SETTINGS)
    assert time.process_time() - started < 15
