# SPDX-License-Identifier: Apache-2.0
"""The page with everything, and the short table."""
import html
import json
import os
import subprocess

from several_gpus.session import gpu_table, text

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32)


def write(session):
    """FOLDER/sweeps.json, and FOLDER/multi_gpu.html: `detccl report`'s page of it, with a table of all parts."""
    s = session.settings
    page, sweeps = os.path.join(s.out, "multi_gpu.html"), os.path.join(s.out, "sweeps.json")
    with open(sweeps, "w") as file:
        json.dump({"format": "detccl-perf-settings-1", "sweeps": session.sweeps}, file, indent=1)
    made = None
    if session.sweeps:
        title = "DetCCL on host memory" if s.host else f"DetCCL on {s.gpus} GPUs"
        made = subprocess.run([os.path.join(s.bin, "detccl"), "report", "--force", "-o", page, "--title", title,
                               os.path.basename(sweeps)], capture_output=True, text=True, timeout=60, cwd=s.out)
        if made.returncode != 0:
            session.record("report", "detccl report", "fail", 0.0, made.stderr.strip())
    good = made is not None and made.returncode == 0
    body = open(page).read() if good else "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n</html>\n"
    with open(page, "w") as file:
        file.write(body.replace("</html>", parts(session.records) + "</html>"))


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
    present = {row["bytes"] for sweep in session.sweeps for row in sweep["document"]["results"]}
    sizes = [size for size in SIZES if size in present] or sorted(present)
    yield f"{'det / native, median':64}" + "".join(f"{gpu_table.size_name(size):>7}" for size in sizes)
    for sweep in session.sweeps:
        document, lines = sweep["document"], {}
        for row in document["results"]:
            lines.setdefault((row["datatype"], row["op"], row["schedule"]), {})[row["bytes"]] = row
        of = " ".join(f"{key}={value}" for key, value in sweep["settings"].items())
        for (kind, op, schedule), rows in lines.items():
            name = f"{document['collective']} {op} {kind} {document['ranks']} {schedule} {of}"
            cells = (f"{rows[size]['ratio']['median']:7.2f}" if size in rows and "ratio" in rows[size] else f"{'-':>7}"
                     for size in sizes)
            wrong = any(row["bits"] == "WRONG" for row in rows.values())
            yield f"{name[:64]:64}" + "".join(cells) + ("  WRONG" if wrong else "")


def print_short(session):
    print()
    for record in session.records:
        if record["part"] != "sweeps" or record["status"] != "pass":
            print(text(record)[:150])
    if session.sweeps:
        print()
        print("\n".join(ratios(session)))
    counts = {status: sum(r["status"] == status for r in session.records) for status in ("pass", "fail", "skip")}
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped in {session.spent():.0f} s; "
          f"results in {session.settings.out}")
    return counts["fail"]
