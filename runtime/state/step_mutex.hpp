// A mutex that a step holds across nodes, and releases at its end.
#pragma once
#include "troupe/runtime/state/waitable_resource.hpp"

#include <deque>
#include <optional>

namespace troupe {

/// Granted in the order of arrival, and held until the step has ended on all its tasks, or fails. A
/// step that holds the mutex can lock it again (recursive).
class step_mutex final : public waitable_resource {
public:
  explicit step_mutex(std::string name) : waitable_resource(std::move(name)) {}

  void lock(request_id request, answers& done);
  /// Releases the mutex before the step's end; fails with failed_precondition if the step does not
  /// hold it.
  void unlock(request_id request, answers& done);

  std::string_view kind() const noexcept override { return "mutex"; }
  status declare_again(const waitable_resource&) const override { return {}; }
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  /// True for the holder, since the mutex may protect state on another task.
  bool holds_for(step_id step) const override { return holder_ == step; }
  void end_step(step_id step, bool failed, answers& done) override;
  /// The step that holds the mutex has failed by now: it no longer excludes others.
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;

private:
  struct pending {
    request_id id;
  };

  void grant_next(answers& done);

  std::optional<step_id> holder_;
  int64_t depth_ = 0; // number of locks by the holder
  std::deque<pending> waiting_;
};

} // namespace troupe
