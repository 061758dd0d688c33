// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "trace/reader.h"

namespace detccl::recorder {

inline std::unique_ptr<trace::Reader> open(const std::string& path) {
  std::string error;
  auto source = trace::open_file(path, error);
  auto reader = source == nullptr ? nullptr : trace::Reader::open(std::move(source), error);
  EXPECT_NE(reader, nullptr) << error;
  return reader;
}

inline std::vector<trace::Record> records_of(const trace::Reader& reader) {
  std::vector<trace::Record> all;
  auto segment = reader.segment_at(reader.first_offset());
  while (segment && segment->header.type != trace::SegmentType::end) {
    std::vector<trace::Record> some;
    if (segment->header.type == trace::SegmentType::records && reader.records(*segment, some))
      all.insert(all.end(), some.begin(), some.end());
    segment = reader.segment_at(segment->next());
  }
  return all;
}

}  // namespace detccl::recorder
