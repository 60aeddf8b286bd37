// Synchronous data-parallel training: each device has a copy of the model and computes the
// gradients of its part of the batch. The mean of all gradients updates all copies alike (OSDI
// paper 4.4).
#pragma once
#include "troupe/api/train/optimizers/optimizer.hpp"
#include "troupe/runtime/export.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// One copy of a model, while it is built.
class TROUPE_API replica {
public:
  replica(std::string device, int index, int count) noexcept
      : device_(std::move(device)), index_(index), count_(count) {}

  const std::string& device() const noexcept { return device_; }
  int index() const noexcept { return index_; }
  int count() const noexcept { return count_; }

  /// Returns the replica's slice of the batch. The processor of the task cuts the first axis into
  /// as many equal slices as there are replicas. A step fails if the axis cannot be cut equally.
  edge slice_of(edge batch, std::source_location where = std::source_location::current()) const;

private:
  std::string device_;
  int index_, count_;
};

/// Builds the model for one replica and returns its loss, the mean over its part of the batch. The
/// nodes and variables that it adds belong to the replica. It must build the same model in each
/// call.
using replica_model = std::function<edge(const replica&)>;

/// Creates an optimizer, such as `[] { return std::make_unique<adam>(0.01); }`. Called once for
/// each replica, in their order.
using optimizer_maker = std::function<std::unique_ptr<optimizer>()>;

struct data_parallel_options {
  /// Transforms the mean gradients of a replica before they are applied, for instance by clipping.
  /// Must do the same for each replica.
  std::function<std::vector<variable_gradient>(const std::vector<variable_gradient>&)>
      transform_gradients = {};
  /// Adds nodes that a replica runs after its updates in each step, such as counting, and returns
  /// the last of them. Must do the same for each replica.
  std::function<node*(const replica&, node* updated)> after_update = {};
  /// Gradients of one type and of known shapes are exchanged in buckets of up to this many bytes,
  /// beginning with those of the last variables, which are computed first. Larger gradients are
  /// exchanged separately. 0: no buckets. Must not be negative. Default: 4 MiB on GPUs, 1 MiB on
  /// processors of several tasks, and 64 KiB on those of one task, where larger buckets cost more
  /// for copying than they save.
  std::optional<int64_t> bucket_bytes = {};
};

namespace detail {
class data_parallel_builder;
}

/// A training step of some of the replicas.
struct data_parallel_step {
  /// Takes one step on these replicas. A step that fails before all gradients have been summed
  /// changes no replica.
  node* train = nullptr;
  /// Copies the variables of the first replica to the others, including slots of optimizers.
  node* synchronize = nullptr;
  edge loss; ///< the mean of the losses of these replicas
};

/// The result of train_data_parallel().
struct TROUPE_API data_parallel_training {
  /// Takes one step on all devices. A step that fails before all gradients have been summed changes
  /// no replica.
  node* train = nullptr;
  /// Copies the variables of the first replica to the others, including slots of optimizers. Run it
  /// after these were initialized or restored, before the first step.
  node* synchronize = nullptr;
  edge loss; ///< of the whole batch: the mean of the replicas' losses
  /// Of each replica, in the same order; variables of optimizers come last.
  std::vector<std::vector<variable_handle>> variables;
  std::vector<std::shared_ptr<optimizer>> optimizers; ///< of each replica

  /// Returns a step of the replicas on these devices only: those whose tasks are available. Devices
  /// are named as when the replicas were built.
  ///
  /// - Gradients and the loss are the means over these replicas. The parts of the batch of the
  /// other replicas are left out.
  /// - `synchronize` copies the variables of the first device that is named here. Run it before the
  /// first such step: after a failed step, some replicas may have applied the gradients and others
  /// not, and a restarted task has no variables.
  /// - The first call for a set of devices adds nodes: no step may be prepared meanwhile.
  ///
  /// Throws troupe::error if there is no such replica, and if the models exchange tensors
  /// themselves.
  ///
  ///     auto remaining = training.step_of({"/job:worker/task:0/cpu:0",
  ///                                        "/job:worker/task:2/cpu:0"});
  ///     s.run(remaining.synchronize);
  ///     s.run({{images, batch}, {labels, digits}}, {remaining.loss}, {remaining.train});
  data_parallel_step step_of(const std::vector<std::string>& devices,
                             std::source_location where = std::source_location::current()) const;

private:
  friend data_parallel_training train_data_parallel(graph_builder&, const std::vector<std::string>&,
                                                    const replica_model&, const optimizer_maker&,
                                                    const data_parallel_options&,
                                                    std::source_location);
  std::shared_ptr<detail::data_parallel_builder> builder_ = {};
};

/// Builds one replica on each device, in a scope "replica_<n>", and the nodes that keep the
/// replicas equal. The devices are all GPUs or all processors, of one task or several. For equal
/// parts, steps equal those of one device with the whole batch, up to the rounding of sums. Throws
/// troupe::error if the model creates different variables for two devices, or uses those of another
/// device.
///
///     auto training = train_data_parallel(
///         g, {"/gpu:0", "/gpu:1"},
///         [&](const replica& at) {
///           return softmax_loss(dense(g, at.slice_of(images), 10), at.slice_of(labels));
///         },
///         [] { return std::make_unique<momentum>(0.1); });
///     s.run(g.initializer());
///     s.run(training.synchronize);
///     s.run({{images, batch}, {labels, digits}}, {training.loss}, {training.train});
TROUPE_API data_parallel_training train_data_parallel(
    graph_builder& in, const std::vector<std::string>& devices, const replica_model& model,
    const optimizer_maker& make_optimizer, const data_parallel_options& options = {},
    std::source_location where = std::source_location::current());

} // namespace troupe
