#include "troupe/actors/task/step_server.hpp"

#include "troupe/actors/base/step_errors.hpp"
#include "troupe/runtime/types/held_bytes.hpp"
#include "troupe/serialization/reports/statistics.hpp"

#include <caf/send.hpp>

#include <cstdio>

namespace troupe {
namespace {

// How long after its deadline a step is ended that whoever asked for it has not ended.
constexpr std::chrono::milliseconds grace{1000};
// Of one connection at once: each has an instance.
constexpr size_t max_running = 65'536;
// Later deadlines are none: a century.
constexpr uint64_t max_deadline_ms = uint64_t{100} * 365 * 24 * 3600 * 1000;

std::string hex_of(uint64_t session) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(session));
  return text;
}

// What its client has cancelled is no trouble of the task, and what it tries again is none yet.
void log_end(event_log& to, const event_names& event, step_id step, bool retried,
             const status& outcome) {
  if (outcome.ok() || !to)
    return;
  auto kind = outcome.kind();
  retried = retried && (kind == error_kind::unavailable || kind == error_kind::aborted);
  auto level = kind == error_kind::cancelled ? log_level::debug
               : retried                     ? log_level::info
                                             : log_level::warning;
  std::vector<property> fields{{"session", hex_of(step.session)},
                               {"kind", std::string{to_string(kind)}},
                               {"why", outcome.message().substr(0, outcome.message().find('\n'))}};
  if (retried)
    fields.push_back({"retried", true});
  to.write_step(level, event, static_cast<int64_t>(step.sequence), std::move(fields));
}

constexpr event_names step_failed{"step_failed", "steps_failed"},
    step_refused{"step_refused", "steps_refused"};

} // namespace

bool step_server::serve(message& what, const connection_ptr& owner, const caf::actor& from,
                        caf::execution_unit* unit) {
  if (auto* push = std::get_if<tensor_push>(&what)) {
    steps_->push(std::move(*push), unit);
  } else if (auto* run = std::get_if<run_step>(&what)) {
    serve_run(std::move(*run), owner, from, unit);
  } else if (auto* cancel = std::get_if<cancel_step>(&what)) {
    serve_cancel(std::move(*cancel), *owner, unit);
  } else if (auto* settled = std::get_if<settle_step>(&what)) {
    caf::anon_send(from, outgoing{reply{settled->request, serve_settle(*settled, *owner)}});
  } else {
    return false;
  }
  become_busy();
  return true;
}

// Who may not do everything ends no steps of others, and what it cancels before it comes takes room
// of its own connection alone.
void step_server::serve_cancel(cancel_step&& what, peer_connection& owner,
                               caf::execution_unit* unit) {
  if (owner.account && !programs_.has_session(what.step.session, owner))
    return;
  if (unsettled_->settle(what.step, true))
    return;
  if (!owner.account)
    steps_->abort(what.step, std::move(what.why), unit);
  else if (!steps_->abort_if_come(what.step, std::move(what.why), unit))
    owner.cancelled.add(what.step);
}

status step_server::serve_settle(const settle_step& what, const peer_connection& owner) {
  if (owner.account && !programs_.has_session(what.step.session, owner))
    return failure(error_kind::failed_precondition, owner.peer, " has no programs of the session ",
                   hex_of(what.step.session), " on ", name_);
  return settle(what.step);
}

status step_server::settle(step_id step) {
  if (unsettled_->settle(step, false))
    return {};
  return failure(error_kind::aborted, name_,
                 " has given back what the step took there: it heard nothing for too long");
}

void step_server::serve_run(run_step&& what, const connection_ptr& owner, const caf::actor& from,
                            caf::execution_unit* unit) {
  auto on_end = [from, request = what.request](step_result result) {
    step_done done{
        request,    std::move(result.outcome), std::move(result.fetches), {}, result.holds,
        result.fill};
    if (result.statistics.subjects)
      if (auto bytes = write_statistics(result.statistics)) // a step is not lost for want of them
        done.statistics = *std::move(bytes);
    caf::anon_send(from, outgoing{std::move(done)});
  };
  auto deadline = what.deadline_ms < max_deadline_ms
                      ? now_() + std::chrono::milliseconds{what.deadline_ms}
                      : step_clock::time_point::max();
  uint64_t fed = 0;
  for (const auto& one : what.feeds)
    fed += held_bytes(one.value);
  begin({what.handle,
         what.step,
         deadline,
         std::move(what.feeds),
         {.times = what.times, .check_numerics = what.check_numerics},
         what.incarnation,
         what.fills,
         what.retried},
        owner, std::move(on_end), unit, fed);
}

