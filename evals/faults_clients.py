"""Clients that upload, ask, vote, remember, delete and back up, and the ledger of what they were
told.

The one rule: what was acknowledged is owed. What was cut off is owed nothing but to be whole or not
there.
"""

from __future__ import annotations

import json
import random
import re
import socket
import string
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from faults_place import Faulty

COLLECTION = "faults"
USERS = 8
BORDER = "----citewell-faults"
CAUSES = re.compile(  # what an error of the disk has to say
    r"disk is full|No space left|cannot be written|[Rr]ead-only|[Pp]ermission denied|not "
    r"permitted|File too large"
    r"|another process is writing|there is no room|database server cannot be reached"
    r"|connection was lost at the very end of a change",
)
ENDED = {"done", "failed", "cancelled"}


@dataclass(slots=True)
class Note:
    """A document by its name. `versions`: all that were sent, by the word that only they hold.
    `owed`: the one that was acknowledged last. `sure`: nothing was cut off since.
    """

    name: str
    versions: dict[str, bytes] = field(default_factory=dict)
    owed: str = ""
    job_id: str = ""
    deleted: bool = False
    sure: bool = True

    @property
    def never(self) -> bool:
        """Every version was refused: it must not be there."""
        return self.sure and not self.owed


@dataclass(slots=True)
class Ledger:
    """`answers`: trace to user. `votes`: id to user and word. `memories`: user and text. `errors`:
    how often each was said. `last_backup`: its archive, and what it has to hold. `not_kept`:
    answers that said themselves that they were not kept.
    """

    notes: dict[str, Note] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    votes: dict[str, tuple[str, bool]] = field(default_factory=dict)
    memories: dict[str, str] = field(default_factory=dict)
    forgotten: dict[str, str] = field(default_factory=dict)
    backups: int = 0
    last_backup: tuple[Path, dict[str, str]] = (Path(), {})
    not_kept: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    unnamed: list[str] = field(default_factory=list)

    def error(self, status: int | str, body: Any) -> None:
        """An error reply: it has a code and a message, and names its cause."""
        told = body.get("error") if isinstance(body, dict) else None
        code, message = (
            (str(told.get(key) or "") for key in ("code", "message"))
            if isinstance(told, dict)
            else ("", "")
        )
        self.errors[f"{status} {code}: {blotted(message)}"] += 1
        if (
            not code
            or not message
            or code in {"internal", "error"}
            or (code == "storage" and not CAUSES.search(message))
        ):
            self.unnamed.append(f"{status}: {str(body)[:400]}")

    def command(self, exit_code: int, said: str) -> None:
        """What a command of Citewell said when it ended with an error."""
        self.errors[f"exit {exit_code}: {blotted(said)}"] += 1
        if "Traceback" in said or not CAUSES.search(said):
            self.unnamed.append(f"exit {exit_code}: {said[-400:]}")


def blotted(text: str) -> str:
    """Without what differs each time, so that the same errors are counted together."""
    text = re.sub(
        r"(?:/[\w.+-]+){2,}/?|\b\w+_[0-9a-f]{6,}\b|'[^']*'|uploads/[0-9a-f]+\S*", "…", text
    )
    return " ".join(re.sub(r"\d+", "#", text).split())[:160]


