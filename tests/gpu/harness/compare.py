# SPDX-License-Identifier: Apache-2.0
"""What the jobs of the promises program say together."""
from harness.report import Row


def same_bits(first, other):
    """Whether all ranks' digests of the cases that both ran are the same."""
    compared, differing = 0, []
    for name, lines in other.cases.items():
        if "." not in name or name not in first.cases:
            continue
        for rank, line in lines.items():
            reference = first.cases[name].get(rank)
            if reference is None or "skipped" in line or "skipped" in reference:
                continue
            compared += 1
            if reference["digest"] != line["digest"] and name not in differing:
                differing.append(name)
    detail = f"{compared} digests"
    if differing:
        detail += f"; differ in {len(differing)} cases, first {differing[0]}"
    short = first.no_time or other.no_time
    status = "fail" if differing or (compared == 0 and not short) else "pass" if compared else "skip"
    return Row(f"{other.ranks} ranks: {other.variant.name} = {first.variant.name}", status, 0.0, detail)


def native_differs(run):
    """That the comparison shows something: NCCL's own bits depend on the pieces."""
    shares = {key: value for key, value in run.figures().items() if ".differ_from_fused" in key}
    if not shares or run.ranks < 3:
        return Row(f"{run.ranks} ranks: native fused and split differ", "skip", 0.0, "two ranks have one order"
                   if shares else "did not run")
    most = max(shares.values())
    return Row(f"{run.ranks} ranks: native fused and split differ", "pass" if most > 0.01 else "fail", 0.0,
               f"in up to {100 * most:.1f} % of the elements; with DetCCL in none", shares)


def times(ours, native):
    mine, theirs = ours.figures(), native.figures()
    figures, words = {}, []
    for key in sorted(mine):
        if key.startswith("time.") and key in theirs:
            figures[key] = [mine[key], theirs[key]]
            words.append(f"{key[5:]} {mine[key]:.1f} / {theirs[key]:.1f}")
    status = "pass" if figures else "skip"
    return Row(f"{ours.ranks} ranks: times, DetCCL / native", status, 0.0, ", ".join(words) or "did not run", figures)
