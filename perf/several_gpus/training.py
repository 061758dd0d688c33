# SPDX-License-Identifier: Apache-2.0
"""What DetCCL costs a DDP and an FSDP2 training in PyTorch, and whether all have the same weights. All configurations'
jobs are there at once and take turns, so that what a GPU or a host does differently from one minute to the next, or
from one process to the next, is the same for all."""
import math
import os
import statistics
import time

from several_gpus import paired
from several_gpus.resident import JobFailed, Pool

BLOCK, WARMUP = 8, 4       # steps
LONG_BLOCK, LONG_SEQUENCES = 40, 2
START, ANSWER = 60.0, 25.0  # seconds that the first answers, and others, may take
NATIVE = "native"


class Configuration:
    def __init__(self, name, native=False, bucket=25, swapped=False, fsdp=False, **extra):
        self.name, self.native, self.bucket = name, native, bucket
        self.swapped, self.fsdp, self.extra = swapped, fsdp, extra


def configurations(settings):
    plugin = os.path.join(settings.build, "lib", "libnccl-profiler-detccl.so")
    yield Configuration(NATIVE, native=True, fsdp=True)
    yield Configuration("DetCCL", fsdp=True)
    yield Configuration("DetCCL, tracing", fsdp=True, DETCCL_TRACE="1",
                        DETCCL_TRACE_DIR=os.path.join(settings.out, "training-trace"))
    yield Configuration("DetCCL, other buckets and GPUs", bucket=60, swapped=True)
    yield Configuration("native, Ring", native=True, NCCL_ALGO="Ring")
    if os.path.exists(plugin):
        yield Configuration("DetCCL, profiler", NCCL_PROFILER_PLUGIN=plugin,
                            DETCCL_PROFILER_DIR=os.path.join(settings.out, "training-profile"))


