// The actor of one queue: a fifo_queue (runtime/state/queue.hpp) whose callers are regions.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/state/queue.hpp"
#include "troupe/runtime/state/variable.hpp"
#include "troupe/runtime/types/status.hpp"

#include <caf/actor.hpp>

#include <mutex>

namespace troupe {

/// What a node takes out of its queue.
enum class taking : uint8_t { none, element, batch };
taking elements_taken(const node& origin);

/// A queue among the state of a task. Its actor goes with it.
class queue_state final : public named_state {
public:
  /// `maker` is a FIFOQueue node; fails where its attributes contradict each other.
  static result<std::shared_ptr<queue_state>> declare(const node& maker, std::string name);
  ~queue_state() override;

  std::string_view kind() const noexcept override { return "queue"; }
  status declare_again(const named_state& other) override;
  result<tensor> read() const override;
  /// Drops its elements, gives up what waits, and opens it again.
  void clear() override;

  /// The actor, which understands queue_wait, queue_cancel, queue_return and queue_reset; made at
  /// the first call.
  caf::actor actor(caf::actor_system& system);

private:
  queue_state(std::string name, queue_options options);

  const queue_options options_;
  std::mutex mutex_;
  caf::actor actor_;
};

} // namespace troupe
