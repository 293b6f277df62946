"""A mail server of one folder on the loopback: as much of IMAP4rev1 as reading takes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from socketserver import StreamRequestHandler, ThreadingTCPServer


@dataclass
class Inbox:
    """Messages by their number. `flood`: sends lines without end in place of a listing. `asked`:
    the commands in order, without passwords.
    """

    password: str
    messages: dict[int, bytes] = field(default_factory=dict)
    valid: int = 7
    last: int = 0
    flood: bool = False
    asked: list[str] = field(default_factory=list)

    def append(self, message: bytes) -> int:
        self.last += 1
        self.messages[self.last] = message
        return self.last


class ImapServer(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        super().__init__(("127.0.0.1", 0), Session)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Session(StreamRequestHandler):
    server: ImapServer

    def handle(self) -> None:
        self.say("* OK ready")
        while line := self.rfile.readline().decode():
            tag, _, command = line.strip().partition(" ")
            inbox = self.server.inbox
            inbox.asked.append(command if not command.startswith("LOGIN") else "LOGIN")
            if command.startswith("LOGIN"):
                right = command == f'LOGIN alice "{inbox.password}"'
                self.say(f"{tag} {'OK in' if right else 'NO refused'}")
            elif command == "CAPABILITY":
                self.say("* CAPABILITY IMAP4rev1", f"{tag} OK done")
            elif command.startswith("EXAMINE"):
                self.examine(tag, command)
            elif command.startswith("UID FETCH"):
                self.fetch(tag, command)
            elif command == "LOGOUT":
                self.say("* BYE", f"{tag} OK bye")
                return
            else:
                self.say(f"{tag} BAD not known")

    def say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())

    def examine(self, tag: str, command: str) -> None:
        if command != 'EXAMINE "INBOX"':
            self.say(f"{tag} NO there is no such folder")
            return
        inbox = self.server.inbox
        self.say(
            f"* {len(inbox.messages)} EXISTS",
            f"* OK [UIDVALIDITY {inbox.valid}] valid",
            f"{tag} OK [READ-ONLY] done",
        )

    def fetch(self, tag: str, command: str) -> None:
        inbox = self.server.inbox
        if "RFC822.SIZE" in command:
            while inbox.flood:
                self.say(*["* 1 FETCH (UID 1 RFC822.SIZE 5)" for _ in range(1000)])
            for number, (uid, message) in enumerate(inbox.messages.items(), 1):
                self.say(
                    f"* {number} FETCH (UID {uid} RFC822.SIZE {len(message)} "
                    'INTERNALDATE "27-Nov-2026 01:02:03 +0000")'
                )
        else:
            found = re.match(r"UID FETCH (\d+)", command)
            assert found is not None
            uid = int(found[1])
            if uid in inbox.messages:
                body = inbox.messages[uid]
                self.say(f"* 1 FETCH (UID {uid} BODY[] {{{len(body)}}}")
                self.wfile.write(body + b")\r\n")
        self.say(f"{tag} OK done")
