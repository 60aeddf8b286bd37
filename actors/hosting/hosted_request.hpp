// What a session host keeps of the sessions that it hosts, and of what they are asked for.
#pragma once
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/hosting/hosted_accounts.hpp"
#include "troupe/actors/hosting/session_host.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/cluster/turns.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <map>
#include <mutex>

namespace troupe::hosting {

// What the session's master says beside its answers, on its threads, until the next answer.
struct session_news {
  std::mutex mutex;
  std::vector<std::string> warnings;
  std::vector<state_loss> losses;
};

struct kept_step {
  std::shared_ptr<prepared_step> step;
  uint64_t bytes = 0;
};

struct waiting_step {
  deadlines::key due;
  std::shared_ptr<stop_request> stop;
};

struct hosted_session {
  connection_ptr owner;
  caf::actor to; // the exchange
  caf::actor session;
  std::shared_ptr<hosted_account> of;
  listed_session_ptr listed;
  std::shared_ptr<session_news> news = std::make_shared<session_news>();
  std::map<uint64_t, kept_step> steps;
  std::map<uint64_t, waiting_step> in_line; // steps that wait for their turn
  // Of requests that are not answered, by the client's number; and those that were stopped before
  // they came.
  std::map<uint64_t, std::stop_source> stops;
  early_cancels<uint64_t> early_stops;
  uint64_t next_handle = 1;
  std::shared_ptr<std::atomic<bool>> closed = std::make_shared<std::atomic<bool>>(false);
};

using session_ptr = std::shared_ptr<hosted_session>;

struct host_state {
  explicit host_state() {}
  static inline const char* name = "troupe.session_host";
  std::shared_ptr<const hosting_options> options;
  session_maker make;
  std::shared_ptr<std::atomic<size_t>> in_flight;
  std::string task;
  caf::actor clerk;
  deadlines due;
  std::unique_ptr<turns> lets_in;
  turns reads{1};                                  // one graph of each client after the other
  bool watches_line = false;                       // looks again soon whether anybody has left
  std::map<caf::actor_addr, session_ptr> sessions; // by exchange
  hosted_accounts accounts;
  uint64_t next_number = 1;
};

using host_self = caf::stateful_actor<host_state>*;

// A request, until it is answered: it counts as one of the client's.
class open_request {
public:
  open_request(host_self self, session_ptr from, uint64_t number, bool is_step = false)
      : self_(self), in_flight_(self->state.in_flight), from_(std::move(from)), number_(number),
        is_step_(is_step) {
    ++from_->of->steps;
    ++from_->listed->requests;
    ++*in_flight_;
  }
  open_request(const open_request&) = delete;
  open_request& operator=(const open_request&) = delete;
  ~open_request() {
    from_->stops.erase(number_);
    --from_->of->steps;
    --from_->listed->requests;
    from_->of->bytes -= bytes_;
    from_->listed->bytes -= bytes_;
    --*in_flight_;
  }
  /// Asked to stop when the client wants that.
  std::stop_token stop() {
    auto& source = from_->stops[number_];
    if (from_->early_stops.take(number_))
      source.request_stop();
    return source.get_token();
  }
  void hold(uint64_t bytes) {
    bytes_ += bytes;
    from_->of->bytes += bytes;
    from_->listed->bytes += bytes;
  }
  template <class Answer>
  void answer(status outcome, Answer what, std::vector<known_peer> held = {},
              std::vector<task_fill> fills = {}) {
    session_reply reply{
        .outcome = std::move(outcome), .held = std::move(held), .fills = std::move(fills)};
    reply.what = std::move(what);
    send(std::move(reply));
  }
  /// Of several tasks, some of which could not be asked.
  template <class Answer>
  void answer(Answer joined, std::vector<task_problem> problems) {
    session_reply reply{.problems = std::move(problems)};
    reply.what = std::move(joined);
    send(std::move(reply));
  }
  void answer(status outcome) { answer(std::move(outcome), std::monostate{}); }
  /// It has not begun: the client may ask another.
  void turn_away(status why) {
    send({.outcome = std::move(why).on_task(self_->state.task), .not_begun = true});
  }
  /// It has not begun, and another would not begin it either.
  void refuse(status why) {
    if (std::exchange(is_step_, false))
      self_->state.options->server->hosted().steps.refused(why.kind());
    answer(std::move(why));
  }
  hosted_session& session() const { return *from_; }

private:
  void count(const session_reply& reply) {
    if (!std::exchange(is_step_, false))
      return;
    auto& all = self_->state.options->server->hosted().steps;
    if (reply.not_begun)
      return all.refused(reply.outcome.kind());
    all.ended(reply.outcome.kind(), std::chrono::nanoseconds{steady_ns() - began_ns_});
    ++from_->listed->ended;
    from_->listed->failed += !reply.outcome.ok();
  }
  void send(session_reply reply) {
    count(reply);
    if (*from_->closed)
      return;
    reply.request = number_;
    reply.leaving = self_->state.options->server->draining();
    std::lock_guard guard{from_->news->mutex};
    reply.warnings.swap(from_->news->warnings);
    reply.losses.swap(from_->news->losses);
    self_->send(from_->to, outgoing{std::move(reply)});
  }

  host_self self_; // may have ended where this does
  std::shared_ptr<std::atomic<size_t>> in_flight_;
  session_ptr from_;
  uint64_t number_;
  uint64_t bytes_ = 0;
  bool is_step_; // that is not counted yet
  const int64_t began_ns_ = steady_ns();
};

using request_ptr = std::shared_ptr<open_request>;

} // namespace troupe::hosting
