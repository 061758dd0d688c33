#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits a few of the simulator's coefficients to half of what perf/multi_gpu measured of the schedules that are plans,
and says how far the simulator is off at the other half: a line in FOLDER/multi_gpu.jsonl, and a section in its page."""
import argparse
import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from types import SimpleNamespace

sys.dont_write_bytecode = True
PERF = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [PERF, os.path.join(os.path.dirname(PERF), "tests", "gpu")]

from several_gpus import page, report  # noqa: E402
from several_gpus.least_squares import least_squares  # noqa: E402

SCHEDULES = ("gather", "direct", "halving", "tree")
TYPES = {"float": "float32", "bfloat16": "bfloat16"}
# Key of the parameters' file (with its path), what it is, unit, where the search begins. The others stay: the latency
# of a message cannot be told from a launch, as every group of transfers has one of each; folds' bandwidth, of which
# the points say little (least squares wants them to take no time at all), is what fold_bench measures.
COEFFICIENTS = (("launch_us", "launch of a group of transfers, and what it waits", "us", 8.4),
                ("nvlink.gb_s", "link, one direction", "GB/s", 370.8),
                ("fold_launch_us", "launch of a fold", "us", 4.0))


class Point:
    def __init__(self, collective, kind, schedule, size, seconds, native):
        self.collective, self.type, self.schedule, self.size = collective, kind, schedule, size
        self.seconds, self.native, self.fitted = seconds, native, False

    def series(self):
        return self.collective, self.type, self.schedule


def points_of(records):
    """Of eager sweeps without further settings, a rank a GPU. Sums of two ranks are NCCL's own."""
    found = {}
    for record in records:
        document = record.get("document") or {}
        if record["part"] != "sweeps" or record.get("settings") or document.get("contract") != "tree":
            continue
        for row in document.get("results", []):
            if (row["schedule"] in SCHEDULES and row["datatype"] in TYPES and "peer_time_us" in row and
                    document["collective"] != "reduce" and not (document["ranks"] == 2 and row["op"] == "sum")):
                point = Point(document["collective"], TYPES[row["datatype"]], row["schedule"], row["bytes"],
                              row["time_us"]["median"], row["peer_time_us"]["median"])
                found[point.series() + (point.size,)] = point
    points, seen = [found[key] for key in sorted(found)], {}
    for point in points:  # of each series every other size, from the smallest on
        point.fitted = seen.get(point.series(), 0) % 2 == 0
        seen[point.series()] = seen.get(point.series(), 0) + 1
    return points


class Simulator:
    def __init__(self, program, ranks, points, folder):
        self.program, self.ranks, self.points, self.folder, self.runs = program, ranks, points, folder, 0

    def parameters(self, values):
        document = {"name": "fitted", "source": "fitted to perf/multi_gpu's sweeps"}
        for (key, *_), value in zip(COEFFICIENTS, values):
            *above, name = key.split(".")
            (document.setdefault(above[0], {}) if above else document)[name] = value
        return document

    def predict(self, values):
        """{(collective, type, schedule or "native", size): microseconds}; `values` None: the simulator's own."""
        self.runs += 1
        found = {}
        for collective in {p.collective for p in self.points}:
            some = [p for p in self.points if p.collective == collective]
            command = [self.program, "--platform", "nvswitch", "--gpus", str(self.ranks), "--json", "-",
                       "--collective", collective]
            for flag, wanted in (("--type", {p.type for p in some}), ("--sizes", {str(p.size) for p in some}),
                                 ("--schedule", {p.schedule for p in some})):
                for value in sorted(wanted):
                    command += [flag, value]
            if values is not None:
                file = os.path.join(self.folder, f"parameters-{self.runs}.json")
                with open(file, "w") as stream:
                    json.dump(self.parameters(values), stream)
                command += ["--parameters", file]
            answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
            for row in json.loads(answer.stdout)["rows"]:
                key = (collective, row["type"])
                found[key + ("native", row["bytes"])] = row["native"]["us"]
                for schedule, prediction in row["schedules"].items():
                    if "us" in prediction:
                        found[key + (schedule, row["bytes"])] = prediction["us"]
        return found


def errors(points, predicted, native=False):
    """(median, largest, its point) of |predicted / measured - 1|."""
    all_errors = []
    for p in points:
        key = (p.collective, p.type, "native" if native else p.schedule, p.size)
        all_errors.append((abs(predicted[key] / (p.native if native else p.seconds) - 1), p))
    most = max(all_errors, key=lambda pair: pair[0])
    return statistics.median(e for e, _ in all_errors), most[0], most[1]


