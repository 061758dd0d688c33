# SPDX-License-Identifier: Apache-2.0
"""The promises program across GPUs: cases right, and the same digests under every placement, schedule and engine."""
import concurrent.futures
import json
import os
import subprocess
from types import SimpleNamespace

from harness import compare
from harness.promises import Run
from harness.variants import SENSITIVE, Variant
from several_gpus.session import STALL, Bench, NoTime

LEAST = 8.0  # seconds of a job


def variants(kind, brief):
    host_memory = kind == "host"
    every = SENSITIVE if brief else ["*"]
    yield Variant("default", cases=every)
    yield Variant("other placement", placement=True, cases=SENSITIVE)
    if not host_memory:
        yield Variant("host engine", host=True, cases=SENSITIVE)
    if not brief or not host_memory:
        yield Variant("native", native=True, cases=["pieces.*"] if brief else ["pieces.*", "collectives.*"])
    if not brief:
        yield Variant("contract linear, ring", {"DETCCL_SCHEDULE": "ring"}, contract="linear", cases=SENSITIVE)
    schedules = ("direct",) if brief else ("direct", "tree", "halving", "gather")
    # On the socket bench each rank takes itself for a host of its own.
    for schedule in ("peer", *schedules) if kind in ("gpus", "p2p") else schedules:
        yield Variant(f"schedule {schedule}", {"DETCCL_SCHEDULE": schedule}, cases=SENSITIVE)


class Promises:
    def __init__(self, session, kind, ranks, nccl, mps_environment=None, brief=False):
        self.session, self.ranks, self.brief = session, ranks, brief
        s = session.settings
        self.bench = Bench("host" if s.host else kind, s.build, nccl, s.gpus, mps_environment)
        self.program = os.path.join(s.build, "tests", "promises")
        self.label = "" if kind == "gpus" else f", {kind} bench"

    def settings(self, limit):
        return SimpleNamespace(program=self.program, out=self.session.settings.out, replays=200, cycles=2,
                               timeout=limit, stall=min(STALL, limit), patterns=["*"])

    def cases(self):
        folders = [os.path.dirname(self.bench.host_nccl), os.environ.get("LD_LIBRARY_PATH", "")]
        listed = subprocess.run([self.program, "--list"], capture_output=True, text=True, timeout=30,
                                env=os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, folders))})
        if listed.returncode != 0:
            raise RuntimeError(f"promises --list: {listed.stderr.strip()}")
        return listed.stdout.split()

    def one(self, variant):
        """(record, Run or None)."""
        name = f"promises, {self.ranks} ranks{self.label}: {variant.name}"
        self.session.expect(0.0 if variant.host else 20.0 if variant.cases == ["*"] else 3.0)
        try:
            limit = self.session.limit(LEAST, 90)
        except NoTime as error:
            return self.session.record("promises", name, "skip", 0.0, str(error)), None
        if self.session.settings.dry_run:
            placed = " (ranks placed otherwise)" if variant.placement else ""
            print(f"# {name}, at most {limit:.0f} s{placed}\n{self.program} --ranks {self.ranks} --cases "
                  f"{','.join(variant.cases)} {variant.extra or ''}")
            return None, None
        run = Run(self.settings(limit), self.bench, self.ranks, variant)
        row = run.go(self.listed).row()
        return self.session.record("promises", name, row.status, row.seconds, row.detail, figures=row.figures,
                                   cases=row.cases), run

    def go(self):
        if not os.path.exists(self.program):
            raise RuntimeError(f"{self.program} is not built")
        self.listed = self.cases()
        chosen = list(variants(self.bench.kind, self.brief))
        # One job at a time has the GPUs: without MPS processes on one GPU take turns. The host's is beside them.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            beside = [pool.submit(self.one, variant) for variant in chosen if variant.host]
            runs = [self.one(variant)[1] for variant in chosen if not variant.host]
            runs += [future.result()[1] for future in beside]
        self.compare({run.variant.name: run for run in runs if run is not None})

    def compare(self, runs):
        default, native = runs.get("default"), runs.get("native")
        for run in runs.values():
            if default is not None and run not in (default, native) and run.variant.contract is None:
                self.add(compare.same_bits(default, run))
        if native is not None:
            self.add(compare.native_differs(native))
        if default is not None and self.session.settings.digests:
            self.earlier(default, self.session.settings.digests)

    def add(self, row):
        self.session.record("promises", f"promises, {row.name}{self.label}", row.status, row.seconds, row.detail,
                            figures=row.figures)

    def earlier(self, run, file):
        """The digests of a run on one GPU, tests/gpu/run's results.json, where it has as many ranks."""
        with open(file) as stream:
            rows = json.load(stream)["rows"]
        name = f"{self.ranks} ranks: default"
        cases = next((row.get("cases", {}) for row in rows if row["name"] == name), {})
        compared, differing = 0, []
        for case, lines in run.cases.items():
            digests = cases.get(case, {}).get("digests")
            # Cases whose digest is of what the library says, not of bits of results, are not of interest.
            if digests and "." in case and any(case.startswith(p.rstrip("*")) for p in SENSITIVE):
                compared += 1
                if digests != [lines[rank]["digest"] for rank in sorted(lines)]:
                    differing.append(case)
        status = "skip" if not cases else "fail" if differing or not compared else "pass"
        detail = f"{compared} cases" + (f", differ: {', '.join(differing[:3])}" if differing else "")
        self.session.record("promises", f"promises, {self.ranks} ranks{self.label} = one GPU's", status, 0.0,
                            detail if cases else f"no digests of {self.ranks} ranks there")