class Training:
    """`go("ddp")`, then `go("fsdp2")` with those that are left, then `end()`."""

    LONG = ("DetCCL", "DetCCL, other buckets and GPUs")

    def __init__(self, session, bench):
        self.session, self.bench, self.pool = session, bench, Pool(session)
        self.all = {c.name: c for c in configurations(session.settings)}
        self.started, self.began, self.moved = False, False, {}

    def start(self):
        """Returns at once: processes load their libraries while other things go on."""
        count, self.started = self.session.settings.gpus, True
        for c in self.all.values():
            self.pool.start(f"training {c.name}", self.bench, c.native,
                            list(range(1, count)) + [0] if c.swapped else None, c.extra)
        self.jobs = dict(zip(self.all, self.pool.jobs))

    def join(self):
        if not self.started:
            self.start()
        if self.began or self.session.settings.dry_run:
            return
        limit = self.session.limit(20, START)
        self.pool.began(limit)
        self.pool.all(limit, do="join")
        self.began = True

    def go(self, mode):
        s = self.session.settings
        began = time.monotonic()
        steps, most = (s.paired, s.ddp_seconds) if mode == "ddp" else (s.fsdp_steps, s.fsdp_seconds)
        label = {"ddp": "DDP", "fsdp2": "FSDP2"}[mode]
        self.join()
        if s.dry_run:
            print(f"# {label}: {steps} steps of each in blocks of {BLOCK}, at most {most:.0f} s")
            return
        self.session.limit(15, most)
        self.mode, self.label = mode, label
        chosen = [name for name, c in self.all.items() if mode == "ddp" or c.fsdp]  # and what has failed, to say so
        self.load(chosen)
        self.until = time.monotonic() + min(most, self.session.left() - 5)
        times = self.alternate(chosen, steps)
        digests = self.digests(chosen)
        for name in chosen:
            self.tell(name, times, digests)
        self.compare(digests, time.monotonic() - began)
        if mode == "ddp":
            self.long()
        self.pool.all(ANSWER, do="unload")

    def load(self, chosen):
        """At the same time, but for steps that wait for other ranks: those one job after the other."""
        s = self.session.settings
        size, until = "tiny" if s.host else "billion", time.monotonic() + START
        for name in chosen:
            self.jobs[name].send(do="load", mode=self.mode, size=size, bucket_mb=self.all[name].bucket,
                                 average=s.op != "sum", sequences=s.sequences)
        for name in chosen:
            self.answers(name, until - time.monotonic())
        for name in chosen:
            self.ask(name, ANSWER, do="steps", count=WARMUP)

    def answers(self, name, limit):
        job = self.jobs[name]
        try:
            return None if job.failed else job.answers(max(0.1, min(limit, self.session.left())))
        except JobFailed:
            return None

    def ask(self, name, limit, **command):
        job = self.jobs[name]
        if not job.failed:
            job.send(**command)
        return self.answers(name, limit)

    def alternate(self, chosen, steps, block=BLOCK, **more):
        """{name: blocks, each the answers of all ranks}: blocks in turn until there are so many steps, or no time."""
        blocks, done = {name: [] for name in chosen}, 0
        while done < steps and time.monotonic() < self.until:
            count = min(block, steps - done)
            for name in chosen:
                answers = self.ask(name, ANSWER, do="steps", count=count, **more)
                if answers:
                    blocks[name].append(answers)
            done += count
        return blocks

    def digests(self, chosen):
        """{name: (step, digest of all ranks' parameters)}"""
        alive = [self.jobs[name] for name in chosen if not self.jobs[name].failed]
        answers = self.pool.all(max(0.1, min(ANSWER, self.session.left())), alive, do="digest") if alive else {}
        found = {}
        for name in chosen:
            if self.jobs[name] in answers:
                ranks = answers[self.jobs[name]]
                self.memory, self.moved[name] = ranks[0].get("memory_gb"), ranks[0]["moved"]
                parts = [rank["digest"] for rank in ranks]
                same = len(set(parts)) == 1
                words = parts[0] if same else " ".join(parts)
                found[name] = (ranks[0]["step"], words, same or self.mode == "fsdp2")
        return found

    def tell(self, name, times, digests):
        job, blocks, what = self.jobs[name], times[name], f"{self.label}, {name}"
        seconds = sum(sum(slowest(block)) for block in blocks) / 1000
        if job.failed or name not in digests or not blocks:
            self.session.record("training", what, "fail", seconds, job.failed or "no blocks of steps")
            return
        s = self.session.settings
        problem = ""
        if not all(math.isfinite(rank["loss"]) for block in blocks for rank in block):
            problem = "the loss is not finite"
        elif not digests[name][2]:
            problem = "other weights on other ranks"
        elif self.moved[name] == 0:
            problem = "the weights are those of the beginning"
        elif not s.host and job.native == ("detccl: " in job.said()):
            problem = "DetCCL was there" if job.native else "DetCCL said nothing: it was not in the path of the calls"
        own, native = mean_times(blocks), mean_times(times.get(NATIVE, []))
        whole = name != NATIVE and len(own) == len(blocks) and own and paired.ratio(own, native) or None
        spread = paired.spread([ms for block in blocks for ms in slowest(block)] or [0.0])
        host = statistics.median(max(rank["host_ms"] for rank in block) for block in blocks)
        step, words, _ = digests[name]
        detail = f"step {spread['median']:.2f} ms, p95 {spread['p95']:.2f}, host {host:.1f}"
        if whole:
            detail += f"; of native {whole['median']:.4f} ({whole['low']:.4f} to {whole['high']:.4f})"
        losses = [block[0]["loss"] for block in blocks]
        detail += f"; step {step}: {words[:12]}, loss {losses[0]:.4f} to {losses[-1]:.4f}"
        self.session.record("training", what, "fail" if problem else "pass", seconds,
                            f"{problem}; {detail}" if problem else detail, mode=self.mode, configuration=name,
                            ratio=whole, step_ms=spread, host_ms=host, blocks_ms=own, digest=words, step=step,
                            memory_gb=self.memory, moved=self.moved[name], loss=losses[-1], gpus=s.gpus)

    def compare(self, digests, seconds):
        """All of DetCCL's have the same weights; whether native's have is told. `seconds`: of all until now."""
        ours = {name: digests[name][:2] for name in digests if not self.all[name].native}
        if len(ours) > 1:
            step = next(iter(ours.values()))[0]
            same = len(set(ours.values())) == 1
            theirs = {name: digests[name][:2] for name in digests if self.all[name].native}
            equal = [name for name, digest in theirs.items() if digest in ours.values()]
            self.session.record("training", f"{self.label}, weights after {step} steps", "pass" if same else "fail",
                                seconds, ("the same: " if same else "not the same: ") + "; ".join(ours) +
                                (f"; also {'; '.join(equal)}" if equal else "; native's are others"),
                                digests={name: digest[1] for name, digest in digests.items()})

    def long(self):
        """Two go on, in turn, with smaller batches: only their weights count."""
        s, names = self.session.settings, [name for name in self.LONG if not self.jobs[name].failed]
        if len(names) < 2 or s.steps <= s.paired:
            return
        began = time.monotonic()
        self.until = began + min(s.long_seconds, self.session.left())
        self.alternate(names, s.steps - s.paired, LONG_BLOCK, sequences=LONG_SEQUENCES)
        digests = self.digests(names)
        if len(digests) < 2:
            reasons = "; ".join(self.jobs[name].failed for name in names if self.jobs[name].failed)
            self.session.record("training", "DDP, long", "fail", time.monotonic() - began, reasons)
            return
        (step, a, _), (last, b, _) = (digests[name] for name in names)
        same = (step, a) == (last, b)
        self.session.record("training", f"DDP, weights after {step} steps", "pass" if same else "fail",
                            time.monotonic() - began, f"{names[0]}: {a[:16]}; {names[1]}: {b[:16]}", step=step,
                            digests={names[0]: a, names[1]: b})

    def end(self):
        if self.pool.jobs:
            self.pool.end(15)
            self.pool.close()


def slowest(block):
    """The steps' times, each of the slowest rank."""
    return [max(times) for times in zip(*(rank["ms"] for rank in block))]


def mean_times(blocks):
    return [statistics.mean(slowest(block)) for block in blocks if len(block[0]["ms"]) > 0]
