# SPDX-License-Identifier: Apache-2.0
"""Where a sweep program's ranks are: on a bench, or one on each GPU."""
import os

from harness.bench import visible_gpus
from harness.sweeps import sweep


class Place:
    """A bench, or one rank a GPU."""

    def __init__(self, bench, gpus, ranks):
        self.bench, self.gpus = bench, gpus
        self.ranks = gpus or ranks
        self.name = f"{gpus} GPUs" if gpus else f"{ranks} ranks, {bench.kind} bench"

    @staticmethod
    def of(bench, ranks):
        """One rank a GPU where there are several; else `ranks` of the bench."""
        gpus = 0 if bench.kind == "host" else visible_gpus()
        return Place(bench, gpus if gpus > 1 else 0, ranks)

    def sweep(self, settings, label, program, options, extra=None):
        """As sweeps.sweep(), here."""
        environment = self.environment() | (extra or {}) if self.gpus else None
        return sweep(settings, self.bench, label, program, self.ranks, options, extra=extra,
                     kind="none" if self.gpus else None, environment=environment)

    def environment(self):
        env = self.bench.environment(0, self.ranks, native=True)
        for name in ("LD_PRELOAD", "NCCL_HOSTID"):
            env.pop(name, None)
        if self.gpus:
            for name in ("CUDA_VISIBLE_DEVICES", "NCCL_MULTI_RANK_GPU_ENABLE", "NCCL_MAX_CTAS",
                         *self.bench.mps_environment):
                env.pop(name, None)
            env |= {"NCCL_NVLS_ENABLE": os.environ.get("NCCL_NVLS_ENABLE", "0")}
            env |= {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES",) if name in os.environ}
        return env
