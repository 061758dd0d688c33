# SPDX-License-Identifier: Apache-2.0
"""Programs that are traced twice, and once with something changed: what `detccl trace diff` says of their traces."""
from harness.report import Row
from harness.tracing import RANKS

CHANGE_RANK, CHANGE_STEP = 2, 7
STEPS = ["--steps", "12"]
CHANGE = ["--change-step", str(CHANGE_STEP), "--change-rank", str(CHANGE_RANK)]


def complaint(runs):
    return next((f"{label}: {text}" for label, run in runs.items() if (text := run.complaint())), "")


def same_row(tracing, name, a, b, seconds):
    """Also that communicators have the same keys in both, so that they are compared at all."""
    code, result, err = tracing.diff(a, b)
    keys = [{(r["pg_key"], r["pg_name"]) for r in run.records()} for run in (a, b)]
    good = code == 0 and result.get("verdict") == "same" and result.get("operations", 0) > 0 and keys[0] == keys[1]
    called = sorted({name for key, name in keys[0] if name != key})
    detail = f"{result.get('operations')} operations of {result.get('ranks')} ranks the same; {len(keys[0])} " \
             f"communicators, names {', '.join(called) or 'none'}"
    if not good:
        found = "; ".join(f"rank {f['rank']}, {f['operation']}: {f['text']}" for f in result.get("findings", [])[:2])
        detail = f"exit {code}: {err or found}; keys {sorted(keys[0])} and {sorted(keys[1])}"
    figures = {"names": called, "keys": sorted(key for key, _ in keys[0])}
    return Row(name, "pass" if good else "fail", seconds, detail, figures)


def first_difference(a, b, rank):
    """Of the inputs on a rank, found without diff: (record of A, its number among A's of the same kind and count)."""
    records = [[r for r in run.records() if r["rank"] == str(rank)] for run in (a, b)]
    seen = {}
    for one, other in zip(*records):
        kind = one["profiling_name"], one["count"]
        if one["input_digest"] != other["input_digest"]:
            return one, seen.get(kind, 0)
        seen[kind] = seen.get(kind, 0) + 1
    return None, 0


def changed_row(tracing, name, a, b, operation, rank=CHANGE_RANK, step=CHANGE_STEP):
    """That diff names the rank and the one operation whose input was changed. `step`: None where there are none."""
    code, result, err = tracing.diff(a, b)
    causes = [f for f in result.get("findings", []) if f["cause"]]
    found = "; ".join(f"rank {f['rank']}, step {f['step']}: {f['operation']}: {f['text']}" for f in causes)
    record, number = first_difference(a, b, rank)
    good = code == 1 and len(causes) == 1 and record is not None and causes[0]["rank"] == rank and \
        causes[0]["step"] == step and causes[0]["class"] == "inputs_differ" and \
        str(causes[0]["a"]["record_id"]) == record["record_id"] and record["profiling_name"] == f"nccl:{operation}"
    return Row(name, "pass" if good else "fail", 0.0, (found or f"exit {code}: {err}")[:350]), number, causes


class Compared:
    """A job twice, and once more with one element changed."""

    def rows(self, tracing, runs):
        seconds = sum(run.seconds for run in runs.values())
        if problem := complaint(runs):
            yield Row(self.names[0], "fail", seconds, problem)
            return
        first, second, changed = runs.values()
        yield same_row(tracing, self.names[0], first, second, seconds)
        yield self.changed(tracing, first, changed)


class Training(Compared):
    """A PyTorch training."""

    def __init__(self, label, kind, operation):
        self.label, self.kind, self.operation = label, kind, operation
        self.names = [f"trace {label} twice", f"trace {label}, one element changed"]

    def jobs(self, tracing):
        arguments = ["train", "--kind", self.kind] + STEPS
        return {f"{self.kind}-{run}": lambda run=run, more=more: tracing.torch(f"{self.kind}-{run}", arguments + more)
                for run, more in (("first", []), ("second", []), ("changed", CHANGE))}

    def changed(self, tracing, first, changed):
        return changed_row(tracing, self.names[1], first, changed, self.operation)[0]


class Jax(Compared):
    names = ["trace JAX twice", "trace JAX, one element changed"]
    CALL = 7  # of twelve

    def jobs(self, tracing):
        change = ["--change-call", str(self.CALL), "--change-rank", "1"]
        return {f"jax-{run}": lambda run=run, more=more: tracing.workload(f"jax-{run}", "jax_traced.py", "jax", more,
                                                                          ranks=2, shim=True)
                for run, more in (("first", []), ("second", []), ("changed", change))}

    def changed(self, tracing, first, changed):
        row, number, _ = changed_row(tracing, self.names[1], first, changed, "all_reduce", rank=1, step=None)
        if number != self.CALL:
            row.status, row.detail = "fail", f"call {number} instead of {self.CALL}; {row.detail}"
        return row