void step_server::begin(run_request&& what, const connection_ptr& owner, step_end on_end,
                        caf::execution_unit* unit, uint64_t fed) {
  active_->fetch_add(1); // before it looks: whoever drains waits for this one, or it is refused
  auto stage = fill_stage::over;
  auto refuse = [&](status why) {
    counts_->refused(why.kind());
    log_end(*log_, step_refused, what.step, what.retried, why);
    on_end({.outcome = std::move(why).on_task(name_), .fetches = {}, .fill = stage});
    active_->fetch_sub(1, std::memory_order_release);
  };
  if (what.incarnation != 0 && what.incarnation != incarnation_)
    return refuse(
        failure(error_kind::aborted, name_, " has been restarted: prepare the step again"));
  if (what.deadline <= now_())
    return refuse(not_begun_in_time());
  if (auto open = refusal(); !open)
    return refuse(std::move(open));
  auto program = programs_.find(what.handle, *owner);
  if (!program)
    return refuse(program.status());
  if ((*program)->session() != what.step.session)
    return refuse(
        invalid(name_, ": program ", what.handle, " is of another session than step ", what.step));
  if (filling_.closed() && (*program)->has_state()) {
    auto may = filling_.admit(what.fills, owner.get(), owner->peer, name_, now_());
    if (owner->gone) // lose() may have come before this step was admitted
      end_fill(*owner, false);
    stage = may.stage;
    if (!may.outcome)
      return refuse(std::move(may.outcome));
  }
  if (owner->account && owner->cancelled.take(what.step)) {
    if (steps_->announce(what.step)) // what came for it goes
      steps_->end(what.step, true);
    return refuse(failure(error_kind::cancelled, "it was cancelled before it came"));
  }
  if (owner->running.fetch_add(1, std::memory_order_relaxed) >= max_running) {
    owner->running.fetch_sub(1, std::memory_order_relaxed);
    return refuse(failure(error_kind::resource_exhausted, owner->peer, " has ", max_running,
                          " steps on ", name_, " already, as many as may be"));
  }
  if (auto* account = owner->account.get();
      account && !take_one(account->steps, account->rights.steps)) {
    owner->running.fetch_sub(1, std::memory_order_relaxed);
    return refuse(failure(error_kind::resource_exhausted, "client '", account->name, "' has ",
                          account->rights.steps, " steps on ", name_,
                          " already, as many as it may"));
  }
  if (!owner->take_feeds(fed, max_fed)) {
    owner->end_step();
    return refuse(failure(error_kind::resource_exhausted, owner->peer, " has fed steps on ", name_,
                          " with ", owner->fed.load(), " bytes that have not ended: ", fed,
                          " more are over the limit of ", max_fed));
  }
  // A step whose part here has ended counts until it is settled.
  auto ended = [owner, stage, fed, of = *program, step = what.step, retried = what.retried,
                keep = unsettled_, counts = counts_, active = active_, log = log_, now = now_,
                began = now_(), tell = std::move(on_end)](step_result result) {
    counts->ended(result.outcome.kind(), now() - began);
    log_end(*log, step_failed, step, retried, result.outcome);
    result.fill = stage;
    owner->fed.fetch_sub(fed, std::memory_order_relaxed);
    if (result.holds)
      keep->add(step, of, owner); // before anybody can settle it
    else
      owner->end_step();
    tell(std::move(result));
    active->fetch_sub(1, std::memory_order_release);
  };
  begin_in_background(*program, steps_, what, name_, std::move(ended), unit,
                      by_steady_clock(what.deadline, now_()));
  // What it needs may have been lost while it began, when others did not know of it yet.
  if (auto again = programs_.find(what.handle, *owner); !again)
    steps_->abort(what.step, again.status(), unit);
  become_busy();
}

status step_server::refusal() const {
  if (!draining())
    return {};
  return failure(error_kind::unavailable, name_, " is draining: it takes nothing new");
}

void step_server::end_fill(const peer_connection& by, bool done) {
  if (filling_.end(&by, done))
    log_->write(log_level::info, "filled", {{"by", by.peer}});
}

size_t step_server::in_flight() const {
  auto active = active_->load(std::memory_order_acquire); // first: what ends is kept before
  return active + unsettled();
}

demand step_server::expect(step_id step, const caf::actor_addr& exchange) {
  auto known = steps_->expect(step, exchange);
  become_busy();
  return known;
}

void step_server::lose(peer_connection& which, const status& why) {
  auto reason = failure(error_kind::unavailable, which.peer, " is gone: ", why.message());
  connections_.remove(which);
  auto dropped = programs_.close(which);
  end_fill(which, false); // begin() ends what comes later
  lose_programs(which.exchange, reason);
  steps_->abort_all(which.peer, which.incarnation, reason, nullptr);
  for (const auto& one : dropped) // nobody waits for its steps any more
    steps_->abort_all(*one, reason, nullptr);
  unsettled_->lose(which);
}

void step_server::cannot_send(step_id step, const caf::actor_addr& exchange, const status& why) {
  steps_->abort(step, status{why}, nullptr);
  if (why.kind() == error_kind::unavailable) // else it was this tensor alone
    lose_programs(exchange, why);
}

// Whoever registered them registers them again before the next step, which else would fail.
void step_server::lose_programs(const caf::actor_addr& exchange, const status& why) {
  for (const auto& [owner, handle] : programs_.lose(exchange, why))
    if (auto to = caf::actor_cast<caf::actor>(owner->exchange))
      caf::anon_send(to, outgoing{program_lost{handle}});
}

void step_server::close(const status& why) {
  steps_->close(why, nullptr);
  unsettled_->close();
  programs_.clear();
}

void step_server::become_busy() {
  if (!busy_.exchange(true, std::memory_order_acq_rel) && on_busy_)
    on_busy_();
}

bool step_server::expire() {
  busy_.store(false, std::memory_order_release);
  steps_->expire(now_() - grace, self_, nullptr);
  return !steps_->idle() && !busy_.exchange(true, std::memory_order_acq_rel);
}

} // namespace troupe
