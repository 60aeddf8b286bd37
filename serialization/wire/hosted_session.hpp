// What a client and the task that hosts its session say to each other: the master is the task's.
// A connection has one session, which goes with it.
#pragma once
#include "troupe/runtime/cluster/fill_stage.hpp"
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

/// First: how the session compiles and runs its steps, as its options say. Answered by nothing.
struct session_open {
  std::string container = {};
  bool region_per_node = false, deterministic = false, replay = true, place_by_cost = false;
  uint64_t max_concurrent = 0;
  f32_transfer between_tasks = f32_transfer::exact;
  placement_options placement = {};
  pass_options passes = {};
  bool restores = false; ///< what tasks lose: no other step runs there before the client knows
};

/// Compile a kind of step. Answered by prepared_handle; or, to explain it, by placement_report.
struct session_prepare {
  tensor graph = {}; ///< u8: a step_graph (runtime/passes/extract.hpp), as write_graph() made it
  std::vector<std::string> targets = {}; ///< names of nodes
  uint32_t feeds = 0; ///< of the signature; those that the graph does not need are fed with nothing
  bool low_priority = false, explain = false;
  std::vector<node_time> costs = {}; ///< that the client has measured: names, devices, means
  bool retried = false;              ///< as in prepare_request (actors/base/session_messages.hpp)
};

/// Run one step. Answered by session_ran.
struct session_run {
  uint64_t handle = 0;
  std::vector<tensor> feeds = {};
  bool times = false; ///< the answer brings statistics
  bool check_numerics = false;
  uint64_t fill = 0;    ///< as in step_request (actors/base/session_messages.hpp)
  uint64_t knows = 0;   ///< the last of the losses that the client has been told of, and seen to
  bool retried = false; ///< as in step_request
};

/// That kind of step is not wanted any more. No answer.
struct session_forget {
  uint64_t handle = 0;
};

/// Answered by nothing, or an error.
struct session_reset {
  std::string container = {};
};

/// Answered by state_list; of that task, or of all.
struct session_state_of {
  std::string task = {};
};

/// Answered by the devices of all tasks.
struct session_devices {};

/// Answered by those that are known without asking their tasks: names and kinds.
struct session_known_devices {};

/// Answered by std::vector<task_positions>.
struct session_positions {
  kernel_positions go_on_from = {};
  std::vector<std::string> tasks = {}; ///< of these; none: of all that take part in steps
};

/// As end_fill (actors/base/session_messages.hpp). Answered by nothing, or an error.
struct session_fill_end {
  uint64_t fill = 0;
  bool done = false;
};

/// What a request that is not answered asks for is not wanted any more: it is answered soon, with
/// `cancelled` unless it has ended. May come before that request. No answer of its own.
struct session_stop {
  uint64_t request = 0;
};

/// Client -> task. Answered by session_reply, but for session_forget and session_stop.
struct session_request {
  uint64_t request = 0;
  uint64_t deadline_ms = 0; ///< from the moment of receipt; of what can take long
  std::variant<session_open, session_prepare, session_run, session_forget, session_reset,
               session_state_of, session_devices, session_positions, session_fill_end,
               session_known_devices, session_stop>
      what = {};
};

struct prepared_handle {
  uint64_t handle = 0;
};

struct session_ran {
  std::vector<tensor> fetches = {};    ///< in the signature's order; none of a step that failed
  uint64_t step = 0;                   ///< its number, as in errors
  std::vector<tensor> statistics = {}; ///< of each task, as write_statistics() made it
  int64_t begin_ns = 0, end_ns = 0;    ///< by the clock of the statistics
};

/// Task -> client.
struct session_reply {
  uint64_t request = 0;
  status outcome = {};
  bool leaving = false; ///< the task takes nothing new: the next request goes to another
  std::vector<std::string> warnings = {}; ///< of the session, since the answer before
  std::variant<std::monostate, prepared_handle, session_ran, std::vector<device_info>, state_list,
               std::vector<task_positions>, placement_report>
      what = {};
  bool not_begun = false; ///< what was asked for: it may be asked of another
  /// Of a step: tasks on which it uses state, where their incarnations were not told yet.
  std::vector<known_peer> held = {};
  std::vector<state_loss> losses = {}; ///< of the session, that were not told yet
  std::vector<task_fill> fills = {};   ///< of a step: what tasks that wait to be filled have said
  std::vector<task_problem> problems = {}; ///< of devices and state: tasks that could not be asked
};

} // namespace troupe
