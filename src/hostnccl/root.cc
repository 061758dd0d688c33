// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/root.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace detccl::hostnccl {
namespace {

constexpr std::chrono::seconds kTimeForLateComers{30};

}  // namespace

Hello Hello::read(const Message& message) {
  Reader reader(message.body);
  Hello hello;
  hello.magic = reader.get<Magic>();
  hello.size = reader.get<std::uint32_t>();
  hello.rank = reader.get<std::uint32_t>();
  hello.blob = reader.bytes();
  return hello;
}

Message Hello::write() const {
  return {MessageType::hello, Writer().put(magic).put(size).put(rank).put(blob).take()};
}

void Root::join(Connection connection, const Hello& hello) {
  if (size_ == 0) size_ = hello.size;
  ++attempts_;
  std::string problem;
  if (hello.size != size_) {
    problem = fmt::format("rank {} was started with {} ranks, others with {}", hello.rank, hello.size, size_);
  } else if (hello.rank >= size_) {
    problem = fmt::format("a rank {} joined a communicator of {} ranks", hello.rank, size_);
  } else if (members_.contains(hello.rank)) {
    problem = fmt::format("two ranks have the number {}", hello.rank);
  }
  if (!problem.empty()) {
    fail(problem);
    connection.send({MessageType::failed, problem});
    refused_.push_back(std::move(connection));
    return;
  }
  Member& member = members_[hello.rank];
  member.connection = std::move(connection);
  if (!failure_.empty()) {
    member.connection->send({MessageType::failed, failure_});
    return;
  }
  std::vector<std::uint32_t> everyone(size_);
  std::iota(everyone.begin(), everyone.end(), 0u);
  member.request = Request{0, everyone, hello.blob};
  complete_ = members_.size() == size_;
  if (complete_) answer(everyone);
}

std::vector<int> Root::descriptors() const {
  std::vector<int> fds;
  for (const auto& [rank, member] : members_) {
    if (member.connection) fds.push_back(member.connection->fd());
  }
  for (const Connection& connection : refused_)
    fds.push_back(connection.fd());
  return fds;
}

bool Root::unsent(int fd) const {
  return std::any_of(members_.begin(), members_.end(), [fd](const auto& entry) {
    return entry.second.connection && entry.second.connection->fd() == fd &&
           entry.second.connection->unsent();
  });
}

void Root::serve(int fd) {
  for (auto& [rank, member] : members_) {
    if (!member.connection || member.connection->fd() != fd) continue;
    bool open = member.connection->flush() && member.connection->receive();
    try {
      while (auto message = member.connection->next())
        handle(rank, *message);
    } catch (const Error&) {
      open = false;
    }
    if (!open) {
      member.connection.reset();
      if (!member.left) lost(rank);
    }
    return;
  }
  std::erase_if(refused_, [fd](Connection& c) { return c.fd() == fd && !(c.flush() && c.receive()); });
}

void Root::handle(std::uint32_t rank, const Message& message) {
  Member& member = members_[rank];
  switch (message.type) {
    case MessageType::gather: {
      Reader reader(message.body);
      Request request;
      request.ticket = reader.get<std::uint64_t>();
      const auto count = reader.get<std::uint32_t>();
      for (std::uint32_t i = 0; i < count; ++i)
        request.members.push_back(reader.get<std::uint32_t>());
      request.blob = reader.bytes();
      member.request = request;
      return answer(request.members);
    }
    case MessageType::report:
      return fail(fmt::format("rank {}: {}", rank, message.body));
    case MessageType::goodbye:
      member.left = true;
      if (!complete_) fail(fmt::format("rank {} left before all had joined; {}", rank, missing()));
      refuse_gathers_with(rank);
      return announce_if_all_left();
    default:
      throw Error(ncclSystemError, "a rank sent a message that only the root sends");
  }
}

/// Sends the table to `members` if each of them waits for this gather; refuses it if one of them is gone.
void Root::answer(const std::vector<std::uint32_t>& members) {
  Writer blobs;
  blobs.put(static_cast<std::uint32_t>(members.size()));
  for (const std::uint32_t rank : members) {
    const Member& member = members_[rank];
    if (!member.connection || member.left) return refuse_gathers_with(rank);
    if (!member.request || member.request->members != members) return;
    blobs.put(member.request->blob);
  }
  const std::string table = blobs.take();
  for (const std::uint32_t rank : members) {
    Member& member = members_[rank];
    member.connection->send({MessageType::table, Writer().put(member.request->ticket).put(table).take()});
    member.request.reset();
  }
}

void Root::refuse_gathers_with(std::uint32_t gone) {
  for (auto& [rank, member] : members_) {
    if (!member.connection || !member.request) continue;
    const auto& members = member.request->members;
    if (std::find(members.begin(), members.end(), gone) == members.end()) continue;
    member.connection->send(
        {MessageType::refused,
         Writer().put(member.request->ticket).put(fmt::format("rank {} is gone", gone)).take()});
    member.request.reset();
  }
}

void Root::lost(std::uint32_t rank) {
  fail(fmt::format("rank {} died: its control connection ended without a goodbye{}", rank,
                   complete_ ? "" : "; " + missing()));
  refuse_gathers_with(rank);
  announce_if_all_left();
}

void Root::fail(const std::string& text) {
  if (failure_.empty()) {
    failure_ = text;
    failed_at_ = std::chrono::steady_clock::now();
  }
  for (auto& [rank, member] : members_) {
    if (!member.connection || member.left) continue;
    member.connection->send({MessageType::failed, text});
  }
}

void Root::leave() {
  for (auto& [rank, member] : members_) {
    if (member.connection) member.connection->send({MessageType::root_left, {}});
  }
}

void Root::announce_if_all_left() {
  const bool all = std::all_of(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.left || !entry.second.connection;
  });
  if (!all || (!complete_ && failure_.empty())) return;
  for (auto& [rank, member] : members_) {
    if (member.connection) member.connection->send({MessageType::all_left, {}});
  }
}

bool Root::finished(std::chrono::steady_clock::time_point now) const {
  const bool nobody =
      refused_.empty() && std::all_of(members_.begin(), members_.end(),
                                      [](const auto& entry) { return !entry.second.connection; });
  if (!nobody || size_ == 0) return false;
  return complete_ || (!failure_.empty() && (attempts_ >= size_ || now - failed_at_ >= kTimeForLateComers));
}

std::string Root::missing() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    if (!members_.contains(rank)) ranks.push_back(rank);
  }
  return ranks.empty() ? "all had joined" : fmt::format("not yet joined: {}", fmt::join(ranks, ", "));
}

}  // namespace detccl::hostnccl
