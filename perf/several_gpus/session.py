# SPDX-License-Identifier: Apache-2.0
"""What all parts share: the time that is left, children with a limit, and the lines of results."""
import json
import os
import shlex
import subprocess
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

from harness import bench as benches
from harness.job import run_ranks

PERF = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STALL = 45.0  # seconds without output that end a job of ranks


def load_gpu_table():
    """The script perf/gpu_table, for its helpers."""
    loader = SourceFileLoader("gpu_table", os.path.join(PERF, "gpu_table"))
    module = module_from_spec(spec_from_loader("gpu_table", loader))
    loader.exec_module(module)
    return module


gpu_table = load_gpu_table()


class NoTime(Exception):
    pass


class Bench(benches.Bench):
    """Process p has GPU p modulo their number. `kind` is also "gpus": one rank a GPU, NCCL as it is, and the process
    sees the other GPUs after its own; under MPS it sees its own alone."""

    def __init__(self, kind, build, nccl, gpus, mps_environment=None):
        super().__init__(kind, build, nccl, mps_environment or {})
        self.gpus = gpus

    def environment(self, process, ranks, *arguments, **named):
        env = super().environment(process, ranks, *arguments, **named)
        if self.kind != "host":
            seen = range(self.gpus if self.kind == "gpus" else 1)
            env["CUDA_VISIBLE_DEVICES"] = ",".join(str((process + i) % self.gpus) for i in seen)
            env.setdefault("NCCL_NVLS_ENABLE", os.environ.get("NCCL_NVLS_ENABLE", "0"))
        return env


class Session:
    def __init__(self, settings):
        self.settings, self.start = settings, time.monotonic()
        self.records, self.earlier = [], []  # all; those of earlier runs
        self.expected = []  # (part, seconds), in a dry run
        self.lines = None
        if not settings.dry_run:
            file = os.path.join(settings.out, "multi_gpu.jsonl")
            if settings.resume:
                self.take_up(file)
            self.lines = open(file, "a" if settings.resume else "w")

    def take_up(self, file):
        """What earlier runs have measured: the page is of everything. Half a line, of one that was killed, goes."""
        with open(file, "r+b") as lines:
            whole = lines.read().rpartition(b"\n")
            lines.truncate(len(whole[0] + whole[1]))
        for number, line in enumerate(whole[0].splitlines(), 1):
            try:
                self.keep(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(f"multi_gpu: {file}, line {number}, is none of its records: {error}") from error

    def keep(self, record):
        """Instead of an earlier run's that had no time, or failed. Each run begins with a header."""
        key = record["part"], record["name"]
        if key == ("run", "header"):
            self.earlier = list(self.records)
        for old in self.earlier:
            if (old["part"], old["name"]) == key and old["status"] in ("skip", "fail") and old in self.records:
                self.records.remove(old)
        self.records.append(record)

    @property
    def sweeps(self):
        return [{name: record[name] for name in ("settings", "document")} for record in self.records
                if record.get("document", {}).get("results")]

    def spent(self):
        return time.monotonic() - self.start

    def left(self):
        return self.settings.budget - self.spent()

    def limit(self, least, most):
        """Seconds for the next child; NoTime where there is less than it needs."""
        if self.settings.dry_run:
            return most
        if self.left() < least:
            raise NoTime(f"{self.left():.0f} s left, {least:.0f} needed")
        return min(self.left(), most)

    def expect(self, seconds):
        """Of the part that begins, for the plan that a dry run prints."""
        if self.settings.dry_run:
            self.expected[-1][1] += seconds

    def record(self, part, name, status, seconds=0.0, detail="", **data):
        """`status`: pass, fail, skip or info. Written at once."""
        record = {"part": part, "name": name, "status": status, "seconds": round(seconds, 2), "detail": detail} | data
        self.keep(record)
        if self.lines:
            self.lines.write(json.dumps(record) + "\n")
            self.lines.flush()
            print(f"{self.spent():5.0f} s  {text(record)}"[:160], flush=True)
        return record

    def path(self, name):
        return os.path.join(self.settings.out, name.replace(" ", "_").replace(",", "").replace("/", "_"))

    def child(self, name, command, limit, environment=None):
        """(exit code or None, seconds, log file). 124: it took too long, and was killed with all that it started."""
        command = [f"{key}={value}" for key, value in (environment or {}).items()] + command
        command = (["env"] if environment else []) + command
        if self.settings.dry_run:
            print(f"# {name}, at most {limit:.0f} s\n{shlex.join(command)}")
            return None, 0.0, ""
        log, start = self.path(name) + ".log", time.monotonic()
        code = gpu_table.run(command, limit, log)
        return code, time.monotonic() - start, log

    def ranks(self, name, ranks, command, environment, limit):
        """harness.job's Outcome, or None in a dry run."""
        if self.settings.dry_run:
            changed = [f"{k}={v}" for k, v in environment(0).items() if os.environ.get(k) != v]
            print(f"# {name}: {ranks} ranks, at most {limit:.0f} s; rank 0:\nenv {shlex.join(changed + command(0))}")
            return None
        return run_ranks(self.path(name), ranks, command, environment, limit, limit)


def text(record):
    return f"{record['status']:4} {record['seconds']:6.1f} s  {record['name']:44} {record['detail']}"


def tail(log, lines=2):
    try:
        with open(log, errors="replace") as file:
            return " | ".join(line.strip()[:160] for line in file.read().splitlines()[-lines:])
    except OSError:
        return ""


def answer_of(command, timeout=15):
    """A program's standard output, or empty."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
