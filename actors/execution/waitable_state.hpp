// The actor of state that steps wait for (runtime/state/waitable_resource.hpp), such as a queue, an
// accumulator or a barrier. Its requests come from regions.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/state/usage_meter.hpp"
#include "troupe/runtime/state/variable.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <caf/actor.hpp>

#include <memory>
#include <mutex>

namespace troupe {

class file_threads;

/// Statistics of a waitable resource.
struct waitable_stats {
  int64_t size = -1; ///< number of elements; negative if it is not counted
  int64_t puts_waiting = 0, takes_waiting = 0;
  resource_usage usage = {};
};

/// A waitable resource as named state of a task. Its actor ends with it.
class waitable_state final : public named_state {
public:
  /// `maker` is a node whose op makes a waitable resource. Fails if its attributes contradict each
  /// other.
  static result<std::shared_ptr<waitable_state>> declare(const node& maker, std::string name);
  ~waitable_state() override;

  std::string_view kind() const noexcept override { return machine_->kind(); }
  status declare_again(const named_state& other) override;
  result<tensor> read() const override;
  /// Drops the elements, fails all waits, and reopens the waitable resource.
  void clear() override;
  state_info describe() const override;
  waitable_stats numbers() const;

  /// Returns the actor, an inline one that handles wait_request, source_request, wait_answer,
  /// operation_ended, step_ended and waitable_reset. The first call spawns it. `files` runs its
  /// file accesses. An exit message ends it: it answers all requests with `cancelled`, those to
  /// come, too, and its monitors get the reason.
  caf::actor actor(caf::actor_system& system, const std::shared_ptr<file_threads>& files);

private:
  explicit waitable_state(std::unique_ptr<waitable_resource> machine);

  mutable std::mutex mutex_;
  const std::shared_ptr<waitable_resource> machine_; // shared with the actor
  caf::actor actor_;
};

} // namespace troupe
