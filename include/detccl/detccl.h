/* SPDX-License-Identifier: Apache-2.0 */
/* DetCCL's own functions, beside the nccl* functions of nccl.h that libdetccl.so stands in front of.
 * A program needs none of them: its reductions are deterministic without. */
#ifndef DETCCL_DETCCL_H_
#define DETCCL_DETCCL_H_

#include <nccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of libdetccl.so, as "0.1.0". A program that finds this symbol (dlsym(RTLD_DEFAULT, …)) runs
 * with DetCCL. Any thread. */
const char* detcclVersion(void);

/* Writes the contract of the communicator's reductions, as DETCCL_CONTRACT is written ("tree",
 * "linear:native" …), zero-terminated, into text[0 … size-1]. 64 bytes are always enough. ncclInvalidUsage:
 * its reductions are native (DETCCL_DISABLE=1, DETCCL_FALLBACK=native), or refused (an NCCL on GPUs, in a
 * build without CUDA). ncclInvalidArgument: comm is no
 * communicator, text is NULL or too small. Any thread. */
ncclResult_t detcclCommContract(ncclComm_t comm, char* text, size_t size);

/* Context for traces (DETCCL_TRACE), where the program's NVTX ranges do not say it; both cost next to nothing
 * without. A step is the process's, until the next call. A phase is the calling thread's: a zero-terminated
 * text, which operations handed over within an NVTX range do not show; NULL ends it. Any thread. */
void detcclMarkStep(unsigned int step);
void detcclMark(const char* phase);

#ifdef __cplusplus
}
#endif

#endif
