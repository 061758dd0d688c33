# SPDX-License-Identifier: Apache-2.0
"""The sweep programs, native and DetCCL paired, with as many ranks as GPUs or more."""
import os

from several_gpus.session import gpu_table, tail

STARTUP = gpu_table.STARTUP_S  # seconds of one schedule's processes
ROW = 0.35                     # seconds that a row takes with its inputs and checks


class Sweep:
    """One run of a *_perf program. `settings`: what is not as usual, for the report."""

    def __init__(self, collective, op, schedule="all", begin="1K", end="256M", types="float,bfloat16", factor=4,
                 arguments=(), environment=None, settings=None, ranks=None, nccl=None, contract="tree", rows=ROW,
                 bits="none"):
        self.collective, self.op, self.schedule, self.begin, self.end = collective, op, schedule, begin, end
        self.types, self.factor, self.arguments, self.contract = types, factor, list(arguments), contract
        self.environment, self.settings, self.ranks, self.nccl = environment or {}, settings or {}, ranks, nccl
        self.seconds_a_row, self.bits = rows, bits

    def name(self):
        of = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        return (f"{self.collective} {self.op}, {self.schedule}, {self.begin}-{self.end}"
                f"{', ' + self.contract if self.contract != 'tree' else ''}{', ' + of if of else ''}")

    def rows(self):
        size, count = gpu_table.size_of(self.begin), 0
        while size <= gpu_table.size_of(self.end):
            count, size = count + 1, size * self.factor
        return count * len(self.types.split(","))

    def wanted(self):
        """Seconds."""
        schedules = 7 if self.schedule == "all" else len(self.schedule.split(","))
        return schedules * (STARTUP + self.rows() * self.seconds_a_row)


def go(session, sweep):
    s = session.settings
    if s.host:
        sweep.begin, sweep.end = "1K", "16K"
    ranks = sweep.ranks or s.gpus
    limit = session.limit(STARTUP + 2, 2 * sweep.wanted())
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
        command += ["-n", "20", "--rounds", "15"]
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
    if rows:
        session.sweeps.append({"settings": sweep.settings, "document": document})
    status = "fail" if wrong or not rows or code not in (0, 124) else "pass"
    session.record("sweeps", name, status, seconds, detail, settings=sweep.settings,
                   exit_code=code, document=document)


def first(settings):
    """What would be missed most."""
    op = settings.op
    yield Sweep("all_reduce", op)
    yield Sweep("reduce_scatter", op, end="64M", factor=16)


def second(settings):
    op, end = settings.op, "256M"
    yield Sweep("reduce_scatter", op, "auto", end=end, bits="all")
    yield Sweep("all_reduce", op, "auto", "1G", "1G", rows=3)
    for algorithm in ("Ring", "Tree"):
        yield Sweep("all_reduce", op, "auto", end=end, arguments=["--native-algo", algorithm],
                    settings={"native": algorithm})
    yield Sweep("all_reduce", op, "auto", end=end, arguments=["--in-place"], settings={"buffers": "in place"},
                bits="all")
    yield Sweep("reduce_scatter", op, "auto", end=end, arguments=["--native-algo", "Ring"],
                settings={"native": "Ring"})
    yield Sweep("reduce_scatter", op, "auto", end=end, arguments=["--in-place"], settings={"buffers": "in place"},
                bits="all")
    yield Sweep("reduce", op, "auto", end=end, bits="all")
    if op != "sum":
        yield Sweep("all_reduce", "sum", "auto", end=end)


def third(settings):
    op = settings.op
    if not settings.host:
        yield Sweep("all_reduce", op, "auto", end="64M", arguments=["-G", "10"], settings={"graph": "10"})
        yield Sweep("reduce_scatter", op, "auto", end="64M", arguments=["-G", "10"], settings={"graph": "10"})
    if settings.trace:
        yield Sweep("all_reduce", op, "auto", environment={
            "DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": os.path.join(settings.out, "sweep-trace")},
            settings={"fingerprints": "on"})
    yield Sweep("all_reduce", op, "ring", contract="linear", end="64M")
    yield Sweep("reduce_scatter", op, "auto", "1G", "1G", rows=3)
    yield Sweep("reduce", op, "auto", end="64M", arguments=["--in-place"], settings={"buffers": "in place"}, bits="all")
    yield Sweep("reduce", op, end="64M", factor=16)


def shared(settings):
    """Two ranks a GPU: sums of four ranks and more over a pair of GPUs."""
    if settings.nccl_p2p or settings.host:
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, "sum", "auto,direct,halving", end="64M", ranks=2 * settings.gpus,
                        nccl=settings.nccl_p2p, settings={"ranks a GPU": "2"}, bits="all")


def last(settings):
    if not settings.host:
        for collective in ("all_reduce", "reduce_scatter"):
            yield Sweep(collective, settings.op, "auto", "4G", "4G", types="bfloat16", arguments=["-c", "0"], rows=10)
