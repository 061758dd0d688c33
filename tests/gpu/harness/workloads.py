# SPDX-License-Identifier: Apache-2.0
"""Unmodified frameworks: each script runs twice, bucketed and placed differently, and must come to the same bits;
with NCCL alone, where that is said, to others."""
import os
import subprocess
import sys

from harness.bench import shuffled
from harness.job import free_port, run_ranks
from harness.report import Row

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "workloads")


class Workload:
    """`first` and `second`: arguments of the two runs; no `second`: one run, which must end well."""

    def __init__(self, name, script, module, first, second=None, ranks=None, native_differs=False, shim=False,
                 extra=None, nccl="own"):
        self.name, self.script, self.module, self.first, self.second = name, script, module, first, second
        self.ranks, self.native_differs, self.shim, self.extra, self.nccl = ranks, native_differs, shim, extra, nccl


def workloads(steps):
    steps = ["--steps", str(steps)]
    for kind in ("fp32", "bf16"):
        yield Workload(f"torch DDP {kind}", "torch_ddp.py", "torch", steps + ["--type", kind, "--bucket-mb", "25"],
                       steps + ["--type", kind, "--bucket-mb", "0.05"], native_differs=True)
    for mode in ("avg", "premulsum", "coalesced"):
        yield Workload(f"torch FSDP2 {mode}", "torch_fsdp2.py", "torch", ["--mode", mode], ["--mode", mode])
    yield Workload("torch CUDA graph = eager", "torch_graph.py", "torch", ["--graph"], ["--eager"])
    # An abort by hand is for jobs in which PyTorch's watchdog does not abort by itself.
    by_hand = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}
    yield Workload("torch lifecycle", "torch_lifecycle.py", "torch", [], extra=by_hand)
    yield Workload("torch lifecycle, nonblocking", "torch_lifecycle.py", "torch", [],
                   extra=by_hand | {"TORCH_NCCL_USE_COMM_NONBLOCKING": "1"})
    yield Workload("JAX psum, shim", "jax_psum.py", "jax", [], [], ranks=2, shim=True)
    yield Workload("CuPy NCCL", "cupy_nccl.py", "cupy", [], [])


def wheel_nccl():
    """The NCCL that pip installed beside the frameworks, or None."""
    code = ("import importlib.util, os\n"
            "spec = importlib.util.find_spec('nvidia.nccl')\n"
            "folders = list(spec.submodule_search_locations) if spec else []\n"
            "files = [os.path.join(f, 'lib', 'libnccl.so.2') for f in folders]\n"
            "print(next((f for f in files if os.path.exists(f)), ''))")
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return answer.stdout.strip() or None


def missing(module):
    answer = subprocess.run([sys.executable, "-c", f"import importlib.util as u; exit(u.find_spec('{module}') is None)"],
                            capture_output=True, timeout=60)
    return answer.returncode != 0


class Runner:
    def __init__(self, settings, bench):
        self.settings, self.bench = settings, bench
        self.wheel = wheel_nccl()

    def once(self, workload, label, arguments, placement, native):
        ranks = workload.ranks or self.settings.ranks[0]
        order = shuffled(ranks) if placement else list(range(ranks))
        process_of = {rank: process for process, rank in enumerate(order)}
        folder = os.path.join(self.settings.out, f"{workload.name}-{label}".replace(" ", "_").replace(",", ""))
        os.makedirs(folder, exist_ok=True)
        port = str(free_port())
        shim = workload.shim and not native
        # The frameworks keep the NCCL that they came with, unless one was asked for.
        nccl = None if self.settings.nccl_chosen else "own"

        def environment(rank):
            extra = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", "ID_FILE": os.path.join(folder, "id"),
                     "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
                     "PYTHONUNBUFFERED": "1"} | (workload.extra or {})
            if shim and nccl == "own":
                extra["DETCCL_NCCL_LIBRARY"] = self.wheel or self.bench.nccl
            return self.bench.environment(process_of[rank], ranks, native, preload=self.bench.shim if shim else None,
                                          nccl=nccl, extra=extra)

        def command(_):
            return [sys.executable, os.path.join(FOLDER, workload.script)] + arguments

        id_file = os.path.join(folder, "id")
        if os.path.exists(id_file):
            os.remove(id_file)
        outcome = run_ranks(folder, ranks, command, environment, self.settings.timeout, 2 * self.settings.stall)
        return outcome, digests(outcome, ranks)

    def rows(self, workload):
        if missing(workload.module):
            return [Row(workload.name, "skip", 0.0, f"there is no {workload.module} here")]
        if workload.shim and not os.path.exists(self.bench.shim):
            return [Row(workload.name, "fail", 0.0, f"{self.bench.shim} is not built")]
        first, bits = self.once(workload, "first", workload.first, False, False)
        problem = self.problem(first, bits)
        if problem or workload.second is None:
            return [Row(workload.name, "fail" if problem else "pass", first.seconds, problem or "ended well")]
        second, other = self.once(workload, "second", workload.second, True, False)
        seconds = first.seconds + second.seconds
        problem = self.problem(second, other) or difference(bits, other)
        rows = [Row(workload.name, "fail" if problem else "pass", seconds,
                    problem or f"{len(bits)} digests the same, other buckets and placement")]
        if workload.native_differs:
            rows.append(self.native_row(workload))
        return rows

    def native_row(self, workload):
        first, bits = self.once(workload, "native-first", workload.first, False, True)
        second, other = self.once(workload, "native-second", workload.second, True, True)
        name, seconds = f"{workload.name}, NCCL alone parts", first.seconds + second.seconds
        for outcome in (first, second):
            if outcome.reason:
                return Row(name, "fail", seconds, f"{outcome.reason}; {outcome.tail()}")
        parted = difference(bits, other)
        return Row(name, "pass" if parted else "fail", seconds, parted or "no difference: the comparison shows nothing")

    def problem(self, outcome, bits):
        if outcome.reason:
            return f"{outcome.reason}; {outcome.tail()}"
        if not bits:
            return "printed no digest"
        # Its log lines begin so, and at level info there are some.
        if not any("detccl: " in outcome.text(rank, "err") for rank in outcome.codes):
            return "DetCCL said nothing: it was not in the path of the calls"
        return ""


def digests(outcome, ranks):
    """The lines "digest NAME HEX" of all ranks."""
    found = {}
    for rank in range(ranks):
        for line in outcome.text(rank).splitlines():
            if line.startswith("digest "):
                name, value = line.split()[1:3]
                found[name, rank] = value
    return found


def difference(a, b):
    if a.keys() != b.keys():
        return f"{len(a)} digests and {len(b)} digests, not of the same things"
    differing = [key for key in a if a[key] != b[key]]  # in the order of printing
    if not differing:
        return ""
    name, rank = differing[0]
    return f"{len(differing)} of {len(a)} digests differ, first {name} on rank {rank}"
