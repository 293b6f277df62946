"""What is to survive a power cut. The one rule: a rename counts once the folder that lists the new
name is on the disk.
"""

from __future__ import annotations

import os
from pathlib import Path


def sync_to_disk(path: Path) -> None:
    """A file's bytes, or the names that a folder lists, are on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
