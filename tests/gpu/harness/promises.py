# SPDX-License-Identifier: Apache-2.0
"""The promises program: its cases under many settings, and its digests compared."""
import fnmatch
import json
import os
import tempfile
import time

from harness import clock
from harness.bench import shuffled
from harness.job import run_ranks
from harness.report import Row
from harness.variants import SENSITIVE, Variant, variants  # noqa: F401, for those who import them from here

MOST_ATTEMPTS = 8
# After a client died, MPS takes no others until all that ran beside it have ended.
NOT_READY = ("MPS server is not ready", "busy or unavailable")
PATIENCE = 20.0  # seconds


class Run:
    """One variant's job, restarted after the case that ended it."""

    def __init__(self, settings, bench, ranks, variant, label=""):
        self.settings, self.ranks, self.variant, self.label = settings, ranks, variant, label
        self.bench = bench.on_host() if variant.host else bench
        self.cases = {}       # name -> {rank: line}
        self.broken = {}      # name -> why
        self.seconds = 0.0
        self.nccl = None
        self.no_time = False
        self.start, self.ended_badly = time.monotonic(), None  # when a job was first ended, or died

    def names(self, listed):
        return [name for name in listed
                if any(fnmatch.fnmatch(name, pattern) for pattern in self.variant.cases)
                and any(fnmatch.fnmatch(name, pattern) for pattern in self.settings.patterns)]

    def go(self, listed):
        left = self.names(listed)
        wanted = list(left)
        for attempt in range(MOST_ATTEMPTS):
            if not left:
                break
            try:
                outcome = self.patient_attempt(left, attempt)
            except clock.NoTime as error:
                self.no_time, outcome = True, error.outcome
            if outcome is not None:
                self.seconds += outcome.seconds
                self.read(outcome)
                self.look(outcome)
            left = [name for name in left if len(self.cases.get(name, {})) < self.ranks]
            if self.no_time:
                break
            if not left and not outcome.reason:
                break
            failures = outcome.reason.endswith(" ended with 1")  # of checks, and the job went to its end
            if left or not failures:
                self.ended_badly = self.ended_badly or outcome.ended
            if not left:
                if not failures:
                    self.broken["finish"] = f"{outcome.reason}; {outcome.tail()}"
                break
            self.broken[left[0]] = f"{outcome.reason}; {outcome.tail()}"
            if "start" not in self.cases:
                for name in left[1:]:
                    self.broken[name] = "the job did not start"
                break
            left = left[1:]
        else:
            for name in left:
                self.broken[name] = "not reached: too many cases before it ended the job"
        self.wanted, self.left = wanted, left if self.no_time else []
        return self

    def patient_attempt(self, names, number):
        until = time.monotonic() + PATIENCE
        while True:
            outcome = self.attempt(names, number)
            refused = outcome.reason and any(words in outcome.text(rank) for rank in outcome.codes for words in NOT_READY)
            if not refused or time.monotonic() > until:
                return outcome
            time.sleep(1)

    def attempt(self, names, number):
        v = self.variant
        label = f"promises-{self.ranks}-{v.name}{self.label}-{number}"
        label = label.replace(" ", "_").replace("/", "_").replace(",", "")
        order = shuffled(self.ranks) if v.placement else list(range(self.ranks))
        extra = dict(v.extra)
        if v.placement and self.bench.kind == "host":
            extra["HOSTNCCL_PLACEMENT"] = ",".join(map(str, order))
        process_of = {rank: process for process, rank in enumerate(order)}
        with tempfile.TemporaryDirectory(prefix="detccl-ids-", ignore_cleanup_errors=True) as folder:
            if "DETCCL_TRACE" in extra:
                extra["DETCCL_TRACE_DIR"] = os.path.join(folder, "trace")
            if any(name.startswith("DETCCL_PROFILER_") for name in extra):
                extra |= {"NCCL_PROFILER_PLUGIN": os.path.join(self.settings.build, "lib", "libnccl-profiler-detccl.so"),
                          "DETCCL_PROFILER_EVENTS": "calls", "DETCCL_PROFILER_DIR": os.path.join(folder, "profile")}

            def command(rank):
                arguments = [self.settings.program, "--rank", str(rank), "--ranks", str(self.ranks), "--folder",
                             folder, "--cases", ",".join(names), "--replays", str(self.settings.replays), "--cycles",
                             str(min(self.settings.cycles, v.cycles or self.settings.cycles))]
                return arguments + ["--native"] * v.native + ["--host"] * (self.bench.kind == "host")

            def environment(rank):
                return self.bench.environment(process_of[rank], self.ranks, v.native, v.nodes,
                                              preload=self.bench.shim if v.shim else None, extra=extra)

            return run_ranks(os.path.join(self.settings.out, label), self.ranks, command, environment,
                             self.settings.timeout, self.settings.stall)

    def read(self, outcome):
        for rank in range(self.ranks):
            for text in outcome.text(rank).splitlines():
                try:
                    line = json.loads(text)
                except ValueError:
                    continue  # a line cut short, or another library's
                self.cases.setdefault(line["case"], {})[rank] = line
                self.nccl = line.get("figures", {}).get("nccl", self.nccl)

    def look(self, outcome):
        """Whether it went the way that was asked for."""
        says = self.variant.says
        if says and self.ranks > self.variant.nodes and self.cases and says not in outcome.text(0, "err"):
            self.broken["way"] = f"rank 0's log does not say: {says}"

    def failures(self):
        """name -> what failed."""
        found = dict(self.broken)
        for name, lines in self.cases.items():
            for rank, line in sorted(lines.items()):
                if line["failures"] and name not in found:
                    found[name] = f"rank {rank}: {line['failures']} failures: {line['first_failure']}"
        return found

    def skipped(self):
        return {name: lines[0]["skipped"] for name, lines in self.cases.items() if "skipped" in lines.get(0, {})}

    def figures(self):
        """The mean over the ranks."""
        sums = {}
        for name, lines in self.cases.items():
            for line in lines.values():
                for key, value in line.get("figures", {}).items():
                    sums.setdefault(f"{name}.{key}", []).append(value)
        return {key: sum(values) / len(values) for key, values in sums.items()}

    def row(self):
        failures, skipped = self.failures(), self.skipped()
        detail = f"{len(self.wanted) - len(skipped)} cases, {len(skipped)} skipped"
        if failures:
            first = sorted(failures)[0]
            detail += f"; {len(failures)} failed, first {first}: {failures[first]}"
        if self.no_time:
            detail = f"no time for {len(self.left)} of {detail}"
        figures = {key: value for key, value in self.figures().items() if not key.startswith("start.")}
        status = "fail" if failures else "skip" if self.no_time else "pass"
        return Row(f"{self.ranks} ranks: {self.variant.name}", status, self.seconds, detail, figures,
                   cases={name: self.case(name, failures, skipped) for name in self.wanted})

    def case(self, name, failures, skipped):
        if name in failures:
            return {"status": "fail", "detail": failures[name]}
        if name in skipped:
            return {"status": "skip", "detail": skipped[name]}
        if name in self.left:
            return {"status": "skip", "detail": "no time"}
        return {"status": "pass", "digests": [self.cases[name][rank]["digest"] for rank in range(self.ranks)]}
