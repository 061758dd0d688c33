# SPDX-License-Identifier: Apache-2.0
"""The same ranks as so many hosts: the order-sensitive cases have the same digests, and times beside native NCCL's."""
import shutil

from harness import compare, promises
from harness.clock import NoTime
from harness.report import Row
from harness.sweeps import sweep
from harness.variants import SENSITIVE, Variant, within_nodes_says

SWEEP = ["-b", "64K", "-e", "16M", "-f", "16", "-d", "bfloat16", "-n", "10", "-w", "2", "-c", "1",
         "--against", "native", "--contract", "tree"]
GPU_SWEEP = ["--rounds", "7", "--row-seconds", "0.4"]
PROGRAMS = ("all_reduce_perf", "reduce_scatter_perf")
HIERARCHY = "hier(direct,halving)"
PEER_HIERARCHY = "hier(peer,halving)"


def layouts(ranks):
    """Numbers of hosts, all with as many ranks."""
    return [nodes for nodes in dict.fromkeys((ranks, ranks // 2, ranks // 4, 1)) if nodes > 0 and ranks % nodes == 0]


def schedules(kind, ranks, nodes):
    """Between and within groups there must be something."""
    return ["auto", HIERARCHY] + [PEER_HIERARCHY] * (kind == "p2p") if 1 < nodes < ranks else ["auto"]


def label(ranks, nodes, schedule):
    return f"groups: {nodes} x {ranks // nodes}, {'hier peer' if schedule == PEER_HIERARCHY else schedule.split('(')[0]}"


def names(kind, ranks):
    return [label(ranks, nodes, schedule) for nodes in layouts(ranks) for schedule in schedules(kind, ranks, nodes)]


def figures(results):
    return {str(r["bytes"]): {"us": r["time_us"]["median"], "native_us": r["peer_time_us"]["median"],
                              "ratio": [r["ratio"][key] for key in ("low", "median", "high")], "bits": r["bits"]}
            for r in results}


def times(settings, bench, ranks, nodes, schedule, program):
    name = f"{label(ranks, nodes, schedule)}: {program[:-5]}"
    options = SWEEP + ["--schedule", schedule] + (GPU_SWEEP if bench.kind != "host" else [])
    try:
        results, seconds = sweep(settings, bench, name.replace(":", ""), program, ranks, options, nodes)
    except RuntimeError as error:
        return Row(name, "fail", 0.0, str(error))
    found = figures(results)
    bad = [f"{size} B: bits {f['bits']}" for size, f in found.items() if f["bits"] != "ok"]
    ratios = ", ".join(f"{int(size) >> 10}K {f['ratio'][1]:.2f} ({f['us']:.0f} us)" for size, f in found.items())
    detail = "; ".join([*bad, f"time over native's: {ratios}"])
    return Row(name, "fail" if bad or not found else "pass", seconds, detail, found)


def cases(settings, bench, ranks, nodes, schedule, listed):
    """The row, and the run."""
    name = label(ranks, nodes, schedule)
    says = within_nodes_says(schedule) if schedule == PEER_HIERARCHY else None
    variant = Variant(name, {"DETCCL_SCHEDULE": schedule}, nodes=nodes, contract="tree", cases=SENSITIVE, says=says)
    run = promises.Run(settings, bench, ranks, variant, label="-groups").go(listed)
    row = run.row()
    row.name = f"{name}: cases"
    return row, run


def rows(settings, bench, listed, wanted):
    """What shows most first. `wanted`: some of names()."""
    if bench.kind == "socket":
        yield Row("groups", "skip", 0.0, "every rank is a host of its own on the socket bench: --bench p2p")
        return
    ranks, first = settings.ranks[0], None
    chosen = sorted(((nodes, schedule) for nodes in layouts(ranks) for schedule in schedules(bench.kind, ranks, nodes)
                     if label(ranks, nodes, schedule) in wanted), key=lambda pair: pair[1] != "auto")
    for nodes, schedule in chosen:
        row, run = cases(settings, bench, ranks, nodes, schedule, listed)
        yield row
        first = first or run
        if run is not first:
            same = compare.same_bits(first, run)
            same.name = f"{label(ranks, nodes, schedule)} = {first.variant.name.split(': ')[1]}"
            yield same
        if run.no_time:
            raise NoTime()
    if shutil.which("mpirun") is None:
        yield Row("groups: times", "skip", 0.0, "there is no mpirun")
        return
    for program in PROGRAMS[:1] if settings.quick else PROGRAMS:
        for nodes, schedule in chosen:
            yield times(settings, bench, ranks, nodes, schedule, program)
