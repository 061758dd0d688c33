// SPDX-License-Identifier: Apache-2.0
// Readers take any bytes: files that were changed at random, also with checksums made right again.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

#include "read_everything.h"
#include "simulated_run.h"
#include "support/command.h"
#include "trace/format.h"
#include "trace/seal.h"
#include "trace/writer.h"

namespace {

using namespace detccl;

using Bytes = std::vector<std::byte>;

Bytes bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Bytes seed_file(bool sealed) {
  const test::Folder folder;
  const perf::Shape shape{4, 5, 20, 2, 0};
  test::Records records = perf::operations_of(shape, 1);
  perf::fill_digests(records, 1, 3);
  std::string path;
  {
    trace::Writer writer({folder.file("t"), 16, std::chrono::milliseconds(1000)},
                         perf::run_info_of(shape, 1));
    writer.string_number("forward");
    for (const auto& communicator : perf::communicators_of(shape, 1)) {
      writer.add_communicator(communicator);
    }
    writer.add_chunk_table({3, 100, 64, true, {{1, 2}, {3, 4}}});
    writer.append(records);
    path = writer.path();
  }
  trace::Sealed figures;
  std::string error;
  EXPECT_TRUE(!sealed || trace::seal(path, figures, error)) << error;
  return bytes_of_file(path);
}

/// Makes all checksums right, so that what is inside is looked at.
void repair(Bytes& bytes) {
  Bytes fixed;
  std::size_t at = 0;
  while (at + sizeof(trace::SegmentHeader) <= bytes.size()) {
    trace::SegmentHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const std::size_t left = bytes.size() - at - sizeof header;
    const std::size_t stored = std::min<std::size_t>(header.stored_bytes, left);
    trace::append_segment(fixed, header, std::span(bytes).subspan(at + sizeof header, stored));
    at += sizeof header + stored;
  }
  bytes = fixed;
}

void change(Bytes& bytes, std::mt19937& random) {
  const std::size_t at = random() % bytes.size();
  const std::size_t length = std::min<std::size_t>(bytes.size() - at, 1 + random() % 16);
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 5) {
    case 0:
      bytes[at] ^= static_cast<std::byte>(1U << random() % 8);
      break;
    case 1:
      std::fill_n(place, length, static_cast<std::byte>(random() % 2 == 0 ? 0 : 255));
      break;
    case 2:
      bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
      break;
    case 3: {
      const Bytes piece(place, place + static_cast<std::ptrdiff_t>(length));
      bytes.insert(place, piece.begin(), piece.end());
      break;
    }
    default:
      for (std::size_t i = 0; i < length; ++i) {
        bytes[at + i] = static_cast<std::byte>(random());
      }
  }
  if (bytes.empty()) bytes.push_back(std::byte{0});
}

void mutate(const Bytes& seed, bool repaired, std::size_t& readable) {
  std::mt19937 random(std::random_device{}());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (int n = 0; n < 3000 && std::chrono::steady_clock::now() < end; ++n) {
    const auto number = static_cast<unsigned>(random());
    SCOPED_TRACE("seed " + std::to_string(number));
    std::mt19937 changes(number);
    Bytes bytes = seed;
    for (unsigned i = 0; i < 1 + number % 4; ++i) {
      change(bytes, changes);
    }
    if (repaired) repair(bytes);
    if (test::read_everything(bytes) != 0) ++readable;
  }
}

TEST(Mutation, NoBytesCrashAReader) {
  for (const bool sealed : {false, true}) {
    const Bytes seed = seed_file(sealed);
    EXPECT_EQ(test::read_everything(seed), 100U);
    for (const bool repaired : {false, true}) {
      std::size_t readable = 0;
      mutate(seed, repaired, readable);
      EXPECT_GT(readable, 0U);
    }
  }
}

}  // namespace
