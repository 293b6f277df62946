"""Papers in JATS (PubMed Central and many publishers): title, authors, abstract, sections,
references. What a reader of the paper sees is read, in the order of the page; identifiers of the
publisher are not.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.xml_blocks import Walker
from citewell.ingest.markup.xml_tree import extract_text, find_descendants, find_element, get_tag
from citewell.ingest.web.html_blocks import collapse_whitespace
from citewell.text.timestamps import parse_timestamp

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
    return get_tag(root) == "article" and find_element(root, "front") is not None


def read_article(root: Any, assembly: Assembly) -> tuple[str, float | None]:
    """Append the paper; its title and day of publication."""
    front = find_element(root, "front")
    meta = find_element(front, "article-meta") if front is not None else None
    title = _add_front(meta, assembly) if meta is not None else ""
    walker = Walker(assembly)
    for part in root:
        if get_tag(part) in {"body", "back"}:
            _add_part(part, walker)
        elif get_tag(part) in {"sub-article", "response"}:
            _add_sub_article(part, assembly, walker)
    return title, _find_date(meta) if meta is not None else None


def _add_front(meta: Any, assembly: Assembly) -> str:
    group = find_element(meta, "title-group")
    heads = find_descendants(group, "article-title") if group is not None else []
    title = collapse_whitespace(extract_text(heads[0])) if heads else ""
    assembly.heading(1, title)
    assembly.block(", ".join(_format_people(meta)))
    assembly.block(
        "; ".join(
            dict.fromkeys(
                filter(None, (_format_institution(each) for each in _get_own_elements(meta, "aff")))
            )
        )
    )
    doi = next(
        (
            extract_text(each)
            for each in meta
            if get_tag(each) == "article-id" and each.get("pub-id-type") == "doi"
        ),
        "",
    )
    assembly.block(f"DOI: {doi.strip()}" if doi.strip() else "")
    for abstract in [each for each in meta if get_tag(each) == "abstract"]:
        if find_element(abstract, "title") is None:
            assembly.heading(2, "Abstract")
        Walker(assembly).walk(abstract, 2)
    keywords = [collapse_whitespace(extract_text(each)) for each in find_descendants(meta, "kwd")]
    assembly.block("Keywords: " + ", ".join(keywords) if keywords else "")
    statements = [
        collapse_whitespace(extract_text(each))
        for each in find_descendants(meta, "funding-statement")
    ]
    assembly.block("Funding: " + " ".join(statements) if statements else "")
    return title


def _get_own_elements(meta: Any, name: str) -> list[Any]:
    """Elements of the paper's own front: those of its authors, or beside them."""
    groups = [
        each
        for each in meta
        if get_tag(each) == name or (get_tag(each) == "contrib-group" and _format_people(each))
    ]
    return [
        each
        for group in groups
        for each in ([group] if get_tag(group) == name else find_descendants(group, name))
    ]


def _format_people(element: Any) -> list[str]:
    """The authors as `Ann Lee`, groups by their name."""
    found = []
    for person in find_descendants(element, "contrib"):
        if person.get("contrib-type", "author") == "author":
            name = next(
                (
                    each
                    for each in person.iter()
                    if get_tag(each) in {"name", "collab", "string-name"}
                ),
                None,
            )
            found.append(_format_person(name) if name is not None else "")
    return [name for name in found if name]


def _format_person(name: Any) -> str:
    given, family = find_element(name, "given-names"), find_element(name, "surname")
    parts = [
        collapse_whitespace(extract_text(each)) for each in (given, family) if each is not None
    ]
    return " ".join(parts) if parts else collapse_whitespace(extract_text(name))


def _format_institution(element: Any) -> str:
    parts = [
        collapse_whitespace(extract_text(each))
        for each in element.iter()
        if get_tag(each) in {"institution", "addr-line", "country"}
    ]
    return (
        ", ".join(parts)
        if parts
        else collapse_whitespace(extract_text(element, frozenset({"label"})))
    )


