// SPDX-License-Identifier: Apache-2.0
#include "trace/compression.h"

#ifdef DETCCL_ZSTD

#include <zstd.h>

#include <memory>

namespace detccl::trace {
namespace {

constexpr int kLevel = 3;

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

bool can_compress() {
  return true;
}

std::vector<std::byte> compress(std::span<const std::byte> bytes) {
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
  packed.resize(ZSTD_isError(size) != 0 || size >= bytes.size() ? 0 : size);
  return packed;
}

bool decompress(std::span<const std::byte> packed, std::span<std::byte> bytes) {
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return ZSTD_decompressDCtx(context.get(), bytes.data(), bytes.size(), packed.data(), packed.size()) ==
         bytes.size();
}

}  // namespace detccl::trace

#else

namespace detccl::trace {

bool can_compress() {
  return false;
}

std::vector<std::byte> compress(std::span<const std::byte>) {
  return {};
}

bool decompress(std::span<const std::byte>, std::span<std::byte>) {
  return false;
}

}  // namespace detccl::trace

#endif
