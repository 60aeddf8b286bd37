// All messages between the actors of one process. The comment of each names its sender, its
// receiver and its answer. None of these types crosses a process: the exchange translates between
// them and serialization/wire/messages.hpp. Requests to sessions are in session_messages.hpp.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/actors/base/session_messages.hpp"
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/placement/partition.hpp"
#include "troupe/runtime/program/instance.hpp"
#include "troupe/serialization/wire/messages.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

// -- within a step -------------------------------------------------------------------------------

/// Conductor, region or exchange -> region: troupe::token (runtime/program/instance.hpp). No
/// answer.

/// Waitable resource -> region: the values that a wait was for, or the error of the wait. No
/// answer.
struct wait_answer {
  uint32_t wait = 0;
  status outcome;
  std::vector<tensor> values;
  step_id step = {}; ///< the step that waited: the region may serve another step by now
};

/// Region -> waitable resource: a wait begins. Answered to `region` by wait_answer.
struct wait_request {
  step_id step;
  const node* origin = nullptr; ///< the op that waits; lives as long as `region`
  uint32_t wait = 0;
  std::vector<tensor> inputs;
  caf::actor region; ///< an inline actor
  /// The waitable resource of the node's second input, to which this one may send requests.
  caf::actor source = {};
};

/// Waitable resource -> the waitable resource of the node's second input: a request that a deferred
/// operation of the sender makes, such as a reader's request to its queue. Answered to `asker` by
/// wait_answer, whose `wait` is `operation_number`.
struct source_request {
  step_id step;
  const node* origin = nullptr; ///< the op that waits; lives as long as `region`
  void (*operation)(waitable_resource& source, question&& request,
                    std::vector<answer>& answers) = nullptr;
  uint32_t operation_number = 0;
  caf::actor region, asker;
};

/// Waitable resource -> the receiver of its source_request: the step of the request has failed. The
/// request is answered with an error, unless it was answered before.
struct withdraw_question {
  step_id step;
  uint32_t operation_number = 0;
  caf::actor asker;
};

/// File thread -> waitable resource: a deferred operation has ended. No answer.
struct operation_ended {
  uint32_t number = 0;
  status outcome;
};

/// Conductor -> waitable resource, about a step. No answer.
/// - `failing`: the step fails; its pending waits are cancelled.
/// - `failed`: the step has ended with an error; the waitable resource takes back the elements that
/// the step took.
/// - `succeeded`: the step has ended everywhere; the elements that it took are consumed.
/// - `succeeded_locally`: the step has ended on this task only; the elements that it took are kept
/// until it is settled.
struct step_ended {
  enum class outcome_kind : uint8_t { failing, failed, succeeded, succeeded_locally };
  step_id step;
  outcome_kind outcome = outcome_kind::succeeded;
  /// Of `succeeded_locally`: set if the step took elements. Valid during the send.
  bool* keeps_inputs = nullptr;
};

/// Worker -> waitable resource: reset to the initial state, and fail all waits. No answer.
struct waitable_reset {};

/// Region -> conductor: one fetch. No answer.
struct fetched {
  uint32_t index = 0;
  tensor value;
  bool dead = false;
};

/// Region -> conductor: the region has run, or failed. No answer.
struct region_ended {
  status outcome;
};

/// Worker -> waitable resource: write the resource's contents and statistics to those of the
/// pointers that are not null, before the send returns. No answer.
struct waitable_stats_query {
  state_info* info = nullptr;
  waitable_stats* numbers = nullptr;
};

/// Task or session -> worker: a health check. The worker calls `answer` on its thread. No answering
/// message.
struct health_check {
  std::function<void()> answer;
};

// -- around a step -------------------------------------------------------------------------------

/// Master -> worker: compile these partitions and keep the program. Answered by registered, or an
/// error.
struct register_partitions {
  registration_settings settings;
  std::vector<partition> partitions;
};
using register_request = std::shared_ptr<register_partitions>;

/// Master -> exchange: register_partitions for another process. Answered by registered, or an
/// error.
using wire_registration = std::shared_ptr<const register_graph>;

struct registered {
  uint64_t handle = 0;
  std::shared_ptr<task_program> program; ///< set if the worker is in this process
};

/// Prepared step or master -> worker or exchange: drop that program. No answer.
struct forget_program {
  uint64_t handle = 0;
};

/// Master -> worker or exchange, after a step_result with `keeps_inputs`: the step has succeeded on
/// all tasks, so the elements that it took are consumed. Answered by a status, which is an error if
/// the waitable resources have taken them back meanwhile.
struct settle_request {
  step_id step;
};

