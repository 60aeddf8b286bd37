// Runs steps that no thread of this process drives: the shell of a distributed step
// (runtime/cluster/distributed_step.hpp).
#pragma once
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/session/registrar.hpp"
#include "troupe/runtime/cluster/distributed_step.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>

#include <map>

namespace troupe {

struct running_step;

/// A step's gate -> master: it is that run's turn. No answer.
struct turn_came {
  std::shared_ptr<running_step> run;
};

/// Part of a master, on its thread.
class step_runner {
public:
  step_runner(caf::event_based_actor* self, deadlines& due, registrar& registers, uint64_t session)
      : self_(self), due_(due), registers_(registers), session_(session) {}

  caf::result<step_outcome> run(const step_request& what);
  void enter(const turn_came& what);
  /// The connection to a task has ended: what it held for steps that still run has gone back.
  void lose(const task_name& task, const status& why);
  /// A task that steps of one number have filled, or were to.
  struct filled {
    caf::actor worker;
    uint64_t incarnation = 0;
    bool restarted = false; ///< since the first of them: it lacks what they did before
  };
  /// All of that number, once; without those that steps of another number fill as well.
  std::map<task_name, filled> take_filled(uint64_t fill);
  /// Answers all steps that run.
  void close(const status& why);

private:
  using running_ptr = std::shared_ptr<running_step>;

  void note_filled(uint64_t fill, const participant& on);
  void register_and_start(const running_ptr& run);
  void start(const running_ptr& run);
  void answer(const running_ptr& run, size_t from, step_result& what);
  void follow(const running_ptr& run, distributed_step::next what);
  void cancel(const running_ptr& run);
  void settle(const running_ptr& run);
  void take_back(const running_ptr& run);
  void stop(const running_ptr& run);
  void be_overdue(const running_ptr& run);
  void finish(const running_ptr& run, status outcome);
  void note_told(const running_step& run, const status& outcome);

  caf::event_based_actor* self_;
  deadlines& due_;
  registrar& registers_;
  const uint64_t session_;
  uint64_t begun_ = 0, came_ = 0;
  std::map<uint64_t, std::map<task_name, filled>> filled_; // by number
  std::map<uint64_t, running_ptr> running_;                // in the order in which they came
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::turn_came)
