// SPDX-License-Identifier: Apache-2.0
#include "supervisor.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>

#include "child_job.h"
#include "child_process.h"
#include "mpi_job.h"
#include "sweep.h"

namespace detccl::perf {
namespace {

using Clock = std::chrono::steady_clock;
using Slot = Job::Slot;

constexpr int kRestarts = 2;  ///< of a schedule whose ranks died or hung
constexpr std::uint32_t kMaxMessage = 1u << 20;

/// What a supervisor's ranks want next.
enum class State : std::uint32_t { exchange, ended, dead };
struct Status {
  State state = State::exchange;
  std::uint32_t step = 0;          ///< the largest
  std::uint32_t code = 0;          ///< ended: the worst
  std::array<char, 128> reason{};  ///< dead
};

Status dead(std::uint32_t step, const std::string& reason) {
  Status status{State::dead, step, 0, {}};
  reason.copy(status.reason.data(), status.reason.size() - 1);
  return status;
}

/// One start of all ranks.
class Ward {
 public:
  Ward(const Watch& watch, const std::string& schedule, std::uint32_t first, Report* report)
      : watch_(watch), report_(report), step_(first), slots_(static_cast<std::size_t>(watch.local_ranks)) {
    for (int i = 0; i < watch.local_ranks; ++i)
      children_.push_back(std::make_unique<ChildProcess>(watch.arguments,
                                                         std::to_string(watch.first_rank + i) + "," +
                                                             std::to_string(watch.ranks) + "," +
                                                             std::to_string(first),
                                                         schedule));
  }

  /// Ended or dead.
  Status run() {
    for (;;) {
      const Status all = combined(collect());
      if (all.state == State::dead) return all;  // the destructor kills the others
      if (all.state == State::ended) {
        for (const auto& child : children_)
          child->wait();
        return all;
      }
      if (!pass_on()) return dead(step_, "a rank did not wait for its answer");
    }
  }

 private:
  /// Waits until every rank here wants an exchange or has ended.
  Status collect() {
    std::vector<State> states(children_.size());
    std::vector<bool> waiting(children_.size(), true);
    Status status;
    auto deadline = Clock::now() + std::chrono::seconds(watch_.timeout);
    while (std::count(waiting.begin(), waiting.end(), true) > 0) {
      std::vector<pollfd> polled;
      std::vector<std::size_t> of;
      for (std::size_t i = 0; i < children_.size(); ++i) {
        if (!waiting[i]) continue;
        polled.push_back({children_[i]->fd(), POLLIN, 0});
        of.push_back(i);
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      const int ready = poll(polled.data(), polled.size(), static_cast<int>(std::max<long>(left.count(), 0)));
      if (ready == 0)
        return dead(step_, rank_name(of.front()) + "no word for " + std::to_string(watch_.timeout) + " s");
      for (std::size_t p = 0; p < polled.size(); ++p) {
        if (polled[p].revents == 0) continue;
        const std::size_t i = of[p];
        Header header;
        if (!receive_all(children_[i]->fd(), &header, sizeof header) || !take(i, header))
          return dead(step_, rank_name(i) + children_[i]->wait());
        deadline = Clock::now() + std::chrono::seconds(watch_.timeout);
        if (header.kind == Message::record) continue;
        waiting[i] = false;
        states[i] = header.kind == Message::end ? State::ended : State::exchange;
        if (header.kind == Message::end) status.code = std::max(status.code, header.step);
      }
    }
    status.state = states.front();
    status.step = step_;
    if (std::count(states.begin(), states.end(), states.front()) !=
        static_cast<std::ptrdiff_t>(states.size()))
      return dead(step_, "the ranks are out of step");
    return status;
  }

  /// Reads what follows the header, and keeps it.
  bool take(std::size_t i, const Header& header) {
    const int fd = children_[i]->fd();
    if (header.kind == Message::end) return header.bytes == 0;
    step_ = std::max(step_, header.step);
    if (header.kind == Message::slot)
      return header.bytes == sizeof(Slot) && receive_all(fd, &slots_[i], sizeof(Slot));
    if (header.bytes > kMaxMessage) return false;
    std::string text(header.bytes, '\0');
    if (!receive_all(fd, text.data(), text.size())) return false;
    if (report_ != nullptr) report_->add(nlohmann::ordered_json::parse(text));
    return true;
  }

  /// The worst of all supervisors' states.
  Status combined(const Status& mine) const {
    if (!watch_.mpi) return mine;
    std::vector<Status> all(static_cast<std::size_t>(watch_.ranks));
    MpiJob::gather_patiently(&mine, all.data(), sizeof mine);
    Status worst = all.front();
    bool alike = true;
    std::uint32_t step = 0, code = 0;
    for (const Status& s : all) {
      alike = alike && s.state == all.front().state;
      if (s.state == State::dead && worst.state != State::dead) worst = s;
      step = std::max(step, s.step);
      code = std::max(code, s.code);
    }
    if (!alike && worst.state != State::dead) worst = dead(step, "the ranks are out of step");
    worst.step = step;
    worst.code = code;
    return worst;
  }

  bool pass_on() {
    std::vector<Slot> all(static_cast<std::size_t>(watch_.ranks));
    if (watch_.mpi)
      MpiJob::gather_patiently(slots_.data(), all.data(), sizeof(Slot));
    else
      all = slots_;
    bool good = true;
    for (const auto& child : children_)
      good = send_all(child->fd(), all.data(), all.size() * sizeof(Slot)) && good;
    return good || watch_.mpi;  // with others a rank's end shows in the next round, to all
  }

  std::string rank_name(std::size_t i) const {
    return "rank " + std::to_string(watch_.first_rank + static_cast<int>(i)) + ": ";
  }

  const Watch& watch_;
  Report* report_;
  std::uint32_t step_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
  std::vector<Slot> slots_;
};

void report_death(const Watch& watch, const std::string& schedule, const Status& status, Report& report) {
  const Task* task = status.step < watch.tasks.size() ? &watch.tasks[status.step] : nullptr;
  nlohmann::ordered_json record = describe_failure(task, status.reason.data());
  if (!schedule.empty()) record["schedule"] = schedule;
  report.add(record);
}

}  // namespace

void supervise(const Watch& watch, const std::vector<std::string>& schedules, Report* report) {
  for (const std::string& schedule : schedules) {
    std::uint32_t first = 0;
    for (int start = 0; start <= kRestarts && first < watch.tasks.size(); ++start) {
      Status status;
      {
        Ward ward(watch, schedule, first, report);
        status = ward.run();
      }
      if (status.state == State::ended) {
        if (status.code == static_cast<std::uint32_t>(Ending::hopeless)) return;
        break;
      }
      if (report != nullptr) report_death(watch, schedule, status, *report);
      first = status.step + 1;
    }
  }
}

}  // namespace detccl::perf
