# SPDX-License-Identifier: Apache-2.0
"""Shadow sampling and calibration: what they say determinism costs beside the sweep program's paired native and
deterministic times, in runs in turn, as sampled calls take longer. Paired are calls one after the other and calls one at
a time. With a GPU for each rank sampled calls are compared with the first. Where ranks share one, they leave it to each
other while they wait, but not in sampled calls, which begin together on all ranks: those are compared with the second.
The sampled runs' results are checked."""
import json
import os
import shutil
import statistics
import subprocess

from harness import clock
from harness.place import Place
from harness.report import Row

SIZES = ("1M", "16M")
ROUNDS = 3
RANKS = 4
CALLS, HOST_CALLS = 400, 48
ALONE_ROUNDS = 101  # of one call
POINTS = 2.0  # how far beyond what the paired runs say shadow sampling may be, percentage points
EVERY = {"shadow": {"DETCCL_PROFILER_SHADOW": "4"}, "calibration": {"DETCCL_PROFILER_CALIBRATE": "64"}}


def sampled(settings, place, label, source, options):
    """(overhead, half of its interval, pairs) in percent, of one run."""
    folder = os.path.join(settings.out, label)
    shutil.rmtree(folder + "/summaries", ignore_errors=True)  # of an earlier run into this folder
    extra = {"NCCL_PROFILER_PLUGIN": os.path.join(settings.build, "lib", "libnccl-profiler-detccl.so"),
             "DETCCL_PROFILER_EVENTS": "calls", "DETCCL_PROFILER_DIR": folder + "/summaries"}
    place.sweep(settings, label, "all_reduce_perf", options + ["-c", "1"], extra | EVERY[source])
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


def row(settings, place, size):
    calls = HOST_CALLS if place.bench.kind == "host" else CALLS
    common = ["-b", size, "-e", size, "-w", "3", "-d", "bfloat16", "-o", "avg", "--against", "native"]
    options = common + ["-n", str(calls), "--rounds", "9"]
    alone = common + ["-n", "1", "--rounds", str(ALONE_ROUNDS)]
    single, in_line, answers, seconds = [], [], {source: [] for source in EVERY}, 0.0
    for number in range(ROUNDS):
        for kind, found, how in (("single", single, alone), ("in-line", in_line, options)):
            results, took = place.sweep(settings, f"sampling-{size}-{kind}{number}", "all_reduce_perf", how + ["-c", "0"])
            seconds += took
            found.append(100 * (results[0]["ratio"]["median"] - 1))
        for source, found in answers.items():
            found.append(sampled(settings, place, f"sampling-{size}-{source}{number}", source, options))
    figures = {"one_at_a_time": statistics.median(single), "in_line": statistics.median(in_line)}
    texts, bad = [], False
    for what, found in (("in line", in_line), ("one at a time", single)):
        texts.append(f"{what} {statistics.median(found):+.1f} % ({min(found):+.1f} … {max(found):+.1f})")
    judge = in_line if place.gpus else single
    for source, found in answers.items():
        estimate, interval = (statistics.median(column) for column in list(zip(*found))[:2])
        figures |= {source: estimate, f"{source}.interval": interval, f"{source}.pairs": found[0][2]}
        texts.append(f"{source} {estimate:+.1f} ± {interval:.1f} % of {found[0][2]} pairs")
        # What a calibration says is of the run's beginning, and only told.
        bad = bad or (source == "shadow" and not min(judge) - POINTS <= estimate <= max(judge) + POINTS)
    return Row(f"sampling: {size}, {place.name}", "fail" if bad else "pass", seconds, "; ".join(texts), figures)


def rows(settings, bench):
    for size in SIZES:
        yield row(settings, Place.of(bench, RANKS), size)
