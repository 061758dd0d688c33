# SPDX-License-Identifier: Apache-2.0
"""The options of tests/gpu/run."""
import argparse
import os

EPILOG = """
benches (--bench)
  socket  every process is a host of its own to NCCL: its network path, over the loopback; any NCCL
  p2p     all are on one host: NCCL's intra-node path; needs NCCL 2.30 or newer (--nccl)
          Its kernels wait for each other on the GPU: jobs run side by side only while ranks x jobs <= 8.
  host    host memory and the NCCL for it: promises, groups, phases and sampling only
  The first two want CUDA MPS, which is started and ended here, in private folders.

parts (--only takes patterns of their names, of settings ("default"), workloads or cases; --list shows all)
  promises    the promises program (build/tests/promises): all cases, then the order-sensitive ones under other
              schedules, chunks, contracts, placements and NCCL settings; digests compared with each other and
              with the host engine's; NCCL alone for comparison
              --variants chooses settings by name, in that order; they are compared with "default", else with
              "host engine", where those are among them
  groups      --bench p2p or host: the ranks as 8 hosts, 4 x 2, 2 x 4 and one host: order-sensitive cases with the same
              digests, and the sweep programs' times beside native NCCL's
  workloads   PyTorch, JAX and CuPy scripts, with the NCCL that they come with unless --nccl is given
  profiler    the profiler plugin: its counts of a PyTorch program's calls, alone and with DetCCL, overhead from both,
              and its cost in the sweep program, off and on in turn
  phases      what the sweep program's reductions spend their time on, by a plan and, with --bench p2p, over peer memory
  traces      jobs with DETCCL_TRACE=1: PyTorch DDP and FSDP2, JAX and nccl-tests twice: equal runs compare equal, a
              changed element is found; a killed rank's trace is readable; each replay of a CUDA graph is recorded;
              what it costs
  sanitizers  the tests of the fold and peer kernels (build/tests/device_cuda_test, device_peer_test) under
              compute-sanitizer: memcheck, racecheck
  nccl-tests  with --nccl-tests only. Programs built with MPI=1 run one process per rank under mpirun (Open MPI);
              programs built without run one rank, as they put each thread on a GPU of its own.
  native-columns  with --nccl-tests only: the sweep programs' times of native NCCL beside those of nccl-tests, in turn,
              4 ranks on the socket bench, and one rank a GPU where several are visible

exit status: 0 nothing failed (what had no time is listed), 1 something did, 2 wrong usage, or no bench could be set up
"""


def parse(description, root):
    """`root`: the repository, whose build folder is the default."""
    parser = argparse.ArgumentParser(description=description, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", choices=("socket", "p2p", "host"), default="socket")
    parser.add_argument("--host", action="store_true", help="the same as --bench host")
    parser.add_argument("--nccl", metavar="FILE", help="the NCCL underneath, for everything (default: the system's, "
                        "and for the workloads their own)")
    parser.add_argument("--build", metavar="DIR", default=os.path.join(root, "build"))
    parser.add_argument("--program", metavar="FILE", help="the promises program (default: BUILD/tests/promises)")
    parser.add_argument("--ranks", default="8", help="one number or several, 8,4,2; the first is that of the workloads")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="of the parts' or cases' names; repeatable")
    parser.add_argument("--variants", action="append", metavar="PATTERN",
                        help="the promises' settings with such names, "
                        "in the order of the patterns, --quick or not; repeatable")
    parser.add_argument("--nccl-tests", metavar="DIR", help="folder with nccl-tests' *_perf programs")
    parser.add_argument("--out", metavar="DIR", help="logs of all ranks and results.json (default: a new folder)")
    parser.add_argument("--quick", action="store_true", help="fewer settings, steps and replays")
    parser.add_argument("--list", action="store_true", help="what there is to run")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one job (default 300)")
    parser.add_argument("--stall", type=float, default=60, help="seconds without output that end a job (default 60)")
    parser.add_argument("--budget", type=float, help="seconds for everything: what does not fit is ended or left out, "
                        "and skipped in the report")
    parser.add_argument("--jobs", type=int, help="light jobs at the same time (default 2; on host memory 1)")
    parser.add_argument("--steps", type=int, help="of training (default 800, quick 60)")
    parser.add_argument("--no-mps", action="store_true", help="without MPS, or under one that runs already")
    parser.add_argument("--commit", default="unknown", help="for the results")
    settings = parser.parse_args()
    settings.host |= settings.bench == "host"
    if settings.host:
        settings.bench = "host"
    settings.jobs = settings.jobs or (1 if settings.host else 2)
    try:
        settings.ranks = [int(text) for text in settings.ranks.split(",")]
    except ValueError:
        parser.error(f"--ranks {settings.ranks}: numbers separated by commas")
    if min(settings.ranks) < 1:
        parser.error("--ranks: at least 1")
    settings.build = os.path.abspath(settings.build)
    settings.program = os.path.abspath(settings.program or os.path.join(settings.build, "tests", "promises"))
    settings.nccl_chosen = settings.nccl is not None
    settings.replays = 300 if settings.quick else 2000
    settings.cycles = 4 if settings.quick else 20
    settings.steps = settings.steps or (60 if settings.quick else 800)
    return settings
