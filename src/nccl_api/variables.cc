// SPDX-License-Identifier: Apache-2.0
// The table of environment variables.
#include <array>

#include "nccl_api/environment.h"
#include "nccl_api/variable_values.h"

namespace detccl::nccl_api {
namespace {

constexpr std::array kVariables = {
    Variable{"DETCCL_CONTRACT", "tree", contract::kContractSyntax,
             "The contract: in which order and precision the ranks' values combine.", take_contract},
    Variable{
        "DETCCL_SCHEDULE", "auto",
        "auto|gather|direct|ring|tree|halving[:R]|peer|hier(A,B)/G, A and B direct or "
        "halving[:R]|hier(peer,X)/G, "
        "X direct, halving[:R] or gather",
        "How the values travel; it never changes the bits. ring needs a linear contract, tree, halving and "
        "hier "
        "a tree one. hier goes by A within aligned groups of G ranks, a power of two, and by B between them. "
        "peer: one kernel of each rank that reads and writes the others' memory, up to 8 ranks of one host. "
        "hier(peer,X): AllReduces go by such kernels within nodes, and by X between them. "
        "auto: peer where every rank has a GPU of its own and NVLink joins them, else by size.",
        take_schedule},
    Variable{"DETCCL_PEER_BLOCKS", "auto", "auto, or a number, 0 to 64",
             "Thread blocks of a rank's kernel in schedule peer. auto: 32 where every rank has a GPU of its "
             "own, 8 where ranks share one. 0: schedule auto does without peer.",
             take_peer_blocks},
    Variable{"DETCCL_CHUNK", "auto", "auto, or bytes with an optional K or M, 64 to 1024M",
             "Payload bytes that move through the pipeline at a time.", take_chunk},
    Variable{"DETCCL_LANES", "1", "a number, 1 to 8",
             "Plans on GPUs: communicators of DetCCL's own that share the chunks of a long call, for several "
             "nodes. Each has its own connections, and a share of the scratch.",
             take_lanes},
    Variable{"DETCCL_TUNING", "", "a file that `detccl tune` has written",
             "What the machine's operations cost, from which schedule and chunk are chosen where they are "
             "auto. Without it: by fixed limits.",
             take_tuning},
    Variable{"DETCCL_GROUP", "auto", "auto, or a power of two",
             "For schedules hier(A,B) without a group of their own: so many consecutive ranks are near each "
             "other, "
             "as those of an NVLink domain. auto: those of a host.",
             take_group},
    Variable{
        "DETCCL_SCRATCH", "auto", "auto, or bytes with an optional K or M, 64K to 16384M",
        "Memory that each communicator sets aside for values on their way: 16M on the host, 64M on a GPU.",
        take_scratch},
    Variable{"DETCCL_FALLBACK", "error", "error|native",
             "What becomes of a reduction that cannot be deterministic: it fails and says why, or it runs "
             "natively, with a warning that says why.",
             take_fallback},
    Variable{
        "DETCCL_TRACE", "0", "0|1|times|chunks:N, N KB from 1",
        "Record fingerprints of every operation's input and output; times: also on GPUs how long it takes; "
        "chunks:N: that, and fingerprints of each N KB.",
        take_trace},
    Variable{"DETCCL_TRACE_DIR", "detccl-trace", "a folder",
             "Where the ranks' traces go. Those that are there are never overwritten.", take_trace_folder},
    Variable{"DETCCL_TRACE_STEPS", "", "N or N-M", "The steps that are recorded. Without it: all.",
             take_trace_steps},
    Variable{"DETCCL_TRACE_RANKS", "", "ranks and ranges of ranks: 0,8-15",
             "The ranks of the job that are recorded. Without it: all.", take_trace_ranks},
    Variable{"DETCCL_LOG", "warn", "error|warn|info|debug", "How much is written to standard error.",
             take_log},
    Variable{"DETCCL_PROVE", "0", "0|1",
             "Prove each plan when it is built, and refuse to run one that fails.", take_prove},
    Variable{"DETCCL_DISABLE", "0", "0|1",
             "Leave the reductions to NCCL too. With DETCCL_TRACE they are still recorded.", take_disable},
    Variable{
        "DETCCL_NCCL_LIBRARY", "", "a file or a library's name",
        "The NCCL library underneath. Without it: one that is loaded already; else, on a machine without "
        "NVIDIA "
        "driver, the one for host memory that comes with DetCCL; else what the loader finds as libnccl.so.2.",
        take_nccl_library},
    Variable{
        "DETCCL_TIMEOUT", "auto", "auto, or whole seconds, 0 for never",
        "On host memory and over peer memory: after so long without progress a waiting reduction gives up, "
        "and its communicator is in error. auto: 600 on host memory, a day over peer memory.",
        take_timeout},
    Variable{"DETCCL_PROFILER_DIR", "detccl-profile", "a folder", "Where the profiler plugin's summaries go.",
             take_profilers},
    Variable{"DETCCL_PROFILER_EVENTS", "network", "off|calls|network|kernels|all",
             "What the profiler plugin asks NCCL for: calls counts them; network also times their network "
             "transfers, "
             "kernels their kernels, which adds host nodes to captured graphs; all: both.",
             take_profiler_events},
    Variable{"DETCCL_PROFILER_PERIOD", "60", "whole seconds, 0 for never",
             "How often the profiler plugin writes its summaries before the end.", take_profiler_period},
    Variable{"DETCCL_PROFILER_SHADOW", "0", "K, a number; 0 for none",
             "With the profiler plugin: one of every K reductions of a communicator also runs natively, "
             "into memory of its own, so that overhead is known without another run.",
             take_profiler_shadow},
    Variable{"DETCCL_PROFILER_CALIBRATE", "0", "N, a number from 6 to 128; 0 for none",
             "With the profiler plugin: of each collective, type and power of two of bytes on a "
             "communicator, N reductions also run natively, at the beginning.",
             take_profiler_calibrate},
    Variable{
        "DETCCL_PROFILER_PHASES", "0", "N, a number; 0 for none",
        "With the profiler plugin, on GPUs: of one of every N reductions of a communicator, CUDA events tell "
        "transfers from folds. On host memory all are told apart.",
        take_profiler_phases},
    Variable{"DETCCL_PROFILER_CHAIN", "", "a file or a library's name",
             "Another profiler plugin, which gets what NCCL would have given it.", take_profilers},
};

}  // namespace

std::span<const Variable> Environment::variables() {
  return kVariables;
}

}  // namespace detccl::nccl_api
