# SPDX-License-Identifier: Apache-2.0
"""What of everything was chosen."""
import os
import subprocess
from fnmatch import fnmatch

from harness import groups, sanitizers, traces, variants, workloads

PARTS = ("promises", "groups", "workloads", "traces", "profiler", "phases", "sampling", "sanitizers", "nccl-tests",
         "native-columns")


class Plan:
    def __init__(self, settings):
        self.settings = settings
        self.cases = self.cases_of_program()
        everything = not settings.only
        parts, cases = self.parts_and_case_patterns()
        variant_names = [v.name for v in variants.variants(settings.bench, settings.quick)]
        # In their own order; the order of --variants.
        patterns = settings.variants or [name for name in variant_names if name in parts]
        self.variants = variants.chosen(settings.bench, settings.quick, patterns)
        if not self.variants:
            raise RuntimeError(f"--variants {' '.join(patterns)}: nothing has such a name (--list)")
        self.promises = bool(everything or "promises" in parts or patterns or cases)
        settings.patterns = cases or ["*"]
        gpu = not settings.host
        self.groups = [name for name in groups.names(settings.bench, settings.ranks[0]) if "groups" in parts or
                       name in parts or (everything and settings.bench == "p2p")]
        self.workloads = [w for w in workloads.workloads(settings.steps)
                          if gpu and (everything or "workloads" in parts or w.name in parts)]
        self.sanitizers = [name for name in sanitizers.names()
                           if gpu and (everything or "sanitizers" in parts or name in parts)]
        self.profiler = gpu and (everything or "profiler" in parts)
        self.phases = "phases" in parts or (gpu and everything)
        self.sampling = "sampling" in parts or (gpu and everything)
        self.traces = [name for name in traces.names()
                       if gpu and (everything or "traces" in parts or name in parts)]
        self.nccl_tests = settings.nccl_tests and (everything or "nccl-tests" in parts)
        self.native_columns = settings.nccl_tests and (everything or "native-columns" in parts)
        if self.promises or self.groups or settings.list:
            self.require_program()

    def cases_of_program(self):
        """None where there is no such program, which only some parts need."""
        program = self.settings.program
        if not os.path.exists(program):
            return []
        names = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=60,
                               env=os.environ | {"LD_LIBRARY_PATH": self.library_path()})
        if names.returncode != 0:
            raise RuntimeError(f"{program} --list: {names.stderr.strip()}")
        return names.stdout.split()

    def require_program(self):
        if not self.cases:
            raise RuntimeError(f"{self.settings.program} does not exist")

    def library_path(self):
        """For --list, any NCCL will do."""
        folders = [os.path.join(self.settings.build, "lib", "hostnccl"), os.environ.get("LD_LIBRARY_PATH", "")]
        return ":".join(folder for folder in folders if folder)

    def parts_and_case_patterns(self):
        settings = self.settings
        names = [*PARTS, *groups.names(settings.bench, settings.ranks[0]), *traces.names(), *sanitizers.names(),
                 *(w.name for w in workloads.workloads(1)),
                 *(v.name for v in variants.variants(settings.bench, settings.quick))]
        parts, rest = set(), []
        for pattern in settings.only or []:
            found = [name for name in names if fnmatch(name, pattern)]
            parts.update(found)
            if not found:
                rest.append(pattern)
        if rest:
            self.require_program()
        for pattern in rest:
            if not any(fnmatch(name, pattern) for name in self.cases):
                raise RuntimeError(f"--only {pattern}: nothing has such a name (--list)")
        return parts, rest

    def listing(self):
        settings = self.settings
        lines = [f"{ranks} ranks: {v.name}" for ranks in settings.ranks
                 for v in variants.variants(settings.bench, settings.quick)]
        lines += groups.names(settings.bench, settings.ranks[0]) + [w.name for w in workloads.workloads(settings.steps)]
        return lines + traces.names() + sanitizers.names() + self.cases
