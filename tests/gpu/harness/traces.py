# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch jobs: equal runs compare equal, a change is found where it was made, replays of a CUDA graph are
recorded one by one, and what all that costs."""
import concurrent.futures
import csv
import importlib.util
import json
import os
import shutil
import statistics
import struct
import subprocess

from harness import workloads
from harness.report import Row

RANKS, CHANGE_RANK, CHANGE_STEP = 4, 2, 7
ELEMENTS = 16  # as in torch_traced.py
REFERENCE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "fingerprint",
                         "reference.py")
# Functions that wait for the device.
WAITING = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cuStreamSynchronize",
           "cuCtxSynchronize", "cuEventSynchronize")


def names():
    return ["traces", "trace DDP twice", "trace DDP, one element changed", "trace graph replays", "trace cost"]


def digest():
    """The definition in plain Python."""
    spec = importlib.util.spec_from_file_location("reference", REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.digest


class Traces:
    def __init__(self, settings, bench):
        self.settings = settings
        self.runner = workloads.Runner(settings, bench)
        self.detccl = os.path.join(settings.build, "bin", "detccl")
        self.seconds = 0.0

    def run(self, label, arguments, extra=None):
        """The outcome, and the folder of the traces."""
        folder = os.path.join(self.settings.out, f"trace-{label}", "records")
        shutil.rmtree(folder, ignore_errors=True)
        workload = workloads.Workload("trace", "torch_traced.py", "torch", arguments, ranks=RANKS,
                                      extra={"DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": folder} | (extra or {}))
        outcome, _ = self.runner.once(workload, label, arguments, False, False)
        self.seconds += outcome.seconds
        return outcome, folder

    def complaints(self, outcome):
        """What went wrong in a job, or what its trace lacks."""
        if outcome.reason:
            return f"{outcome.reason}; {outcome.tail()}"
        for rank in range(RANKS):
            for line in outcome.text(rank, "err").splitlines():
                if "detccl: " in line and "trace" in line and "tracing into" not in line:
                    return f"rank {rank}: {line}"
        return ""

    def command(self, *arguments):
        answer = subprocess.run([self.detccl, "trace", *arguments], capture_output=True, text=True, timeout=60)
        return answer.returncode, answer.stdout, answer.stderr.strip()

    def diff(self, a, b):
        code, out, err = self.command("diff", "--json", a, b)
        try:
            return code, json.loads(out), err
        except ValueError:
            return code, {}, err

    def ddp(self):
        steps = ["train", "--steps", "12"]
        jobs = {"first": steps, "second": steps,
                "changed": steps + ["--change-step", str(CHANGE_STEP), "--change-rank", str(CHANGE_RANK)]}
        with concurrent.futures.ThreadPoolExecutor(max(1, self.settings.jobs)) as pool:
            runs = list(pool.map(lambda label: self.run(label, jobs[label]), jobs))
        for outcome, _ in runs:
            if problem := self.complaints(outcome):
                return [Row(name, "fail", self.seconds, problem) for name in names()[1:3]]
        (_, first), (_, second), (_, changed) = runs
        code, result, err = self.diff(first, second)
        good = code == 0 and result.get("verdict") == "same" and result.get("operations", 0) > 0
        detail = f"{result.get('operations')} operations of {result.get('ranks')} ranks the same" if good else \
            f"exit {code}: {err or str(result)[:300]}"
        rows = [Row(names()[1], "pass" if good else "fail", self.seconds, detail)]
        code, result, err = self.diff(first, changed)
        causes = [f for f in result.get("findings", []) if f["cause"]]
        good = code == 1 and len(causes) == 1 and causes[0]["rank"] == CHANGE_RANK and \
            causes[0]["step"] == CHANGE_STEP and causes[0]["class"] == "inputs_differ"
        found = "; ".join(f"rank {f['rank']}, step {f['step']}: {f['operation']}: {f['text']}" for f in causes)
        return rows + [Row(names()[2], "pass" if good else "fail", 0.0, found or f"exit {code}: {err}"[:300])]

    def records(self, folder):
        file = os.path.join(folder, "..", "records.csv")
        if os.path.exists(file):
            os.remove(file)
        code, _, err = self.command("export", folder, "--format", "csv", "--out", file)
        if code != 0:
            raise RuntimeError(f"detccl trace export: {err}")
        with open(file, newline="") as lines:
            return list(csv.DictReader(lines))

    def replays(self):
        self.seconds, replays = 0.0, 10000
        outcome, folder = self.run("replays", ["replay", "--replays", str(replays)])
        if problem := self.complaints(outcome):
            return [Row(names()[3], "fail", self.seconds, problem)]
        of, wrong, seen = digest(), [], 0
        records = self.records(folder)
        packed = lambda values: struct.pack(f"<{ELEMENTS}f", *values)
        outputs = [of(packed([RANKS * (e + i + 1) + 1000 * sum(range(RANKS)) for e in range(ELEMENTS)]))
                   for i in range(replays)]
        for rank in range(RANKS):
            replayed = [r for r in records if r["rank"] == str(rank) and r["graph"] == "1"]
            seen += len(replayed)
            if len(replayed) != replays:
                wrong.append(f"rank {rank}: {len(replayed)} records instead of {replays}")
                continue
            start = int(replayed[0]["collective_seq_id"])
            for i, record in enumerate(replayed):
                expected = of(packed([e + 1000 * rank + i + 1 for e in range(ELEMENTS)]))
                if (record["input_digest"], record["output_digest"]) != (expected, outputs[i]) or \
                        int(record["collective_seq_id"]) != start + i:
                    wrong.append(f"rank {rank}, replay {i}: {record}")
                    break
        detail = f"{seen} records of {replays} replays on {RANKS} ranks, all digests right"
        return [Row(names()[3], "fail" if wrong else "pass", self.seconds, "; ".join(wrong)[:400] or detail)]

    def cost(self):
        self.seconds = 0.0
        outcome, folder = self.run("cost", ["measure"], {"DETCCL_TRACE_STEPS": "0-999999"})
        if problem := self.complaints(outcome):
            return [Row(names()[4], "fail", self.seconds, problem)]
        lines = outcome.text(0).splitlines()
        pairs = next((json.loads(line[6:]) for line in lines if line.startswith("times ")), None)
        calls = next((json.loads(line[6:]) for line in lines if line.startswith("calls {")), None)
        if not pairs:
            return [Row(names()[4], "fail", self.seconds, "printed no times")]
        ratios = sorted(on / off for on, off in pairs)
        middle, off = statistics.median(ratios), statistics.median(off for _, off in pairs)
        per_step = len([r for r in self.records(folder) if r["rank"] == "0" and r["step"] == "50"])
        figures = {"ratio": middle, "ratio_low": ratios[len(ratios) // 4], "ratio_high": ratios[-1 - len(ratios) // 4],
                   "step_ms": off, "pairs": pairs, "operations_per_step": per_step}
        rows = [Row(names()[4], "pass", self.seconds,
                    f"a step takes {off:.2f} ms, traced {middle:.4f} times that (quartiles {figures['ratio_low']:.4f}, "
                    f"{figures['ratio_high']:.4f}; {len(pairs)} pairs, {per_step} operations a step)", figures)]
        if calls is None:
            return rows + [Row("trace adds no waiting", "skip", 0.0,
                               next((line for line in lines if line.startswith("calls ")), "not counted"))]
        waiting = {kind: sum(count for name, count in calls[kind].items() if name.startswith(WAITING) and
                             "Async" not in name) for kind in calls}
        launches = {kind: sum(count for name, count in calls[kind].items() if "Launch" in name) for kind in calls}
        # That the count sees the library's own calls shows in its launches.
        good = waiting["traced"] <= waiting["not traced"] and launches["traced"] > launches["not traced"]
        return rows + [Row("trace adds no waiting", "pass" if good else "fail", 0.0,
                           f"calls in 10 steps that wait: {waiting}; launches: {launches}", {"calls": calls})]

    def rows(self, wanted):
        if workloads.missing("torch"):
            yield Row("traces", "skip", 0.0, "there is no torch here")
            return
        for name, part in (("DDP", self.ddp), ("graph", self.replays), ("cost", self.cost)):
            if wanted is not None and not any(name in w for w in wanted):
                continue
            try:
                yield from part()
            except Exception as error:  # pylint: disable=broad-except
                yield Row(f"trace {name}", "fail", self.seconds, f"{type(error).__name__}: {error}")
