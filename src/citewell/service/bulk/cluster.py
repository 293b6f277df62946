"""The Ray cluster that `RAY_ADDRESS` names; without one, a cluster of this machine alone, which
ends with its user. What is started here listens on the loopback, behind a token of its own; there
is no dashboard, nothing is sent about its use, and its folder goes with it.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from citewell.errors import InvalidInput, TransientError
from citewell.messages import Text
from citewell.store.processes import has_ended, name_this_process

ADDRESS = "RAY_ADDRESS"  # Ray's own variable
FOLDER = "citewell-ray-"  # what names of temporary folders begin with
SECONDS = 10.0  # in which the head of a cluster takes a connection
OWNER = "owner"  # the file in it that names the process
# Ray reads them when it is imported; the second binds all its servers to the loopback (its name
# speaks of systems on which that is so anyway)
LOCAL = {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


@contextmanager
def connect_ray() -> Iterator[Any]:
    """The module `ray`, connected for so long; a process that is connected stays so. Blocks for
    seconds. Raises InvalidInput where Ray is not installed or the address cannot be used, and
    TransientError where no cluster answers.
    """
    address = os.environ.get(ADDRESS, "")
    if address.startswith("ray://"):
        raise InvalidInput(
            Text("{address}: a Ray client cannot run Ray Data", address=address),
            hint=Text("run this on a machine of the cluster, with RAY_ADDRESS=HOST:6379"),
        )
    os.environ.update(QUIET)
    if not address:
        os.environ.update({**LOCAL, "RAY_AUTH_TOKEN": secrets.token_hex(32)})
    ray = _import_ray()
    if ray.is_initialized():
        yield ray
        return
    folder = None if address else _make_folder()
    try:
        # Ray prints what befalls its workers to the standard output, which is for reports
        with redirect_stdout(sys.stderr):
            _start(ray, address, folder)
            yield ray
    finally:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _start(ray: Any, address: str, folder: Path | None) -> None:
    _check_address(address)
    local = {"include_dashboard": False, "_temp_dir": str(folder)} if folder else {}
    try:
        ray.init(
            address=address or "local", logging_level=logging.ERROR, log_to_driver=False, **local
        )
    except Exception as error:  # Ray raises its plainest kind too
        first = str(error).strip().partition("\n")[0]
        raise TransientError(
            Text("Ray at {address}: {error}", address=address or "local", error=first),
            hint=Text("check that the cluster runs, with the same releases of Ray and Python"),
        ) from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _check_address(address: str) -> None:
    """Ray itself tries for minutes where nobody listens. Raises TransientError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS).close()
    except OSError as error:
        raise TransientError(
            Text("Ray at {address}: {error}", address=address, error=error.strerror or error),
            hint=Text("check that the cluster runs, with the same releases of Ray and Python"),
        ) from error


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise InvalidInput(
            Text("the engine ray needs the extra `ray`"),
            hint=Text("pip install 'citewell[ray]'"),
        ) from error
    return ray


def _make_folder() -> Path:
    """Short: paths of sockets in it have at most 107 characters. Those of killed processes go."""
    for left in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        with suppress(OSError):  # another's, or gone meanwhile
            if has_ended((left / OWNER).read_text("utf-8")):
                shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER))
    (folder / OWNER).write_text(name_this_process(), "utf-8")
    return folder
