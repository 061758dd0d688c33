# SPDX-License-Identifier: Apache-2.0
"""Phases of reductions (DETCCL_PROFILER_PHASES) of all_reduce_perf, whose results are checked: with a plan transfers and
folds have a time, over peer memory the kernel, together no more than the timed calls took."""
import glob
import json
import os
import shutil
import subprocess

from harness import clock
from harness.report import Row
from harness.sweeps import sweep

RANKS = 4
CALLS = 20
SIZES = ["-b", "1M", "-e", "64M", "-f", "64"]  # one wave of chunks, and several that overlap
SLACK = 1.05
WANTED = {"direct": ("transfer", "fold"), "peer": ("kernel",)}
PHASES = ("transfer", "fold", "wait", "kernel")


def classes_of(folder, schedule):
    """(rank, class) of the sizes that DetCCL reduced, without the few calls of the program's own checks."""
    found = []
    for path in sorted(glob.glob(folder + "/summaries/*.json")):
        with open(path) as file:
            summary = json.load(file)
        found += [(summary["rank"], c) for c in summary["classes"]
                  if c["algorithm"] == "detccl" and c["protocol"] == schedule and c["count"] >= CALLS and "gpu" in c]
    return found


def problem_of(bench, schedule, phases, timed):
    if bench.kind == "host" and schedule == "direct":
        phases = phases | {"wait": 0}  # of its own there, and more or less
    missing = [name for name in WANTED[schedule] if phases[name] == 0]
    wrong = [name for name in PHASES if name not in WANTED[schedule] and phases[name] != 0]
    if missing or wrong:
        return f"without a time: {', '.join(missing) or 'none'}; with one: {', '.join(wrong) or 'none'}"
    together = sum(phases.values())
    return f"{together} ns of {timed} timed" if together > SLACK * timed else None


def report(settings, folder):
    """What `detccl overhead` says of phases."""
    command = [os.path.join(settings.build, "bin", "detccl"), "overhead", folder + "/summaries", "--prometheus",
               folder + "/metrics.prom"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=clock.limit(30))
    with open(folder + "/overhead", "w") as file:
        file.write(answer.stdout + answer.stderr)
    with open(folder + "/metrics.prom") as file:
        metrics = file.read()
    lines = [line.strip() for line in answer.stdout.splitlines() if line.startswith(("  transfer ", "  kernel "))]
    if answer.returncode != 0 or not lines or "detccl_collective_phase_seconds_total{" not in metrics:
        raise RuntimeError(f"detccl overhead does not tell the phases: {folder}/overhead")
    return lines[0]


def row(settings, bench, schedule):
    folder = os.path.join(settings.out, "phases-" + schedule)
    shutil.rmtree(folder + "/summaries", ignore_errors=True)  # of an earlier run into this folder
    extra = {"NCCL_PROFILER_PLUGIN": os.path.join(settings.build, "lib", "libnccl-profiler-detccl.so"),
             "DETCCL_PROFILER_EVENTS": "calls", "DETCCL_PROFILER_DIR": folder + "/summaries",
             "DETCCL_PROFILER_PHASES": "2"}
    options = SIZES + ["-n", str(CALLS), "-w", "3", "--rounds", "3", "-c", "1", "-d", "bfloat16", "--schedule", schedule]
    seconds = sweep(settings, bench, "phases-" + schedule, "all_reduce_perf", RANKS, options, extra=extra)[1]
    name, classes = f"phases: {schedule}", classes_of(folder, schedule)
    if sorted(rank for rank, _ in classes) != sorted(2 * list(range(RANKS))):
        return Row(name, "fail", seconds, f"timed calls of ranks {[rank for rank, _ in classes]}, not of all at both sizes")
    texts, figures, problems = [], {}, []
    for rank, c in classes:
        phases = {phase: c.get("phases", {}).get(phase + "_ns", 0) for phase in PHASES}
        size, timed = c["bytes"] // c["count"], c["gpu"]["sum_ns"]
        if problem := problem_of(bench, schedule, phases, timed):
            problems.append(f"rank {rank}, {size} bytes: {problem}")
        if rank == 0:
            shares = {phase: time / timed for phase, time in phases.items() if time}
            texts.append(f"{size >> 20}M " + " ".join(f"{phase} {share:.0%}" for phase, share in shares.items()))
            figures |= {f"{size}.{phase}": share for phase, share in shares.items()}
    detail = problems[0] if problems else f"of the timed calls' time, {', '.join(texts)}; {report(settings, folder)}"
    return Row(name, "fail" if problems else "pass", seconds, detail, figures)


def rows(settings, bench):
    for schedule in WANTED:
        if schedule == "peer" and bench.kind != "p2p":
            yield Row("phases: peer", "skip", 0.0, "the ranks are not on one host, or have no GPUs")
        else:
            yield row(settings, bench, schedule)
