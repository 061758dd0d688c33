# SPDX-License-Identifier: Apache-2.0
"""Processes as the ranks of one job: an environment and two log files for each, and an end for all."""
import os
import random
import signal
import socket
import subprocess
import threading
import time

from harness import clock

STOP = threading.Event()  # set: every job ends now
GRACE = 5.0  # seconds that the others have when one rank has failed


class Outcome:
    def __init__(self, folder, codes, reason, start, ended):
        self.folder = folder    # out.R and err.R, by rank
        self.codes = codes      # by rank; None: ended by us
        self.reason = reason    # empty if all ranks ended by themselves with 0
        self.ended = ended      # when that was seen, before what was left was ended
        self.seconds = time.monotonic() - start

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


def parents():
    """The parent of every process."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", errors="replace") as file:
                found[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue  # it has ended
    return found


def end_all(processes):
    """With all that they started: mpirun gives each rank a process group of its own."""
    above, doomed = parents(), [process.pid for process in processes if process.poll() is None]
    for pid in doomed:
        doomed += [child for child, parent in above.items() if parent == pid]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # none sees another's end, and complains of it
        for pid in doomed:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # of one that has ended: what it left
        except ProcessLookupError:
            pass
    until = time.monotonic() + 5.0  # a driver may hold a process whose kernels hang
    for process in processes:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass


def run_ranks(folder, ranks, command, environment, timeout, stall):
    """`command(rank)` and `environment(rank)` for each; ends all of them after `timeout` seconds, after `stall`
    seconds in which none printed anything, or a little after one has failed. NoTime: the run's time is up."""
    clock.limit(timeout)
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
        ended = time.monotonic()
    finally:
        codes = {rank: process.poll() for rank, process in processes.items()}
        end_all(list(processes.values()))
        for file in files:
            file.close()
    outcome = Outcome(folder, codes, reason, start, ended)
    if reason is None:
        raise clock.NoTime(outcome)
    return outcome


def wait(processes, logs, start, timeout, stall):
    """The reason of the end; None: no time."""
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
        if STOP.is_set() or clock.left() <= 0:
            if failed:
                break
            return None
        if now - start > timeout:
            return f"not done after {timeout:.0f} s"
        if now - progress > stall:
            return f"no output for {stall:.0f} s"
        time.sleep(0.02)
    if not failed:
        return ""
    return f"rank {first} ended with {failed[first]}"
