// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "digest.h"
#include "model.h"

namespace trainer {
namespace {

constexpr std::array<char, 8> kMagic{'D', 'I', 'G', 'I', 'T', 'S', '0', '1'};

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t parameters = 0, step = 0, seed = 0, batch = 0, ranks = 0, gradients = 0, average = 0;
};
static_assert(sizeof(Header) == 64);

Header header_for(const Options& options, int ranks, std::uint64_t step) {
  return {kMagic,
          parameter_count(),
          step,
          options.seed,
          options.batch,
          static_cast<std::uint64_t>(ranks),
          static_cast<std::uint64_t>(options.gradients),
          static_cast<std::uint64_t>(options.average)};
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error("checkpoint '" + path + "': " + why);
}

/// Compares what must be the same; the step may be any.
void compare(const std::string& path, const Header& file, const Header& run) {
  const auto same = [&](const char* what, std::uint64_t in_file, std::uint64_t here) {
    if (in_file == here) return;
    refuse(path, std::string("is of a run with another ") + what + " (" + std::to_string(in_file) +
                     " there, " + std::to_string(here) + " here)");
  };
  same("seed", file.seed, run.seed);
  same("batch", file.batch, run.batch);
  same("number of ranks", file.ranks, run.ranks);
  same("gradient type", file.gradients, run.gradients);
  same("way to average", file.average, run.average);
}

void write_all(int fd, const std::string& bytes, const std::string& path) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) refuse(path, std::string("cannot be written: ") + std::strerror(errno));
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

void replace_file(const std::string& path, const std::string& bytes) {
  const std::string temporary = path + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) refuse(path, std::string("cannot be written: ") + std::strerror(errno));
  try {
    write_all(fd, bytes, path);
  } catch (...) {
    ::close(fd);
    ::unlink(temporary.c_str());
    throw;
  }
  const bool synced = ::fsync(fd) == 0;
  const bool closed = ::close(fd) == 0;
  if (!synced || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    refuse(path, std::string("cannot be written: ") + std::strerror(error));
  }
}

}  // namespace

void write_checkpoint(const std::string& path, const Options& options, int ranks, const State& state) {
  const Header header = header_for(options, ranks, state.step);
  const std::size_t body = parameter_count() * sizeof(float);
  std::string bytes(sizeof header + 2 * body + sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, state.weights.data(), body);
  std::memcpy(bytes.data() + sizeof header + body, state.velocity.data(), body);
  const std::uint64_t checksum = fnv1a(bytes.data(), bytes.size() - sizeof checksum);
  std::memcpy(bytes.data() + bytes.size() - sizeof checksum, &checksum, sizeof checksum);
  replace_file(path, bytes);
}

State read_checkpoint(const std::string& path, const Options& options, int ranks) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Header header;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || header.magic != kMagic)
    refuse(path, "is no checkpoint of this program");
  if (header.parameters != parameter_count()) refuse(path, "is of another network");
  const std::size_t body = parameter_count() * sizeof(float);
  const std::size_t whole = sizeof header + 2 * body + sizeof(std::uint64_t);
  if (bytes.size() != whole) {
    refuse(path, "has " + std::to_string(bytes.size()) + " bytes instead of " + std::to_string(whole));
  }
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + whole - sizeof checksum, sizeof checksum);
  if (checksum != fnv1a(bytes.data(), whole - sizeof checksum)) refuse(path, "is damaged: wrong checksum");
  compare(path, header, header_for(options, ranks, header.step));

  State state{header.step, std::vector<float>(parameter_count()), std::vector<float>(parameter_count())};
  std::memcpy(state.weights.data(), bytes.data() + sizeof header, body);
  std::memcpy(state.velocity.data(), bytes.data() + sizeof header + body, body);
  return state;
}

}  // namespace trainer
