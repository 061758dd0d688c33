// SPDX-License-Identifier: Apache-2.0
// The names of NCCL 2.18's functions, and next to nothing behind them.
#ifndef TEST_NCCL_VERSION
#define TEST_NCCL_VERSION 21805
#endif

#pragma GCC visibility push(default)
extern "C" {

int ncclGetVersion(int* version) {
  *version = TEST_NCCL_VERSION;
  return 0;
}

const char* ncclGetErrorString(int) {
  return "old text";
}

const char* ncclGetLastError(void*) {
  return "old error";
}

int ncclGetUniqueId(...) {
  return 0;
}

int ncclCommInitRankConfig(...) {
  return 0;
}

int ncclCommInitRank(...) {
  return 0;
}

int ncclCommInitAll(...) {
  return 0;
}

int ncclCommFinalize(...) {
  return 0;
}

int ncclCommDestroy(...) {
  return 0;
}

int ncclCommAbort(...) {
  return 0;
}

int ncclCommSplit(...) {
  return 0;
}

int ncclCommGetAsyncError(...) {
  return 0;
}

int ncclCommCount(...) {
  return 0;
}

int ncclCommCuDevice(...) {
  return 0;
}

int ncclCommUserRank(...) {
  return 0;
}

int ncclRedOpCreatePreMulSum(...) {
  return 0;
}

int ncclRedOpDestroy(...) {
  return 0;
}

int ncclReduce(...) {
  return 0;
}

int ncclBcast(...) {
  return 0;
}

int ncclBroadcast(...) {
  return 0;
}

int ncclAllReduce(...) {
  return 0;
}

int ncclReduceScatter(...) {
  return 0;
}

int ncclAllGather(...) {
  return 0;
}

int ncclSend(...) {
  return 0;
}

int ncclRecv(...) {
  return 0;
}

int ncclGroupStart(...) {
  return 0;
}

int ncclGroupEnd(...) {
  return 0;
}
}
#pragma GCC visibility pop
