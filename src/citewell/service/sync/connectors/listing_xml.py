"""Listings that servers send as XML, read without entities, document types or the network. It is a
stranger's, so what is not plain XML is an error, and no parser is asked to guess.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.errors import TransientError
from citewell.messages import Text

MOST_BYTES: Final = 20_000_000  # of one reply


def parse_listing(data: bytes, url: str) -> Any:
    """Its root element. Raises TransientError."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise TransientError(
            Text("{url}: its listing cannot be read: {error}", url=url, error=error)
        ) from None
    if root.getroottree().docinfo.doctype:
        raise TransientError(Text("{url}: its listing declares a document type", url=url))
    return root
