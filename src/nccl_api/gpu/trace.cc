// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <utility>

#include "engine/cuda/order.h"
#include "nccl_api/communicator.h"
#include "nccl_api/gpu/traced_device.h"
#include "nccl_api/gpu_tracing.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api::gpu {
namespace {

using engine::cuda::check;
using recorder::SiteTable;

/// Records of one communicator are taken in the order of its operations, whatever streams they are on.
class Traced final : public GpuTraced {
 public:
  Traced(int device_number, TracedDevice& its_device, std::uint64_t its_number)
      : on(device_number), device(its_device), number(its_number) {}

  /// Sends to a peer, receives from it, and collectives are counted each on their own.
  std::uint64_t* counter(const trace::Record& record) {
    const int direction = record.kind == trace::Kind::send ? 1 : record.kind == trace::Kind::recv ? 2 : 0;
    const std::lock_guard lock(mutex_);
    std::uint64_t*& counter = counters_[{direction, direction == 0 ? 0 : record.peer}];
    if (counter == nullptr) counter = device.counter();
    return counter;
  }

  const int on;
  TracedDevice& device;
  const std::uint64_t number;
  engine::cuda::Order order;

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t*> counters_;
};

class Tracing final : public GpuTracing {
 public:
  explicit Tracing(recorder::Recorder& recorder) : recorder_(recorder) {}

  void prepare(Communicator& communicator) override {
    attempt([&] { static_cast<void>(traced(communicator)); });
  }

  std::optional<Operation> before(Communicator& communicator, recorder::Site site, const void* input,
                                  cudaStream_t stream, bool records) override {
    std::optional<Operation> operation;
    if (!attempt([&] { operation = begin(communicator, std::move(site), input, stream, records); }))
      recorder_.skip(1);
    return operation;
  }

  void after(const Operation& operation, const void* output) override {
    if (!attempt([&] { end(operation, output); })) recorder_.skip(1);
  }

  void close() override {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, device] : devices_)
      device->close();
  }

 private:
  /// Whether nothing went wrong; the first mishap is told.
  template <class Body>
  bool attempt(Body&& body) {
    try {
      body();
      return true;
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(failed_, true))
        log_line(LogLevel::error, std::string("trace: an operation is not recorded: ") + e.what());
      return false;
    }
  }

  /// What the communicator has, made at the first call.
  std::shared_ptr<Traced> traced(Communicator& communicator) {
    if (const auto known = communicator.gpu_traced()) return std::static_pointer_cast<Traced>(known);
    int number = 0;
    if (real().CommCuDevice(communicator.handle(), &number) != ncclSuccess)
      throw std::runtime_error("the communicator's device is not known");
    const std::lock_guard lock(mutex_);
    const engine::cuda::OnDevice guard(number);
    const engine::cuda::OutsideCapture outside;
    std::unique_ptr<TracedDevice>& device = devices_[number];
    if (device == nullptr) device = std::make_unique<TracedDevice>(recorder_);
    const auto made = std::make_shared<Traced>(number, *device, communicators_++);
    communicator.set_gpu_traced(made);
    return made;
  }

  std::optional<Operation> begin(Communicator& communicator, recorder::Site site, const void* input,
                                 cudaStream_t stream, bool records) {
    const std::shared_ptr<Traced> its = traced(communicator);
    const engine::cuda::OnDevice guard(its->on);
    const engine::cuda::CaptureId capture = engine::cuda::capture_of(stream);
    site.captured = capture != 0;
    site.communicator = its->number;
    if (site.captured) {
      site.record.flags |= trace::kGraph;
      site.record.start_ns = 0;  // it runs whenever the graph does
    }
    Operation operation{its, {}, stream, site.output_bytes, capture, its->counter(site.record), nullptr, {}};
    const recorder::cuda::Payload payload{input, site.input_bytes};
    const auto place = its->device.sites().add(std::move(site));
    if (!place) throw std::runtime_error("too many operations are under way, or captured");
    operation.place = *place;
    its->order.before(stream, capture);
    if (recorder_.options().detailed()) {
      const std::size_t wanted = recorder_.options().chunk_bytes;
      operation.details = its->device.details(place->accumulator, recorder::chunks_of(payload.bytes, wanted),
                                              recorder::chunks_of(operation.output_bytes, wanted));
      check(recorder::cuda::begin(operation.details, payload, stream), "the digests of chunks");
      return operation;
    }
    operation.accumulator = its->device.accumulator(place->accumulator);
    if (records) {
      its->device.sites().commit(place->site);  // its record may come before after()
      operation.recording = {its->device.ring(), place->site, operation.counter, operation.accumulator};
      return operation;
    }
    check(recorder::cuda::digest(payload, &operation.accumulator->input, stream), "a digest");
    return operation;
  }

  void end(const Operation& operation, const void* output) {
    Traced& its = static_cast<Traced&>(*operation.communicator);
    const engine::cuda::OnDevice guard(its.on);
    if (!operation.recording) record(its, operation, output);  // else its kernel does
    // Also the next input's digest waits for it: the input may be what comes out here.
    its.order.after(operation.stream, operation.capture);
  }

  void record(Traced& its, const Operation& operation, const void* output) {
    const recorder::cuda::Payload payload{output, operation.output_bytes};
    const std::uint64_t site = operation.place.site;
    its.order.before(operation.stream, operation.capture);
    its.device.sites().commit(site);
    if (recorder_.options().detailed()) {
      check(recorder::cuda::end({its.device.ring(), site, operation.counter, operation.details}, payload,
                                operation.stream),
            "a record");
    } else {
      check(recorder::cuda::record({its.device.ring(), site, operation.counter, operation.accumulator},
                                   payload, operation.stream),
            "a record");
    }
  }

  recorder::Recorder& recorder_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<TracedDevice>> devices_;
  std::uint64_t communicators_ = 0;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<GpuTracing> make_tracing(recorder::Recorder& recorder) {
  return std::make_unique<Tracing>(recorder);
}

}  // namespace detccl::nccl_api::gpu
