"""Mixed load on several servers and workers, each with a home of its own, while one thing after
another is killed or stands still, and what is left of what was acknowledged.

    python evals/soak.py [--minutes 30] [--every 20] [--servers 3] [--workers 2] [--clients 4]

Every `--every` seconds a server, a worker or the database is killed (-9) and started again, or the
database stands still for a while, as behind a network that stalls. The one rule: exit code 1
where anything that was acknowledged is not there at the end.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections import Counter

import httpx

from cluster import Cluster, running
from faults_check import PATIENCE, Verdict, check_kept
from faults_clients import ENDED, Clients, Ledger
from serve_server import Server

DOWN = 2.0  # seconds that what was killed stays away
STILL = (5.0, 45.0)  # seconds that the database stands still: more and less than is waited for it
VICTIMS = {"server": 4, "worker": 3, "database": 2, "database held up": 1}  # how often each


class House:
    """What the clients know of the servers: the address of one of them, another each time."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self._cluster, self._chance = cluster, chance

    @property
    def url(self) -> str:
        return self._chance.choice(self._cluster.servers).url


class Killer:
    """One victim after another, each back before the next."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster, self.chance = cluster, chance
        self.times = Counter[str]()

    def kill_one(self) -> None:
        victim = self.chance.choices(list(VICTIMS), list(VICTIMS.values()))[0]
        self.times[victim] += 1
        if victim == "server":
            self._kill_process(self.chance.choice(self.cluster.servers))
        elif victim == "worker":
            worker = self.chance.choice(self.cluster.workers)
            worker.stop(signal.SIGKILL)
            time.sleep(DOWN)
            worker.start()
        elif victim == "database held up":
            with self.cluster.postgres.hold_up():
                time.sleep(self.chance.uniform(*STILL))
        else:
            self.cluster.postgres.kill()
            time.sleep(DOWN)
            self.cluster.postgres.start()

    def start_ended_workers(self) -> None:
        """As a supervisor would those that found no database."""
        for worker in self.cluster.workers:
            if worker.process is None or worker.process.poll() is not None:
                worker.start()

    @staticmethod
    def _kill_process(server: Server) -> None:
        """A server that finds no database ends and says so; it is started again, as by a
        supervisor.
        """
        server.stop(signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while server.process is None:
            time.sleep(DOWN)
            try:
                server.start()
            except RuntimeError:
                server.stop()
                if time.monotonic() > until:
                    raise


def drain(client: httpx.Client, ledger: Ledger, verdict: Verdict) -> None:
    """Until every job that was acknowledged has ended; one that failed is tried again once."""
    until, again = time.monotonic() + PATIENCE, set[str]()
    left = {note.job_id for note in ledger.notes.values() if note.job_id}
    while left and time.monotonic() < until:
        for job_id in sorted(left):
            job = client.get(f"/api/jobs/{job_id}").json()
            if job["state"] == "failed" and job_id not in again:
                again.add(job_id)
                ledger.error("job", {"error": job["error"]})
                client.post(f"/api/jobs/{job_id}/again")
            elif job["state"] in ENDED:
                left.discard(job_id)
        time.sleep(0.5)
    verdict.again = len(again)
    verdict.wrong += [f"a job has not ended: {job_id}" for job_id in sorted(left)]


def soak(args: argparse.Namespace) -> tuple[Verdict, Ledger, Counter[str], list[str]]:
    chance, ledger = random.Random(args.seed), Ledger()
    more = {"CITEWELL_LLM": "none"}
    with running(args.servers, args.workers, more=more) as cluster:
        killer = Killer(cluster, chance)
        clients = Clients(House(cluster, chance), ledger, args.seed, args.pause)  # type: ignore[arg-type]  # has its address
        clients.acts = [each for each in clients.acts if each[1] != clients.back_up]
        clients.start(args.clients)
        end = time.monotonic() + args.minutes * 60
        try:
            while time.monotonic() < end:
                time.sleep(args.every * chance.uniform(0.5, 1.5))
                killer.kill_one()
                killer.start_ended_workers()
        finally:
            clients.stop()
        killer.start_ended_workers()
        verdict = Verdict()
        url = cluster.servers[0].url
        with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
            drain(client, ledger, verdict)
            check_kept(client, ledger, verdict)
    return verdict, ledger, killer.times, clients.broken


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two of them")
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two acts")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    verdict, ledger, times, broken = soak(args)
    print("killed or held up: " + ", ".join(f"{n} {name}" for name, n in sorted(times.items())))
    for kind, (owed, lost) in verdict.rows.items():
        print(f"{kind:24} {owed:6} acknowledged, {lost} lost")
    print(f"jobs tried again {verdict.again}, cut off {dict(ledger.cut)}")
    for said, n in ledger.errors.most_common():
        print(f"{n:6} x {said}")
    wrong = [*verdict.wrong, *(f"no cause named: {each}" for each in ledger.unnamed), *broken]
    for each in wrong:
        print(f"WRONG {each}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