def _add_part(part: Any, walker: Walker) -> None:
    """The body, or what stands behind it: acknowledgements, notes, references."""
    for each in part:
        if get_tag(each) == "ref-list":
            _add_references(each, walker.out)
        else:
            if get_tag(each) == "ack" and find_element(each, "title") is None:
                walker.out.heading(2, "Acknowledgements")
            walker.walk(each, 2)


def _add_sub_article(element: Any, assembly: Assembly, walker: Walker) -> None:
    """A letter or reply that is printed with the paper."""
    titles = find_descendants(element, "article-title")
    assembly.heading(2, collapse_whitespace(extract_text(titles[0])) if titles else "")
    for part in element:
        if get_tag(part) in {"body", "back"}:
            for each in part:
                walker.walk(each, 3)


def _add_references(element: Any, assembly: Assembly) -> None:
    title = find_element(element, "title")
    assembly.heading(
        2, collapse_whitespace(extract_text(title)) if title is not None else "References"
    )
    lines = [
        f"- {line}" for ref in find_descendants(element, "ref") if (line := _format_reference(ref))
    ]
    assembly.rows(lines)


def _format_reference(ref: Any) -> str:
    """A reference as it is printed; one that is told only in parts is put together."""
    label = find_element(ref, "label")
    mixed = next(
        (
            each
            for each in ref.iter()
            if get_tag(each) in {"mixed-citation", "nlm-citation", "citation"}
        ),
        None,
    )
    if mixed is not None and (mixed.text or "").strip() + "".join(
        (each.tail or "").strip() for each in mixed
    ):
        text = collapse_whitespace(extract_text(mixed))
    else:
        cited = mixed if mixed is not None else find_element(ref, "element-citation")
        text = _join_reference_parts(cited) if cited is not None else ""
    return " ".join(
        filter(None, [collapse_whitespace(extract_text(label)) if label is not None else "", text])
    )


def _join_reference_parts(cited: Any) -> str:
    people = [_format_family_first(each) for each in find_descendants(cited, "name")] + [
        collapse_whitespace(extract_text(each)) for each in find_descendants(cited, "collab")
    ]
    year = _get_first_text(cited, "year")
    first, last = (
        _get_first_text(cited, "fpage") or _get_first_text(cited, "elocation-id"),
        _get_first_text(cited, "lpage"),
    )
    pages = f"{first}–{last}" if first and last else first
    parts = [
        ", ".join(people),
        f"({year})" if year else "",
        *(_get_first_text(cited, name) for name in _REFERENCE_PARTS),
        pages,
    ]
    parts += [
        f"{each.get('pub-id-type', 'id').upper()}: {collapse_whitespace(extract_text(each))}"
        for each in find_descendants(cited, "pub-id")
    ]
    return ". ".join(part.rstrip(".") for part in parts if part)


def _format_family_first(name: Any) -> str:
    parts = [
        collapse_whitespace(extract_text(each))
        for each in (find_element(name, "surname"), find_element(name, "given-names"))
        if each is not None
    ]
    return " ".join(parts)


def _get_first_text(element: Any, name: str) -> str:
    found = find_descendants(element, name)
    return collapse_whitespace(extract_text(found[0])) if found else ""


def _find_date(meta: Any) -> float | None:
    """The day of publication: of several the most exact one, and of those the earliest."""
    days = []
    for each in meta:
        if get_tag(each) == "pub-date":
            year, month, day = (_get_first_text(each, part) for part in ("year", "month", "day"))
            month, day = month.zfill(2), day.zfill(2)
            forms = [
                f"{year}-{month}-{day}",
                f"{day} {month} {year}",
                f"{year}-{month}",
                f"{month} {year}",
                year,
            ]
            days += [
                (n, when)
                for n, form in enumerate(forms)
                if (when := parse_timestamp(form)) is not None
            ][:1]
    return min(days)[1] if days else None
