// Synchronous data-parallel training: each device has a copy of the model and learns from its part
// of the batch; the mean of all gradients moves all copies alike (OSDI paper 4.4).
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

  /// Its part of the batch: the first axis is cut into as many equal parts as there are replicas,
  /// by the processor of the task. A step fails where that cannot be.
  edge part_of(edge batch, std::source_location where = std::source_location::current()) const;

private:
  std::string device_;
  int index_, count_;
};

/// Builds the model for one replica and returns its loss, the mean over its part of the batch.
/// Nodes and variables that it makes are the replica's own; it must make the same each time.
using replica_model = std::function<edge(const replica&)>;

/// Makes an optimizer, such as `[] { return std::make_unique<adam>(0.01); }`: once for each
/// replica, in their order.
using optimizer_maker = std::function<std::unique_ptr<optimizer>()>;

struct data_parallel_options {
  /// Changes the mean gradients of a replica before they are applied, such as by clipping. Must do
  /// the same for each.
  std::function<std::vector<variable_gradient>(const std::vector<variable_gradient>&)> change = {};
  /// Adds what a replica does behind its updates in each step, such as counting, and returns the
  /// last node of that. Must do the same for each.
  std::function<node*(const replica&, node* updated)> behind = {};
  /// Gradients of one type and of known shapes are exchanged together, up to so many bytes at once,
  /// those of the last variables first, which are known first; larger ones on their own. 0: each on
  /// its own. Must not be negative. Unless it is said: 4 MiB on GPUs, 1 MiB on processors of
  /// several tasks, and 64 KiB on those of one, where the copies that it takes soon cost more than
  /// they save.
  std::optional<int64_t> bucket_bytes = {};
};

namespace detail {
class data_parallel_builder;
}

/// A step among replicas.
struct data_parallel_step {
  /// Takes one step on all of them. A step that fails before all gradients have been added up
  /// changes no replica.
  node* train = nullptr;
  /// Gives all of them the variables of the first, slots of optimizers included.
  node* synchronize = nullptr;
  edge loss; ///< the mean of theirs
};

/// What was built.
struct TROUPE_API data_parallel_training {
  /// Takes one step on all devices. A step that fails before all gradients have been added up
  /// changes no replica.
  node* train = nullptr;
  /// Gives all replicas the variables of the first, slots of optimizers included: to be run when
  /// these were initialized or restored, before the first step.
  node* synchronize = nullptr;
  edge loss; ///< of the whole batch: the mean of those of the replicas
  /// Of each replica, in the same order; those of optimizers come last.
  std::vector<std::vector<variable_handle>> variables;
  std::vector<std::shared_ptr<optimizer>> optimizers; ///< of each replica

  /// The same among the replicas on these devices, named as when they were built: those whose tasks
  /// are there. Gradients and the loss are the means of theirs, and the parts of the batch that
  /// others would have learned from are left out. `synchronize` takes the variables of the first
  /// device that is named here. To be run before the first such step: of a step that failed, some
  /// may have applied the gradients and some not; a task that was started anew has no variables.
  /// Adds nodes the first time that it is asked for these: no step may be prepared meanwhile.
  /// Throws troupe::error where there is no such replica, and where models exchange tensors
  /// themselves.
  ///
  ///     auto rest = training.among({"/job:worker/task:0/cpu:0", "/job:worker/task:2/cpu:0"});
  ///     s.run(rest.synchronize);
  ///     s.run({{images, batch}, {labels, digits}}, {rest.loss}, {rest.train});
  data_parallel_step among(const std::vector<std::string>& devices,
                           std::source_location where = std::source_location::current()) const;

private:
  friend data_parallel_training train_data_parallel(graph_builder&, const std::vector<std::string>&,
                                                    const replica_model&, const optimizer_maker&,
                                                    const data_parallel_options&,
                                                    std::source_location);
  std::shared_ptr<detail::data_parallel_builder> builder_ = {};
};

/// Builds one replica on each device, in a scope "replica_<n>", and what keeps them alike. The
/// devices are all GPUs or all processors, of one task or several. For equal parts, steps are those
/// of one device with the whole batch, up to the rounding of sums. Throws troupe::error: where the
/// model makes different variables for two devices, or uses those of another.
///
///     auto training = train_data_parallel(
///         g, {"/gpu:0", "/gpu:1"},
///         [&](const replica& at) {
///           return softmax_loss(dense(g, at.part_of(images), 10), at.part_of(labels));
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
