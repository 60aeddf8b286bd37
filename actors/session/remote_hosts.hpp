// The hosts of a remote session: finds a host, sends it requests, and leaves it.
#pragma once
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/session/client.hpp"

#include <caf/actor.hpp>
#include <caf/atom.hpp>
#include <caf/stateful_actor.hpp>

#include <list>
#include <map>
#include <set>

namespace troupe::remote {

/// Remote session -> itself: call the next address.
using next_host_atom = caf::atom_constant<caf::atom("nexthost")>;

/// A host answers at the deadline of a request. The session waits this much longer.
constexpr std::chrono::milliseconds host_margin{1000};

/// A request to a host that is not answered yet.
struct pending_host_request {
  std::function<void(session_reply&)> then;
  deadlines::key due;
};

/// A connection to a task that hosts the session, or may host it.
struct host_link {
  uint64_t number = 0;
  std::string address;
  caf::actor exchange;
  connection_ptr connection; // null until the task has introduced itself
  std::string name;
  bool is_open = false;            // the host has accepted the session
  uint64_t acknowledged_loss = 0;  // all losses up to this number are known here
  std::set<uint64_t> later_losses; // known losses after the first gap in the numbers
  std::map<uint64_t, pending_host_request> pending; // by number
};

using host_ptr = std::shared_ptr<host_link>;

/// A request that waits until a host has accepted the session.
struct host_waiter {
  std::function<void(status)> then;
  deadlines::key due;
  std::shared_ptr<stop_request> stop = {};
};

/// A request that waits until a host has prepared its step.
struct step_waiter {
  step_clock::time_point deadline;
  std::function<void(status)> then;
  bool retried = false;      // as in prepare_request
  std::stop_token stop = {}; // as in prepare_request
  deadlines::key due = {};
  std::shared_ptr<stop_request> watch = {};
};

/// A kind of step, and the host at which it is prepared.
struct remote_step {
  session_prepare request;
  std::vector<bool> needed_feeds;
  uint64_t host = 0, handle = 0;
  host_ptr preparing_host;
  uint64_t preparing_request = 0;         // number of the request to that host
  std::set<std::string> state_tasks = {}; // tasks on which it uses state
  std::list<step_waiter> waiting;
};

using remote_ptr = std::shared_ptr<remote_step>;

/// A task on which the session has had state, as `host` has reported it last.
struct state_holder {
  uint64_t incarnation = 0, host = 0;
};

/// The state of a remote session's actor.
struct remote_state {
  explicit remote_state() {}
  ~remote_state() { *stop = true; }
  static inline const char* name = "troupe.remote_session";
  std::vector<std::string> addresses;
  client_options options;
  const node_times* measured = nullptr;
  membership_transport transport;
  std::string cluster; // by the certificate: the hosts must belong to it
  deadlines due;
  host_ptr current;               // is being called, or has accepted the session
  std::vector<host_ptr> draining; // accept no new request, and still have to answer
  bool calling = false;           // an address is being called, or will be after a pause
  std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
  size_t next_address = 0, calls = 0;
  size_t refusals = 0; // consecutive ones that a retry does not change
  status last_error;   // of the last call
  std::list<host_waiter> waiting;
  std::map<uint64_t, remote_ptr> steps;
  std::map<std::string, state_holder> holders; // by task
  std::list<status> undelivered_losses;        // errors of lost state that no caller has received
  std::set<std::string> unrestored;            // tasks whose lost state may not be restored yet
  // By the number of the initialization: the number of the host of its steps; 0: several hosts.
  std::map<uint64_t, uint64_t> initializations;
  uint64_t next_number = 1;
};

using remote_self = caf::stateful_actor<remote_state>*;

/// Calls `then` when a host has accepted the session, or with an error at `until` or after a stop
/// request.
void with_host(remote_self self, step_clock::time_point until, std::function<void(status)> then,
               const std::stop_token& stop = {});
/// Sends a request to a host and returns its number. `then` is called once, after this function has
/// returned: with the answer, or with an error if the host is lost or does not answer in time.
uint64_t ask(remote_self self, const host_ptr& host, session_request request,
             step_clock::time_point until, std::function<void(session_reply&)> then);
/// Asks the host to stop a request and answer it soon.
void stop(remote_self self, const host_ptr& host, uint64_t request);
/// Reports a loss to restore_hooks::on_state_lost. Returns whether its state will be restored.
bool note_loss(remote_state& state, const state_loss& loss);
/// Returns time + delay, without overflow.
step_clock::time_point later(step_clock::time_point time, std::chrono::milliseconds delay);
/// Returns whether a draining host has not begun with a request, so that the next host may serve
/// it.
bool is_for_next_host(const session_reply& reply);
/// Leaves all hosts: waiting requests fail, because the session is closed.
void close_hosts(remote_self self);

// Handlers of messages.
void handle_dial_result(remote_self self, dial_result& call);
void handle_peer_ready(remote_self self, const peer_ready& peer);
void handle_peer_gone(remote_self self, const peer_gone& peer);
void handle_reply(remote_self self, incoming& delivery);
void call_host(remote_self self); ///< calls the next address, if a request waits for a host

} // namespace troupe::remote
