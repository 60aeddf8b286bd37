// Synchronizes the replicas of a model: they wait for the next global step, or for slower replicas
// (white paper 7, Figure 7; OSDI 4.4, Figure 4; bounded staleness: Ho et al. 2013).
#pragma once
#include "troupe/runtime/state/waitable_resource.hpp"

#include <deque>
#include <map>

namespace troupe {

/// Serves two kinds of training. Synchronous: one step that all replicas are at, set by the chief.
/// Asynchronous: the number of steps that each joined replica has done. It does not detect
/// failures: the programs that drive the replicas call join() and leave().
class replica_clock final : public waitable_resource {
public:
  replica_clock(std::string name, int64_t replicas)
      : waitable_resource(std::move(name)), replicas_(replicas) {}

  /// Sets the step of all replicas, at least 0; it may be lower than before. Answers the requests
  /// that wait for another step than they know.
  void set_step(request_id request, int64_t step, answers& done);
  /// Waits until a step is set that differs from `known_step`, and returns it.
  void await_step(request_id request, int64_t known_step, answers& done);
  /// -1 until the first step is set.
  int64_t step() const noexcept { return step_; }

  /// Adds a replica, at the step of the slowest. A replica that has joined already keeps its step.
  void join(request_id request, int64_t replica, answers& done);
  /// Removes a replica: no other replica waits for it any more. -1 removes all replicas.
  void leave(request_id request, int64_t replica, answers& done);
  /// Counts a step of a replica, after a join() if necessary, and waits until the replica is at
  /// most `lead` steps ahead of the slowest. Returns the number of its steps.
  void tick(request_id request, int64_t replica, int64_t lead, answers& done);

  std::string_view kind() const noexcept override { return "replica clock"; }
  status declare_again(const waitable_resource& other) const override;
  /// The steps of cancelled requests stay counted.
  void cancel(const request_filter& selected, const status& reason, answers& done) override;
  void end_step(step_id, bool, answers&) override {}
  void reset(const status& reason, answers& done) override;
  std::string describe() const override;
  /// Number of replicas that have joined.
  int64_t size() const noexcept override { return static_cast<int64_t>(steps_.size()); }

private:
  struct pending {
    request_id id;
    int64_t replica = -1; // the replica that has ticked; -1: waits for another step than `limit`
    int64_t limit = 0;    // of a replica: the maximum of its lead
  };

  bool is_valid(request_id request, int64_t replica, answers& done) const;
  int64_t slowest() const;
  void serve(answers& done);

  const int64_t replicas_;
  int64_t step_ = -1;
  std::map<int64_t, int64_t> steps_; // by replica
  std::deque<pending> waiting_;
};

} // namespace troupe
