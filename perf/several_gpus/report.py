# SPDX-License-Identifier: Apache-2.0
"""The page with everything, and the short table."""
import html
import json
import os
import re
import subprocess

from several_gpus import page
from several_gpus.session import gpu_table, text

EMPTY = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
# (file, heading, which sweeps)
GROUPS = (
    ("sweeps", "Every schedule", lambda of: not set(of) - {"ranks a GPU"}),
    ("sweeps_settings", "NCCL's algorithms one by one, in place, CUDA graphs, fingerprints",
     lambda of: set(of) - {"ranks a GPU"} and "blocks" not in of),
    ("sweeps_blocks", "Schedule peer by its number of thread blocks", lambda of: "blocks" in of))


def write(session):
    """FOLDER/sweeps*.json, and FOLDER/multi_gpu.html: what matters most in tables, `detccl report`'s pages of the
    sweeps, and a table of all parts."""
    s = session.settings
    title = "DetCCL on host memory" if s.host else f"DetCCL on {s.gpus} GPUs"
    head, charts = EMPTY, ""
    for name, heading, wanted in GROUPS:
        some = [sweep for sweep in session.sweeps if wanted(sweep["settings"])]
        made = pages_of(session, name, heading, some) if some else None
        if made:
            head, body = made
            charts += body.replace("failures", f"failures-{name}")
    top = page.top(title, session.records, session.sweeps)
    head = re.sub("<title>.*</title>", f"<title>{html.escape(title)}</title>", head)
    with open(os.path.join(s.out, "multi_gpu.html"), "w") as file:
        file.write(head + top + charts + parts(session.records) + "</html>\n")


def pages_of(session, name, heading, sweeps):
    """(head, body) of `detccl report`'s page."""
    s, made = session.settings, os.path.join(session.settings.out, name + ".html")
    with open(os.path.join(s.out, name + ".json"), "w") as file:
        json.dump({"format": "detccl-perf-settings-1", "sweeps": sweeps}, file, indent=1)
    answer = subprocess.run([os.path.join(s.bin, "detccl"), "report", "--force", "-o", made, "--title", heading,
                             name + ".json"], capture_output=True, text=True, timeout=60, cwd=s.out)
    if answer.returncode != 0:
        session.record("report", f"detccl report, {heading}", "fail", 0.0, answer.stderr.strip())
        return None
    with open(made) as file:
        head, body = file.read().split("<h1>", 1)
    os.remove(made)
    return head, "<h1>" + body.replace("</html>", "")


def parts(records):
    rows = "".join(f"<tr><td>{html.escape(r['part'])}</td><td>{html.escape(r['name'])}</td>"
                   f"<td{' class=' + chr(34) + 'bad' + chr(34) if r['status'] == 'fail' else ''}>{r['status']}</td>"
                   f"<td class=\"n\">{r['seconds']:.1f}</td><td class=\"name\">{html.escape(r['detail'])}</td></tr>\n"
                   for r in records)
    texts = "".join(f"<h2>{html.escape(r['name'])}</h2>\n<pre>{html.escape(r['text'])}</pre>\n"
                    for r in records if r.get("text"))
    return ("<h2>All parts</h2>\n<div class=\"wide\"><table><thead><tr><th>part</th><th>name</th><th>status</th>"
            "<th class=\"n\">s</th><th>what came out</th></tr></thead>\n<tbody>\n" + rows +
            "</tbody></table></div>\n" + texts)


def ratios(session):
    """Lines: time with DetCCL over native time by size."""
    lines = list(page.lines_of(session.sweeps))
    sizes = [size for size in page.SIZES if any(size in line[-1] for line in lines)]
    yield f"{'det / native, median':56}" + "".join(f"{gpu_table.size_name(size):>6}" for size in sizes)
    for collective, op, kind, ranks, schedule, of, rows in lines:
        cells = (f"{rows[size]['ratio']['median']:6.2f}" if "ratio" in rows.get(size, {}) else f"{'-':>6}"
                 for size in sizes)
        wrong = any(row["bits"] == "WRONG" for row in rows.values())
        name = f"{collective} {op} {kind} {ranks} {schedule} {of}"
        yield f"{name[:56]:56}" + "".join(cells) + ("  WRONG" if wrong else "")


def print_short(session):
    print()
    for record in session.records:
        if record["part"] != "sweeps" or record["status"] != "pass":
            print(text(record)[:200])
    if session.sweeps:
        print()
        print("\n".join(ratios(session)))
    counts = {status: sum(r["status"] == status for r in session.records) for status in ("pass", "fail", "skip")}
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped in {session.spent():.0f} s; "
          f"results in {session.settings.out}")
    return counts["fail"]
