"""The steps of the Dockerfile without Docker, in an empty folder: what it copies and runs, then its
command, as another user where this is run by root, until its health check says that it is well.

    python evals/try_image.py [FOLDER]

The one rule: the steps are read from the Dockerfile, their paths below the folder. Python (of the
version that it names) and Node are those of this machine; commands of SYSTEM are said, not run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
SYSTEM = ("apt-get", "rm -rf /var/lib/apt", "useradd", "install ")
PATHS = re.compile(r"(?<![\w.:])(?=/(?:opt/citewell|build|data|cache)\b)")
STARTING = 300.0  # seconds


class Image:
    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root
        self.settings: dict[str, list[str]] = {}
        kept = ("LANG", "SSL_CERT_FILE", *(n for n in os.environ if n.startswith(("PIP_", "NPM_"))))
        self.environ = {name: os.environ[name] for name in kept if name in os.environ}
        self.environ |= {
            "HOME": str(root),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def place(self, text: str) -> str:
        return PATHS.sub(str(self.root), text)

    def do(self, name: str, rest: str) -> None:
        rest = self.place(rest)
        if name == "RUN":
            for command in re.split(r"\s*&&\s*", rest):
                self.run(command)
        elif name == "COPY":
            self.copy(rest)
        elif name == "WORKDIR":
            self.folder = Path(rest)
            self.folder.mkdir(parents=True, exist_ok=True)
        elif name == "ENV":
            for key, value in re.findall(r"(\w+)=(\S+)", rest):
                self.environ[key] = value.replace("$PATH", self.environ["PATH"])
        elif name in {"ENTRYPOINT", "CMD", "HEALTHCHECK"}:
            self.settings[name] = json.loads(rest[rest.index("[") :])
        elif name == "FROM":
            wanted = re.findall(r"python:(\d+\.\d+)", rest)
            assert wanted in ([], [f"{sys.version_info[0]}.{sys.version_info[1]}"]), rest

    def run(self, command: str) -> None:
        if command.startswith(SYSTEM):
            print("not run:", command, flush=True)
            return
        print("run:", command, flush=True)
        subprocess.run(["/bin/sh", "-ec", command], cwd=self.folder, env=self.environ, check=True)

    def copy(self, rest: str) -> None:
        """Only what .dockerignore lets through; other stages have the same folders as this one."""
        if rest.startswith("--from="):
            return
        *sources, target = rest.split()
        allowed = (REPOSITORY / ".dockerignore").read_text("utf-8").split()
        for source in sources:
            assert f"!{source}" in allowed, source
            from_, to = REPOSITORY / source, self.folder / target
            if from_.is_dir():
                left_out = shutil.ignore_patterns("__pycache__", "node_modules")
                shutil.copytree(from_, to, ignore=left_out, dirs_exist_ok=True)
            else:
                shutil.copy(from_, to)

    def find_user(self) -> dict[str, Any]:
        """Another one where there may be one that can read this Python."""
        user: dict[str, Any] = {"user": 10001, "group": 10001, "extra_groups": []}
        tried = [str(self.root / "opt/citewell/bin/python"), "-c", ""]
        try:
            subprocess.run(tried, check=True, **user)
        except (OSError, subprocess.SubprocessError) as error:
            print("as the user who runs this:", error, flush=True)
            return {}
        return user

    def serve(self) -> None:
        user = self.find_user()
        for name in ("data", "cache"):
            (self.root / name).mkdir(exist_ok=True)
            if user:
                os.chown(self.root / name, user["user"], user["group"])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        environ = self.environ | {"CITEWELL_PORT": port}
        command = [*self.settings["ENTRYPOINT"], *self.settings["CMD"]]
        check = [each.replace(":8420", f":{port}") for each in self.settings["HEALTHCHECK"]]
        how: dict[str, Any] = {"cwd": self.root / "data", "env": environ, **user}
        command[0] = shutil.which(command[0], path=environ["PATH"]) or command[0]
        check[0] = shutil.which(check[0], path=environ["PATH"]) or check[0]
        process = subprocess.Popen(command, **how)
        until = time.monotonic() + STARTING
        try:
            while subprocess.run(check, check=False, capture_output=True, **how).returncode:
                assert process.poll() is None, "it ended"
                assert time.monotonic() < until, "it is not well"
                time.sleep(1)
        finally:
            process.terminate()
            ended = process.wait(90)
        assert ended == 0, ended
        print("it was well, and stopped when told to")


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="citewell-image-"))
    root.mkdir(exist_ok=True)
    assert not any(root.iterdir()), f"{root} is not empty"
    root.chmod(0o755)
    image = Image(root.resolve())
    text = (REPOSITORY / "Dockerfile").read_text("utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", "")
    for line in filter(None, lines.splitlines()):
        image.do(*line.split(maxsplit=1))
    image.serve()
    if len(sys.argv) < 2:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
