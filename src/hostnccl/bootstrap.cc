// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/bootstrap.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "transport/ucx/ucx_exchange.h"

namespace detccl::hostnccl {
namespace {

using transport::UcxWorker;

constexpr std::string_view kVersion = DETCCL_VERSION;

/// What a rank tells all others: how to reach it, or why it cannot take part.
struct Card {
  std::string version;
  std::string problem;
  std::string address;
  Ring ring;

  std::string write() const {
    Writer writer;
    writer.put(version).put(problem).put(address).put(static_cast<std::uint32_t>(ring.size()));
    for (const std::uint32_t rank : ring)
      writer.put(rank);
    return writer.take();
  }
  static Card read(const std::string& blob) {
    Reader reader(blob);
    Card card;
    card.version = reader.bytes();
    card.problem = reader.bytes();
    card.address = reader.bytes();
    card.ring.resize(reader.get<std::uint32_t>());
    for (std::uint32_t& rank : card.ring)
      rank = reader.get<std::uint32_t>();
    return card;
  }
};

/// The addresses of all ranks; throws when one of them does not fit.
std::vector<std::string> check(const std::vector<std::string>& blobs, const Ring& ring) {
  std::vector<std::string> addresses;
  for (std::size_t rank = 0; rank < blobs.size(); ++rank) {
    Card card = Card::read(blobs[rank]);
    if (card.version != kVersion) {
      throw Error(ncclInvalidUsage, fmt::format("rank {} uses version {} of this library, others {}", rank,
                                                card.version, kVersion));
    }
    if (!card.problem.empty()) throw Error(ncclRemoteError, fmt::format("rank {}: {}", rank, card.problem));
    if (card.ring != ring) {
      throw Error(ncclInvalidUsage,
                  fmt::format("the ranks disagree on HOSTNCCL_PLACEMENT: rank {} has {}, this one {}", rank,
                              fmt::join(card.ring, ","), fmt::join(ring, ",")));
    }
    addresses.push_back(std::move(card.address));
  }
  return addresses;
}

}  // namespace

void bootstrap(Communicator& communicator, const RootAddress& root, const Ring& ring,
               const Patience& patience) {
  std::unique_lock use(communicator.use);
  Card card{std::string(kVersion), {}, {}, ring};
  std::unique_ptr<UcxWorker> worker;
  try {
    worker = std::make_unique<UcxWorker>();
    card.address = worker->address();
  } catch (const std::runtime_error& error) {
    card.problem = error.what();  // the others wait for this rank: they are to know
  }
  std::vector<std::string> blobs;
  auto control = std::make_unique<ControlLine>(root, communicator.size(), communicator.rank(), card.write(),
                                               patience, blobs);
  if (worker == nullptr) throw Error(ncclSystemError, card.problem);
  std::vector<std::string> addresses;
  try {
    addresses = check(blobs, ring);
  } catch (const Error&) {
    control->goodbye();  // all ranks find the same: none is to be taken for dead
    throw;
  }
  communicator.exchange = UcxWorker::connect(std::move(worker), communicator.rank(), std::move(addresses));
  communicator.control = std::move(control);
  communicator.ring = ring;
  communicator.profiler.begin(root.magic[0], communicator.rank(), communicator.size());
  use.unlock();  // whoever sees it ready may use it at once
  communicator.set_ready();
}

}  // namespace detccl::hostnccl
