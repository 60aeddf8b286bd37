// The sessions of a session host, and its unanswered requests. Used on the host's thread only,
// except for session_news.
#pragma once
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/hosting/hosted_accounts.hpp"
#include "troupe/actors/hosting/session_host.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/cluster/admission_queue.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <map>
#include <mutex>

namespace troupe::hosting {

// Warnings and losses that the session's master reports, on any thread, until the next answer.
struct session_news {
  std::mutex mutex;
  std::vector<std::string> warnings;
  std::vector<state_loss> losses;
};

// A prepared kind of step, and the bytes of its graph that are charged to the client.
struct stored_step {
  std::shared_ptr<prepared_step> step;
  uint64_t bytes = 0;
};

// A step that waits in host_state::admission.
struct queued_step {
  deadlines::key due;
  std::shared_ptr<stop_request> stop;
};

// The session of one client's connection.
struct hosted_session {
  connection_ptr owner;
  caf::actor exchange;
  caf::actor session;
  std::shared_ptr<hosted_account> account;
  listed_session_ptr listed;
  std::shared_ptr<session_news> news = std::make_shared<session_news>();
  std::map<uint64_t, stored_step> steps;  // by handle
  std::map<uint64_t, queued_step> queued; // by their number in host_state::admission
  // Of unanswered requests, by the client's number; and stop requests that arrived before their
  // request.
  std::map<uint64_t, std::stop_source> stops;
  early_cancels<uint64_t> early_stops;
  uint64_t next_handle = 1;
  // Also read by the background executor.
  std::shared_ptr<std::atomic<bool>> closed = std::make_shared<std::atomic<bool>>(false);
};

using session_ptr = std::shared_ptr<hosted_session>;

// The state of a session host's actor.
struct host_state {
  explicit host_state() {}
  static inline const char* name = "troupe.session_host";
  std::shared_ptr<const hosting_options> options;
  session_factory make_session;
  std::shared_ptr<std::atomic<size_t>> in_flight;
  std::string task;
  caf::actor background; // the executor that reads graphs
  deadlines due;
  std::unique_ptr<admission_queue> admission; // of running steps
  admission_queue reads{1};   // of graphs that are read: at most one of each client at a time
  bool watches_queue = false; // a timer checks whether any running step has ended
  std::map<caf::actor_addr, session_ptr> sessions; // by exchange
  hosted_accounts accounts;
  uint64_t next_number = 1; // of clients, queued steps and graphs in the admission queues
};

using host_self = caf::stateful_actor<host_state>*;

// A request until it is answered. It counts against the limits of its client.
class open_request {
public:
  open_request(host_self self, session_ptr session, uint64_t number, bool is_step = false)
      : self_(self), in_flight_(self->state.in_flight), session_(std::move(session)),
        number_(number), is_step_(is_step) {
    ++session_->account->steps;
    ++session_->listed->requests;
    ++*in_flight_;
  }
  open_request(const open_request&) = delete;
  open_request& operator=(const open_request&) = delete;
  ~open_request() {
    session_->stops.erase(number_);
    --session_->account->steps;
    --session_->listed->requests;
    session_->account->bytes -= bytes_;
    session_->listed->bytes -= bytes_;
    --*in_flight_;
  }
  /// Returns the token of the client's stop request.
  std::stop_token stop() {
    auto& source = session_->stops[number_];
    if (session_->early_stops.take(number_))
      source.request_stop();
    return source.get_token();
  }
  /// Charges bytes to the client until the request is answered.
  void hold(uint64_t bytes) {
    bytes_ += bytes;
    session_->account->bytes += bytes;
    session_->listed->bytes += bytes;
  }
  /// Answers with the outcome and a value, which becomes the content of the reply. A request must
  /// be answered once.
  template <class Answer>
  void answer(status outcome, Answer value, std::vector<known_peer> state_tasks = {},
              std::vector<initialization_report> initialization_reports = {}) {
    session_reply reply{.outcome = std::move(outcome),
                        .state_peers = std::move(state_tasks),
                        .initializations = std::move(initialization_reports)};
    reply.content = std::move(value);
    send(std::move(reply));
  }
  /// Answers for several tasks, some of which could not be asked.
  template <class Answer>
  void answer(Answer joined, std::vector<task_problem> problems) {
    session_reply reply{.problems = std::move(problems)};
    reply.content = std::move(joined);
    send(std::move(reply));
  }
  void answer(status outcome) { answer(std::move(outcome), std::monostate{}); }
  /// The request has not begun, and another task may serve it.
  void send_elsewhere(status why) {
    send({.outcome = std::move(why).with_task(self_->state.task), .not_started = true});
  }
  /// The request has not begun, and no other task would serve it.
  void refuse(status why) {
    if (std::exchange(is_step_, false))
      self_->state.options->server->hosted().steps.count_refused(why.kind());
    answer(std::move(why));
  }
  hosted_session& session() const { return *session_; }

private:
  // Counts a step, once, as refused or ended.
  void count(const session_reply& reply) {
    if (!std::exchange(is_step_, false))
      return;
    auto& counters = self_->state.options->server->hosted().steps;
    if (reply.not_started)
      return counters.count_refused(reply.outcome.kind());
    counters.count_ended(reply.outcome.kind(), std::chrono::nanoseconds{steady_ns() - began_ns_});
    ++session_->listed->ended;
    session_->listed->failed += !reply.outcome.ok();
  }
  void send(session_reply reply) {
    count(reply);
    if (*session_->closed)
      return;
    reply.request = number_;
    reply.is_draining = self_->state.options->server->draining();
    std::lock_guard guard{session_->news->mutex};
    reply.warnings.swap(session_->news->warnings);
    reply.losses.swap(session_->news->losses);
    self_->send(session_->exchange, outgoing{std::move(reply)});
  }

  host_self self_; // its actor may end before this object
  std::shared_ptr<std::atomic<size_t>> in_flight_;
  session_ptr session_;
  uint64_t number_;
  uint64_t bytes_ = 0;
  bool is_step_; // a step that is not counted yet
  const int64_t began_ns_ = steady_ns();
};

using request_ptr = std::shared_ptr<open_request>;

} // namespace troupe::hosting
