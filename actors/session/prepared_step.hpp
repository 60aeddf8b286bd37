// A kind of step after compilation by the master: its participants, feeds and fetches.
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/step_gate.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/cluster/registration.hpp"

#include <span>

namespace troupe {

struct prepare_request;

/// The part of a step that runs on one task.
struct participant {
  task_name task;
  register_request partitions;       ///< to register at a worker in this process, once
  wire_registration graphs;          ///< to register at another process, also after its restart
  std::vector<uint32_t> feeds = {};  ///< indices of the step's feeds that the part needs
  std::vector<size_t> partners = {}; ///< other participants that it exchanges tensors with
  bool has_state = false;            ///< the part uses variables, queues or tables
  bool is_movable = false;           ///< the part has no state, and no node names the task
  // Known once registered:
  caf::actor worker = {};
  uint64_t incarnation = 0; ///< 0 in this process
  uint64_t handle = 0;
};

/// Immutable after preparation, except for `gate` and for what the master sets when it registers
/// the step again.
class prepared_step : public std::enable_shared_from_this<prepared_step> {
public:
  prepared_step(std::vector<participant> parts_by_task, step_interface interface,
                size_t max_concurrent = 0);
  prepared_step(const prepared_step&) = delete;
  prepared_step& operator=(const prepared_step&) = delete;
  ~prepared_step(); ///< tells the workers to forget their parts

  const step_interface interface;
  step_gate gate; ///< each run passes it
  /// Set if the whole step runs in this process: the caller drives it without the master.
  std::shared_ptr<task_program> local;

  // Used by the master only:
  std::vector<participant> participants;
  registration registration_state;
  /// The attempt of `registration_state` for which a run has reported state_holders() last.
  uint64_t reported_attempt = 0;
  /// Returns the tasks on which the step uses state.
  std::vector<known_peer> state_holders() const;
  /// The request to prepare it again, if parts of it may run on other tasks; else null.
  std::shared_ptr<const prepare_request> request;
  /// Replaces the step in all runs that begin from now on, because a task was lost. The gate of the
  /// replacement is not used.
  std::shared_ptr<prepared_step> replacement;
};

/// Returns the step itself, or its last replacement.
std::shared_ptr<prepared_step> current(std::shared_ptr<prepared_step> step);

/// Returns the error of a step that waited at the gate until its deadline.
status queue_timeout(const step_gate& gate);

} // namespace troupe
