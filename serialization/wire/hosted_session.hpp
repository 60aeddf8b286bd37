// The messages between a client and the task that hosts its session and the session's master. A
// connection has one session, which ends with the connection.
#pragma once
#include "troupe/runtime/cluster/initialization_stage.hpp"
#include "troupe/runtime/cluster/known_peer.hpp"
#include "troupe/runtime/cluster/state_loss.hpp"
#include "troupe/runtime/cluster/task_survey.hpp"
#include "troupe/runtime/device/device_info.hpp"
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/passes/pass_options.hpp"
#include "troupe/runtime/placement/placement_options.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

/// The first request: the options by which the session compiles and runs its steps. No answer.
struct session_open {
  std::string container = {};
  bool region_per_node = false, deterministic = false, replay = true, place_by_cost = false;
  uint64_t max_concurrent = 0;
  f32_transfer transfer_precision = f32_transfer::exact;
  placement_options placement = {};
  pass_options passes = {};
  /// The client restores lost state: after a loss, other steps wait until it has acknowledged it.
  bool restores = false;
};

/// Compiles a kind of step. Answered by prepared_handle; or, with `explain`, by placement_report.
struct session_prepare {
  tensor graph = {}; ///< u8: a step_graph (runtime/passes/extract.hpp), as write_graph() made it
  std::vector<std::string> targets = {}; ///< names of nodes
  uint32_t feeds = 0; ///< of the signature; feeds that the graph does not use are fed empty tensors
  bool low_priority = false, explain = false;
  std::vector<node_time> costs = {}; ///< measured by the client: names, devices, means
  bool retried = false;              ///< as in prepare_request (actors/base/session_messages.hpp)
};

/// Runs one step. Answered by session_run_result.
struct session_run {
  uint64_t handle = 0;
  std::vector<tensor> feeds = {};
  bool wants_statistics = false; ///< in the answer
  bool check_numerics = false;
  uint64_t initialization = 0;    ///< its number, or 0
  uint64_t acknowledged_loss = 0; ///< the last loss that the client has received and handled
  bool retried = false;           ///< as in step_request
};

/// Releases a kind of step. No answer.
struct session_release {
  uint64_t handle = 0;
};

/// Resets a container. Answered by an empty reply, or an error.
struct session_reset {
  std::string container = {};
};

/// Lists the state of one task, or of all. Answered by state_list.
struct session_state_of {
  std::string task = {};
};

/// Lists devices. Answered by the devices of all tasks.
struct session_devices {};

/// Lists the devices that are known without asking their tasks. Answered by names and kinds.
struct session_known_devices {};

/// Reads or sets the positions of kernels. Answered by std::vector<task_positions>.
struct session_positions {
  kernel_positions restored_positions = {};
  std::vector<std::string> tasks = {}; ///< the tasks; none: all that take part in steps
};

/// As end_initialization (actors/base/session_messages.hpp). Answered by an empty reply, or an
/// error.
struct session_initialization_end {
  uint64_t initialization = 0;
  bool done = false;
};

/// Cancels a request, which is answered soon, with `cancelled` unless it has ended. May arrive
/// before that request. No answer of its own.
struct session_stop {
  uint64_t request = 0;
};

/// Client -> task. Answered by session_reply, except session_release and session_stop.
struct session_request {
  uint64_t request = 0;
  uint64_t deadline_ms = 0; ///< from the time of receipt; for requests that can take long
  std::variant<session_open, session_prepare, session_run, session_release, session_reset,
               session_state_of, session_devices, session_positions, session_initialization_end,
               session_known_devices, session_stop>
      content = {};
};

struct prepared_handle {
  uint64_t handle = 0;
};

struct session_run_result {
  std::vector<tensor> fetches = {};    ///< in the signature's order; none if the step failed
  uint64_t step = 0;                   ///< the step's number, as in errors
  std::vector<tensor> statistics = {}; ///< of each task, as write_statistics() made it
  int64_t begin_ns = 0, end_ns = 0;    ///< on the clock of the statistics
};

/// Task -> client.
struct session_reply {
  uint64_t request = 0;
  status outcome = {};
  bool is_draining = false; ///< the task accepts no new requests: send the next one to another task
  std::vector<std::string> warnings = {}; ///< of the session, since the previous answer
  std::variant<std::monostate, prepared_handle, session_run_result, std::vector<device_info>,
               state_list, std::vector<task_positions>, placement_report>
      content = {};
  bool not_started = false; ///< the request was not started: another task may take it
  /// Tasks on which a step uses state, if their incarnations were not sent yet.
  std::vector<known_peer> state_peers = {};
  std::vector<state_loss> losses = {}; ///< of the session, not sent yet
  /// Of a step: replies of tasks that wait for initialization.
  std::vector<initialization_report> initializations = {};
  std::vector<task_problem> problems = {}; ///< of devices and state: tasks that did not answer
};

} // namespace troupe
