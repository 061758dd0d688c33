# SPDX-License-Identifier: Apache-2.0
"""Processes as the ranks of one job: an environment and two log files for each, and an end for all."""
import os
import random
import signal
import socket
import subprocess
import threading
import time

STOP = threading.Event()  # set: every job ends now
GRACE = 5.0  # seconds that the others have when one rank has failed


class Outcome:
    def __init__(self, folder, codes, reason, seconds):
        self.folder = folder    # out.R and err.R, by rank
        self.codes = codes      # by rank; None: ended by us
        self.reason = reason    # empty if all ranks ended by themselves with 0
        self.seconds = seconds

    def text(self, rank, kind="out"):
        with open(os.path.join(self.folder, f"{kind}.{rank}"), errors="replace") as file:
            return file.read()

    def tail(self):
        """The last two lines of standard error of the first rank that failed by itself."""
        failed = [rank for rank, code in sorted(self.codes.items()) if code not in (0, None)]
        for rank in failed or sorted(self.codes):
            lines = [line for line in self.text(rank, "err").splitlines() if line.strip()]
            if lines:
                return f"rank {rank}: " + " | ".join(line[:200] for line in lines[-2:])
        return ""


def free_port():
    """Below those that the system gives to connections: a job may listen on it twice, one after the other."""
    while True:
        port = random.SystemRandom().randrange(10000, 30000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def size_of(paths):
    return sum(os.path.getsize(path) for path in paths)


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)  # its own process group: it and its children
    except ProcessLookupError:
        pass
    process.wait()


def run_ranks(folder, ranks, command, environment, timeout, stall):
    """`command(rank)` and `environment(rank)` for each; ends all of them after `timeout` seconds, after `stall`
    seconds in which none printed anything, or a little after one has failed."""
    os.makedirs(folder, exist_ok=True)
    processes, files, logs = {}, [], []
    start = time.monotonic()
    try:
        for rank in range(ranks):
            out, err = (os.path.join(folder, f"{kind}.{rank}") for kind in ("out", "err"))
            files += [open(out, "w"), open(err, "w")]
            logs += [out, err]
            processes[rank] = subprocess.Popen(command(rank), env=environment(rank), stdin=subprocess.DEVNULL,
                                               stdout=files[-2], stderr=files[-1], start_new_session=True)
        reason = wait(processes, logs, start, timeout, stall)
    finally:
        codes = {rank: process.poll() for rank, process in processes.items()}
        for process in processes.values():
            end(process)
        for file in files:
            file.close()
    return Outcome(folder, codes, reason, time.monotonic() - start)


def wait(processes, logs, start, timeout, stall):
    seen, progress, failed_at, first = 0, start, None, None
    while True:
        codes = {rank: process.poll() for rank, process in processes.items()}
        failed = {rank: code for rank, code in codes.items() if code not in (0, None)}
        now = time.monotonic()
        if failed and failed_at is None:
            failed_at, first = now, min(failed, key=lambda rank: failed[rank])  # a signal before a status
        if None not in codes.values():
            break
        size = size_of(logs)
        if size != seen:
            seen, progress = size, now
        if failed_at and now - failed_at > GRACE:
            break
        if STOP.is_set():
            return "interrupted"
        if now - start > timeout:
            return f"not done after {timeout:.0f} s"
        if now - progress > stall:
            return f"no output for {stall:.0f} s"
        time.sleep(0.02)
    if not failed:
        return ""
    return f"rank {first} ended with {failed[first]}"
