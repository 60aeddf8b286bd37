// What replicas of a model wait for: the next step of all, or those among them that are slow (white
// paper 7, Figure 7; OSDI 4.4, Figure 4; bounded staleness: Ho et al. 2013).
#pragma once
#include "troupe/runtime/state/responder.hpp"

#include <deque>
#include <map>

namespace troupe {

/// Has two faces. For synchronous training, one step that all are at, which their chief sets. For
/// asynchronous training, how many steps each living replica has done. It does not know who lives:
/// those that drive replicas say who joins and who leaves.
class replica_clock final : public responder {
public:
  replica_clock(std::string name, int64_t replicas)
      : responder(std::move(name)), replicas_(replicas) {}

  /// The step that all are at from now on, at least 0; it may be an earlier one. Those that wait
  /// for another step than they know are answered.
  void set_step(request_id who, int64_t step, answers& done);
  /// Waits until there is a step, and another than `known`; gives it.
  void await_step(request_id who, int64_t known, answers& done);
  /// -1 before the first was set.
  int64_t step() const noexcept { return step_; }

  /// Counts a replica among the living, beside the slowest of them. One that is there stays where
  /// it is.
  void join(request_id who, int64_t replica, answers& done);
  /// No replica waits for it any more, and it waits for none; -1: all of them.
  void leave(request_id who, int64_t replica, answers& done);
  /// Counts a step of a replica, which joins before where it is not there, and waits until it is no
  /// more than `lead` steps ahead of the slowest; gives its steps.
  void tick(request_id who, int64_t replica, int64_t lead, answers& done);

  std::string_view kind() const noexcept override { return "replica clock"; }
  status declare_again(const responder& other) const override;
  /// The steps of those that are given up stay counted.
  void cancel(const which_requests& which, const status& why, answers& done) override;
  void settle(step_id, bool, answers&) override {}
  void reset(const status& why, answers& done) override;
  std::string describe() const override;
  /// How many replicas live.
  int64_t size() const noexcept override { return static_cast<int64_t>(steps_.size()); }

private:
  struct pending {
    request_id who;
    int64_t replica = -1; // that has ticked; -1: waits for another step than `limit`
    int64_t limit = 0;    // else: how far it may be ahead
  };

  bool known(request_id who, int64_t replica, answers& done) const;
  int64_t slowest() const;
  void serve(answers& done);

  const int64_t replicas_;
  int64_t step_ = -1;
  std::map<int64_t, int64_t> steps_; // of the living
  std::deque<pending> waiting_;
};

} // namespace troupe
