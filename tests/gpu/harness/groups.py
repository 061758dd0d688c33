# SPDX-License-Identifier: Apache-2.0
"""The same ranks as so many hosts: the order-sensitive cases have the same digests, and times beside native NCCL's."""
import shutil

from harness import compare, promises
from harness.clock import NoTime
from harness.report import Row
from harness.sweeps import sweep
from harness.variants import SENSITIVE, Variant

SWEEP = ["-b", "64K", "-e", "16M", "-f", "16", "-d", "bfloat16", "-n", "10", "-w", "2", "-c", "1", "--against", "native",
         "--contract", "tree"]
GPU_SWEEP = ["--rounds", "7", "--row-seconds", "0.4"]
PROGRAMS = ("all_reduce_perf", "reduce_scatter_perf")
HIERARCHY = "hier(direct,halving)"


def layouts(ranks):
    """Hosts; the groups of the ranks have the same number each."""
    return [nodes for nodes in (ranks, ranks // 2, ranks // 4, 1) if nodes > 0 and ranks % nodes == 0]


def schedules(ranks, nodes):
    """Between and within groups there must be something."""
    return ["auto", HIERARCHY] if 1 < nodes < ranks else ["auto"]


def label(ranks, nodes, schedule):
    return f"groups: {nodes} x {ranks // nodes}, {schedule.split('(')[0]}"


def names(ranks):
    return [label(ranks, nodes, schedule) for nodes in layouts(ranks) for schedule in schedules(ranks, nodes)]


def figures(results, program):
    return {f"{program}.{r['bytes']}": {"us": r["time_us"]["median"], "native_us": r["peer_time_us"]["median"],
                                       "ratio": [r["ratio"][key] for key in ("low", "median", "high")],
                                       "bits": r["bits"], "schedule": r["schedule"]} for r in results}


def one(settings, bench, ranks, nodes, schedule):
    """Times of one layout."""
    name, found, seconds, words = label(ranks, nodes, schedule), {}, 0.0, []
    if shutil.which("mpirun") is None:
        return Row(f"{name}: times", "skip", 0.0, "there is no mpirun")
    for program in PROGRAMS[:1] if settings.quick else PROGRAMS:
        options = SWEEP + ["--schedule", schedule] + (GPU_SWEEP if bench.kind != "host" else [])
        results, took = sweep(settings, bench, f"{name.replace(':', '')} {program}", program, ranks, options, nodes)
        seconds += took
        of_program = figures(results, program)
        found |= of_program
        words.append(f"{program[:-5]} " + " ".join(f"{f['ratio'][1]:.2f}" for f in of_program.values()))
        for key, f in of_program.items():
            if f["bits"] != "ok":
                return Row(f"{name}: times", "fail", seconds, f"{key}: bits {f['bits']}", found)
    if not found:
        return Row(f"{name}: times", "fail", seconds, "no results")
    return Row(f"{name}: times", "pass", seconds, "of native's, 64K 1M 16M: " + "; ".join(words), found)


def rows(settings, bench, cases):
    if bench.kind == "socket":
        yield Row("groups", "skip", 0.0, "every rank is a host of its own on the socket bench: --bench p2p")
        return
    ranks, first = settings.ranks[0], None
    for nodes in layouts(ranks):
        for schedule in schedules(ranks, nodes):
            name = label(ranks, nodes, schedule)
            variant = Variant(name, {"DETCCL_SCHEDULE": schedule}, nodes=nodes, contract="tree", cases=SENSITIVE)
            run = promises.Run(settings, bench, ranks, variant, label="-groups").go(cases)
            row = run.row()
            row.name = f"{name}: cases"
            yield row
            if first is None:
                first = run
            else:
                same = compare.same_bits(first, run)
                same.name = f"{name} = {first.variant.name.split(': ')[1]}"
                yield same
            if run.no_time:
                raise NoTime()
            try:
                yield one(settings, bench, ranks, nodes, schedule)
            except RuntimeError as error:
                yield Row(f"{name}: times", "fail", 0.0, str(error))
