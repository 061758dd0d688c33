# SPDX-License-Identifier: Apache-2.0
"""nccl-tests, as they are, under the preload: every value that they find wrong counts."""
import os
import re
import shutil
import subprocess

from harness.job import run_ranks
from harness.report import Row

REDUCING = ("all_reduce_perf", "reduce_scatter_perf", "reduce_perf")


def programs(folder):
    return sorted(name for name in os.listdir(folder)
                  if name.endswith("_perf") and os.access(os.path.join(folder, name), os.X_OK))


def with_mpi(path):
    return "libmpi" in subprocess.run(["ldd", path], capture_output=True, text=True).stdout


def arguments(name, largest):
    both = ["-d", "all", "-o", "all"] if name in REDUCING else ["-d", "all"]
    return ["-b", "8", "-e", largest, "-f", "16", "-c", "1", "-n", "1", "-w", "0", "-t", "1", "-g", "1"] + both


def command(path, ranks, options, own_gpus=False):
    """One process per rank where the program knows MPI; else one rank. On the first GPU, unless `own_gpus`."""
    if not with_mpi(path):
        return [path] + options
    start = 'exec "$0" "$@"' if own_gpus else (
        'export NCCL_TESTS_DEVICE=0; [ -n "$NCCL_MULTI_RANK_GPU_ENABLE" ] || '
        'export NCCL_HOSTID=h$OMPI_COMM_WORLD_RANK; exec "$0" "$@"')
    # The preload is for the ranks, not for mpirun.
    return (["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), "sh", "-c",
             'export LD_PRELOAD="$PRELOAD_OF_RANKS"; ' + start, path] + options)


def rows(settings, bench, folder):
    found = programs(folder)
    if not found:
        yield Row("nccl-tests", "fail", 0.0, f"no *_perf in {folder}")
    for name in found:
        path = os.path.join(folder, name)
        ranks = settings.ranks[0] if with_mpi(path) else 1
        if ranks > 1 and shutil.which("mpirun") is None:
            yield Row(f"nccl-tests {name}", "skip", 0.0, "there is no mpirun")
            continue
        extras = [[]] if settings.quick or name not in REDUCING else [[], ["-G", "2"], ["-z", "1"]]
        for extra in extras:
            yield one(settings, bench, path, ranks, extra)


def one(settings, bench, path, ranks, extra):
    name = os.path.basename(path)
    options = arguments(name, "64K" if settings.quick else "1M") + extra
    environment = bench.environment(0, ranks)
    if ranks > 1:
        environment["PRELOAD_OF_RANKS"] = environment.pop("LD_PRELOAD")
        environment.pop("NCCL_HOSTID", None)
    label = " ".join([name] + extra)
    outcome = run_ranks(os.path.join(settings.out, "nccl-tests-" + label.replace(" ", "")), 1,
                        lambda _: command(path, ranks, options), lambda _: environment, settings.timeout,
                        2 * settings.stall)
    wrong = [int(number) for number in re.findall(r"Out of bounds values\s*:\s*(\d+)", outcome.text(0))]
    if not wrong or outcome.reason:
        return Row(f"nccl-tests {label}", "fail", outcome.seconds, outcome.reason + " " + outcome.tail())
    return Row(f"nccl-tests {label}", "fail" if sum(wrong) else "pass", outcome.seconds,
               f"{sum(wrong)} wrong, {ranks} ranks", {"wrong": sum(wrong), "ranks": ranks})
