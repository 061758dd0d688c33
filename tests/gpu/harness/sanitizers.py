# SPDX-License-Identifier: Apache-2.0
"""The kernels' own tests under compute-sanitizer."""
import os
import re
import shutil
import subprocess
import time

from harness import clock
from harness.report import Row

TOOLS = ("memcheck", "racecheck")
# Every kernel at small sizes: a sanitizer takes a hundred times as long.
CASES = "Fold.ManyOperands*:Fold.AllPairs*:Fold.OperandsAreReadOnly*:Forms.ManyOperands*:Forms.FoldsOfMore*:Graph.*"


def names():
    return [f"sanitizer {tool}" for tool in TOOLS]


def rows(settings):
    for tool in TOOLS:
        yield one(settings, tool)


def one(settings, tool):
    name, program = f"sanitizer {tool}", os.path.join(settings.build, "tests", "device_cuda_test")
    if shutil.which("compute-sanitizer") is None:
        return Row(name, "skip", 0.0, "there is no compute-sanitizer")
    if not os.path.exists(program):
        return Row(name, "skip", 0.0, f"{program} was not built")
    # A process of its own on the GPU: sanitizers do not go with MPS.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_MPS")}
    start, log = time.monotonic(), os.path.join(settings.out, f"sanitizer-{tool}.txt")
    with open(log, "w") as file:
        try:
            code = subprocess.run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", program,
                                   f"--gtest_filter={CASES}"], stdout=file, stderr=subprocess.STDOUT,
                                  env=environment, timeout=clock.limit(settings.timeout)).returncode
        except subprocess.TimeoutExpired:
            if clock.left() <= 0:
                raise clock.NoTime() from None
            code = "no end"
    seconds = time.monotonic() - start
    with open(log) as file:
        text = file.read()
    summary = re.search(r"(ERROR SUMMARY|RACECHECK SUMMARY): (.*)", text)
    passed = re.search(r"\[  PASSED  \] (\d+) test", text)
    detail = f"{summary.group(2) if summary else 'no summary'}; {passed.group(1) if passed else 0} tests passed"
    good = code == 0 and summary is not None and passed is not None and int(passed.group(1)) > 0
    return Row(name, "pass" if good else "fail", seconds, detail if good else f"exit {code}; {detail}")
