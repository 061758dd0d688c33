# SPDX-License-Identifier: Apache-2.0
"""How the GPUs are connected, and what copies, folds and digests reach alone."""
import json
import os

from several_gpus.session import answer_of, tail

SHORTEST, LONGEST = 3, 20  # seconds of a child


def topology(session):
    for name, arguments in (("topology", ["topo", "-m"]), ("NVLink", ["nvlink", "--status", "-i", "0"])):
        if session.settings.dry_run:
            print(f"nvidia-smi {' '.join(arguments)}")
            continue
        words = answer_of(["nvidia-smi", *arguments])
        session.record("ceilings", name, "info" if words else "skip", 0.0,
                       f"{len(words.splitlines())} lines" if words else "no nvidia-smi", text=words)


def benches(session):
    for name, program, arguments, figures in (
            ("copies between GPUs", "copy_bench", ["-n", "5"], peer_figures),
            ("fold", "fold_bench", ["-b", "256M", "-e", "256M", "-t", "bfloat16,float32", "-k", "2,8", "-n", "5"],
             fold_figures),
            ("digest", "digest_bench", ["-b", "256M", "-e", "256M", "-n", "5"], digest_figures)):
        one(session, name, program, arguments, figures)


def one(session, name, program, arguments, figures):
    binary = os.path.join(session.settings.bin, program)
    if not os.path.exists(binary) or session.settings.host:
        session.record("ceilings", name, "skip", 0.0, f"{program} needs a GPU" if session.settings.host
                       else f"{program} is not built")
        return
    session.expect(1.2)
    result = session.path(program) + ".json"
    code, seconds, log = session.child(name, [binary, *arguments, "--json", result],
                                       session.limit(SHORTEST, LONGEST))
    if code is None:
        return
    if code != 0:
        session.record("ceilings", name, "fail", seconds, f"exit {code}: {tail(log)}")
        return
    with open(result) as file:
        document = json.load(file)
    session.record("ceilings", name, "info", seconds, figures(document["rows"]), document=document)


def peer_figures(rows):
    def mean(key, own):
        values = [row[key]["median"] for row in rows if (row["from"] == row["to"]) == own and key in row]
        return f"{sum(values) / len(values):.0f}" if values else "-"
    blocked = sum(not row["peer_access"] for row in rows)
    return (f"GB/s: peer {mean('one_way_gbps', False)}, both ways {mean('both_ways_gbps', False)} each, "
            f"in a GPU {mean('one_way_gbps', True)}" + (f"; {blocked} pairs without peer access" if blocked else ""))


def fold_figures(rows):
    return "GB/s: " + ", ".join(f"{row['type']} of {row['operands']}: {row['fold_gbps']['median']:.0f} "
                                f"(copy {row['copy_gbps']['median']:.0f})" for row in rows)


def digest_figures(rows):
    kinds = [key for key in rows[-1] if key.endswith("_gbps")]
    return "GB/s: " + ", ".join(f"{key[:-5]} {rows[-1][key]['median']:.0f}" for key in kinds)
