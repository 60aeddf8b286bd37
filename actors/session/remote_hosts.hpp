// The hosts of a remote session: how it finds one, asks it, and leaves it.
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

/// Remote session -> itself: try the next address.
using next_host_atom = caf::atom_constant<caf::atom("nexthost")>;

/// The host answers at the deadline. It is waited for a little longer, and not for ever.
constexpr std::chrono::milliseconds host_margin{1000};

/// What was asked of a host, and who waits for it.
struct asked_host {
  std::function<void(session_reply&)> then;
  deadlines::key due;
};

/// A connection to a task.
struct host_link {
  uint64_t number = 0;
  std::string address;
  caf::actor exchange;
  connection_ptr via; // none until the task has introduced itself
  std::string name;
  bool is_open = false;     // it has taken the session
  uint64_t knows = 0;       // the first so many losses that it has counted are known here
  std::set<uint64_t> heard; // later ones that are
  std::map<uint64_t, asked_host> asked;
};

using host_ptr = std::shared_ptr<host_link>;

struct waiting_for_host {
  std::function<void(status)> then;
  deadlines::key due;
  std::shared_ptr<stop_request> stop = {};
};

struct waiting_for_step {
  step_clock::time_point deadline;
  std::function<void(status)> then;
  bool retried = false;      // as in prepare_request
  std::stop_token stop = {}; // likewise
  deadlines::key due = {};
  std::shared_ptr<stop_request> watch = {};
};

/// A kind of step, and where it is prepared.
struct remote_step {
  session_prepare what;
  std::vector<bool> needs; // which feeds
  uint64_t host = 0, handle = 0;
  host_ptr asked;                  // that prepares it
  uint64_t asking = 0;             // by which request
  std::set<std::string> uses = {}; // tasks on which it uses state
  std::list<waiting_for_step> waiting;
};

using remote_ptr = std::shared_ptr<remote_step>;

/// A task on which the session has had state, as that host knew it last.
struct holder {
  uint64_t incarnation = 0, host = 0;
};

struct remote_state {
  explicit remote_state() {}
  ~remote_state() { *stop = true; }
  static inline const char* name = "troupe.remote_session";
  std::vector<std::string> addresses;
  client_options options;
  const node_times* measured = nullptr;
  membership_ways ways;
  std::string cluster; // whose tasks are believed
  deadlines due;
  host_ptr current;           // the one that is called, or has the session
  std::vector<host_ptr> left; // that take nothing new, and still have to answer
  bool calling = false;       // or waits to call
  std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
  size_t next_address = 0, calls = 0;
  size_t refusals = 0; // one after the other, of those that will not change their minds
  status last;         // why there is no host
  std::list<waiting_for_host> waiting;
  std::map<uint64_t, remote_ptr> steps;
  std::map<std::string, holder> holders; // by task
  std::list<status> unsaid; // state is lost, and whoever was to be told did not wait for that
  std::set<std::string> unrestored;   // tasks of which what was lost may be still to be restored
  std::map<uint64_t, uint64_t> fills; // by number: the host that their steps ran at; 0: several
  uint64_t next_number = 1;
};

using remote_self = caf::stateful_actor<remote_state>*;

/// Calls back when a task has the session, or with an error by the deadline, or when it is stopped.
void with_host(remote_self self, step_clock::time_point until, std::function<void(status)> then,
               const std::stop_token& stop = {});
/// The host answers, or is lost, or is silent: `then` is called once, and later. Gives the number
/// of the request.
uint64_t ask(remote_self self, const host_ptr& host, session_request what,
             step_clock::time_point until, std::function<void(session_reply&)> then);
/// The host shall answer that request soon.
void stop(remote_self self, const host_ptr& host, uint64_t request);
/// Somebody is to restore what was lost; false: nobody does.
bool note_loss(remote_state& state, const state_loss& what);
step_clock::time_point later(step_clock::time_point when, std::chrono::milliseconds by);
/// A host that takes nothing new has not begun with it: the next one is asked.
bool is_for_another(const session_reply& what);
/// Lets go of all of them: who waits is told that the session is closed.
void close_hosts(remote_self self);

// What comes.
void called(remote_self self, dialed& what);
void met(remote_self self, const peer_ready& what);
void gone(remote_self self, const peer_gone& what);
void answered(remote_self self, incoming& what);
void call_host(remote_self self);

} // namespace troupe::remote
