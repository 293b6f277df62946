"""A day's faults in 40 minutes, and what is left of what was acknowledged meanwhile: nothing may be
lost, half-visible or without its cause.

    python evals/faults.py [--minutes 40] [--clients 3] [--seed 1] [--no-mount] [--keep-log FILE]

A real server on the loopback (no chat model, scripted embedder and reader), its home on a small
disk of its own, clients that upload, ask, vote, remember, delete and back up; and at random: kill
-9, a full disk, a home that cannot be written, clock steps, flipped bits in archives and in the
database, cut connections. The one rule: exit code 1 where anything that was acknowledged is not
there at the end, or an error did not name its cause.
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import signal
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from faults_check import Verdict, checked
from faults_clients import Clients, Ledger
from faults_place import Faulty, NotStarted, flipped, place

MIB_AT_LEAST, MIB_A_MINUTE = 64, 6
CLOCK_STEPS = (-86_400.0, -3_600.0, -60.0, 60.0, 3_600.0, 3 * 86_400.0, 400 * 86_400.0)
FLIPS = 200  # bits of a database


def has_same_content(one: bytes, other: bytes) -> bool:
    try:
        return gzip.decompress(one) == gzip.decompress(other)
    except (OSError, EOFError, zlib.error):
        return False


class Faults:
    """Each fault ends where it began: with a server that runs on a disk with room."""

    def __init__(self, server: Faulty, ledger: Ledger, chance: random.Random) -> None:
        self.server, self.place, self.ledger, self.chance = server, server.place, ledger, chance
        self.times = Counter[str]()
        self.wrong: list[str] = []
        self.all: list[tuple[float, Callable[[], None]]] = [
            (30, self.kill), (20, self.fill_disk), (12, self.lock_home),
            (8, self.mount_read_only), (14, self.step_clock),
            (6, self.flip_archive), (6, self.flip_database),
        ]  # fmt: skip

    def one(self) -> None:
        if not self.server.alive:
            self.wrong.append("the server ended by itself")
            self.start()
        self.chance.choices(self.all, [weight for weight, _ in self.all])[0][1]()

    def start(self) -> None:
        """Raises NotStarted, which is the end of the trial: nothing is amiss any more."""
        self.server.start()

    def _start_amid(self, fault: str) -> None:
        """On a disk that takes nothing: it says why it cannot start, or it starts and says so when
        asked.
        """
        try:
            self.start()
        except NotStarted as error:
            self.times[f"{fault}: a start was refused"] += 1
            self.ledger.command(1, str(error))

    def _pause(self, longest: float) -> None:
        time.sleep(self.chance.uniform(0.2, longest))

    def kill(self) -> None:
        self.times["kill -9"] += 1
        self.server.stop(signal.SIGKILL)
        self._pause(1.0)
        self.start()

    def fill_disk(self) -> None:
        """One time in three the server is killed while the disk is full, and started on it."""
        self.times["disk full"] += 1
        (self.place.fill if self.place.mounted else lambda: self.server.limit_files(0))()
        self._pause(5.0)
        if self.place.mounted and self.chance.random() < 0.33:
            self.times["disk full: kill -9"] += 1
            self.server.stop(signal.SIGKILL)
            self._start_amid("disk full")
            self._pause(3.0)
        (self.place.free if self.place.mounted else lambda: self.server.limit_files(-1))()
        if not self.server.alive:
            self.start()

    def lock_home(self) -> None:
        """The right to write is taken from folders and database of the running server."""
        self.times["home cannot be written"] += 1
        self.place.lock(True)
        self._pause(5.0)
        if self.chance.random() < 0.33:
            self.times["home cannot be written: kill -9"] += 1
            self.server.stop(signal.SIGKILL)
            self._start_amid("home cannot be written")
            self._pause(2.0)
        self.place.lock(False)
        if not self.server.alive:
            self.start()

    def mount_read_only(self) -> None:
        """No disk becomes read-only under files that are open to write, so the server is killed
        first.
        """
        if not self.place.mounted:
            return
        self.server.stop(signal.SIGKILL)
        if not self._read_only():
            self.start()
            return
        self.times["disk read-only"] += 1
        self._start_amid("disk read-only")
        self._pause(3.0)
        self.place.remount("rw")
        self.server.stop(signal.SIGKILL)
        self.start()

    def _read_only(self) -> bool:
        """Not while a backup, or what the killed server had begun, still holds a file open."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            if self.place.remount("ro"):
                return True
            time.sleep(0.1)
        return False

    def step_clock(self) -> None:
        self.times["clock step"] += 1
        self.place.step_clock(self.chance.choice(CLOCK_STEPS))
        self._pause(6.0)
        self.place.step_clock(0)

    def flip_archive(self) -> None:
        """The last archive is whole, and is not any more with one bit of it turned round, unless
        that changes nothing of what is in it: a code of gzip that is not used.
        """
        archive = max(self.place.backups.glob("backup-*.tar.gz"), default=None)
        copy = self.place.folder / "flipped.tar.gz"
        if archive is None:
            return
        try:
            data = archive.read_bytes()
        except FileNotFoundError:  # a newer one has come
            return
        self.times["archive with a flipped bit"] += 1
        for what, changed in (
            ("whole", data),
            ("flipped", flipped(data, [self.chance.randrange(10, len(data))])),
        ):
            if what == "flipped" and has_same_content(data, changed):
                continue
            copy.write_bytes(changed)
            code, said = self.server.run("backup", "--verify", str(copy), "--json")
            if (code == 0) != (what == "whole") or "Traceback" in said:
                self.wrong.append(f"{what} archive: verify ended with {code}: {said[-400:]}")
        copy.unlink()

    def flip_database(self) -> None:
        """A copy as a backup has it, in a home of its own, damaged in many pages: of it no backup
        is made.
        """
        archive = max(self.place.backups.glob("backup-*.tar.gz"), default=None)
        home = self.place.folder / "damaged"
        shutil.rmtree(home, ignore_errors=True)
        if archive is None:
            return
        try:
            with tarfile.open(archive) as packed:
                packed.extract("citewell.db", home, filter="data")
        except FileNotFoundError:
            return
        self.times["database with flipped bits"] += 1
        file = home / "citewell.db"
        data = file.read_bytes()
        heads = [
            page * 4096 + self.chance.randrange(8)
            for page in self.chance.sample(range(1, len(data) // 4096), 20)
        ]
        file.write_bytes(
            flipped(
                data,
                heads + [self.chance.randrange(100, len(data)) for _ in range(FLIPS - len(heads))],
            )
        )
        target = self.place.folder / "of-damaged.tar.gz"
        code, said = self.server.run("backup", str(target), "--json", home=home)
        if code == 0 or target.exists() or "damaged" not in said or "Traceback" in said:
            self.wrong.append(f"a damaged database: backup ended with {code}: {said[-400:]}")
        target.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-mount", action="store_true", help="as it is where nobody may mount")
    parser.add_argument("--keep-log", type=Path, help="where the server's log goes at the end")
    asked = parser.parse_args()
    mib = int(MIB_AT_LEAST + MIB_A_MINUTE * asked.minutes)
    with (
        tempfile.TemporaryDirectory(prefix="citewell-faults-") as folder,
        place(Path(folder), 0 if asked.no_mount else mib) as made,
    ):
        server, ledger = Faulty(made), Ledger()
        faults = Faults(server, ledger, random.Random(asked.seed))
        clients = Clients(server, ledger, asked.seed, 0.3)
        began = time.monotonic()
        try:
            faults.start()
            tried(faults, clients, began + 60 * asked.minutes, asked.clients)
            verdict = checked(server, ledger)
        finally:
            clients.stop()
            server.stop(signal.SIGKILL)
            if asked.keep_log and made.log.exists():
                shutil.copyfile(made.log, asked.keep_log)
        verdict.wrong += faults.wrong + [f"a client: {each}" for each in clients.broken[:10]]
        seconds = time.monotonic() - began
    print(table(faults, ledger, verdict, seconds, "tmpfs" if made.mounted else "limit on files"))
    return (
        1
        if verdict.wrong or ledger.unnamed or any(lost for _, lost in verdict.rows.values())
        else 0
    )


def tried(faults: Faults, clients: Clients, until: float, number: int) -> None:
    """Faults among the clients' work; then the clients stop, and the server is ended once more and
    started.
    """
    clients.start(number)
    try:
        while time.monotonic() < until:
            time.sleep(faults.chance.uniform(0.5, 5.0))
            faults.one()
    finally:
        clients.stop()
        faults.place.free()
        faults.place.lock(False)
        faults.place.step_clock(0)
    faults.server.stop(signal.SIGKILL)
    faults.start()


def table(faults: Faults, ledger: Ledger, verdict: Verdict, seconds: float, disk: str) -> str:
    times = Counter(faults.times)
    times.update({f"cut connections, {what}": number for what, number in ledger.cut.items()})
    lines = [
        f"{'fault':44}{'times':>8}",
        *(f"{name:44}{number:>8}" for name, number in sorted(times.items())),
        "",
    ]
    lines += [f"{'acknowledged':30}{'n':>8}{'lost':>8}"]
    lines += [f"{kind:30}{owed:>8}{lost:>8}" for kind, (owed, lost) in verdict.rows.items()]
    lines += [
        f"{'backups':30}{ledger.backups:>8}",
        f"{'jobs that were tried again':30}{verdict.again:>8}",
    ]
    lines += [f"{'answers not kept, and said so':30}{ledger.not_kept:>8}", ""]
    lines += [
        f"{'errors told':60}{'times':>8}",
        *(f"{number:>6}  {said}" for said, number in ledger.errors.most_common()),
    ]
    lines += ["", f"errors without their cause: {len(ledger.unnamed)}", *ledger.unnamed[:10]]
    lines += [
        f"wrong: {len(verdict.wrong)}",
        *verdict.wrong[:40],
        f"{seconds / 60:.1f} minutes, disk: {disk}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
