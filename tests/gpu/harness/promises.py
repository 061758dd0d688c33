# SPDX-License-Identifier: Apache-2.0
"""The promises program: its cases under many settings, and its digests compared."""
import fnmatch
import json
import os
import tempfile

from harness.bench import shuffled
from harness.job import run_ranks
from harness.report import Row

# What is repeated under every setting: order-sensitive reductions, small and large.
SENSITIVE = ["reduce.float32.*", "reduce.bfloat16.*", "reduce.float16.sum", "reduce.float64.sum",
             "reduce.float8e4m3.avg", "large.float32", "large.bfloat16", "pieces.float32", "pieces.bfloat16",
             "group.*", "streams.order"]
MOST_ATTEMPTS = 8


class Variant:
    def __init__(self, name, extra=None, placement=False, nodes=1, native=False, cases=None, contract=None,
                 host=False, alone=False, shim=False):
        self.name, self.extra, self.placement, self.nodes = name, dict(extra or {}), placement, nodes
        self.native, self.cases, self.contract, self.host, self.alone = native, cases, contract, host, alone
        self.shim = shim
        if contract:
            self.extra["DETCCL_CONTRACT"] = contract


def variants(kind, quick):
    """The first is what the others' digests are compared with."""
    some = SENSITIVE
    yield Variant("default", cases=["*"], alone=True)
    timed = ["time.*"] if kind != "host" else []  # more processes than cores, perhaps: no figure
    yield Variant("native", native=True, cases=["pieces.*", "collectives.*", "arguments.*"] + timed, alone=True)
    if kind != "host":
        yield Variant("host engine", host=True, cases=["reduce.*", "large.*", "pieces.*", "group.*", "streams.*"])
    yield Variant("other placement", placement=True, cases=some)
    for schedule in ("gather", "direct", "tree") + (("peer",) if kind == "p2p" else ()):
        yield Variant(f"schedule {schedule}", {"DETCCL_SCHEDULE": schedule}, cases=some)
    yield Variant("the shim", shim=True, cases=["large.*", "group.*", "streams.*", "comm.split", "arguments.*"])
    # Whatever happens to communicators, and whatever they are given, is recorded.
    yield Variant("traced", {"DETCCL_TRACE": "1"}, cases=some + ["graph.*", "comm.*", "end.*", "collectives.*",
                                                                 "arguments.*", "registered.*", "scalar.*"])
    yield Variant("contract linear, ring", {"DETCCL_SCHEDULE": "ring"}, contract="linear", cases=some)
    if quick:
        return
    yield Variant("chunk 64K, proved", {"DETCCL_CHUNK": "64K", "DETCCL_PROVE": "1"}, cases=some)
    yield Variant("chunk 1M", {"DETCCL_CHUNK": "1M"}, cases=some)
    yield Variant("contract linear:native", contract="linear:native", cases=some)
    yield Variant("contract tree:native", contract="tree:native", cases=some)
    yield Variant("contract tree:wide/2", contract="tree:wide/2", cases=some)
    if kind == "host":
        return
    # Only AllReduce has a tree; LL128 forced where NCCL does not choose it may lose data.
    for name, value in (("ALGO", "ring"), ("ALGO", "ring;allreduce:tree"), ("PROTO", "LL"), ("PROTO", "Simple")):
        yield Variant(f"NCCL_{name}={value}", {f"NCCL_{name}": value}, cases=some)
    yield Variant("one channel", {"NCCL_MIN_NCHANNELS": "1", "NCCL_MAX_NCHANNELS": "1"}, cases=some)
    yield Variant("four channels", {"NCCL_MIN_NCHANNELS": "4"}, cases=some)
    if kind == "p2p":
        yield Variant("two nodes", nodes=2, cases=some)
        yield Variant("two nodes, other placement", nodes=2, placement=True, cases=some)


class Run:
    """One variant's job, restarted after the case that ended it."""

    def __init__(self, settings, bench, ranks, variant):
        self.settings, self.ranks, self.variant = settings, ranks, variant
        self.bench = bench.on_host() if variant.host else bench
        self.cases = {}       # name -> {rank: line}
        self.broken = {}      # name -> why
        self.seconds = 0.0
        self.nccl = None

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
            outcome = self.attempt(left, attempt)
            self.seconds += outcome.seconds
            self.read(outcome)
            left = [name for name in left if len(self.cases.get(name, {})) < self.ranks]
            if not left and not outcome.reason:
                break
            failures = outcome.reason.endswith(" ended with 1")  # of checks, and the job went to its end
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
        self.wanted = wanted
        return self

    def attempt(self, names, number):
        v = self.variant
        label = f"promises-{self.ranks}-{v.name}-{number}".replace(" ", "_").replace("/", "_").replace(",", "")
        order = shuffled(self.ranks) if v.placement else list(range(self.ranks))
        extra = dict(v.extra)
        if v.placement and self.bench.kind == "host":
            extra["HOSTNCCL_PLACEMENT"] = ",".join(map(str, order))
        process_of = {rank: process for process, rank in enumerate(order)}
        with tempfile.TemporaryDirectory(prefix="detccl-ids-") as folder:
            if "DETCCL_TRACE" in extra:
                extra["DETCCL_TRACE_DIR"] = os.path.join(folder, "trace")

            def command(rank):
                arguments = [self.settings.program, "--rank", str(rank), "--ranks", str(self.ranks), "--folder",
                             folder, "--cases", ",".join(names), "--replays", str(self.settings.replays), "--cycles",
                             str(self.settings.cycles)]
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
        figures = {key: value for key, value in self.figures().items() if not key.startswith("start.")}
        return Row(f"{self.ranks} ranks: {self.variant.name}", "fail" if failures else "pass", self.seconds, detail,
                   figures, cases={name: self.case(name, failures, skipped) for name in self.wanted})

    def case(self, name, failures, skipped):
        if name in failures:
            return {"status": "fail", "detail": failures[name]}
        if name in skipped:
            return {"status": "skip", "detail": skipped[name]}
        return {"status": "pass", "digests": [self.cases[name][rank]["digest"] for rank in range(self.ranks)]}
