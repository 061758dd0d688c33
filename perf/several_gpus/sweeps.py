# SPDX-License-Identifier: Apache-2.0
"""The sweep programs, native and DetCCL paired, with as many ranks as GPUs or more."""
import os

from several_gpus.session import gpu_table, tail

# As measured on two H200, seconds: a schedule's processes, a row, and inputs, checks and further comparisons of a GiB.
STARTUP, ROW, INPUTS, CHECKS, MORE = 1.6, 0.1, 1.2, 2.2, 2.0
OLDER = "gather,direct,tree,halving"


class Sweep:
    """One run of a *_perf program. `settings`: what is not as usual, for the report."""

    def __init__(self, collective, op, schedule="auto,peer", begin="1K", end="256M", types="float,bfloat16", factor=4,
                 arguments=(), environment=None, settings=None, ranks=None, nccl=None, contract="tree", checked=True,
                 bits="none"):
        self.collective, self.op, self.schedule, self.begin, self.end = collective, op, schedule, begin, end
        self.types, self.factor, self.contract, self.checked = types, factor, contract, checked
        self.arguments = list(arguments)
        self.environment, self.settings, self.ranks, self.nccl = environment or {}, settings or {}, ranks, nccl
        self.bits = bits

    def on_host(self):
        """Small sizes, and no schedule of GPUs'."""
        self.begin, self.end = "1K", "16K"
        self.schedule = ",".join(schedule for schedule in self.schedule.split(",") if schedule != "peer")

    def name(self):
        of = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        types = "" if "," in self.types else f" {self.types}"
        return (f"{self.collective} {self.op}{types}, {self.schedule}, {self.begin}-{self.end}"
                f"{', ' + self.contract if self.contract != 'tree' else ''}{', ' + of if of else ''}")

    def sizes(self):
        size = gpu_table.size_of(self.begin)
        while size <= gpu_table.size_of(self.end):
            yield size
            size *= self.factor

    def wanted(self):
        """Seconds, as expected."""
        a_gib = INPUTS + (CHECKS if self.checked else 0.0) + (MORE if self.bits == "all" else 0.0)
        rows = sum(ROW + size / 2**30 * a_gib for size in self.sizes()) * len(self.types.split(","))
        return len(self.schedule.split(",")) * (STARTUP + rows)


def go(session, sweep):
    s = session.settings
    if s.host:
        sweep.on_host()
    ranks = sweep.ranks or s.gpus
    session.expect(sweep.wanted())
    limit = session.limit(STARTUP + 2, 2 * sweep.wanted() + 10)
    name = sweep.name()
    result = session.path(name) + ".json"
    command = [os.path.join(s.bin, f"{sweep.collective}_perf"), "--ranks", str(ranks), "-b", sweep.begin, "-e",
               sweep.end, "-f", str(sweep.factor), "-d", sweep.types, "-o", sweep.op, "--schedule", sweep.schedule,
               "--contract", sweep.contract, "--against", "native", "-w", "2", "-T", "30", "--row-seconds", "0.12",
               "--bits", sweep.bits, "--json", result]
    command += ["--commit", s.commit] if s.commit else []
    command += sweep.arguments
    if s.host:
        command += ["--host", "-n", "3"]
    else:
        command += ["-n", "20", "--rounds", "15"] + ([] if sweep.checked else ["-c", "0"])
        nccl = sweep.nccl or s.nccl
        command += ["--nccl", nccl] if nccl else []
    code, seconds, log = session.child(name, command, limit, sweep.environment)
    if code is None:
        return
    document = gpu_table.read(session.settings.as_path(result))
    rows, failures = document.get("results", []), document.get("failures", [])
    wrong = sum("WRONG" in (row["bits"], row.get("split"), row.get("communicator")) for row in rows)
    detail = f"{len(rows)} rows" + (f", {wrong} WRONG" if wrong else "")
    if code != 0:
        why = failures[0]["reason"] if failures else "" if rows else tail(log)
        detail += (", cut short" if code == 124 else f", exit {code}") + (f": {why}" if why else "")
    status = "fail" if wrong or not rows or code not in (0, 124) else "pass"
    session.record("sweeps", name, status, seconds, detail, settings=sweep.settings,
                   exit_code=code, document=document)


def first(settings):
    """What would be missed most."""
    op = settings.op
    yield Sweep("all_reduce", op)
    yield Sweep("reduce_scatter", op)


def second(settings):
    op = settings.op
    for collective, algorithm in (("all_reduce", "Ring"), ("reduce_scatter", "Ring"), ("all_reduce", "Tree")):
        yield Sweep(collective, op, "auto", types="bfloat16", arguments=["--native-algo", algorithm],
                    settings={"native": algorithm}, checked=False)
    yield Sweep("reduce", op, factor=16, bits="all")
    if not settings.host:
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, op, end="64M", types="bfloat16", arguments=["-G", "10"], settings={"graph": "10"})
    if not settings.host:
        yield from blocks(settings)
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, op, begin="1G", end="1G", checked=False)


def blocks(settings):
    """Schedule peer with other numbers of thread blocks."""
    for collective in ("all_reduce", "reduce_scatter"):
        for number in (8, 16, 32, 64):
            yield Sweep(collective, settings.op, "peer", "16K", "64M", types="bfloat16", factor=16,
                        environment={"DETCCL_PEER_BLOCKS": str(number)}, settings={"blocks": str(number)})


def third(settings):
    op = settings.op
    for collective in ("all_reduce", "reduce_scatter"):
        yield Sweep(collective, op, OLDER, "4K", factor=16, types="bfloat16")
    for collective in ("all_reduce", "reduce_scatter"):
        yield Sweep(collective, op, "auto", "4K", "64M", factor=16, arguments=["--in-place"],
                    settings={"buffers": "in place"}, bits="all")
    if not settings.no_trace:
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, op, "auto", types="bfloat16", checked=False, environment={
                "DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": os.path.join(settings.out, f"sweep-trace-{collective}")},
                settings={"fingerprints": "on"})
    for collective in ("all_reduce", "reduce_scatter"):
        yield Sweep(collective, op, OLDER, "4K", "64M", types="float", factor=16)
    if op != "sum":
        yield Sweep("all_reduce", "sum", "auto", types="bfloat16", factor=16)
    if not settings.host:
        yield Sweep("reduce", op, end="64M", types="bfloat16", factor=16, arguments=["-G", "10"],
                    settings={"graph": "10"})
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, op, end="64M", types="float", factor=16, arguments=["-G", "10"],
                        settings={"graph": "10"})
    yield Sweep("reduce", op, "auto", "4K", "64M", types="bfloat16", factor=16, arguments=["--in-place"],
                settings={"buffers": "in place"}, bits="all")
    yield Sweep("reduce", op, OLDER, "4K", "64M", types="bfloat16", factor=16)
    yield Sweep("all_reduce", op, "ring", "4K", "64M", types="bfloat16", factor=16, contract="linear")


def shared(settings):
    """Two ranks a GPU: sums of four ranks and more over a pair of GPUs."""
    if settings.nccl_p2p or settings.host:
        for collective, schedules, factor in (("all_reduce", "auto,peer", 4), ("reduce_scatter", "auto,peer", 4),
                                              ("all_reduce", "direct,halving", 16)):
            yield Sweep(collective, "sum", schedules, end="64M", types="bfloat16", factor=factor,
                        ranks=2 * settings.gpus, nccl=settings.nccl_p2p, settings={"ranks a GPU": "2"}, bits="all")


def last(settings):
    if not settings.host:
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, settings.op, "auto", "4G", "4G", types="bfloat16", checked=False)
