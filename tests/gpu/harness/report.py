# SPDX-License-Identifier: Apache-2.0
"""Rows of the table, and the file with everything."""
import datetime
import functools
import json
import subprocess


class Row:
    def __init__(self, name, status, seconds, detail="", figures=None, cases=None):
        self.name, self.status, self.seconds, self.detail = name, status, seconds, detail
        self.figures, self.cases = figures or {}, cases or {}

    def text(self):
        return f"{self.status:5} {self.seconds:6.1f} s  {self.name:46} {self.detail[:400]}"

    def data(self):
        data = {"name": self.name, "status": self.status, "seconds": round(self.seconds, 2), "detail": self.detail}
        if self.figures:
            data["figures"] = self.figures
        if self.cases:
            data["cases"] = self.cases
        return data


@functools.cache
def gpu():
    """Name and driver, or None."""
    try:
        answer = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip().splitlines()[0] if answer.returncode == 0 and answer.stdout.strip() else None


def version(code):
    if code is None:
        return None
    code = int(code)
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}"


def write(path, settings, rows, nccl, seconds):
    data = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": settings.commit, "bench": settings.bench, "gpu": gpu(), "nccl": version(nccl),
            "nccl_library": settings.nccl, "ranks": settings.ranks, "quick": settings.quick,
            "seconds": round(seconds, 1),
            "passed": sum(row.status == "pass" for row in rows), "failed": sum(row.status == "fail" for row in rows),
            "skipped": sum(row.status == "skip" for row in rows), "rows": [row.data() for row in rows]}
    with open(path, "w") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    return data
