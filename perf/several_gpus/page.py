# SPDX-License-Identifier: Apache-2.0
"""The tables at the top of the page."""
import html

from several_gpus.session import gpu_table

TARGET, LARGE = 1.05, 16 << 20  # of native's time, from 16 MB on
SIZES = tuple(1 << power for power in range(10, 33, 2))
STYLE = ("<style>h1 { margin-top: 2.5rem; } .good { color: #2a8f5c; } "
         ".marks { height: 1.2rem; width: 16rem; vertical-align: middle; }</style>\n")


def cell(text, kind=""):
    return f"<td{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{text}</td>"


def table(heads, rows):
    """`heads`: names, of numbers with # before. `rows`: lists of cells."""
    head = "".join(f"<th class=\"n\">{html.escape(h[1:])}</th>" if h.startswith("#") else f"<th>{html.escape(h)}</th>"
                   for h in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
    return f"<div class=\"wide\"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"


def nominal(size):
    """ReduceScatter's sizes are rounded down."""
    return 1 << max(0, (size * 4 // 3).bit_length() - 1)


def lines_of(sweeps):
    """(collective, op, type, ranks, schedule, settings, {size: row}): one for all sweeps that differ in sizes only."""
    found = {}
    for sweep in sweeps:
        document = sweep["document"]
        of = ", ".join(f"{key} {value}" for key, value in sweep["settings"].items())
        for row in document["results"]:
            key = (document["collective"], row["op"], row["datatype"], document["ranks"], row["schedule"], of)
            found.setdefault(key, {})[nominal(row["bytes"])] = row
    return [key + (rows,) for key, rows in found.items()]


def ordered(sweeps):
    return sorted(lines_of(sweeps), key=lambda line: (line[:2], line[3], line[5] != "", line[2]))


def ratios(sweeps):
    lines = ordered(sweeps)
    sizes = [size for size in SIZES if any(size in line[-1] for line in lines)]
    rows = []
    for collective, op, kind, ranks, schedule, of, by_size in lines:
        cells = [cell(html.escape(text)) for text in (f"{collective} {op}", kind, str(ranks), schedule, of)]
        for size in sizes:
            row = by_size.get(size)
            if row is None or "ratio" not in row:
                cells.append(cell("", "n"))
                continue
            value = row["ratio"]["median"]
            kind_of = "bad" if row["bits"] == "WRONG" else "n good" if value <= TARGET else "n"
            cells.append(cell(f"{value:.2f}" + (" WRONG" if row["bits"] == "WRONG" else ""), kind_of))
        rows.append(cells)
    if not rows:
        return ""
    return ("<h2>Time with DetCCL over native time</h2>\n<p class=\"dim\">Median of rounds that took turns; green: "
            f"{TARGET} or less. Charts with intervals below.</p>\n" +
            table(["collective", "type", "ranks", "schedule", "settings"] +
                  ["#" + gpu_table.size_name(size) for size in sizes], rows))


def within(by_size):
    """The size from which on all ratios keep to the target, or None."""
    reached = None
    for size in sorted(by_size, reverse=True):
        if by_size[size] > TARGET:
            break
        reached = size
    return reached


def targets(sweeps):
    rows = []
    for collective, op, kind, ranks, schedule, of, by_size in ordered(sweeps):
        values = {size: row["ratio"]["median"] for size, row in by_size.items() if "ratio" in row}
        large = {size: value for size, value in values.items() if size >= LARGE}
        if schedule not in ("auto", "peer") or not large or "blocks" in of or len(values) < 4:
            continue
        worst, reached = max(large.values()), within(values)
        rows.append([cell(html.escape(text)) for text in (f"{collective} {op}", kind, str(ranks), schedule, of)] +
                    [cell(f"{worst:.3f}", "n good" if worst <= TARGET else "n bad"),
                     cell(f"{min(large.values()):.3f}", "n"),
                     cell(gpu_table.size_name(reached) if reached else "never", "n")])
    if not rows:
        return ""
    return (f"<h2>Targets</h2>\n<p class=\"dim\">Time over native time: {TARGET} at most from 16 MB on.</p>\n" +
            table(["collective", "type", "ranks", "schedule", "settings", "#worst from 16 MB on", "#best",
                   f"#always within {TARGET} from"], rows))


def marks(ratio, least, most):
    """The interval, and 1, on a line from `least` to `most`."""
    def at(value):
        return 100 * (value - least) / (most - least)
    return ("<svg class=\"marks\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\">"
            f"<line class=\"mark\" x1=\"{at(1):.1f}\" x2=\"{at(1):.1f}\" y1=\"0\" y2=\"10\"/>"
            f"<g class=\"c0\"><rect class=\"dot\" x=\"{at(ratio['low']):.1f}\" y=\"4\" "
            f"width=\"{max(0.5, at(ratio['high']) - at(ratio['low'])):.1f}\" height=\"2\"/><rect class=\"dot\" "
            f"x=\"{at(ratio['median']) - 0.4:.1f}\" y=\"1\" width=\"0.8\" height=\"8\"/></g></svg>")


def trainings(records):
    found = [r for r in records if r["part"] == "training" and r.get("step_ms")]
    if not found:
        return ""
    all_ratios = [r["ratio"] for r in found if r.get("ratio")]
    least = min([0.99] + [r["low"] for r in all_ratios])
    most = max([1.03] + [r["high"] for r in all_ratios])
    rows = []
    for r in found:
        step, ratio = r["step_ms"], r.get("ratio")
        rows.append([cell({"ddp": "DDP", "fsdp2": "FSDP2"}[r["mode"]]), cell(html.escape(r["configuration"])),
                     cell(f"{step['median']:.2f}", "n"), cell(f"{step['p95']:.2f}", "n"),
                     cell(f"{r['host_ms']:.1f}", "n"),
                     cell(f"{ratio['median']:.4f}" if ratio else "", "n"),
                     cell(f"{ratio['low']:.4f} to {ratio['high']:.4f}" if ratio else "", "n"),
                     cell(marks(ratio, least, most) if ratio else ""), cell(str(ratio["blocks"]) if ratio else "", "n"),
                     cell(f"{r['step']}: {html.escape(r['digest'][:12])}"),
                     cell(r["status"], "bad" if r["status"] == "fail" else "")])
    weights = "".join(f"<p{' class=' + chr(34) + 'bad' + chr(34) if r['status'] == 'fail' else ''}>"
                      f"{html.escape(r['name'])}: {html.escape(r['detail'])}</p>\n"
                      for r in records if r["part"] == "training" and "weights" in r["name"])
    return ("<h2>Training</h2>\n<p class=\"dim\">Blocks of steps of all configurations in turn, their processes all "
            "there at once. Ratio: a block's time over native's in the blocks before and after; its median and the "
            f"median's 95 % interval by bootstrap (drawn from {least:.3f} to {most:.3f}; dotted: 1). Host: what a "
            "step's calls take the host.</p>\n" +
            table(["", "configuration", "#step, ms", "#p95", "#host, ms", "#of native", "#95 %", "", "#blocks",
                   "weights after step", ""], rows) + weights)


def products(records):
    found = [r for r in records if r["part"] == "matmul" and r.get("ranks")]
    if not found:
        return ""
    names = [row["name"] for row in found[0]["ranks"][0]["rows"]]
    rows = []
    for r in found:
        by_name = {row["name"]: row for row in r["ranks"][0]["rows"]}
        cells = [cell(html.escape(r["configuration"]))]
        for name in names:
            row = by_name.get(name)
            cells.append(cell(f"{row['slowdown']:.3f} ({row['collective_ms']:.3f} ms)" if row else "", "n"))
        rows.append(cells + [cell(html.escape(r["channels"][0][:60] if r["channels"] else ""))])
    return ("<h2>A matrix product beside collectives</h2>\n<p class=\"dim\">Its time over its time alone; in "
            "parentheses the collective's time alone.</p>\n" +
            table(["configuration"] + ["#" + name for name in names] + ["NCCL's channels"], rows))


def promises(records):
    rows = [[cell(html.escape(r["name"].removeprefix("promises, "))),
             cell(r["status"], "bad" if r["status"] == "fail" else "good" if r["status"] == "pass" else "dim"),
             cell(html.escape(r["detail"]), "name")] for r in records if r["part"] == "promises"]
    return "<h2>Promises</h2>\n" + table(["", "", "what came out"], rows) if rows else ""


def ceilings(records):
    rows = [[cell(html.escape(r["name"])), cell(html.escape(r["detail"]), "name")]
            for r in records if r["part"] == "ceilings" and r.get("document")]
    return "<h2>Ceilings</h2>\n" + table(["", "what came out"], rows) if rows else ""


def fitted(records):
    fit = next((r for r in records if r["part"] == "fit"), None)
    if fit is None:
        return ""
    rows = [[cell(html.escape(name)), cell(f"{row['value']:.4g} {row['unit']}", "n"),
             cell(f"{row['before']:.4g} {row['unit']}", "n")] for name, row in fit["coefficients"].items()]
    series = [[cell(html.escape(row["series"])), cell(str(row["points"]), "n"),
               cell(f"{100 * row['median']:.0f} %", "n"), cell(f"{100 * row['most']:.0f} %", "n")]
              for row in fit["series"]]
    return (f"<h2>The simulator's coefficients, fitted</h2>\n<p>{html.escape(fit['detail'])}</p>\n" +
            table(["coefficient", "#fitted", "#before"], rows) +
            table(["points that were not fitted", "#points", "#median error", "#largest"], series))


def top(title, records, sweeps):
    header = next((r for r in records if r["name"] == "header"), {})
    words = " · ".join(filter(None, [header.get("detail"), header.get("date"), header.get("commit"),
                                     ", ".join(sorted(set(header.get("gpus", "").splitlines())))]))
    return (STYLE + f"<h1>{html.escape(title)}</h1>\n<p class=\"dim\">{html.escape(words)}</p>\n" +
            trainings(records) + products(records) + targets(sweeps) + ratios(sweeps) + promises(records) +
            ceilings(records) + fitted(records))
