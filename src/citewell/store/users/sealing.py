"""Secrets that are kept: encrypted with a key of the home, and bound to the row that they stand in.
AES-256-GCM with a nonce of its own for each; what it is bound to is part of the seal, so a sealed
text that is moved to another row does not open.
"""

from __future__ import annotations

import base64
import secrets
from pathlib import Path
from typing import Final

from citewell.errors import SourceUnavailable
from citewell.messages import Text
from citewell.store.users.home_key import derive_key, get_home_key, get_key_id

MARK: Final = "sealed:1:"  # then the key's id, a colon, and base64 of nonce and ciphertext
_NONCE: Final = 12  # bytes, as NIST SP 800-38D has it


def seal_secret(folder: Path, secret: str, about: str) -> str:
    """`about`: what it is bound to. Raises StorageError."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key, nonce = get_home_key(folder), secrets.token_bytes(_NONCE)
    sealed = AESGCM(derive_key(key, "secrets")).encrypt(
        nonce, secret.encode("utf-8", "surrogatepass"), about.encode()
    )
    return f"{MARK}{get_key_id(key)}:{base64.b64encode(nonce + sealed).decode()}"


def open_sealed(folder: Path, kept: str, about: str) -> str:
    """What was sealed; unsealed text is itself. Raises SourceUnavailable, StorageError."""
    if not kept.startswith(MARK):
        return kept
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    name, _, sealed = kept.removeprefix(MARK).partition(":")
    key = get_home_key(folder)
    hint = Text(
        "put the key back that belongs to this home (citewell.key), or remove the "
        "source and add it again"
    )
    if name != get_key_id(key):
        raise SourceUnavailable(
            Text(
                "the password of {about} was sealed with another key than this home's", about=about
            ),
            hint=hint,
        )
    try:
        raw = base64.b64decode(sealed, validate=True)
        opened = AESGCM(derive_key(key, "secrets")).decrypt(
            raw[:_NONCE], raw[_NONCE:], about.encode()
        )
    except (InvalidTag, ValueError):
        raise SourceUnavailable(
            Text("the password of {about} is damaged", about=about), hint=hint
        ) from None
    return opened.decode("utf-8", "surrogatepass")


def is_secret(location: str) -> bool:
    """Whether where a source is may hold a password: an address does, a file's path does not."""
    return "://" in location
