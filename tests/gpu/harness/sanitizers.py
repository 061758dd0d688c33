# SPDX-License-Identifier: Apache-2.0
"""The kernels' own tests under compute-sanitizer."""
import os
import re
import shutil

from harness import clock
from harness.job import run_ranks
from harness.report import Row

TOOLS = ("memcheck", "racecheck")
# Every kernel at small sizes: a sanitizer takes a hundred times as long.
PROGRAMS = {
    "folds": ("device_cuda_test", "FoldDigest.*:Fold.ManyOperands*:Fold.AllPairs*:Fold.OperandsAreReadOnly*:"
                                  "Forms.ManyOperands*:Forms.FoldsOfMore*:Graph.*"),
    "peer": ("device_peer_test", "*-*AnotherCall*"),  # whose error is made on purpose
}
# Back-to-back operations and replays of a graph in device_peer_test.
OPERATIONS = {"memcheck": {"DETCCL_TEST_OPERATIONS": "1000", "DETCCL_TEST_REPLAYS": "10"},
              "racecheck": {"DETCCL_TEST_OPERATIONS": "100", "DETCCL_TEST_REPLAYS": "3"}}


def names():
    return [f"sanitizer {tool} {kernels}" for tool in TOOLS for kernels in PROGRAMS]


def rows(settings, chosen):
    for tool in TOOLS:
        for kernels in PROGRAMS:
            if f"sanitizer {tool} {kernels}" in chosen:
                yield one(settings, tool, kernels)


def one(settings, tool, kernels):
    program_name, cases = PROGRAMS[kernels]
    name, program = f"sanitizer {tool} {kernels}", os.path.join(settings.build, "tests", program_name)
    if shutil.which("compute-sanitizer") is None:
        return Row(name, "skip", 0.0, "there is no compute-sanitizer")
    if not os.path.exists(program):
        return Row(name, "skip", 0.0, f"{program} was not built")
    # A process of its own on the GPU: sanitizers do not go with MPS.
    environment = OPERATIONS[tool] | {key: value for key, value in os.environ.items() if not key.startswith("CUDA_MPS")}
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", program, f"--gtest_filter={cases}"]
    outcome = run_ranks(os.path.join(settings.out, f"sanitizer-{tool}-{kernels}"), 1, lambda _: command,
                        lambda _: environment, clock.limit(settings.timeout), settings.timeout)
    code = "no end" if outcome.codes[0] is None else outcome.codes[0]
    text, seconds = outcome.text(0), outcome.seconds
    summary = re.search(r"(ERROR SUMMARY|RACECHECK SUMMARY): (.*)", text)
    passed = re.search(r"\[  PASSED  \] (\d+) test", text)
    detail = f"{summary.group(2) if summary else 'no summary'}; {passed.group(1) if passed else 0} tests passed"
    good = code == 0 and summary is not None and passed is not None and int(passed.group(1)) > 0
    return Row(name, "pass" if good else "fail", seconds, detail if good else f"exit {code}; {detail}")
