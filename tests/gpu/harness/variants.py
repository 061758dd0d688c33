# SPDX-License-Identifier: Apache-2.0
"""The settings under which the promises program runs."""
import fnmatch

# What is repeated under every setting: order-sensitive reductions, small and large.
SENSITIVE = ["reduce.float32.*", "reduce.bfloat16.*", "reduce.float16.sum", "reduce.float64.sum",
             "reduce.float8e4m3.avg", "large.float32", "large.bfloat16", "pieces.float32", "pieces.bfloat16",
             "group.*", "streams.order"]


class Variant:
    def __init__(self, name, extra=None, placement=False, nodes=1, native=False, cases=None, contract=None,
                 host=False, alone=False, shim=False, cycles=None, says=None):
        self.name, self.extra, self.placement, self.nodes = name, dict(extra or {}), placement, nodes
        self.native, self.cases, self.contract, self.host, self.alone = native, cases, contract, host, alone
        self.shim, self.cycles = shim, cycles
        self.says = says  # in rank 0's log, where nodes have several ranks
        if contract:
            self.extra["DETCCL_CONTRACT"] = contract


def variants(kind, quick):
    """The first is what the others' digests are compared with."""
    some = SENSITIVE
    yield Variant("default", cases=["*"], alone=True)
    timed = ["time.*"] if kind != "host" else []  # more processes than cores, perhaps: no figure
    yield Variant("native", native=True, cases=["pieces.*", "collectives.*", "arguments.*"] + timed, alone=True)
    if kind != "host":
        yield Variant("host engine", host=True, cases=["reduce.*", "large.*", "pieces.*", "group.*", "streams.*"])
    yield Variant("other placement", placement=True, cases=some)
    for schedule in ("gather", "direct", "tree") + (("peer",) if kind == "p2p" else ()):
        yield Variant(f"schedule {schedule}", {"DETCCL_SCHEDULE": schedule}, cases=some)
    yield Variant("the shim", shim=True, cases=["large.*", "group.*", "streams.*", "comm.split", "arguments.*"])
    # Whatever happens to communicators, and whatever they are given, is recorded. Many kernels at once: nothing beside.
    yield Variant("traced", {"DETCCL_TRACE": "1"}, cases=some + ["graph.*", "comm.*", "end.*", "collectives.*",
                                                                 "arguments.*", "registered.*", "scalar.*"],
                  cycles=4, alone=True)
    if kind != "host" or not quick:  # each of them also runs natively
        yield Variant("sampled", {"DETCCL_PROFILER_SHADOW": "1"},
                      cases=some + ["graph.*", "comm.*", "end.*", "collectives.*", "arguments.*", "registered.*",
                                    "scalar.*"], alone=True)
    yield Variant("contract linear, ring", {"DETCCL_SCHEDULE": "ring"}, contract="linear", cases=some)
    if quick:
        return
    if kind != "host":  # there they always are
        yield Variant("phases timed", {"DETCCL_PROFILER_PHASES": "1"},
                      cases=some + ["graph.*", "comm.*", "end.*", "collectives.*", "arguments.*"], alone=True)
    yield Variant("traced in chunks", {"DETCCL_TRACE": "chunks:1"}, cases=["graph.*", "group.*", "collectives.*"], cycles=4,
                  alone=True)
    yield Variant("chunk 64K, proved", {"DETCCL_CHUNK": "64K", "DETCCL_PROVE": "1"}, cases=some)
    yield Variant("chunk 1M", {"DETCCL_CHUNK": "1M"}, cases=some)
    yield Variant("contract linear:native", contract="linear:native", cases=some)
    yield Variant("contract tree:native", contract="tree:native", cases=some)
    yield Variant("contract tree:wide/2", contract="tree:wide/2", cases=some)
    if kind == "host":
        return
    # Only AllReduce has a tree; LL128 forced where NCCL does not choose it may lose data.
    for name, value in (("ALGO", "ring"), ("ALGO", "ring;allreduce:tree"), ("PROTO", "LL"), ("PROTO", "Simple")):
        yield Variant(f"NCCL_{name}={value}", {f"NCCL_{name}": value}, cases=some)
    # Small chunks, so that calls have many; few thread blocks, for the kernels of all ranks share one GPU.
    yield Variant("lanes", {"DETCCL_LANES": "2", "DETCCL_SCHEDULE": "direct", "DETCCL_CHUNK": "64K",
                            "NCCL_MAX_CTAS": "4"},
                  cases=some + ["graph.*", "comm.*", "end.*"])
    yield Variant("one channel", {"NCCL_MIN_NCHANNELS": "1", "NCCL_MAX_NCHANNELS": "1"}, cases=some)
    yield Variant("four channels", {"NCCL_MIN_NCHANNELS": "4"}, cases=some)
    if kind == "p2p":
        yield Variant("two nodes", nodes=2, cases=some)
        yield Variant("two nodes, other placement", nodes=2, placement=True, cases=some)
        yield within_nodes("", "halving", ["graph.*", "comm.*", "end.*"])
        yield within_nodes(", gather", "gather")
        yield within_nodes(", pairs, tree:wide/2", "direct)/2", contract="tree:wide/2")
        yield within_nodes(", tree:native", "halving", contract="tree:native")


def within_nodes(name, between, cases=(), **more):
    """Over peer memory within two nodes, or within pairs of their ranks."""
    schedule = f"hier(peer,{between}" + ")" * (")" not in between)
    return Variant("peer within nodes" + name, {"DETCCL_SCHEDULE": schedule}, nodes=2, says=within_nodes_says(schedule),
                   cases=SENSITIVE + ["large.*", *cases], **more)


def within_nodes_says(schedule):
    return f"AllReduces go by {schedule.split('/')[0]}/"


def chosen(kind, quick, patterns):
    """Those that match some pattern, in the order of the patterns, and without any the usual ones."""
    every = list(variants(kind, quick and not patterns))
    found = {v.name: v for pattern in patterns or ["*"] for v in every if fnmatch.fnmatch(v.name, pattern)}
    return list(found.values())
