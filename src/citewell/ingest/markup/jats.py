"""Papers in JATS (PubMed Central and many publishers): title, authors, abstract, sections,
references.

The one rule: what a reader of the paper sees is read, in the order of the page; identifiers of the
publisher are not.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.xml_blocks import Walker
from citewell.ingest.markup.xml_tree import below, find, tag, words
from citewell.ingest.web.html_blocks import flatten
from citewell.text.timestamps import moment

MEDIA_TYPE: Final = "application/jats+xml"
_REFERENCE_PARTS: Final = (
    "article-title",
    "chapter-title",
    "data-title",
    "source",
    "publisher-name",
    "volume",
    "issue",
)


def is_jats(root: Any) -> bool:
    return tag(root) == "article" and find(root, "front") is not None


def read_article(root: Any, assembly: Assembly) -> tuple[str, float | None]:
    """Append the paper; its title and day of publication."""
    front = find(root, "front")
    meta = find(front, "article-meta") if front is not None else None
    title = _front(meta, assembly) if meta is not None else ""
    walker = Walker(assembly)
    for part in root:
        if tag(part) in {"body", "back"}:
            _part(part, walker)
        elif tag(part) in {"sub-article", "response"}:
            _sub_article(part, assembly, walker)
    return title, _dated(meta) if meta is not None else None


def _front(meta: Any, assembly: Assembly) -> str:
    group = find(meta, "title-group")
    heads = below(group, "article-title") if group is not None else []
    title = flatten(words(heads[0])) if heads else ""
    assembly.heading(1, title)
    assembly.block(", ".join(_people(meta)))
    assembly.block(
        "; ".join(dict.fromkeys(filter(None, (_institution(each) for each in _own(meta, "aff")))))
    )
    doi = next(
        (
            words(each)
            for each in meta
            if tag(each) == "article-id" and each.get("pub-id-type") == "doi"
        ),
        "",
    )
    assembly.block(f"DOI: {doi.strip()}" if doi.strip() else "")
    for abstract in [each for each in meta if tag(each) == "abstract"]:
        if find(abstract, "title") is None:
            assembly.heading(2, "Abstract")
        Walker(assembly).walk(abstract, 2)
    keywords = [flatten(words(each)) for each in below(meta, "kwd")]
    assembly.block("Keywords: " + ", ".join(keywords) if keywords else "")
    statements = [flatten(words(each)) for each in below(meta, "funding-statement")]
    assembly.block("Funding: " + " ".join(statements) if statements else "")
    return title


def _own(meta: Any, name: str) -> list[Any]:
    """Elements of the paper's own front: those of its authors, or beside them."""
    groups = [
        each
        for each in meta
        if tag(each) == name or (tag(each) == "contrib-group" and _people(each))
    ]
    return [
        each for group in groups for each in ([group] if tag(group) == name else below(group, name))
    ]


def _people(element: Any) -> list[str]:
    """The authors as `Ann Lee`, groups by their name."""
    found = []
    for person in below(element, "contrib"):
        if person.get("contrib-type", "author") == "author":
            name = next(
                (each for each in person.iter() if tag(each) in {"name", "collab", "string-name"}),
                None,
            )
            found.append(_person(name) if name is not None else "")
    return [name for name in found if name]


def _person(name: Any) -> str:
    given, family = find(name, "given-names"), find(name, "surname")
    parts = [flatten(words(each)) for each in (given, family) if each is not None]
    return " ".join(parts) if parts else flatten(words(name))


def _institution(element: Any) -> str:
    parts = [
        flatten(words(each))
        for each in element.iter()
        if tag(each) in {"institution", "addr-line", "country"}
    ]
    return ", ".join(parts) if parts else flatten(words(element, frozenset({"label"})))


def _part(part: Any, walker: Walker) -> None:
    """The body, or what stands behind it: acknowledgements, notes, references."""
    for each in part:
        if tag(each) == "ref-list":
            _references(each, walker.out)
        else:
            if tag(each) == "ack" and find(each, "title") is None:
                walker.out.heading(2, "Acknowledgements")
            walker.walk(each, 2)


def _sub_article(element: Any, assembly: Assembly, walker: Walker) -> None:
    """A letter or reply that is printed with the paper."""
    titles = below(element, "article-title")
    assembly.heading(2, flatten(words(titles[0])) if titles else "")
    for part in element:
        if tag(part) in {"body", "back"}:
            for each in part:
                walker.walk(each, 3)


def _references(element: Any, assembly: Assembly) -> None:
    title = find(element, "title")
    assembly.heading(2, flatten(words(title)) if title is not None else "References")
    lines = [f"- {line}" for ref in below(element, "ref") if (line := _reference(ref))]
    assembly.rows(lines)


def _reference(ref: Any) -> str:
    """A reference as it is printed; one that is told only in parts is put together."""
    label = find(ref, "label")
    mixed = next(
        (
            each
            for each in ref.iter()
            if tag(each) in {"mixed-citation", "nlm-citation", "citation"}
        ),
        None,
    )
    if mixed is not None and (mixed.text or "").strip() + "".join(
        (each.tail or "").strip() for each in mixed
    ):
        text = flatten(words(mixed))
    else:
        cited = mixed if mixed is not None else find(ref, "element-citation")
        text = _parts(cited) if cited is not None else ""
    return " ".join(filter(None, [flatten(words(label)) if label is not None else "", text]))


def _parts(cited: Any) -> str:
    people = [_family_first(each) for each in below(cited, "name")] + [
        flatten(words(each)) for each in below(cited, "collab")
    ]
    year = _said(cited, "year")
    first, last = _said(cited, "fpage") or _said(cited, "elocation-id"), _said(cited, "lpage")
    pages = f"{first}–{last}" if first and last else first
    parts = [
        ", ".join(people),
        f"({year})" if year else "",
        *(_said(cited, name) for name in _REFERENCE_PARTS),
        pages,
    ]
    parts += [
        f"{each.get('pub-id-type', 'id').upper()}: {flatten(words(each))}"
        for each in below(cited, "pub-id")
    ]
    return ". ".join(part.rstrip(".") for part in parts if part)


def _family_first(name: Any) -> str:
    parts = [
        flatten(words(each))
        for each in (find(name, "surname"), find(name, "given-names"))
        if each is not None
    ]
    return " ".join(parts)


def _said(element: Any, name: str) -> str:
    found = below(element, name)
    return flatten(words(found[0])) if found else ""


def _dated(meta: Any) -> float | None:
    """The day of publication: of several the most exact one, and of those the earliest."""
    days = []
    for each in meta:
        if tag(each) == "pub-date":
            year, month, day = (_said(each, part) for part in ("year", "month", "day"))
            month, day = month.zfill(2), day.zfill(2)
            forms = [
                f"{year}-{month}-{day}",
                f"{day} {month} {year}",
                f"{year}-{month}",
                f"{month} {year}",
                year,
            ]
            days += [
                (n, when) for n, form in enumerate(forms) if (when := moment(form)) is not None
            ][:1]
    return min(days)[1] if days else None
