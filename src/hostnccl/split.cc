// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hostnccl/bootstrap.h"
#include "hostnccl/creation.h"
#include "hostnccl/process.h"

namespace detccl::hostnccl {
namespace {

using Ranks = std::vector<std::uint32_t>;

/// A child to be made.
struct Plan {
  Communicator* parent = nullptr;
  Config config;
  ncclComm_t* comm = nullptr;
  bool despite_failure = false;
};

/// The members' order in the parent's ring, as child ranks.
Ring induced_ring(const Ring& parent_ring, const Ranks& members) {
  Ring ring;
  for (const std::uint32_t rank : parent_ring) {
    const auto member = std::find(members.begin(), members.end(), rank);
    if (member != members.end()) ring.push_back(static_cast<std::uint32_t>(member - members.begin()));
  }
  return ring;
}

/// `members`: parent ranks in the order of the child's.
void make_child(const Plan& plan, const Ranks& members) {
  Communicator& parent = *plan.parent;
  const auto own = std::find(members.begin(), members.end(), parent.rank());
  Communicator::Identity identity = parent.identity();
  identity.rank = static_cast<std::uint32_t>(own - members.begin());
  identity.size = static_cast<std::uint32_t>(members.size());
  identity.config = plan.config;

  std::string id;
  if (identity.rank == 0) {
    const ncclUniqueId made = process().roots.create();
    id.assign(made.internal, sizeof made.internal);
  }
  const auto ids = parent.control->gather(members, id, parent.patience(), plan.despite_failure);
  ncclUniqueId root{};
  if (ids.front().size() != sizeof root.internal)
    throw Error(ncclInternalError, "the child's first rank sent no id");
  std::copy(ids.front().begin(), ids.front().end(), root.internal);

  auto child = std::make_shared<Communicator>(std::move(identity));
  bootstrap(*child, decode(root), induced_ring(parent.ring, members), parent.patience());
  publish(plan.comm, process().registry.add(child));
}

/// Parent ranks of `color`, by key, then rank.
Ranks members_of(int color, const std::vector<std::string>& choices) {
  std::vector<std::pair<int, std::uint32_t>> found;
  for (std::uint32_t rank = 0; rank < choices.size(); ++rank) {
    Reader reader(choices[rank]);
    const int its_color = reader.get<int>();
    const int its_key = reader.get<int>();
    if (its_color == color) found.emplace_back(its_key, rank);
  }
  std::sort(found.begin(), found.end());
  Ranks members;
  for (const auto& [key, rank] : found)
    members.push_back(rank);
  return members;
}

void add_creation(Group& group, const std::shared_ptr<Communicator>& parent, ncclComm_t* comm,
                  const Config& config, std::function<void()> work) {
  publish(comm, nullptr);
  Creation creation;
  creation.carrier = parent;
  creation.work = std::move(work);
  creation.cancel = [comm] { publish(comm, nullptr); };
  creation.background = !config.blocking;
  group.add(std::move(creation));
}

Ranks everyone(std::uint32_t size) {
  Ranks ranks(size);
  for (std::uint32_t rank = 0; rank < size; ++rank)
    ranks[rank] = rank;
  return ranks;
}

}  // namespace

void split(Group& group, const std::shared_ptr<Communicator>& parent, int color, int key, ncclComm_t* comm,
           const ncclConfig_t* config) {
  parent->check_ready();
  if (comm == nullptr) throw Error(ncclInvalidArgument, "the pointer to the new communicator is NULL");
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR) {
    throw Error(ncclInvalidArgument,
                fmt::format("color {}: allowed is 0 or more, or NCCL_SPLIT_NOCOLOR", color));
  }
  const Plan plan{parent.get(), read_config(config, parent->identity().config), comm, false};
  add_creation(group, parent, comm, plan.config, [plan, color, key] {
    Communicator& from = *plan.parent;
    const std::string choice = Writer().put(color).put(key).take();
    const auto choices = from.control->gather(everyone(from.size()), choice, from.patience());
    if (color != NCCL_SPLIT_NOCOLOR) make_child(plan, members_of(color, choices));
  });
}

void shrink(Group& group, const std::shared_ptr<Communicator>& parent, std::span<const int> excluded,
            ncclComm_t* comm, const ncclConfig_t* config, int flags) {
  if (flags != NCCL_SHRINK_DEFAULT && flags != NCCL_SHRINK_ABORT) {
    throw Error(ncclInvalidArgument, fmt::format("shrink flags {}: there are NCCL_SHRINK_DEFAULT and "
                                                 "NCCL_SHRINK_ABORT",
                                                 flags));
  }
  if (flags == NCCL_SHRINK_DEFAULT) parent->check_ready();
  if (parent->result() == ncclInProgress || parent->control == nullptr) {
    throw Error(ncclInvalidArgument, "the communicator is not, or never was, ready");
  }
  if (comm == nullptr) throw Error(ncclInvalidArgument, "the pointer to the new communicator is NULL");
  if (excluded.empty()) throw Error(ncclInvalidArgument, "no ranks are excluded");
  Ranks members = everyone(parent->size());
  for (const int rank : excluded) {
    const auto found = std::find(members.begin(), members.end(), static_cast<std::uint32_t>(rank));
    if (found == members.end()) {
      throw Error(ncclInvalidArgument,
                  fmt::format("the list of excluded ranks names {}, which is out of range or "
                              "there twice",
                              rank));
    }
    members.erase(found);
    if (static_cast<std::uint32_t>(rank) == parent->rank()) {
      throw Error(ncclInvalidArgument, "an excluded rank must not call ncclCommShrink");
    }
  }
  const Plan plan{parent.get(), read_config(config, parent->identity().config), comm,
                  flags == NCCL_SHRINK_ABORT};
  add_creation(group, parent, comm, plan.config, [plan, members] {
    Communicator& from = *plan.parent;
    if (plan.despite_failure) {
      from.revoked = true;  // ends what another thread has under way
      const std::lock_guard use(from.use);
    }
    make_child(plan, members);
  });
}

}  // namespace detccl::hostnccl
