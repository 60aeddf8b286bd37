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

/// The gate of a step -> master: the run may begin. No answer.
struct gate_opened {
  std::shared_ptr<running_step> run;
};

/// Part of a master, on its thread.
class step_runner {
public:
  step_runner(caf::event_based_actor* self, deadlines& due, registrar& step_registrar,
              uint64_t session)
      : self_(self), due_(due), registrar_(step_registrar), session_(session) {}

  /// Runs a step and answers at its end. The step waits at its gate if necessary.
  caf::result<step_outcome> run(const step_request& request);
  /// Continues a step that its gate has admitted.
  void enter(const gate_opened& opened);
  /// Called when the connection to a task has ended: the task gives back what it held for running
  /// steps.
  void lose(const task_name& task, const status& why);
  /// A task that steps of one initialization have initialized, or have tried to.
  struct initialized_task {
    caf::actor worker;
    uint64_t incarnation = 0;
    bool restarted = false; ///< since the first of the steps, whose values it has lost
  };
  /// Removes and returns the tasks of an initialization, without those that another initialization
  /// uses as well.
  std::map<task_name, initialized_task> take_initialized(uint64_t initialization);
  /// Answers all running steps with the error `why`.
  void close(const status& why);

private:
  using running_ptr = std::shared_ptr<running_step>;

  void note_initialized(uint64_t initialization, const participant& part);
  void register_and_start(const running_ptr& run);
  void start(const running_ptr& run);
  void take_answer(const running_ptr& run, size_t from, step_result& answer);
  void follow(const running_ptr& run, distributed_step::next action);
  void cancel(const running_ptr& run);
  void settle(const running_ptr& run);
  void give_back(const running_ptr& run);
  void stop(const running_ptr& run);
  void handle_deadline(const running_ptr& run);
  void finish(const running_ptr& run, status outcome);
  void note_reported_tasks(const running_step& run, const status& outcome);

  caf::event_based_actor* self_;
  deadlines& due_;
  registrar& registrar_;
  const uint64_t session_;
  uint64_t last_sequence_ = 0, next_number_ = 0;
  // By the number of the initialization.
  std::map<uint64_t, std::map<task_name, initialized_task>> initialized_;
  std::map<uint64_t, running_ptr> running_; // in the order of arrival
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::gate_opened)
