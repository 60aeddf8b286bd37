// The actor of state that steps wait for (runtime/state/responder.hpp), such as a queue, an
// accumulator or a barrier. Its requests come from regions.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/runtime/state/responder.hpp"
#include "troupe/runtime/state/usage_meter.hpp"
#include "troupe/runtime/state/variable.hpp"

#include <caf/actor.hpp>

#include <memory>
#include <mutex>

namespace troupe {

class input_threads;

/// Statistics of a responder.
struct responder_numbers {
  int64_t size = -1; ///< number of elements; negative if it is not counted
  int64_t puts_waiting = 0, takes_waiting = 0;
  responder_usage usage = {};
};

/// A responder as named state of a task. Its actor ends with it.
class responder_state final : public named_state {
public:
  /// `maker` is a node whose op makes a responder. Fails if its attributes contradict each other.
  static result<std::shared_ptr<responder_state>> declare(const node& maker, std::string name);
  ~responder_state() override;

  std::string_view kind() const noexcept override { return machine_->kind(); }
  status declare_again(const named_state& other) override;
  result<tensor> read() const override;
  /// Drops the elements, fails all waits, and reopens the responder.
  void clear() override;
  state_info describe() const override;
  responder_numbers numbers() const;

  /// Returns the actor, an inline one that handles ask, ask_source, wait_answer, errand_ended,
  /// step_ended and responder_reset. The first call spawns it. `input` runs its file accesses.
  /// After an exit message it answers all requests with `cancelled`.
  caf::actor actor(caf::actor_system& system, const std::shared_ptr<input_threads>& input);

private:
  explicit responder_state(std::unique_ptr<responder> machine);

  mutable std::mutex mutex_;
  const std::shared_ptr<responder> machine_; // shared with the actor
  caf::actor actor_;
};

} // namespace troupe