def fit(program, records, ranks):
    points = points_of(records)
    fitted, others = ([p for p in points if p.fitted == wanted] for wanted in (True, False))
    if len(fitted) < 2 * len(COEFFICIENTS) or not others:
        raise SystemExit(f"fit: {len(points)} points are too few")
    with tempfile.TemporaryDirectory(prefix="detccl-fit-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        simulator = Simulator(program, ranks, points, folder)

        def residuals(candidates):
            def one(logs):
                predicted = simulator.predict([math.exp(v) for v in logs])
                return [math.log(predicted[p.series() + (p.size,)] / p.seconds) for p in fitted]
            return list(pool.map(one, candidates))

        before = simulator.predict(None)
        values = [math.exp(v) for v in least_squares(residuals, [math.log(start) for *_, start in COEFFICIENTS])]
        after = simulator.predict(values)
        runs = simulator.runs
    median, most, worst = errors(others, after)
    unfit_median, unfit_most, _ = errors(others, before)
    seen_median, seen_most, _ = errors(fitted, after)
    series = []
    for schedule in SCHEDULES:
        for collective in ("all_reduce", "reduce_scatter"):
            some = [p for p in others if p.schedule == schedule and p.collective == collective]
            if some:
                m, largest, _ = errors(some, after)
                series.append({"series": f"{collective}, {schedule}", "points": len(some), "median": m,
                               "most": largest})
    natives = {(p.collective, p.type, p.size): p for p in others}.values()
    m, largest, _ = errors(natives, after, native=True)
    series.append({"series": "native; of it only the link's bandwidth was fitted", "points": len(natives), "median": m,
                   "most": largest})
    words = (f"Fitted to {len(fitted)} points; at the {len(others)} others the predicted time is off by "
             f"{100 * median:.0f} % in the median and {100 * most:.0f} % at most ({worst.collective} {worst.type} "
             f"{worst.schedule}, {page.gpu_table.size_name(worst.size)}). At the points that were fitted: "
             f"{100 * seen_median:.0f} and {100 * seen_most:.0f} %. With the simulator's own figures, of data sheets "
             f"and NCCL's tuning: {100 * unfit_median:.0f} and {100 * unfit_most:.0f} %.")
    return {"part": "fit", "name": "simulator's coefficients", "status": "info", "seconds": 0.0, "detail": words,
            "coefficients": {name: {"key": key, "value": value, "unit": unit, "before": start}
                             for (key, name, unit, start), value in zip(COEFFICIENTS, values)},
            "series": series, "fitted_points": len(fitted), "other_points": len(others), "median": median, "most": most,
            "unfitted_median": unfit_median, "unfitted_most": unfit_most, "simulations": runs,
            "points": [{"series": list(p.series()), "bytes": p.size, "fitted": p.fitted, "measured_us": p.seconds,
                        "predicted_us": after[p.series() + (p.size,)], "before_us": before[p.series() + (p.size,)]}
                       for p in points]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="multi_gpu.jsonl; the page beside it is written anew")
    parser.add_argument("--build", metavar="DIR", default=os.path.join(os.path.dirname(PERF), "build"))
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    with open(options.file) as file:
        records = [json.loads(line) for line in file]
    records = [record for record in records if record["part"] != "fit"]
    header = next(record for record in records if record["name"] == "header")
    gpus = header.get("ranks") or int(header["detail"].split()[0])
    program = os.path.join(options.build, "bin", "detccl-simulate")
    if not os.path.exists(program):
        raise SystemExit(f"fit: no {program}: it needs SimGrid")
    found = fit(program, records, gpus)
    records.append(found)
    temporary = options.file + ".new"
    with open(temporary, "w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    os.replace(temporary, options.file)
    out = os.path.dirname(os.path.abspath(options.file))
    report.write(SimpleNamespace(
        settings=SimpleNamespace(out=out, bin=os.path.join(options.build, "bin"), gpus=gpus,
                                 host="host memory" in header["detail"]),
        records=records, record=lambda *words, **_: print(*words),
        sweeps=[{"settings": record["settings"], "document": record["document"]} for record in records
                if record["part"] == "sweeps" and record.get("document", {}).get("results")]))
    for name, row in found["coefficients"].items():
        print(f"{name:50} {row['value']:9.4g} {row['unit']:5} before {row['before']:.4g}")
    for row in found["series"]:
        print(f"{row['series']:50} {row['points']:3} points, median {100 * row['median']:4.0f} %, largest "
              f"{100 * row['most']:4.0f} %")
    print(found["detail"])


if __name__ == "__main__":
    main()
