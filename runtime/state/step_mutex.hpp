// A lock that a step holds across its nodes, and lets go of when it ends, however it ends.
#pragma once
#include "troupe/runtime/state/responder.hpp"

#include <deque>
#include <optional>

namespace troupe {

/// Given in the order of arrival, until the step has ended on all its tasks, or fails. A step that
/// asks again while it holds the lock gets it again.
class step_mutex final : public responder {
public:
  explicit step_mutex(std::string name) : responder(std::move(name)) {}

  void lock(request_id who, answers& done);
  /// Lets go before the step's end; fails with failed_precondition for a step that does not hold
  /// it.
  void unlock(request_id who, answers& done);

  std::string_view kind() const noexcept override { return "mutex"; }
  status declare_again(const responder&) const override { return {}; }
  void cancel(const which_requests& which, const status& why, answers& done) override;
  /// What the lock keeps others from may be on another task.
  bool holds_for(step_id step) const override { return holder_ == step; }
  void settle(step_id step, bool failed, answers& done) override;
  /// A step that holds it has failed from now on: it no longer keeps others out.
  void reset(const status& why, answers& done) override;
  std::string describe() const override;

private:
  struct pending {
    request_id who;
  };

  void pass_on(answers& done);

  std::optional<step_id> holder_;
  int64_t depth_ = 0; // of the holder's locks
  std::deque<pending> waiting_;
};

} // namespace troupe
