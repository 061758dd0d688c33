// SPDX-License-Identifier: Apache-2.0
#include "simulate/network.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace detccl::simulate {
namespace {

namespace sg = simgrid::s4u;

/// Hosts and links, and a route for each pair of ranks that talk.
class Network {
 public:
  Network(const Platform& platform, const std::vector<Script>& scripts)
      : platform_(platform), zone_(sg::create_full_zone("machine")) {
    for (std::uint32_t rank = 0; rank < platform.ranks(); ++rank)
      hosts_.push_back(zone_->create_host("gpu" + std::to_string(rank), 1e9)->seal());
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const Script& script : scripts)
      for (const Tick& tick : script.ticks)
        for (const Message& send : tick.sends)
          pairs.insert({script.rank, scripts[send.peer].rank});
    for (const auto& [from, to] : pairs)
      connect(from, to);
    zone_->seal();
  }
  sg::Host* host(std::uint32_t rank) const { return hosts_[rank]; }

 private:
  void connect(std::uint32_t from, std::uint32_t to) {
    std::vector<sg::LinkInRoute> links;
    for (const Link& link : platform_.route(from, to))
      links.emplace_back(at(link));
    zone_->add_route(hosts_[from]->get_netpoint(), hosts_[to]->get_netpoint(), nullptr, nullptr, links,
                     false);
  }
  const sg::Link* at(const Link& link) {
    sg::Link*& made = links_[link];
    if (made == nullptr) {
      const std::string name = std::to_string(static_cast<int>(link.kind)) + "_" + std::to_string(link.index);
      made = zone_->create_link(name, platform_.bandwidth(link));
      made->set_latency(platform_.latency(link))->seal();
    }
    return made;
  }

  const Platform& platform_;
  sg::NetZone* zone_;
  std::vector<sg::Host*> hosts_;
  std::map<Link, sg::Link*> links_;
};

sg::Mailbox* mailbox(std::uint32_t from, std::uint32_t to) {
  return sg::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

class Actor {
 public:
  Actor(const Parameters& parameters, const Script& script, std::uint32_t id)
      : parameters_(parameters), script_(script), id_(id) {}

  void operator()() {
    const std::size_t window = script_.window;
    for (std::size_t t = 0; t < script_.ticks.size(); ++t) {
      const Tick& tick = script_.ticks[t];
      if (t == 0 && before_ != nullptr) before_->acquire();
      if (tick.launch > 0) sg::this_actor::sleep_for(tick.launch);
      wait_for_folds(tick.number);
      for (; posted_ < std::min(t + window, script_.ticks.size()); ++posted_)
        post_receives(script_.ticks[posted_]);
      post_sends(tick);
      if (tick.elsewhere > 0) sg::this_actor::sleep_for(tick.elsewhere);
      finish(receives_, 0);
      finish(sends_, window - 1);
      if (t == 0 && next_ != nullptr) next_->release();
      fold(tick);
    }
    finish(sends_, 0);
    if (folded_ > sg::Engine::get_clock()) sg::this_actor::sleep_until(folded_);
    done_ = true;
  }
  bool done() const { return done_; }
  /// Begins when the first messages of `other` have arrived.
  void follow(Actor& other) { before_ = other.next_ = sg::Semaphore::create(0); }

 private:
  using Comms = std::deque<std::vector<sg::CommPtr>>;

  void post_receives(const Tick& tick) {
    receives_.emplace_back();
    for (const Message& m : tick.receives)
      receives_.back().push_back(mailbox(m.peer, id_)->get_async(&ignored_));
  }
  void post_sends(const Tick& tick) {
    sends_.emplace_back();
    double before = 0;  // the next one
    for (const Message& m : tick.sends) {
      const auto bytes = static_cast<std::uint64_t>(std::llround(m.bytes));
      if (before > 0) sg::this_actor::sleep_for(before);
      sends_.back().push_back(mailbox(id_, m.peer)->put_async(&token_, bytes));
      before = m.transfers * parameters_.transfer;
    }
    if (before > parameters_.transfer) sg::this_actor::sleep_for(before - parameters_.transfer);
  }
  /// The oldest tick's receives, or all sends but those of the last `left` ticks.
  void finish(Comms& comms, std::size_t left) {
    if (&comms == &receives_) left = receives_.size() - 1;
    while (comms.size() > left) {
      for (const sg::CommPtr& comm : comms.front())
        comm->wait();
      comms.pop_front();
    }
  }
  void wait_for_folds(std::uint32_t tick) {
    while (!folds_.empty() && folds_.front().first + (script_.overlapped ? 2 : 1) <= tick) {
      const double end = folds_.front().second;
      if (end > sg::Engine::get_clock()) sg::this_actor::sleep_until(end);
      folds_.pop_front();
    }
  }
  void fold(const Tick& tick) {
    if (tick.fold_bytes <= 0) return;
    const double bandwidth =
        script_.overlapped ? parameters_.fold_bandwidth_beside : parameters_.fold_bandwidth;
    folded_ = std::max(folded_, sg::Engine::get_clock()) +
              fold_seconds(parameters_, tick.fold_bytes, tick.folds, bandwidth);
    folds_.emplace_back(tick.number, folded_);
  }

  const Parameters& parameters_;
  const Script& script_;
  std::uint32_t id_;
  std::size_t posted_ = 0;
  Comms receives_, sends_;
  std::deque<std::pair<std::uint32_t, double>> folds_;  ///< ticks and when their folds are complete
  double folded_ = 0;
  bool done_ = false;
  sg::SemaphorePtr before_, next_;
  char token_ = 0;
  char* ignored_ = nullptr;
};

/// Negative if actors wait for ever.
double run_here(const Platform& platform, const std::vector<Script>& scripts) {
  std::string program = "simulate", quiet = "--log=root.thresh:critical";
  char* arguments[] = {program.data(), quiet.data(), nullptr};
  int count = 2;
  sg::Engine engine(&count, arguments);
  for (const char* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "network/latency-factor:1",
        "network/bandwidth-factor:1", "network/weight-S:0", "contexts/stack-size:64"})
    sg::Engine::set_config(std::string(setting));
  Network network(platform, scripts);
  std::deque<Actor> actors;
  for (std::uint32_t id = 0; id < scripts.size(); ++id) {
    Actor& actor = actors.emplace_back(platform.parameters, scripts[id], id);
    if (scripts[id].after) actor.follow(actors.at(*scripts[id].after));
    sg::Actor::create("a" + std::to_string(id), network.host(scripts[id].rank), [&actor] { actor(); });
  }
  engine.run();
  if (!std::all_of(actors.begin(), actors.end(), [](const Actor& a) { return a.done(); })) return -1;
  return sg::Engine::get_clock();
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe(ends) != 0) throw std::runtime_error("no pipe for a simulation");
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
};

}  // namespace

double run(const Platform& platform, const std::vector<Script>& scripts) {
  Pipe channel;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process for a simulation");
  if (child == 0) {
    const double seconds = run_here(platform, scripts);
    const bool written = seconds >= 0 && write(channel.ends[1], &seconds, sizeof seconds) == sizeof seconds;
    _exit(written ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  double seconds = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
      read(channel.ends[0], &seconds, sizeof seconds) != sizeof seconds)
    throw std::runtime_error("the simulation did not come to its end");
  return seconds;
}

}  // namespace detccl::simulate
