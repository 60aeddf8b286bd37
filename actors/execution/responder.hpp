// The actor of state that steps wait for (runtime/state/responder.hpp): a queue, an accumulator, a
// barrier. Its callers are regions.
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

/// How a responder is used.
struct responder_numbers {
  int64_t size = -1; ///< negative where it does not count what it holds
  int64_t puts_waiting = 0, takes_waiting = 0;
  responder_usage usage = {};
};

/// A responder among the state of a task. Its actor goes with it.
class responder_state final : public named_state {
public:
  /// `maker` is a node whose op makes a responder; fails where its attributes contradict each
  /// other.
  static result<std::shared_ptr<responder_state>> declare(const node& maker, std::string name);
  ~responder_state() override;

  std::string_view kind() const noexcept override { return machine_->kind(); }
  status declare_again(const named_state& other) override;
  result<tensor> read() const override;
  /// Drops what it holds, gives up what waits, and opens it again.
  void clear() override;
  state_info describe() const override;
  responder_numbers numbers() const;

  /// The actor, an inline one, which understands ask, ask_source, wait_answer, errand_ended,
  /// step_ended and responder_reset; made at the first call. `input` does what it wants of files.
  /// After an exit message it answers all questions with `cancelled`.
  caf::actor actor(caf::actor_system& system, const std::shared_ptr<input_threads>& input);

private:
  explicit responder_state(std::unique_ptr<responder> machine);

  mutable std::mutex mutex_;
  const std::shared_ptr<responder> machine_; // the actor's
  caf::actor actor_;
};

} // namespace troupe
