# SPDX-License-Identifier: Apache-2.0
"""What tracing does on GPUs: replays of a CUDA graph are recorded one by one, what it costs; the other parts are in
trace_parts.py."""
import concurrent.futures
import importlib.util
import json
import os
import statistics
import struct

from harness import trace_parts
from harness.clock import NoTime
from harness.report import Row
from harness.tracing import Missing, RANKS, Tracing

ELEMENTS = 16  # as in torch_traced.py
REFERENCE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "fingerprint",
                         "reference.py")
# Functions that wait for the device.
WAITING = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cuStreamSynchronize",
           "cuCtxSynchronize", "cuEventSynchronize")
ALONE = ("trace graph replays", "trace cost")


def names():
    """The last one ends a process of its job in the middle of its kernels, which MPS may not survive."""
    return [*(name for part in trace_parts.PARTS for name in part.names), *ALONE, trace_parts.Killed.names[0]]


def digest():
    """The definition in plain Python."""
    spec = importlib.util.spec_from_file_location("reference", REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.digest


def graph_replays(tracing):
    """Row of 10,000 replays."""
    replays = 10000
    run = tracing.torch("replays", ["replay", "--replays", str(replays)])
    if problem := run.complaint():
        return [Row(ALONE[0], "fail", run.seconds, problem)]
    of, wrong, seen = digest(), [], 0
    records = run.records()
    packed = lambda values: struct.pack(f"<{ELEMENTS}f", *values)
    outputs = [of(packed([RANKS * (e + i + 1) + 1000 * sum(range(RANKS)) for e in range(ELEMENTS)]))
               for i in range(replays)]
    for rank in range(RANKS):
        replayed = [r for r in records if r["rank"] == str(rank) and r["graph"] == "1"]
        seen += len(replayed)
        if len(replayed) != replays:
            wrong.append(f"rank {rank}: {len(replayed)} records instead of {replays}")
            continue
        start = int(replayed[0]["collective_seq_id"])
        for i, record in enumerate(replayed):
            expected = of(packed([e + 1000 * rank + i + 1 for e in range(ELEMENTS)]))
            if (record["input_digest"], record["output_digest"]) != (expected, outputs[i]) or \
                    int(record["collective_seq_id"]) != start + i:
                wrong.append(f"rank {rank}, replay {i}: {record}")
                break
    detail = f"{seen} records of {replays} replays on {RANKS} ranks, all digests right"
    return [Row(ALONE[0], "fail" if wrong else "pass", run.seconds, "; ".join(wrong)[:400] or detail)]


def cost(tracing):
    run = tracing.torch("cost", ["measure"], {"DETCCL_TRACE_STEPS": "0-999999"})
    if problem := run.complaint():
        return [Row(ALONE[1], "fail", run.seconds, problem)]
    lines = run.outcome.text(0).splitlines()
    pairs = next((json.loads(line[6:]) for line in lines if line.startswith("times ")), None)
    calls = next((json.loads(line[6:]) for line in lines if line.startswith("calls {")), None)
    if not pairs:
        return [Row(ALONE[1], "fail", run.seconds, "printed no times")]
    ratios = sorted(on / off for on, off in pairs)
    middle, off = statistics.median(ratios), statistics.median(off for _, off in pairs)
    per_step = len([r for r in run.records() if r["rank"] == "0" and r["step"] == "50"])
    figures = {"ratio": middle, "ratio_low": ratios[len(ratios) // 4], "ratio_high": ratios[-1 - len(ratios) // 4],
               "step_ms": off, "pairs": pairs, "operations_per_step": per_step}
    rows = [Row(ALONE[1], "pass", run.seconds,
                f"a step takes {off:.2f} ms, traced {middle:.4f} times that (quartiles {figures['ratio_low']:.4f}, "
                f"{figures['ratio_high']:.4f}; {len(pairs)} pairs, {per_step} operations a step)", figures)]
    if calls is None:
        return rows + [Row("trace adds no waiting", "skip", 0.0,
                           next((line for line in lines if line.startswith("calls ")), "not counted"))]
    waiting = {kind: sum(count for name, count in calls[kind].items() if name.startswith(WAITING) and
                         "Async" not in name) for kind in calls}
    launches = {kind: sum(count for name, count in calls[kind].items() if "Launch" in name) for kind in calls}
    # That the count sees the library's own calls shows in its launches.
    good = waiting["traced"] <= waiting["not traced"] and launches["traced"] > launches["not traced"]
    return rows + [Row("trace adds no waiting", "pass" if good else "fail", 0.0,
                       f"calls in 10 steps that wait: {waiting}; launches: {launches}", {"calls": calls})]


def rows(settings, bench, wanted):
    """`wanted`: some of names()."""
    tracing = Tracing(settings, bench)
    parts = [part for part in trace_parts.PARTS if any(name in wanted for name in part.names)]
    killed = trace_parts.Killed if trace_parts.Killed.names[0] in wanted else None
    jobs = {label: job for part in parts for label, job in part.jobs(tracing).items()}
    if killed:
        jobs |= killed.beside(tracing)
    with concurrent.futures.ThreadPoolExecutor(bench.jobs(RANKS, settings.jobs)) as pool:
        runs = {label: pool.submit(job) for label, job in jobs.items()}
        for part in parts:
            yield from guarded(part.names, lambda p=part: p.rows(tracing, {name: runs[name].result()
                                                                         for name in p.jobs(tracing)}))
    for name, function in zip(ALONE, (graph_replays, cost)):
        if name in wanted:
            yield from guarded([name], lambda f=function: f(tracing))
    if killed:
        yield from guarded(killed.names, lambda: killed.rows(tracing, {name: runs[name].result()
                                                                     for name in killed.beside(tracing)}))
        bench.restart_mps()


def guarded(part_names, function):
    try:
        yield from function()
    except (NoTime, Missing) as error:
        yield Row(part_names[0], "skip", 0.0, str(error))
    except Exception as error:  # pylint: disable=broad-except
        yield Row(part_names[0], "fail", 0.0, f"{type(error).__name__}: {error}")
