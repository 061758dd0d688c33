# SPDX-License-Identifier: Apache-2.0
"""Jobs of PyTorch that are all there at once and take turns: each rank waits for a line on its standard input."""
import json
import os
import queue
import subprocess
import sys
import threading
import time

from harness.job import STOP, end_all, free_port

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks", "torch_rank.py")


class JobFailed(Exception):
    pass


class Rank:
    """`lines`: where what it answers goes, as (rank, line or, at its end, None)."""

    def __init__(self, folder, rank, environment, lines):
        self.rank, self.lines = rank, lines
        self.error = open(os.path.join(folder, f"err.{rank}"), "w")
        self.process = subprocess.Popen([sys.executable, SCRIPT], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.error, text=True, start_new_session=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put((self.rank, line))
        self.lines.put((self.rank, None))

    def send(self, command):
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, and that is its answer

    def close(self):
        """When its process has ended."""
        self.reader.join(5)
        for file in (self.process.stdin, self.process.stdout, self.error):
            try:
                file.close()
            except OSError:
                pass


class Job:
    """One configuration's ranks. `environment(rank)`: of its process. `failed`: why it is not there any more."""

    def __init__(self, name, native, folder, ranks, environment):
        self.name, self.native, self.folder, self.failed = name, native, folder, ""
        os.makedirs(folder, exist_ok=True)
        self.ranks, self.lines = [], queue.Queue()
        try:
            for rank in range(ranks):
                self.ranks.append(Rank(folder, rank, environment(rank), self.lines))
        except BaseException:
            self.close()
            raise

    def said(self, rank=0):
        with open(os.path.join(self.folder, f"err.{rank}"), errors="replace") as file:
            return file.read()

    def send(self, **command):
        for rank in self.ranks:
            rank.send(command)

    def answers(self, limit):
        """Of all ranks, to the command sent last; ends the job where one has none."""
        until, got = time.monotonic() + limit, {}
        try:
            while len(got) < len(self.ranks):
                rank, answer = self.next_answer(until)
                if "error" in answer:
                    raise JobFailed(f"rank {rank}: {answer['error']}")
                got[rank] = answer
            return [got[rank] for rank in sorted(got)]
        except JobFailed as error:
            self.failed = str(error)
            self.close()
            raise

    def next_answer(self, until):
        while not STOP.is_set():
            try:
                rank, line = self.lines.get(timeout=min(1.0, max(0.01, until - time.monotonic())))
            except queue.Empty:
                if time.monotonic() > until:
                    raise JobFailed("no answer in time") from None
                continue
            if line is None:
                raise JobFailed(f"rank {rank} ended with {self.ranks[rank].process.wait()}")
            return rank, json.loads(line)
        raise JobFailed("interrupted")

    def ask(self, limit, **command):
        self.send(**command)
        return self.answers(limit)

    def close(self):
        end_all([rank.process for rank in self.ranks])
        for rank in self.ranks:
            rank.close()
        self.ranks = []


class Pool:
    """Jobs that are started at once."""

    def __init__(self, session):
        self.session, self.jobs = session, []

    def start(self, name, bench, native, placed=None, extra=None):
        """`placed`: the process, and by that the GPU, of each rank."""
        count = self.session.settings.gpus
        placed, port = placed or list(range(count)), str(free_port())

        def environment(rank):
            more = {"RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
                    "PYTHONUNBUFFERED": "1"}
            env = bench.environment(placed[rank], count, native, nccl="own", extra=more | (extra or {}))
            if self.session.settings.host:  # gloo, out of DetCCL's reach
                env["LD_PRELOAD"] = ""
            return env

        if self.session.settings.dry_run:
            changed = [f"{k}={v}" for k, v in environment(0).items() if os.environ.get(k) != v]
            print(f"# {name}: {count} ranks; rank 0:\nenv {' '.join(changed)} {sys.executable} {SCRIPT}")
            return
        self.jobs.append(Job(name, native, self.session.path(name), count, environment))

    def alive(self):
        return [job for job in self.jobs if not job.failed]

    def all(self, limit, jobs=None, **command):
        """{job: answers} of those that had some, all at the same time."""
        jobs, answers, until = jobs or self.alive(), {}, time.monotonic() + limit
        for job in jobs:
            job.send(**command)
        for job in jobs:
            try:
                answers[job] = job.answers(max(0.1, until - time.monotonic()))
            except JobFailed:
                pass
        return answers

    def began(self, limit):
        """All processes are there and have their libraries."""
        until = time.monotonic() + limit
        for job in self.alive():
            try:
                job.answers(max(0.1, until - time.monotonic()))
            except JobFailed:
                pass

    def end(self, limit):
        self.all(limit, do="end")
        until = time.monotonic() + limit
        for job in self.alive():
            for rank in job.ranks:
                rank.process.stdin.close()
            for rank in job.ranks:
                try:
                    rank.process.wait(max(0.1, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    pass
        self.close()

    def close(self):
        for job in self.jobs:
            job.close()
