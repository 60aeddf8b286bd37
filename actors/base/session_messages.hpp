// The messages that a session actor handles. Master and workers handle some of them, too.
#pragma once
#include "troupe/runtime/cluster/initialization_stage.hpp"
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

/// The inputs and outputs of a step, in the signature's order. Does not refer to the graph, which
/// may be destroyed while the step runs.
struct TROUPE_API step_interface {
  struct feed_spec {
    std::string description; ///< of the node, for errors
    dtype type;
    partial_shape dims;
  };

  static step_interface of(const step_signature& signature);
  /// Fails if the number, types or shapes of the values do not match those of the feeds.
  status check(std::span<const tensor> feeds) const;

  std::vector<feed_spec> feeds;
  size_t fetches = 0;
  uint64_t graph = 0; ///< graph::id() of the graph that the step was prepared from
};

/// Client -> session -> master: prepare a step. Answered by std::shared_ptr<prepared_step>, or an
/// error that from_caf() (actors/base/errors.hpp) reads. Release the prepared step before its actor
/// system ends.
struct TROUPE_API prepare_request {
  /// A copy of the step's part of the graph, for the master alone.
  std::shared_ptr<step_graph> graph_copy;
  step_interface interface; ///< inputs and outputs of the step
  step_clock::time_point deadline;
  bool low_priority = false;
  /// The number of the last state loss (restore_hooks::on_state_lost) that the caller has handled.
  /// The request fails while there are later ones, until these are handled.
  uint64_t acknowledged_loss = 0;
  /// Node times that were measured elsewhere, for this graph only.
  std::vector<node_time> costs = {};
  /// The caller prepares again after an error of a task, and may never report this error.
  bool retried = false;
  /// When it is requested to stop, the answer is `cancelled`, soon.
  std::stop_token stop = {};

  /// Copies that part of the graph, on the caller's thread. Neither a late master nor the step
  /// reads the caller's graph. Fails as extract() does.
  static result<prepare_request> make(const graph& nodes, const step_signature& signature,
                                      step_clock::time_point deadline);
};

/// Client -> session -> master: explain on which devices the nodes of a step would run, and why.
/// Answered by placement_report, or an error.
struct explain_request {
  prepare_request request;
};

/// Client -> session -> master: run a step. Answered by step_outcome.
struct step_request {
  std::shared_ptr<prepared_step> step;
  std::vector<tensor> feeds; ///< in the signature's order, of the fed edges' types and shapes
  step_clock::time_point deadline;
  profile_options watch = {};
  uint64_t acknowledged_loss = 0; ///< as in prepare_request
  /// Not 0: the number of the initialization that this step belongs to. Tasks that wait to be
  /// initialized run the step.
  uint64_t initialization = 0;
  bool retried = false;      ///< as in prepare_request
  std::stop_token stop = {}; ///< requested: the step ends with `cancelled`, once its tasks can
};

/// Client -> session -> master -> the workers or exchanges of the tasks that initialization
/// `initialization` ran steps on. Answered by status.
/// - `done`: the tasks are initialized, and serve all sessions from now on.
/// - not `done`: another session may initialize the tasks.
/// A task that takes part in several initializations of the session is notified when the last of
/// them ends.
struct end_initialization {
  bool done = false;
  uint64_t initialization = 0;
};

struct step_outcome {
  status outcome;
  std::vector<tensor> fetches;     ///< in the signature's order
  step_statistics statistics = {}; ///< where the request asked for times, also when the step failed
  /// Tasks whose state the step uses, if their incarnations may differ from the last run's.
  std::vector<known_peer> state_tasks = {};
  /// The answers of tasks that wait to be initialized.
  std::vector<initialization_report> initialization_reports = {};
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

/// Client -> session -> master: list the named state of the tasks that can be reached. Answered by
/// state_survey.
struct survey_state {
  std::string task;
  step_clock::time_point deadline = step_clock::time_point::max();
};

/// Client -> session -> master -> workers: return the positions of the session's stateful kernels;
/// first set them to `restore_from` if that is not empty. The master answers with
/// std::vector<task_positions>, of the tasks that can be reached, a worker with task_positions; or
/// an error.
struct ask_positions {
  kernel_positions restore_from = {};
  uint64_t session = 0;                ///< set by the master
  std::vector<std::string> tasks = {}; ///< to ask; empty: all
};

/// Any actor -> session, worker or exchange: list the devices of the receiver's task or tasks.
/// Answered by std::vector<device_info>.
using list_devices_atom = caf::atom_constant<caf::atom("devices")>;

/// Client -> session -> master: list the devices of the tasks that can be reached. Answered by
/// device_survey.
struct survey_devices {
  step_clock::time_point deadline = step_clock::time_point::max();
};

/// Client -> session -> master: list the devices that steps may name now, without asking any task.
/// Answered by std::vector<device_info>, with names and kinds only.
using known_devices_atom = caf::atom_constant<caf::atom("known")>;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::status)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::prepare_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(std::shared_ptr<troupe::prepared_step>)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::explain_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::placement_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_outcome)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::end_initialization)
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
