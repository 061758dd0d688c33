# SPDX-License-Identifier: Apache-2.0
"""Runs what was chosen, part by part; rows are there as soon as they are known."""
import os

from harness import clock, compare, groups, native_columns, nccl_tests, phases, profiler, promises, report, sampling
from harness import sanitizers, traces, workloads
from harness.bench import nccl_version
from harness.job import STOP
from harness.pool import side_by_side
from harness.report import Row


class Session:
    def __init__(self, settings, plan, bench):
        self.settings, self.plan, self.bench = settings, plan, bench
        self.rows, self.nccl = [], nccl_version(bench.nccl)

    def add(self, *rows):
        for row in rows:
            self.rows.append(row)
            print(row.text(), flush=True)
        self.write()

    def write(self):
        """After every part: something is there whatever happens."""
        return report.write(os.path.join(self.settings.out, "results.json"), self.settings, self.rows, self.nccl,
                            clock.spent())

    def guarded(self, name, function):
        """What goes wrong in one part is a failure of that part; what the time ends is skipped."""
        try:
            if STOP.is_set():
                raise clock.NoTime()
            clock.limit(0)
            return function()
        except clock.NoTime as error:
            return [Row(name, "skip", 0.0, str(error))], None
        except Exception as error:  # pylint: disable=broad-except
            status, why = ("skip", "no time: ") if clock.left() <= 0 else ("fail", "")
            return [Row(name, status, 0.0, f"{why}{type(error).__name__}: {error}")], None

    def promises(self, ranks):
        runs, waiting = {}, []

        def go(variant, label=""):
            def function():
                run = promises.Run(self.settings, self.bench, ranks, variant, label)
                if not run.names(self.plan.cases):
                    return [], None
                return [run.go(self.plan.cases).row()], run
            return variant, *self.guarded(f"{ranks} ranks: {variant.name}", function)

        def take(answer):
            variant, rows, run = answer
            if run is not None and run.ended_badly and not variant.alone:
                waiting.append((run, rows))  # perhaps for what ran beside it
                return
            self.add(*rows)
            if run is not None and run.cases:
                runs[variant.name] = run

        for variant in (v for v in self.plan.variants if v.alone):
            take(answer := go(variant))
            if answer[2] is not None and answer[2].ended_badly:
                self.bench.restart_mps()
        others = [v for v in self.plan.variants if not v.alone]
        side_by_side([lambda v=v: go(v) for v in others], self.bench.jobs(ranks, self.settings.jobs), take)
        if waiting:
            self.bench.restart_mps()
        for run, rows in waiting:
            first = next((o for o, _ in waiting if o is not run and run.start < o.ended_badly < run.ended_badly), None)
            if first is None:
                self.add(*rows)
                continue
            variant, again, run = go(run.variant, "-again")
            again[0].detail += f" (again, alone, as \"{first.variant.name}\" ended badly beside it, and then this one: " \
                               f"{rows[0].detail})"
            self.add(*again)
            if run is not None and run.cases:
                runs[variant.name] = run
        self.compare(runs, ranks)

    def compare(self, runs, ranks):
        """With the default; where it did not run, with the host engine, or another."""
        native = runs.pop("native", None)
        same = [run for run in runs.values() if run.variant.contract is None]
        same.sort(key=lambda run: ("default", "host engine").index(run.variant.name)
                  if run.variant.name in ("default", "host engine") else 2)
        for run in same[1:]:
            self.add(compare.same_bits(same[0], run))
        if native is not None:
            self.add(compare.native_differs(native))
        if "default" in runs and native is not None:
            self.add(compare.times(runs["default"], native))

    def everything(self):
        plan, settings, bench = self.plan, self.settings, self.bench
        if plan.promises:
            for ranks in settings.ranks:
                self.promises(ranks)
        if plan.groups:
            self.one_by_one("groups", groups.rows(settings, bench, plan.cases, plan.groups))
        if plan.workloads:
            runner = workloads.Runner(settings, bench)
            tasks = [lambda w=w: self.guarded(w.name, lambda: (runner.rows(w), None)) for w in plan.workloads]
            side_by_side(tasks, bench.jobs(settings.ranks[0], settings.jobs), lambda answer: self.add(*answer[0]))
        if plan.traces:
            self.one_by_one("traces", traces.rows(settings, bench, plan.traces))
        if plan.sanitizers:
            self.one_by_one("sanitizers", sanitizers.rows(settings, plan.sanitizers))
        if plan.profiler:
            self.one_by_one("profiler", profiler.rows(settings, bench))
        if plan.phases:
            self.one_by_one("phases", phases.rows(settings, bench))
        if plan.sampling:
            self.one_by_one("sampling", sampling.rows(settings, bench))
        if plan.nccl_tests:
            self.one_by_one("nccl-tests", nccl_tests.rows(settings, bench, settings.nccl_tests))
        if plan.native_columns:
            self.one_by_one("native-columns", native_columns.rows(settings, bench))
        return self.rows

    def one_by_one(self, name, rows):
        while answer := self.guarded(name, lambda: (next(rows, None), None))[0]:
            self.add(*(answer if isinstance(answer, list) else [answer]))
            if isinstance(answer, list):
                break
