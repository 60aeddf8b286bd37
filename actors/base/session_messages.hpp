// What a session actor understands. Master and workers share some of it.
#pragma once
#include "troupe/runtime/cluster/fill_stage.hpp"
#include "troupe/runtime/cluster/known_peer.hpp"
#include "troupe/runtime/cluster/state_loss.hpp"
#include "troupe/runtime/cluster/task_survey.hpp"
#include "troupe/runtime/device/device_info.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/step_signature.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/insight/profile_options.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"
#include "troupe/runtime/state/state_info.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace troupe {

class prepared_step; // actors/session/client.hpp
struct step_graph;   // runtime/passes/extract.hpp

/// What goes into a step and comes out of it, in the signature's order. Knows nothing of the graph,
/// which may be gone while the step runs.
struct TROUPE_API step_interface {
  struct fed {
    std::string description; ///< of the node, for errors
    dtype type;
    partial_shape dims;
  };

  static step_interface of(const step_signature& signature);
  /// Says whether these values may be fed: as many, of these types and shapes.
  status check(std::span<const tensor> feeds) const;

  std::vector<fed> feeds;
  size_t fetches = 0;
  uint64_t graph = 0; ///< graph::id() of what it was prepared from
};

/// Client -> session -> master: compile a kind of step. Answered by std::shared_ptr<prepared_step>,
/// or an error that from_caf() (actors/base/errors.hpp) reads. Let go of it before its actor system
/// ends.
struct TROUPE_API prepare_request {
  std::shared_ptr<step_graph> of; ///< a copy of what the step needs, for the master alone
  step_interface outside;         ///< of the step
  step_clock::time_point deadline;
  bool low_priority = false;
  /// The last of the session's losses (restore_hooks::lose) that whoever asks has seen to; of later
  /// ones it waits to be told.
  uint64_t knows = 0;
  /// What somebody else has measured of its nodes, and means no other graph's.
  std::vector<node_time> costs = {};
  /// It is asked for again where it fails because of a task: its error may never be read.
  bool retried = false;
  /// Asked to stop, it is answered with `cancelled` soon.
  std::stop_token stop = {};

  /// Copies that part of the graph, on the caller's thread: a master that answers too late, and the
  /// step, read nothing of the caller's. Fails as extract() does.
  static result<prepare_request> make(const graph& of, const step_signature& signature,
                                      step_clock::time_point deadline);
};

/// Client -> session -> master: say where the nodes of a step would run, and why. Answered by
/// placement_report, or an error.
struct explain_request {
  prepare_request what;
};

/// Client -> session -> master: run a step. Answered by step_outcome.
struct step_request {
  std::shared_ptr<prepared_step> step;
  std::vector<tensor> feeds; ///< in the signature's order, of the fed edges' types and shapes
  step_clock::time_point deadline;
  profile_options watch = {};
  uint64_t knows = 0; ///< as in prepare_request
  /// Not 0: the number of what it is part of, which restores or initialises: tasks that wait to be
  /// filled run it.
  uint64_t fill = 0;
  bool retried = false;      ///< as in prepare_request
  std::stop_token stop = {}; ///< asked to, it ends with `cancelled`, as soon as its tasks can
};

/// Client -> session -> master -> those workers that the steps of this number have filled, or
/// exchanges: they serve all from now on; where it is not `done`, the next may fill them. A task
/// that another of the session's numbers fills as well is told when the last of them ends. Answered
/// by status.
struct end_fill {
  bool done = false;
  uint64_t fill = 0;
};

struct step_outcome {
  status outcome;
  std::vector<tensor> fetches;     ///< in the signature's order
  step_statistics statistics = {}; ///< where the request asked for times, also when the step failed
  /// Tasks on which it uses state, where their incarnations may be others than its last run told.
  std::vector<known_peer> held = {};
  std::vector<task_fill> fills = {}; ///< what tasks that wait to be filled have said
};

/// Client -> session -> master -> workers: forget a container's variables. Answered by status.
struct reset_request {
  std::string container;
};

/// Client -> session -> master -> workers: list the named state of tasks. Answered by state_list,
/// or an error.
struct list_state {
  std::string task; ///< "/job:ps/task:0"; empty: all tasks
};

/// Client -> session -> master: the same, as far as tasks can be asked. Answered by state_survey.
struct survey_state {
  std::string task;
  step_clock::time_point deadline = step_clock::time_point::max();
};

/// Client -> session -> master -> workers: where stateful kernels of the session stand, and where
/// they shall stand, if that is given. Answered by std::vector<task_positions>, of tasks that can
/// be reached; by a worker with task_positions; or by an error.
struct ask_positions {
  kernel_positions go_on_from = {};
  uint64_t session = 0;                ///< the master says which
  std::vector<std::string> tasks = {}; ///< that the master asks; none: all
};

/// Anybody -> session, worker or exchange: list your devices. Answered by std::vector<device_info>.
using list_devices_atom = caf::atom_constant<caf::atom("devices")>;

/// Client -> session -> master: list the devices of all tasks, as far as these can be asked.
/// Answered by device_survey.
struct survey_devices {
  step_clock::time_point deadline = step_clock::time_point::max();
};

/// Client -> session -> master: which devices steps may name now, as far as is known without asking
/// their tasks. Answered by std::vector<device_info>, with names and kinds alone.
using known_devices_atom = caf::atom_constant<caf::atom("known")>;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::status)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::prepare_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::shared_ptr<troupe::prepared_step>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::explain_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::placement_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_outcome)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::end_fill)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::reset_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::list_state)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::state_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::survey_devices)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::survey_state)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::state_survey)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ask_positions)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::task_positions)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<troupe::task_positions>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::vector<troupe::device_info>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::device_survey)
