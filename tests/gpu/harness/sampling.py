# SPDX-License-Identifier: Apache-2.0
"""Shadow sampling and calibration: what they say determinism costs beside the sweep program's paired native and
deterministic times, in runs in turn, as sampled calls take longer. The sampled runs' results are checked."""
import json
import os
import shutil
import statistics
import subprocess

from harness import clock
from harness.report import Row
from harness.sweeps import sweep

SIZES = ("1M", "16M")
ROUNDS = 3
RANKS = 4
CALLS, HOST_CALLS = 400, 48
POINTS = 2.0  # how far beyond what the paired runs say shadow sampling may be, percentage points
EVERY = {"shadow": {"DETCCL_PROFILER_SHADOW": "4"}, "calibration": {"DETCCL_PROFILER_CALIBRATE": "64"}}


def sampled(settings, bench, label, source, options):
    """(overhead, half of its interval, pairs) in percent, of one run."""
    folder = os.path.join(settings.out, label)
    shutil.rmtree(folder + "/summaries", ignore_errors=True)  # of an earlier run into this folder
    extra = {"NCCL_PROFILER_PLUGIN": os.path.join(settings.build, "lib", "libnccl-profiler-detccl.so"),
             "DETCCL_PROFILER_EVENTS": "calls", "DETCCL_PROFILER_DIR": folder + "/summaries"}
    sweep(settings, bench, label, "all_reduce_perf", RANKS, options + ["-c", "1"], extra=extra | EVERY[source])
    command = [os.path.join(settings.build, "bin", "detccl"), "overhead", folder + "/summaries", "--json",
               folder + "/overhead.json"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=clock.limit(30))
    if answer.returncode != 0:
        raise RuntimeError(f"detccl overhead: {answer.stderr.strip()[-200:]}")
    with open(folder + "/overhead.json") as file:
        document = json.load(file)
    rows = [row for c in document["communicators"] for row in c["operations"] if row.get("native_from") == source]
    if len(rows) != 1:
        raise RuntimeError(f"{label}: {len(rows)} kinds of operation have pairs; not sampled: "
                           f"{[c['not_paired'] for c in document['communicators'] if 'not_paired' in c]}")
    return 100 * rows[0]["overhead"]["ratio"], 100 * rows[0]["overhead"]["uncertainty"], rows[0]["pairs"]


def row(settings, bench, size):
    calls = HOST_CALLS if bench.kind == "host" else CALLS
    options = ["-b", size, "-e", size, "-n", str(calls), "-w", "3", "--rounds", "9", "-d", "bfloat16", "-o", "avg",
               "--against", "native"]
    paired, answers, seconds = [], {source: [] for source in EVERY}, 0.0
    for number in range(ROUNDS):
        results, took = sweep(settings, bench, f"sampling-{size}-paired{number}", "all_reduce_perf", RANKS,
                              options + ["-c", "0"])
        seconds += took
        paired.append(100 * (results[0]["ratio"]["median"] - 1))
        for source, found in answers.items():
            found.append(sampled(settings, bench, f"sampling-{size}-{source}{number}", source, options))
    middle = statistics.median(paired)
    figures, texts, bad = {"paired": middle}, [f"paired {middle:+.1f} % ({min(paired):+.1f} … {max(paired):+.1f})"], False
    for source, found in answers.items():
        estimate, interval = (statistics.median(column) for column in list(zip(*found))[:2])
        figures |= {source: estimate, f"{source}.interval": interval, f"{source}.pairs": found[0][2]}
        texts.append(f"{source} {estimate:+.1f} ± {interval:.1f} % of {found[0][2]} pairs")
        # What a calibration says is of the run's beginning, and only told.
        bad = bad or (source == "shadow" and not min(paired) - POINTS <= estimate <= max(paired) + POINTS)
    return Row(f"sampling: {size}", "fail" if bad else "pass", seconds, "; ".join(texts), figures)


def rows(settings, bench):
    for size in SIZES:
        yield row(settings, bench, size)
