# SPDX-License-Identifier: Apache-2.0
"""The sweep programs (perf/) as children of the harness."""
import json
import os

from harness.job import run_ranks

# mpirun -n RANKS sh -c … PROGRAM OPTIONS: consecutive ranks are on one host.
LAYOUT = 'export NCCL_HOSTID=n$((OMPI_COMM_WORLD_RANK * {nodes} / {ranks})); exec "$0" "$@"'


def mpirun(ranks):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]


def sweep(settings, bench, label, program, ranks, options, nodes=None, extra=None, kind=None, environment=None):
    """(the results, seconds). `nodes`: under mpirun, the ranks on so many hosts; else the program starts them.
    RuntimeError: it did not end well; some bits wrong is among that. `kind`, `environment`: others than
    the bench's."""
    out = os.path.join(settings.out, label.replace(" ", "_").replace(",", ""))
    os.makedirs(out, exist_ok=True)
    environment = environment or bench.environment(0, ranks, native=True, extra=extra)
    environment.pop("LD_PRELOAD", None)
    environment.pop("NCCL_HOSTID", None)
    command = [os.path.join(settings.build, "bin", program), "--json", os.path.join(out, "sweep.json")] + options
    if bench.kind == "host":
        command.append("--host")
    else:
        command += ["--bench", kind or bench.kind, "--nccl", bench.nccl]
    if nodes is None:
        command += ["--ranks", str(ranks)]
    else:
        command = mpirun(ranks) + ["sh", "-c", LAYOUT.format(nodes=nodes, ranks=ranks)] + command
    outcome = run_ranks(out, 1, lambda _: command, lambda _: environment, settings.timeout, settings.stall)
    if outcome.reason:
        lines = [line for line in outcome.text(0).splitlines() if "WRONG" in line or "fail" in line]
        raise RuntimeError(f"{label}: {outcome.reason}; {outcome.tail()} {' | '.join(lines[:2])[:300]}")
    with open(os.path.join(out, "sweep.json")) as file:
        return json.load(file)["results"], outcome.seconds
