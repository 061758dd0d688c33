# SPDX-License-Identifier: Apache-2.0
"""The profiler plugin on real NCCL: its counts against a program whose calls are known, what `detccl overhead` makes of
runs with and without DetCCL, and what the plugin costs, paired."""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys

from harness import clock
from harness.job import free_port, run_ranks
from harness.place import Place
from harness.report import Row
from harness.workloads import FOLDER, missing

CALLS = 40
RANKS = 4
# Function, type, bytes of a call as NCCL and DetCCL count them: see workloads/torch_calls.py.
EXPECTED = (("AllReduce", "ncclFloat32", 4 << 10), ("AllReduce", "ncclBfloat16", 2 << 20),
            ("ReduceScatter", "ncclFloat32", 1 << 20))
SIZES = ["-b", "1K", "-e", "1M", "-f", "32", "--row-seconds", "0.5"]


class Runner:
    def __init__(self, settings, bench):
        self.settings, self.bench = settings, bench
        self.place = Place.of(bench, ranks=2)
        self.plugin = os.path.join(settings.build, "lib", "libnccl-profiler-detccl.so")

    def folder(self, label):
        return os.path.join(self.settings.out, "profiler-" + label)

    def extra(self, label, events):
        shutil.rmtree(self.folder(label) + "/summaries", ignore_errors=True)  # of an earlier run into this folder
        return {"NCCL_PROFILER_PLUGIN": self.plugin, "DETCCL_PROFILER_EVENTS": events,
                "DETCCL_PROFILER_DIR": self.folder(label) + "/summaries"}

    def calls(self, label, native, events):
        """torch_calls.py on RANKS ranks."""
        port = str(free_port())
        nccl = None if self.settings.nccl_chosen else "own"

        def environment(rank):
            extra = {"RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", "PYTHONUNBUFFERED": "1"}
            return self.bench.environment(rank, RANKS, native, nccl=nccl, extra=extra | ours)

        ours = self.extra(label, events)
        command = [sys.executable, os.path.join(FOLDER, "torch_calls.py"), "--calls", str(CALLS)]
        return run_ranks(self.folder(label), RANKS, lambda _: command, environment, min(60, self.settings.timeout), 40)

    def summaries(self, label):
        found = []
        for path in sorted(glob.glob(self.folder(label) + "/summaries/*.json")):
            with open(path) as file:
                found.append(json.load(file))
        return found

    def counts(self, label, native, events):
        outcome = self.calls(label, native, events)
        name = f"profiler: counts, {label}"
        if outcome.reason:
            return Row(name, "fail", outcome.seconds, f"{outcome.reason}; {outcome.tail()}")
        problems, measured = [], 0
        for rank in range(RANKS):
            for function, datatype, size in EXPECTED:
                found = [c for s in self.summaries(label) if s["rank"] == rank for c in s["classes"]
                         if (c["function"], c["datatype"]) == (function, datatype) and c["bytes"] == size * c["count"]
                         and (native or c["algorithm"] == "detccl")]
                count = sum(c["count"] for c in found)
                measured += sum(c.get("gpu", {}).get("count", 0) for c in found)
                if count != CALLS:
                    problems.append(f"rank {rank}: {count} of {CALLS} {function} of {size} bytes")
        total = CALLS * RANKS * len(EXPECTED)
        if measured == 0:
            problems.append("no GPU times")
        versions = {s["interface"] for s in self.summaries(label) if s["interface"]}
        detail = problems[0] if problems else f"{total} calls counted, {measured} timed"
        return Row(name, "fail" if problems else "pass", outcome.seconds,
                   f"{detail}; interface {', '.join(map(str, sorted(versions))) or 'not loaded'}",
                   {"problems": len(problems), "timed": measured})

    def overhead(self):
        out = self.folder("overhead")
        os.makedirs(out, exist_ok=True)
        command = [os.path.join(self.settings.build, "bin", "detccl"), "overhead", self.folder("detccl") + "/summaries",
                   "--baseline", self.folder("native") + "/summaries", "--json", out + "/overhead.json"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=clock.limit(30))
        with open(out + "/out", "w") as file:
            file.write(answer.stdout + answer.stderr)
        if answer.returncode != 0:
            return Row("profiler: overhead", "fail", 0.0, answer.stderr.strip()[-200:])
        with open(out + "/overhead.json") as file:
            rows = [row for c in json.load(file)["communicators"] for row in c["operations"]
                    if row["deterministic"] and "overhead" in row]
        texts = [f"{row['function']} {row['bytes_from']} {row['schedule']} {row['overhead']['ratio']:+.0%}" for row in rows]
        status = "pass" if len(rows) == len(EXPECTED) else "fail"
        return Row("profiler: overhead", status, 0.0, "; ".join(texts) or "nothing could be compared")

    def sweep(self, label, extra):
        """Native and deterministic times in us by bytes, of the sweep program, under the plugin or not: of one rank a GPU
        where there are several."""
        options = ["-n", "200", "--rounds", "9", "-w", "3", "-c", "0", "-d", "bfloat16", "-o", "avg"] + SIZES
        results, seconds = self.place.sweep(self.settings, "profiler-" + label, "all_reduce_perf", options, extra)
        return {r["bytes"]: (r["peer_time_us"]["median"], r["time_us"]["median"]) for r in results}, seconds

    def cost(self):
        """Off and on in turn: each run under the plugin beside the ones without before and after it."""
        times, seconds = {}, 0.0
        on = "network", "network", "kernels"
        kinds = ["off"] + [kind for k in on * (1 if self.settings.quick else 3) for kind in (k, "off")]
        for number, kind in enumerate(kinds):
            figures, took = self.sweep(f"cost-{kind}{number}", {} if kind == "off" else self.extra(f"cost-{kind}{number}", kind))
            seconds += took
            times[number] = figures
        for kind in dict.fromkeys(on):
            numbers = [number for number, k in enumerate(kinds) if k == kind]
            figures, texts = {}, []
            for size in sorted(times[0]):
                for index, library in enumerate(("native", "det")):
                    off = [statistics.mean(times[k][size][index] for k in (number - 1, number + 1)) for number in numbers]
                    more = sorted(times[number][size][index] - without for number, without in zip(numbers, off))
                    figures[f"{library}.{size}.off_us"] = statistics.median(off)
                    figures[f"{library}.{size}.more_us"] = more
                    share = 100 * statistics.median(more) / statistics.median(off)
                    texts.append(f"{library} {size} B {statistics.median(off):.1f} {statistics.median(more):+.2f} "
                                 f"({share:+.1f} %; {more[0]:+.2f} … {more[-1]:+.2f})")
            if not glob.glob(self.folder(f"cost-{kind}{numbers[0]}") + "/summaries/*.json"):
                yield Row(f"profiler: cost, {kind}", "fail", seconds / 2, "no summaries: the plugin was not loaded")
            else:
                yield Row(f"profiler: cost, {kind}, {self.place.name}", "pass", seconds / 2, "us: " + ", ".join(texts), figures)


def rows(settings, bench):
    runner = Runner(settings, bench)
    if not os.path.exists(runner.plugin):
        yield Row("profiler", "fail", 0.0, f"{runner.plugin} is not built")
        return
    if missing("torch"):
        yield Row("profiler: counts", "skip", 0.0, "there is no torch here")
    else:
        yield runner.counts("native", True, "kernels")
        yield runner.counts("detccl", False, "network")
        yield runner.overhead()
    yield from runner.cost()
