# SPDX-License-Identifier: Apache-2.0
"""Jobs that are traced, and what `detccl trace` says of their traces."""
import csv
import json
import os
import shutil
import subprocess
import tempfile

from harness import clock, nccl_tests, workloads
from harness.job import run_ranks

RANKS = 4


class Missing(Exception):
    """Something that a part needs is not here."""


class Traced:
    """A job that ran. `folder`: its trace."""

    def __init__(self, tracing, outcome, folder):
        self.tracing, self.outcome, self.folder, self.seconds = tracing, outcome, folder, outcome.seconds

    def complaint(self):
        """What went wrong in the job, or what its trace lacks."""
        if self.outcome.reason:
            return f"{self.outcome.reason}; {self.outcome.tail()}"
        for rank in self.outcome.codes:
            for line in self.outcome.text(rank, "err").splitlines():
                if "detccl: " in line and "trace" in line and "tracing into" not in line:
                    return f"rank {rank}: {line}"
        return ""

    def records(self):
        """Dictionaries with strings, in the order of the records; by rank."""
        file = os.path.join(self.folder, "..", "records.csv")
        if os.path.exists(file):
            os.remove(file)
        code, _, err = self.tracing.command("export", self.folder, "--format", "csv", "--out", file)
        if code != 0:
            raise RuntimeError(f"detccl trace export: {err}")
        with open(file, newline="") as lines:
            return list(csv.DictReader(lines))


class Tracing:
    def __init__(self, settings, bench):
        self.settings, self.bench = settings, bench
        self.runner = workloads.Runner(settings, bench)
        self.detccl = os.path.join(settings.build, "bin", "detccl")

    def folder(self, label):
        folder = os.path.join(self.settings.out, f"trace-{label}", "records")
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def workload(self, label, script, module, arguments, extra=None, ranks=RANKS, shim=False):
        if workloads.missing(module):
            raise Missing(f"there is no {module} here")
        folder = self.folder(label)
        workload = workloads.Workload("trace", script, module, arguments, ranks=ranks, shim=shim,
                                      extra={"DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": folder} | (extra or {}))
        outcome, _ = self.runner.once(workload, label, arguments, False, False)
        return Traced(self, outcome, folder)

    def torch(self, label, arguments, extra=None):
        return self.workload(label, "torch_traced.py", "torch", arguments, extra)

    def promises(self, label, cases, extra):
        folder = self.folder(label)
        extra = extra | {"DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": folder}
        with tempfile.TemporaryDirectory(prefix="detccl-ids-", ignore_cleanup_errors=True) as ids:
            outcome = run_ranks(os.path.dirname(folder), RANKS,
                                lambda rank: [self.settings.program, "--rank", str(rank), "--ranks", str(RANKS),
                                              "--folder", ids, "--cases", ",".join(cases), "--replays", "20"],
                                lambda rank: self.bench.environment(rank, RANKS, extra=extra),
                                self.settings.timeout, self.settings.stall)
        return Traced(self, outcome, folder)

    def nccl_tests(self, label, program, options):
        path = os.path.join(self.settings.nccl_tests or "", program)
        if not self.settings.nccl_tests or not nccl_tests.with_mpi(path):
            raise Missing("no --nccl-tests that were built with MPI=1")
        folder = self.folder(label)
        environment = self.bench.environment(0, RANKS, extra={"DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": folder})
        environment["PRELOAD_OF_RANKS"] = environment.pop("LD_PRELOAD")
        environment.pop("NCCL_HOSTID", None)
        outcome = run_ranks(os.path.dirname(folder), 1, lambda _: nccl_tests.command(path, RANKS, options),
                            lambda _: environment, self.settings.timeout, 2 * self.settings.stall)
        return Traced(self, outcome, folder)

    def command(self, *arguments):
        answer = subprocess.run([self.detccl, "trace", *arguments], capture_output=True, text=True,
                                timeout=clock.limit(60))
        return answer.returncode, answer.stdout, answer.stderr.strip()

    def json(self, *arguments):
        """(exit code, what it printed, its complaint)."""
        code, out, err = self.command(*arguments, "--json")
        try:
            return code, json.loads(out), err
        except ValueError:
            return code, {}, err or out

    def diff(self, a, b, *options):
        return self.json("diff", *options, a.folder, b.folder)
