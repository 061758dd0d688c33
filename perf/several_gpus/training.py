# SPDX-License-Identifier: Apache-2.0
"""PyTorch: step time of a DDP training with and without DetCCL, identical weights, and a matrix product beside
collectives."""
import json
import math
import os
import re
import sys

from harness.job import free_port
from harness.workloads import missing
from several_gpus.session import NoTime

FOLDER = os.path.dirname(os.path.abspath(__file__))
LEAST, MOST, STEP = 14.0, 50.0, 0.15  # seconds of a job, and a step's at most


def launch(session, bench, name, script, arguments, native, placed=None, extra=None):
    """The answers of all ranks, the lines of JSON that begin with {, or None. `placed`: the process of each rank."""
    ranks = session.settings.gpus
    port = str(free_port())
    placed = placed or list(range(ranks))

    def environment(rank):
        more = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                "GLOO_SOCKET_IFNAME": "lo", "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONUNBUFFERED": "1"}
        env = bench.environment(placed[rank], ranks, native, nccl="own", extra=more | (extra or {}))
        if session.settings.host:  # gloo, out of DetCCL's reach
            env["LD_PRELOAD"] = ""
        return env

    limit = session.limit(LEAST, MOST + STEP * session.settings.steps)
    outcome = session.ranks(name, ranks, lambda _: [sys.executable, os.path.join(FOLDER, script)] + arguments,
                            environment, limit)
    if outcome is None:
        return None, None
    answers = []
    for rank in range(ranks):
        lines = [line for line in outcome.text(rank).splitlines() if line.startswith("{")]
        answers += [json.loads(lines[-1])] if lines else []
    problem = outcome.reason and f"{outcome.reason}; {outcome.tail()}"
    if not problem and len(answers) < ranks:
        problem = "not every rank had an answer"
    present = any("detccl: " in outcome.text(rank, "err") for rank in range(ranks))
    if not problem and not native and not session.settings.host and not present:
        problem = "DetCCL said nothing: it was not in the path of the calls"
    return outcome, problem or answers


class Training:
    def __init__(self, session, bench):
        self.session, self.bench = session, bench
        s = session.settings
        self.arguments = ["--steps", str(s.steps)] + (["--size", "tiny"] if s.host else [])
        self.op = [] if s.op == "sum" else ["--average"]
        self.median, self.digests = {}, {}

    def one(self, name, bucket, native, of, average=True, placed=None, extra=None):
        """`of`: the run whose step time this one's is compared with."""
        arguments = self.arguments + ["--bucket-mb", str(bucket)] + (self.op if average else [])
        try:
            outcome, answers = launch(self.session, self.bench, f"training {name}", "ddp_rank.py", arguments, native,
                                      placed, extra)
        except NoTime as error:
            self.session.record("training", f"training, {name}", "skip", 0.0, str(error))
            return
        if outcome is None:
            return
        if isinstance(answers, str):
            self.session.record("training", f"training, {name}", "fail", outcome.seconds, answers)
            return
        if not all(math.isfinite(answer["loss"]) for answer in answers):
            self.session.record("training", f"training, {name}", "fail", outcome.seconds, "the loss is not finite")
            return
        same = len({answer["digest"] for answer in answers}) == 1
        self.digests[name] = answers[0]["digest"] if same else None
        self.median[name] = max(answer["step_ms"]["median"] for answer in answers)
        ratio = self.median[name] / self.median[of] if self.median.get(of) and of != name else None
        detail = (f"step {self.median[name]:.2f} ms" + (f", {ratio:.4f} of {of}" if ratio else "") +
                  f", loss {answers[0]['loss']:.4f}, weights {answers[0]['digest'][:16]}" +
                  ("" if same else ", not the same on all ranks"))
        self.session.record("training", f"training, {name}", "pass" if same else "fail", outcome.seconds, detail,
                            ratio=ratio, ranks=answers)

    def go(self):
        s, count = self.session.settings, self.session.settings.gpus
        swapped = list(range(1, count)) + [0]
        self.one("native", 25, True, "native")
        self.one("DetCCL", 25, False, "native")
        self.one("DetCCL, other buckets and GPUs", 60, False, "native", placed=swapped)
        self.same("DetCCL", "DetCCL, other buckets and GPUs")
        self.one("native, Ring", 25, True, "native", extra={"NCCL_ALGO": "Ring"})
        if s.trace:
            self.one("DetCCL, tracing", 25, False, "native", extra={
                "DETCCL_TRACE": "1", "DETCCL_TRACE_DIR": os.path.join(s.out, "training-trace")})
            self.same("DetCCL", "DetCCL, tracing")

    def again(self):
        """For the spread, and, where averages had to stand for sums, sums of two ranks: NCCL's own."""
        if "native" in self.median or self.session.settings.dry_run:
            self.one("DetCCL, again", 25, False, "native")
            self.same("DetCCL", "DetCCL, again")
            self.one("native, again", 25, True, "native")
        if self.op:
            self.one("native, sums", 25, True, "native, sums", average=False)
            self.one("DetCCL, sums", 25, False, "native, sums", average=False)

    def same(self, one, other):
        a, b = self.digests.get(one), self.digests.get(other)
        if a and b:
            self.session.record("training", f"training, weights: {one} = {other}", "pass" if a == b else "fail", 0.0,
                                f"{a[:16]} {b[:16]}")


def matrix_product(session, bench):
    """How much slower a matrix product is while a collective runs beside it."""
    slower = {}
    for name, native in (("native", True), ("DetCCL", False)):
        arguments = ["--op", session.settings.op] + (["--size", "tiny"] if session.settings.host else [])
        label = f"matrix product beside collectives, {name}"
        outcome, answers = launch(session, bench, label, "matmul_rank.py", arguments, native,
                                  extra={"NCCL_DEBUG": "INFO"} if not session.settings.host else None)
        if outcome is None:
            continue
        if isinstance(answers, str):
            session.record("matmul", label, "fail", outcome.seconds, answers)
            continue
        rows = answers[0]["rows"]
        for row in rows:
            slower.setdefault(row["name"], {})[name] = row["slowdown"]
        log = outcome.text(0, "err") + outcome.text(0)
        channels = re.findall(r"(\d+ coll channels.*)", log)
        session.record("matmul", label, "info", outcome.seconds,
                       ", ".join(f"{row['name']} {row['slowdown']:.3f}" for row in rows) +
                       (f"; {channels[0][:60]}" if channels else ""), ranks=answers, channels=channels[:2])
