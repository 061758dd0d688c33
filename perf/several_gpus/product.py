# SPDX-License-Identifier: Apache-2.0
"""PyTorch: a matrix product beside collectives."""
import re
import time

from several_gpus.resident import JobFailed, Pool
from several_gpus.session import NoTime

START, ANSWER = 60.0, 25.0  # seconds that the first answers, and others, may take


class Product:
    """How much slower a matrix product is while a collective runs beside it."""

    def __init__(self, session, bench):
        self.session, self.bench, self.pool = session, bench, Pool(session)

    def start(self):
        extra = {} if self.session.settings.host else {"NCCL_DEBUG": "INFO"}
        self.names = {}
        for name, native, more in [("native", True, {}), ("DetCCL", False, {})] + [
                (f"DetCCL, peer, {blocks} blocks", False,
                 {"DETCCL_SCHEDULE": "peer", "DETCCL_PEER_BLOCKS": str(blocks)}) for blocks in (8, 16, 32)]:
            self.pool.start(f"matrix product, {name}", self.bench, native, extra=extra | more)
            self.names[len(self.pool.jobs) - 1] = name

    def go(self):
        s = self.session.settings
        if not self.pool.jobs:
            self.start()
        if s.dry_run:
            return
        limit = self.session.limit(15, START)
        self.pool.began(limit)
        self.pool.all(limit, do="join")
        for number, job in enumerate(self.pool.jobs):
            began, answers = time.monotonic(), None
            name = f"matrix product beside collectives, {self.names[number]}"
            try:
                if not job.failed:
                    answers = job.ask(self.session.limit(2, ANSWER), do="product",
                                      size="tiny" if s.host else "big", op=s.op)
            except (JobFailed, NoTime) as error:
                job.failed = job.failed or str(error)
            if answers is None:
                self.session.record("matmul", name, "fail", time.monotonic() - began, job.failed)
                continue
            rows = answers[0]["rows"]
            channels = re.findall(r"(\d+ coll channels.*)", job.said())
            self.session.record("matmul", name, "info", time.monotonic() - began,
                                ", ".join(f"{row['name']} {row['slowdown']:.3f}" for row in rows) +
                                (f"; {channels[0][:60]}" if channels else ""), configuration=self.names[number],
                                ranks=answers, channels=channels[:2])

    def end(self):
        if self.pool.jobs:
            self.pool.end(10)
            self.pool.close()
