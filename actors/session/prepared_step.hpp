// A kind of step after the master has compiled it: who takes part, and where feeds and fetches go.
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/step_gate.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/cluster/registration.hpp"

#include <span>

namespace troupe {

struct prepare_request;

/// One task's part in a step.
struct participant {
  task_name task;
  register_request partitions;       ///< where its worker is in this process, once
  wire_registration graphs;          ///< else: to register them, also after a restart of the task
  std::vector<uint32_t> feeds = {};  ///< which of the step's feeds it needs
  std::vector<size_t> partners = {}; ///< other participants that it exchanges tensors with
  bool has_state = false;            ///< its part uses variables, queues or tables
  bool may_leave = false;            ///< it has none there, and no node names the task
  // Known once registered:
  caf::actor worker = {};
  uint64_t incarnation = 0; ///< 0 in this process
  uint64_t handle = 0;
};

/// Immutable once prepared, except for `gate`, and for what its master changes when it registers it
/// again.
class prepared_step : public std::enable_shared_from_this<prepared_step> {
public:
  prepared_step(std::vector<participant> all, step_interface interface, size_t max_concurrent = 0);
  prepared_step(const prepared_step&) = delete;
  prepared_step& operator=(const prepared_step&) = delete;
  ~prepared_step(); ///< tells the workers that they may forget their parts

  const step_interface outside;
  step_gate gate; ///< whoever runs it goes through here
  /// All of it runs in this process: the caller drives it, and the master is off its path.
  std::shared_ptr<task_program> local;

  // The master's alone:
  std::vector<participant> participants;
  registration parts;
  uint64_t told_attempt = 0; ///< of parts, when a run has told who holds state
  /// Tasks on which it uses state.
  std::vector<known_peer> held() const;
  /// What it was prepared from, where parts of it may run on other tasks.
  std::shared_ptr<const prepare_request> again;
  /// Takes its place for all runs that begin from now on: a task was lost. Its gate is not used.
  std::shared_ptr<prepared_step> moved;
};

/// The step itself, or what has taken its place.
std::shared_ptr<prepared_step> current(std::shared_ptr<prepared_step> of);

/// The error of a step whose time was over before it was let in.
status waited_in_line(const step_gate& gate);

} // namespace troupe