class NcclTests:
    names = ["trace nccl-tests twice"]

    def jobs(self, tracing):
        # One size, and no warm-up: else it reduces memory that it never wrote.
        options = ["-b", "64K", "-e", "64K", "-d", "all", "-o", "all", "-n", "2", "-w", "0", "-c", "1", "-t", "1",
                   "-g", "1"]
        return {f"nccl-tests-{run}": lambda run=run: tracing.nccl_tests(f"nccl-tests-{run}", "all_reduce_perf", options)
                for run in ("first", "second")}

    def rows(self, tracing, runs):
        seconds = sum(run.seconds for run in runs.values())
        if problem := complaint(runs):
            yield Row(self.names[0], "fail", seconds, problem)
            return
        yield same_row(tracing, self.names[0], *runs.values(), seconds)


class Chunks:
    names = ["trace with chunks, one element changed"]
    BYTES = 64 << 10

    def jobs(self, tracing):
        arguments, chunks = ["train", "--kind", "ddp"] + STEPS, {"DETCCL_TRACE": f"chunks:{self.BYTES >> 10}"}
        return {f"chunks-{run}": lambda run=run, more=more: tracing.torch(f"chunks-{run}", arguments + more, chunks)
                for run, more in (("first", []), ("changed", CHANGE))}

    def rows(self, tracing, runs):
        if problem := complaint(runs):
            yield Row(self.names[0], "fail", sum(run.seconds for run in runs.values()), problem)
            return
        row, _, causes = changed_row(tracing, self.names[0], *runs.values(), "all_reduce")
        row.seconds = sum(run.seconds for run in runs.values())
        ranges = causes[0]["bytes"] if causes else []
        times = [int(r["duration_ns"] or 0) for run in runs.values() for r in run.records()]
        row.detail += f"; bytes {ranges}; {sum(map(bool, times))} of {len(times)} operations have a duration"
        # One element is in one chunk, of a bucket with several.
        if len(ranges) != 1 or not 0 < ranges[0][1] - ranges[0][0] <= self.BYTES:
            row.status = "fail"
        if not all(times):
            row.status = "fail"
        yield row


class Schedules:
    """The promises' program by a schedule whose digests have kernels of their own, and by those whose kernels record
    themselves: the same traces."""
    names = ["trace by schedules"]
    CASES = ["reduce.float32.sum", "reduce.float64.avg", "reduce.float16.sum", "reduce.bfloat16.avg", "pieces.float32",
             "pieces.bfloat16", "collectives.float32", "collectives.bfloat16", "group.reductions", "streams.order",
             "graph.one", "graph.several", "graph.two_streams", "graph.two_graphs"]

    def jobs(self, tracing):
        schedules = ["direct", "gather"] + ["peer"] * (tracing.bench.kind == "p2p")
        return {f"schedule-{one}": lambda one=one: tracing.promises(f"schedule-{one}", self.CASES,
                                                                    {"DETCCL_SCHEDULE": one})
                for one in schedules}

    def rows(self, tracing, runs):
        seconds = sum(run.seconds for run in runs.values())
        if problem := complaint(runs):
            yield Row(self.names[0], "fail", seconds, problem)
            return
        first, *others = runs.values()
        rows = [same_row(tracing, self.names[0], first, other, seconds) for other in others]
        yield next((row for row in rows if row.status != "pass"), rows[-1])


class Killed:
    """A rank is killed between two operations of a step; the others hang in the second until they are killed too."""
    names = ["trace of a killed rank"]
    RANK, STEP, SURELY = 1, 11, 3  # SURELY: a step that was written: of three seconds, all but the last one

    @staticmethod
    def beside(tracing):
        return {"ddp-first": Training("DDP", "ddp", "all_reduce").jobs(tracing)["ddp-first"]}

    @classmethod
    def rows(cls, tracing, runs):
        name, whole = cls.names[0], runs["ddp-first"]
        run = tracing.torch("killed", ["train", "--kind", "ddp", "--pause", "0.3", "--kill-step", str(cls.STEP),
                                       "--kill-rank", str(cls.RANK)] + STEPS)
        if whole.complaint() or run.outcome.codes.get(cls.RANK) != -9:
            yield Row(name, "fail", run.seconds, whole.complaint() or f"it was not killed: {run.complaint()}")
            return
        _, ranks, err = tracing.json("ls", run.folder)
        ranks = ranks if isinstance(ranks, list) else ranks.get("ranks", [])
        last = min((rank.get("last_step") or 0 for rank in ranks), default=0)
        shown, text, problem = tracing.command("show", run.folder)
        code, result, why = tracing.diff(whole, run, "--until", str(last - 1))
        good = len(ranks) == RANKS and last >= cls.SURELY and shown == 0 and len(text.splitlines()) > RANKS and \
            code == 0 and result.get("verdict") == "same" and result.get("operations", 0) > 0
        operations = sum(rank["operations"] for rank in ranks)
        detail = f"all {len(ranks)} ranks readable, {operations} operations up to step {last} of {cls.STEP}; the same " \
                 f"as a whole run's to step {last - 1}: {result.get('operations')} operations"
        if not good:
            detail = f"{len(ranks)} ranks, last step {last}; show: exit {shown} {problem}; diff: exit {code} {why} " \
                     f"{result.get('verdict')}; {err}"
        yield Row(name, "pass" if good else "fail", run.seconds, detail, {"last_step": last})


PARTS = [Training("DDP", "ddp", "all_reduce"), Training("FSDP2", "fsdp2", "reduce_scatter"), Jax(), NcclTests(),
         Chunks(), Schedules()]