class Clients:
    """As many threads as are asked for, each doing one thing after another until `stop`."""

    def __init__(self, server: Faulty, ledger: Ledger, seed: int, pause: float) -> None:
        self.server, self.ledger, self.pause = server, ledger, pause
        self.ended = threading.Event()
        self.chance = random.Random(seed)
        self.lock = threading.Lock()
        self.backing = threading.Lock()
        self.broken: list[str] = []
        self.threads: list[threading.Thread] = []
        self.voted: set[str] = set()
        self.busy: set[str] = set()  # names that a client has in hand
        self.acts: list[tuple[float, Callable[[httpx.Client], None]]] = [
            (30, self.upload), (12, self.replace), (22, self.ask), (14, self.vote),
            (10, self.remember), (4, self.forget), (8, self.delete),
            (5, self.cut_upload), (5, self.cut_answer), (1.5, self.back_up),
        ]  # fmt: skip

    def start(self, number: int) -> None:
        self.threads = [
            threading.Thread(target=self._work, name=f"client {each}") for each in range(number)
        ]
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(300)

    def _work(self) -> None:
        weights = [weight for weight, _ in self.acts]
        with httpx.Client(timeout=30, trust_env=False) as client:
            while not self.ended.is_set():
                act = self.chance.choices(self.acts, weights)[0][1]
                try:
                    act(client)
                except (httpx.ConnectError, ConnectionRefusedError):  # the server is down
                    time.sleep(0.2)
                except (httpx.HTTPError, OSError):  # it was ended in the middle
                    self.ledger.cut["by the server's end"] += 1
                except Exception as error:  # noqa: BLE001 a client's fault must be seen, and not end the day
                    self.broken.append(f"{act.__name__}: {error!r}")
                time.sleep(self.chance.random() * 2 * self.pause)

    def _sent(self, client: httpx.Client, method: str, path: str, **given: Any) -> Any:
        """The body of a reply that is an acknowledgement; None for an error, which is written
        down.
        """
        reply = client.request(method, self.server.url + path, **given)
        if reply.is_success:
            return reply.json() if reply.content else {}
        try:
            body: Any = reply.json()
        except ValueError:
            body = reply.text
        self.ledger.error(reply.status_code, body)
        return None

    def _word(self) -> str:
        return "zq" + "".join(self.chance.choices(string.ascii_lowercase, k=9))

    def _user(self) -> str:
        return f"user{self.chance.randrange(USERS)}"

    def _note_added(self, wanted: Callable[[Note], bool]) -> Note | None:
        """One that nobody else has in hand."""
        with self.lock:
            found = [
                note
                for note in self.ledger.notes.values()
                if note.name not in self.busy and wanted(note)
            ]
            note = self.chance.choice(found) if found else None
            if note is not None:
                self.busy.add(note.name)
            return note

    def upload(self, client: httpx.Client) -> None:
        with self.lock:
            note = Note(f"note {len(self.ledger.notes)}.md")
            self.ledger.notes[note.name] = note
            self.busy.add(note.name)
        self._send(client, note)

    def replace(self, client: httpx.Client) -> None:
        note = self._note_added(lambda note: bool(note.owed) and note.sure and not note.deleted)
        if note is None:
            return
        if self._wait_until_stable(client, note):
            self._send(client, note)
        else:
            self.busy.discard(note.name)

    def _wait_until_stable(self, client: httpx.Client, note: Note) -> bool:
        try:
            job = self._sent(client, "GET", f"/api/jobs/{note.job_id}")
        except httpx.HTTPError:
            return False
        return job is not None and job["state"] == "done"

    def _send(self, client: httpx.Client, note: Note) -> None:
        word = self._word()
        year = self.chance.randrange(1000, 2000)
        text = (
            f"# Note {word}\n\nThe lighthouse {word} was built in {year}.\n\n"
            + "It has a lamp. " * self.chance.randrange(99)
        )
        note.versions[word] = text.encode()
        note.sure = False
        try:
            path = f"/api/collections/{COLLECTION}/documents"
            job = self._sent(
                client, "POST", path, files={"file": (note.name, text.encode(), "text/markdown")}
            )
            note.sure = True
            if job is None:
                del note.versions[word]
            else:
                note.owed, note.job_id = word, job["job_id"]
        finally:
            self.busy.discard(note.name)

    def delete(self, client: httpx.Client) -> None:
        note = self._note_added(lambda note: bool(note.owed) and note.sure and not note.deleted)
        if note is None:
            return
        try:
            job = self._sent(client, "GET", f"/api/jobs/{note.job_id}")
            if job is None or job["state"] != "done":
                return
            note.sure = False
            gone = self._sent(
                client, "DELETE", f"/api/documents/{job['result']['files'][0]['doc_id']}"
            )
            note.sure, note.deleted = True, gone is not None
        finally:
            self.busy.discard(note.name)

    def ask(self, client: httpx.Client) -> None:
        note = self.chance.choice(list(self.ledger.notes.values())) if self.ledger.notes else None
        word = note.owed if note and note.owed else self._word()
        user = self._user()
        asked = {
            "question": f"When was the lighthouse {word} built?",
            "agent": "qa",
            "collection": COLLECTION,
            "user_id": user,
        }
        answer = self._sent(client, "POST", "/api/ask", json=asked)
        if not self._answered(answer):
            return
        if answer["trace_id"]:
            self.ledger.answers[answer["trace_id"]] = user
        elif any(CAUSES.search(warning) for warning in answer["warnings"]):
            self.ledger.not_kept += 1
        else:
            self.ledger.unnamed.append(f"an answer that was not kept: {answer['warnings']}")

    def _answered(self, answer: Any) -> bool:
        if answer is not None and answer["status"] == "error":
            self.ledger.error("answer", {"error": answer["error_info"]})
        return answer is not None and answer["status"] != "error"

    def vote(self, client: httpx.Client) -> None:
        with self.lock:
            fresh = sorted(set(self.ledger.answers) - self.voted)
            if not fresh:
                return
            trace = self.chance.choice(fresh)
            self.voted.add(trace)
        right, user = self.chance.random() < 0.7, self.ledger.answers[trace]
        given = self._sent(
            client,
            "POST",
            "/api/feedback",
            json={"trace_id": trace, "is_correct": right, "user_id": user},
        )
        if given is not None:
            self.ledger.votes[given["feedback_id"]] = user, right

    def remember(self, client: httpx.Client) -> None:
        user, word = self._user(), self._word()
        fact = f"my code word for {self._word()} is {word}"
        asked = {
            "question": f"Remember that {fact}.",
            "agent": "dual_loop",
            "collection": COLLECTION,
            "user_id": user,
        }
        answer = self._sent(client, "POST", "/api/ask", json=asked)
        if self._answered(answer) and answer["answer"].startswith("I will remember"):
            self.ledger.memories[fact] = user

    def forget(self, client: httpx.Client) -> None:
        with self.lock:
            if not self.ledger.memories:
                return
            fact = self.chance.choice(list(self.ledger.memories))
            user = self.ledger.memories.pop(fact)
        kept = self._sent(client, "GET", "/api/memories", params={"user_id": user})
        found = [
            each["memory_id"]
            for each in (kept or {"memories": []})["memories"]
            if each["text"] == fact
        ]
        gone = (
            self._sent(client, "DELETE", f"/api/memories/{found[0]}", params={"user_id": user})
            if found
            else None
        )
        (self.ledger.memories if gone is None else self.ledger.forgotten)[fact] = user

    def cut_upload(self, _: httpx.Client) -> None:
        """Half of what its head promises, then nothing."""
        with self.lock:
            note = Note(f"cut {len(self.ledger.notes)}.md")
            self.ledger.notes[note.name] = note
            self.busy.add(note.name)
        head = (
            f'--{BORDER}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{note.name}"\r\n\r\n'
        )
        body = f"{head}{self._word()} {'half a document ' * 4000}\r\n--{BORDER}--\r\n".encode()
        self._split_word(
            f"/api/collections/{COLLECTION}/documents",
            f"multipart/form-data; boundary={BORDER}",
            body,
            0.6,
        )
        self.ledger.cut["uploads"] += 1

    def cut_answer(self, _: httpx.Client) -> None:
        asked = {
            "question": f"When was the lighthouse {self._word()} built?",
            "agent": "qa",
            "collection": COLLECTION,
        }
        self._split_word(
            "/api/ask",
            "application/json",
            json.dumps(asked | {"user_id": self._user()}).encode(),
            1.0,
        )
        self.ledger.cut["answers"] += 1

    def _split_word(self, path: str, kind: str, body: bytes, share: float) -> None:
        address = urlsplit(self.server.url)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: "
            f"{kind}\r\nContent-Length: {len(body)}\r\n"
        )
        with socket.create_connection(
            (str(address.hostname), int(address.port or 0)), timeout=10
        ) as line:
            line.sendall(
                f"{head}Accept: text/event-stream\r\n\r\n".encode() + body[: int(len(body) * share)]
            )
            time.sleep(self.chance.random() * 0.15)
            if share == 1.0 and self.chance.random() < 0.5:
                line.recv(40)
            # closed without a farewell: the server sees a reset
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def _owed(self) -> dict[str, str]:
        with self.lock:
            notes = [note for note in self.ledger.notes.values() if note.name not in self.busy]
        return {
            note.name: note.owed for note in notes if note.owed and note.sure and not note.deleted
        }

    def back_up(self, _: httpx.Client) -> None:
        if not self.backing.acquire(blocking=False):
            return
        try:
            file = self.server.place.backups / f"backup-{time.monotonic_ns()}.tar.gz"
            before = self._owed()
            code, said = self.server.run("backup", str(file), "--json")
            if code == 0:
                self.ledger.backups += 1
                self.ledger.last_backup = file, dict(before.items() & self._owed().items())
                for old in sorted(self.server.place.backups.glob("backup-*.tar.gz"))[:-2]:
                    old.unlink()
            else:
                self.ledger.command(code, said)
        finally:
            self.backing.release()
