// Every message between actors of one process: who sends it to whom, and what answers. None of
// these types crosses a process; what does is in serialization/wire/messages.hpp, and the exchange
// translates. What sessions are asked is in session_messages.hpp.
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

/// Region or exchange -> region: troupe::token (runtime/program/instance.hpp). No answer.

/// Responder -> region: what a wait was for, or why it failed. No answer.
struct wait_answer {
  uint32_t wait = 0;
  status outcome;
  std::vector<tensor> values;
  step_id step = {}; ///< which waited: the region may serve another by now
};

/// Region -> responder: a wait begins. Answered to `region` by wait_answer.
struct ask {
  step_id step;
  const node* origin = nullptr; ///< says what is asked; lives as long as `region`
  uint32_t wait = 0;
  std::vector<tensor> inputs;
  caf::actor region;      ///< an inline actor
  caf::actor source = {}; ///< another responder, which the node lets this one ask
};

/// Responder -> responder: what a node asks of its second input, for an errand. Answered by
/// wait_answer, `wait` being the errand.
struct ask_source {
  step_id step;
  const node* origin = nullptr; ///< lives as long as `region`
  void (*how)(responder& of, question&& what, std::vector<answer>& done) = nullptr;
  uint32_t errand = 0;
  caf::actor region, asker;
};

/// Responder -> the same: the step that asked has failed meanwhile. Answered by the answer to the
/// question, an error, unless it was answered before.
struct withdraw_question {
  step_id step;
  uint32_t errand = 0;
  caf::actor asker;
};

/// Input thread -> responder: an errand has ended. No answer.
struct errand_ended {
  uint32_t number = 0;
  status outcome;
};

/// Conductor -> responder: a step fails, so that nothing it waits for is wanted; or it has ended,
/// so that what it was given goes back or is spent; or it has ended here alone: what it was given
/// is kept until the step is settled. No answer.
struct step_ended {
  enum class how : uint8_t { fails, failed, well, well_here };
  step_id step;
  how outcome = how::well;
  bool* holds = nullptr; ///< well_here: set where there is such a thing; valid until this returns
};

/// Worker -> responder: become as new, and give up all that waits. No answer.
struct responder_reset {};

/// Region -> conductor: one fetch. No answer.
struct fetched {
  uint32_t index = 0;
  tensor value;
  bool dead = false;
};

/// Region -> conductor: it has run, or failed. No answer.
struct region_ended {
  status outcome;
};

/// Worker -> responder: what do you hold, and how are you used? Filled in before the send returns,
/// where it is not null. No answer.
struct responder_look {
  state_info* about = nullptr;
  responder_numbers* numbers = nullptr;
};

/// Whoever wonders -> worker: are you alive? Calls that, on its thread. No answer.
struct knock {
  std::function<void()> answer;
};

// -- around a step -------------------------------------------------------------------------------

/// Master -> worker: compile these and keep them. Answered by registered, or an error.
struct register_partitions {
  registration_settings how;
  std::vector<partition> partitions;
};
using register_request = std::shared_ptr<register_partitions>;

/// Master -> exchange: the same, for another process. Answered by registered, or an error.
using wire_registration = std::shared_ptr<const register_graph>;

struct registered {
  uint64_t handle = 0;
  std::shared_ptr<task_program> program; ///< where the worker is in this process
};

/// Prepared step or master -> worker or exchange: nobody needs that program any more. No answer.
struct forget_program {
  uint64_t handle = 0;
};

/// Master -> worker or exchange, after a step_result that `holds`: all of the step has ended well.
/// Answered by a status: what it took is spent, or has gone back meanwhile.
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
  uint64_t incarnation = 0;  ///< of the task that it is meant for; 0: any
  bool fills = false;        ///< as in step_request
  bool retried = false;      ///< as there
  std::stop_token stop = {}; ///< of the caller, where it is in this process
};

struct step_result {
  status outcome;
  std::vector<indexed_tensor> fetches;
  task_statistics statistics = {}; ///< where the request asked for times; by the worker's clock
  bool holds = false; ///< what it took waits for the whole step's end: settle_step or cancel_step
  fill_stage fill = fill_stage::over; ///< what the task says of being filled
};

/// A step's conductor -> worker: a step that somebody asked for by run_request has ended. No
/// answer.
struct background_ended {
  step_id step;
  step_result result;
};

// -- between tasks -------------------------------------------------------------------------------

/// Worker or master -> membership: a link to that task. Answered by peer_link, or an error.
struct connect_request {
  task_name to;
  step_clock::time_point deadline;
  bool mutual = false; ///< it needs a link to us, too: one connection serves both
  /// A refused connection is the answer at once; else calls are repeated until the deadline.
  bool once = false;
};

/// Master -> membership: steps wait so; none: they do not any more. A task that is reached is told.
/// No answer.
struct tell_waits {
  client_wait_list waits = {};
};

/// Task -> membership, first of all: who owns its exchanges. No answer.
struct membership_owner {
  caf::actor worker;
};

/// Master -> membership, first of all: tell me what is lost. No answer.
using watch_atom = caf::atom_constant<caf::atom("watch")>;

struct peer_link {
  task_name task;
  uint64_t incarnation = 0;
  caf::actor exchange;
  connection_ptr via = {}; ///< says whether the exchange is gone
};

/// Anybody -> exchange: send this to the peer. No answer.
struct outgoing {
  message content;
};

/// Whoever wonders -> exchange: how much waits? Filled in before the send returns. No answer.
struct link_look {
  struct numbers {
    uint64_t messages = 0, payloads = 0; ///< bytes that wait to be sent
    uint64_t pending = 0;                ///< bytes that have come, of what is not complete
    size_t asked = 0;                    ///< requests that the peer has not answered
    bool drained = false;                ///< all has left
  };
  numbers* to = nullptr;
};

/// Whoever wonders -> exchange: what is there to see of that part of your peer? Answered by an
/// inspection, or an error.
struct inspect_task {
  std::string ref;
  inspection_scope scope;
};

/// Whoever operates -> exchange: have your peer drain. Answered by a status.
using drain_atom = caf::atom_constant<caf::atom("drain")>;

/// Exchange -> worker: the peer asks for something that is no part of a running step; what it wants
/// back goes to `from` as outgoing. Exchange -> membership: the peer's membership says something.
struct incoming {
  message content;
  caf::actor from;
  connection_ptr owner; ///< of what comes of it
};

/// Step table -> exchange: that step has begun, failed or ended on this task. No answer.
struct step_news {
  step_id step;
  bool failed = false;
};

/// Membership -> who watches it: the connection to a task has ended. No answer.
struct link_lost {
  task_name task;
  status why;
};

/// Membership -> who watches it: a task says that it cannot run any more what it has registered
/// (program_lost). No answer.
struct part_lost {
  task_name task;
  uint64_t handle = 0;
};

/// Exchange -> membership: its peer has introduced itself / is gone.
struct peer_ready {
  hello who;
  connection_ptr via = {};
  bool inbound = false; ///< the peer has called
};
struct peer_gone {
  std::string peer;
  status why;
  connection_ptr via = {};
  bool inbound = false;
  bool orderly = false; ///< the peer has said goodbye
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::token)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::wait_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::ask_source)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::withdraw_question)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::errand_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::responder_reset)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::responder_look)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::knock)
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::tell_waits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_link)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::outgoing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_look)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::inspect_task)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::inspection)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::incoming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::step_news)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::part_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::peer_gone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::membership_owner)
