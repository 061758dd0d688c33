# SPDX-License-Identifier: Apache-2.0
"""What the sweep programs say of native NCCL's times beside stock nccl-tests, several runs of each in turn."""
import os
import shutil
import statistics

from harness.bench import visible_gpus
from harness.job import run_ranks
from harness.nccl_tests import command, with_mpi
from harness.place import Place
from harness.report import Row

RUNS, RANKS = 3, 4
PROGRAMS = ("all_reduce_perf", "reduce_scatter_perf")
SIZES = ["-b", "1K", "-e", "64M", "-f", "8", "-d", "float"]
SWEEP = ["-o", "sum", "--schedule", "auto", "--rounds", "5", "--row-seconds", "0.3", "--bits", "none"]
SLACK = 0.1


def calls_at(place):
    # On the socket bench the largest takes 50 ms.
    return ["-n", "20", "-w", "5", "-c", "0"] if place.gpus else ["-n", "10", "-w", "2", "-c", "0"]


def times_of_nccl_tests(text):
    """Out of place, in us, by bytes."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 8 and words[0].isdigit() and words[2] == "float":
            found[int(words[0])] = float(words[5])
    return found


def theirs(settings, place, program, number):
    path = os.path.join(settings.nccl_tests, program)
    environment = place.environment() | {"PRELOAD_OF_RANKS": place.bench.nccl}
    options = SIZES + calls_at(place) + ["-o", "sum", "-t", "1", "-g", "1"]
    line = command(path, place.ranks, options, own_gpus=place.gpus > 0)
    outcome = run_ranks(os.path.join(settings.out, f"native-{place.ranks}-{program}-theirs{number}"), 1, lambda _: line,
                        lambda _: environment, min(60, settings.timeout), settings.stall)
    found = times_of_nccl_tests(outcome.text(0))
    if outcome.reason or not found:
        raise RuntimeError(f"nccl-tests {program}: {outcome.reason or 'printed no times'}; {outcome.tail()}")
    return found, outcome.seconds


def ours(settings, place, program, number):
    label = f"native-{place.ranks}-{program}-ours{number}"
    results, seconds = place.sweep(settings, label, program, SIZES + calls_at(place) + SWEEP)
    return {r["bytes"]: r["peer_time_us"]["median"] for r in results}, seconds


def compared(runs):
    """Figures by bytes, and the sizes at which ours is not within theirs. `runs`: ("theirs" or "ours", times)."""
    figures, outside = {}, []
    sizes = sorted(set.intersection(*(set(times) for _, times in runs)))
    for size in sizes:
        all_of = {kind: sorted(times[size] for k, times in runs if k == kind) for kind in ("theirs", "ours")}
        low, high = all_of["theirs"][0] * (1 - SLACK), all_of["theirs"][-1] * (1 + SLACK)
        middle = {kind: statistics.median(times) for kind, times in all_of.items()}
        within = low <= middle["ours"] <= high
        figures[str(size)] = {"nccl_tests_us": all_of["theirs"], "ours_us": all_of["ours"], "within": within,
                              "nccl_tests_median_us": middle["theirs"], "ours_median_us": middle["ours"]}
        if not within:
            outside.append(f"{size} B: {middle['ours']:.1f} us, theirs {all_of['theirs'][0]:.1f} to "
                           f"{all_of['theirs'][-1]:.1f}")
    return figures, outside


def one(settings, place, program):
    name, runs, seconds = f"native columns: {program}, {place.name}", [], 0.0
    for number in range(1, (2 if settings.quick else RUNS) + 1):
        for kind, measure in (("theirs", theirs), ("ours", ours)):
            times, took = measure(settings, place, program, number)
            runs.append((kind, times))
            seconds += took
    figures, outside = compared(runs)
    if not figures:
        return Row(name, "fail", seconds, "no sizes in common")
    ratios = [f["ours_median_us"] / f["nccl_tests_median_us"] for f in figures.values()]
    detail = f"{len(figures) - len(outside)} of {len(figures)} sizes within nccl-tests' range and 10 %; " \
             f"ours over theirs {min(ratios):.2f} to {max(ratios):.2f}"
    return Row(name, "fail" if outside else "pass", seconds, "; ".join([detail, *outside]), figures)


def rows(settings, bench):
    places = [Place(bench, 0, RANKS)] if bench.kind == "socket" else []
    gpus = visible_gpus()
    if gpus > 1:
        places.insert(0, Place(bench, gpus, RANKS))
    if not places:
        yield Row("native columns", "skip", 0.0, "for the socket bench, or for several GPUs")
    for place in places:
        for program in PROGRAMS:
            path = os.path.join(settings.nccl_tests, program)
            if not os.path.exists(path) or not with_mpi(path) or shutil.which("mpirun") is None:
                yield Row(f"native columns: {program}", "skip", 0.0,
                          f"no mpirun, or no {path} that was built with MPI=1")
                continue
            try:
                yield one(settings, place, program)
            except RuntimeError as error:
                yield Row(f"native columns: {program}, {place.name}", "fail", 0.0, str(error))