/// Master -> worker or exchange: run one step. Answered by step_result, or an error.
struct run_request {
  uint64_t handle = 0;
  step_id step;
  step_clock::time_point deadline;
  std::vector<indexed_tensor> feeds;
  profile_options watch = {};
  uint64_t incarnation = 0;  ///< the expected one of the task; 0: any
  bool initializes = false;  ///< as in step_request
  bool retried = false;      ///< as in step_request
  std::stop_token stop = {}; ///< of the caller, if it is in this process
};

struct step_result {
  status outcome;
  std::vector<indexed_tensor> fetches;
  task_statistics statistics = {}; ///< if the request asked for times; by the worker's clock
  /// The waitable resources keep the elements that the step took until settle_request or
  /// cancel_step.
  bool keeps_inputs = false;
  /// Whether the task waits to be initialized.
  initialization_stage initialization = initialization_stage::over;
};

/// Conductor of a step -> worker: a step that a run_request started has ended. No answer.
struct background_ended {
  step_id step;
  step_result result;
};

// -- between tasks -------------------------------------------------------------------------------

/// Worker or master -> membership: connect to that task. Answered by peer_link, or an error.
struct connect_request {
  task_name task;
  step_clock::time_point deadline;
  bool mutual = false; ///< the peer needs a link to this task, too: one connection serves both
  /// Fails after the first attempt to connect; otherwise attempts are repeated until the deadline.
  bool single_attempt = false;
};

/// Master -> membership: the current waits of steps; empty when no step waits. Membership sends
/// them to the connected tasks. No answer.
struct waits_report {
  client_wait_list waits = {};
};

/// Task -> membership, as the first message: the worker that gets the requests of its exchanges. No
/// answer.
struct membership_owner {
  caf::actor worker;
};

/// Master -> membership, as the first message: send link_lost and part_lost to the sender. No
/// answer.
using watch_atom = caf::atom_constant<caf::atom("watch")>;

struct peer_link {
  task_name task;
  uint64_t incarnation = 0;
  caf::actor exchange;
  connection_ptr connection = {}; ///< `is_closed`: the exchange has ended
};

/// Any actor -> exchange: send `content` to the peer. No answer.
struct outgoing {
  message content;
};

/// Metrics or inspection -> exchange: write the amounts of pending data to `result`, before the
/// send returns. No answer.
struct link_stats_query {
  struct stats {
    uint64_t messages = 0, payloads = 0; ///< bytes that wait to be sent
    uint64_t pending = 0;                ///< bytes received of incomplete messages
    size_t asked = 0;                    ///< requests that the peer has not answered
    bool drained = false;                ///< all bytes have been sent
  };
  stats* result = nullptr;
};

/// Observer -> exchange: have the peer inspect the part that `ref` names. Answered by an
/// inspection, or an error.
struct inspect_task {
  std::string ref;
  inspection_scope scope;
};

/// Operator -> exchange: have the peer drain. Answered by a status.
using drain_atom = caf::atom_constant<caf::atom("drain")>;

/// Exchange -> worker: a request of the peer that is not part of a running step. The worker sends
/// the reply to `from` as outgoing. Exchange -> membership: a message of the peer's membership.
struct incoming {
  message content;
  caf::actor from;
  connection_ptr owner; ///< of the state that the request creates
};

/// Step table -> exchange: that step has begun, failed or ended on this task. No answer.
struct step_news {
  step_id step;
  bool failed = false;
};

/// Membership -> its watcher: the connection to a task has ended. No answer.
struct link_lost {
  task_name task;
  status reason;
};

/// Membership -> its watcher: a task has reported that it can no longer run a registered program
/// (program_lost). No answer.
struct part_lost {
  task_name task;
  uint64_t handle = 0;
};

/// Exchange -> membership: the peer has sent its hello. No answer.
struct peer_ready {
  hello peer_hello;
  connection_ptr connection = {};
  bool inbound = false; ///< the peer opened the connection
};
/// Exchange -> membership: the connection has ended. No answer.
struct peer_gone {
  std::string peer;
  status reason;
  connection_ptr connection = {};
  bool inbound = false; ///< the peer opened the connection
  bool orderly = false; ///< the peer sent goodbye first
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::token)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::wait_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::wait_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::source_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::withdraw_question)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::operation_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::waitable_reset)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::waitable_stats_query)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::health_check)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::fetched)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::region_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::register_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::wire_registration)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::registered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::forget_program)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::run_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::settle_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::background_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::connect_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::waits_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_link)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::outgoing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_stats_query)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::inspect_task)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::inspection)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::incoming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_news)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::part_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_gone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership_owner)
