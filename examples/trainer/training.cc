// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "digest.h"
#include "range_mark.h"

namespace trainer {
namespace {

constexpr std::size_t kTestImages = 297;  ///< the last ones; training sees the others

std::size_t train_images(const Digits& digits) {
  if (digits.count() <= kTestImages) throw std::runtime_error("too few images to train with");
  return digits.count() - kTestImages;
}

std::string checkpoint_path(std::string pattern, std::uint64_t step) {
  const std::string mark = "{step}";
  const std::size_t at = pattern.find(mark);
  return at == std::string::npos ? pattern : pattern.replace(at, mark.size(), std::to_string(step));
}

}  // namespace

Training::Training(Communicator& comm, const Options& options, const Digits& digits)
    : comm_(comm),
      options_(options),
      digits_(digits),
      train_images_(train_images(digits)),
      sampler_(options.seed, train_images_),
      model_(options.seed),
      exchange_(comm, options, parameter_count()),
      loss_(comm.device(), sizeof(double)),
      velocity_(parameter_count(), 0.0f),
      gradients_(parameter_count()) {
  if (!options.resume.empty()) resume();
}

void Training::resume() {
  State state{0, model_.parameters(), velocity_};
  if (comm_.rank() == 0) state = read_checkpoint(options_.resume, options_, comm_.ranks());
  broadcast(state.weights);
  broadcast(state.velocity);
  MPI_Bcast(&state.step, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (state.step >= options_.steps) {
    throw std::runtime_error("checkpoint '" + options_.resume + "' is at step " + std::to_string(state.step) +
                             ": nothing left of --steps " + std::to_string(options_.steps));
  }
  step_ = state.step;
  model_.parameters() = state.weights;
  velocity_ = state.velocity;
}

void Training::broadcast(std::vector<float>& values) {
  Buffer buffer(comm_.device(), values.size() * sizeof(float));
  buffer.upload(values.data(), values.size() * sizeof(float));
  comm_.broadcast(buffer.data(), values.size(), ncclFloat32, 0);
  comm_.wait();
  buffer.download(values.data(), values.size() * sizeof(float));
}

double Training::local_gradients() {
  std::fill(gradients_.begin(), gradients_.end(), 0.0f);
  const std::uint64_t batch = options_.batch;
  const std::uint64_t first =
      (step_ * static_cast<std::uint64_t>(comm_.ranks()) + static_cast<std::uint64_t>(comm_.rank())) * batch;
  double loss = 0.0;
  for (std::uint64_t i = 0; i < batch; ++i) {
    const std::size_t image = sampler_.image_at(first + i);
    loss += model_.add_gradient(digits_.image(image), digits_.labels[image], 1.0f / static_cast<float>(batch),
                                gradients_);
  }
  return loss / static_cast<double>(batch);
}

double Training::mean_over_ranks(double value) {
  loss_.upload(&value, sizeof value);
  comm_.all_reduce(loss_.data(), 1, ncclFloat64, ncclSum);
  comm_.wait();
  loss_.download(&value, sizeof value);
  return value / comm_.ranks();
}

void Training::run(const std::function<void(const Step&)>& on_step) {
  while (step_ < options_.steps) {
    const RangeMark step("step " + std::to_string(step_));
    const double loss = mean_over_ranks(local_gradients());
    {
      const RangeMark phase("gradients");
      exchange_.average(gradients_);
    }
    for (const Range& r : exchange_.owned())
      sgd(model_.parameters(), velocity_, gradients_, r.begin, r.end);
    {
      const RangeMark phase("weights");
      exchange_.share(model_.parameters());
    }
    ++step_;
    on_step({step_, loss, digest()});
    save_if_due();
  }
}

void Training::save_if_due() {
  const bool due =
      options_.checkpoint_every > 0 ? step_ % options_.checkpoint_every == 0 : step_ == options_.steps;
  if (options_.checkpoint.empty() || !due) return;
  check_agreement(digest());
  exchange_.share(velocity_);
  if (comm_.rank() != 0) return;
  write_checkpoint(checkpoint_path(options_.checkpoint, step_), options_, comm_.ranks(),
                   {step_, model_.parameters(), velocity_});
}

std::uint64_t Training::digest() const {
  return fnv1a(model_.parameters().data(), model_.parameters().size() * sizeof(float));
}

double Training::accuracy() {
  std::size_t right = 0;
  for (std::size_t i = train_images_; i < digits_.count(); ++i) {
    if (model_.classify(digits_.image(i)) == digits_.labels[i]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(digits_.count() - train_images_);
}

void check_agreement(std::uint64_t digest) {
  std::uint64_t root = digest;
  MPI_Bcast(&root, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  int differ = root != digest ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (differ > 0) throw std::runtime_error(std::to_string(differ) + " ranks hold other weights than rank 0");
}

}  // namespace trainer
