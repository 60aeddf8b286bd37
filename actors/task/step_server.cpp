#include "troupe/actors/task/step_server.hpp"

#include "troupe/actors/base/step_errors.hpp"
#include "troupe/runtime/types/held_bytes.hpp"
#include "troupe/serialization/reports/statistics.hpp"

#include <caf/send.hpp>

#include <cstdio>

namespace troupe {
namespace {

// The time after its deadline at which a step is ended, if its requester has not ended it.
constexpr std::chrono::milliseconds grace{1000};
// The limit of one connection: each running step has an instance.
constexpr size_t max_running = 65'536;
// Later deadlines count as none: a century.
constexpr uint64_t max_deadline_ms = uint64_t{100} * 365 * 24 * 3600 * 1000;

std::string hex_of(uint64_t session) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(session));
  return text;
}

// Logs the error of a step: as a warning; at info level if the step will be retried, because the
// retry may succeed; at debug level if its client has cancelled it.
void log_end(event_log& log, const event_names& event, step_id step, bool retried,
             const status& outcome) {
  if (outcome.ok() || !log)
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
  log.write_step(level, event, static_cast<int64_t>(step.sequence), std::move(fields));
}

result<program_store::program_ptr> find_program(const program_store& programs,
                                                const run_request& request, peer_connection& owner,
                                                const std::string& task) {
  TROUPE_ASSIGN(auto program, programs.find(request.handle, owner));
  if (program->session() != request.step.session)
    return invalid(task, ": program ", request.handle, " is of another session than step ",
                   request.step);
  return program;
}

// Counts a step of the owner, with `fed` bytes of feeds. Fails if that exceeds a limit.
status reserve_step(peer_connection& owner, uint64_t fed, const std::string& task) {
  if (owner.running.fetch_add(1, std::memory_order_relaxed) >= max_running) {
    owner.running.fetch_sub(1, std::memory_order_relaxed);
    return failure(error_kind::resource_exhausted, owner.peer, " has ", max_running, " steps on ",
                   task, " already, which is the limit");
  }
  if (auto* account = owner.account.get();
      account && !acquire_slot(account->steps, account->rights.steps)) {
    owner.running.fetch_sub(1, std::memory_order_relaxed);
    return failure(error_kind::resource_exhausted, "client '", account->name, "' has ",
                   account->rights.steps, " steps on ", task, " already, which is its limit");
  }
  if (!owner.take_feeds(fed, step_server::max_fed)) {
    owner.end_step();
    return failure(error_kind::resource_exhausted, owner.peer, " has fed steps on ", task, " with ",
                   owner.feed_bytes.load(), " bytes that are still in use: ", fed,
                   " more are over the limit of ", step_server::max_fed);
  }
  return {};
}

constexpr event_names step_failed{"step_failed", "steps_failed"},
    step_refused{"step_refused", "steps_refused"};

} // namespace

bool step_server::serve(message& request, const connection_ptr& owner, const caf::actor& from,
                        caf::execution_unit* unit) {
  if (auto* push = std::get_if<tensor_push>(&request)) {
    steps_->deliver(std::move(*push), unit);
  } else if (auto* run = std::get_if<run_step>(&request)) {
    serve_run(std::move(*run), owner, from, unit);
  } else if (auto* cancel = std::get_if<cancel_step>(&request)) {
    serve_cancel(std::move(*cancel), *owner, unit);
  } else if (auto* settled = std::get_if<settle_step>(&request)) {
    caf::anon_send(from, outgoing{reply{settled->request, serve_settle(*settled, *owner)}});
  } else {
    return false;
  }
  note_expiring_state();
  return true;
}

// A client with limited rights cannot end steps of other clients. Its cancellations of steps that
// have not come are kept for its own connection only.
void step_server::serve_cancel(cancel_step&& request, peer_connection& owner,
                               caf::execution_unit* unit) {
  if (owner.account && !programs_.has_session(request.step.session, owner))
    return;
  if (unsettled_->settle(request.step, true))
    return;
  if (!owner.account)
    steps_->abort(request.step, std::move(request.reason), unit);
  else if (!steps_->abort_if_begun(request.step, std::move(request.reason), unit))
    owner.cancelled.add(request.step);
}

status step_server::serve_settle(const settle_step& request, const peer_connection& owner) {
  if (owner.account && !programs_.has_session(request.step.session, owner))
    return failure(error_kind::failed_precondition, owner.peer, " has no programs of the session ",
                   hex_of(request.step.session), " on ", name_);
  return settle(request.step);
}

status step_server::settle(step_id step) {
  if (unsettled_->settle(step, false))
    return {};
  return failure(
      error_kind::aborted, name_,
      " has put back the elements that the step took there: the step was not settled in time");
}

void step_server::serve_run(run_step&& request, const connection_ptr& owner, const caf::actor& from,
                            caf::execution_unit* unit) {
  auto on_end = [from, number = request.request](step_result result) {
    step_done done{number, std::move(result.outcome), std::move(result.fetches),
                   {},     result.keeps_inputs,       result.initialization};
    if (result.statistics.subjects)
      // The result is sent even without statistics.
      if (auto bytes = write_statistics(result.statistics))
        done.statistics = *std::move(bytes);
    caf::anon_send(from, outgoing{std::move(done)});
  };
  auto deadline = request.deadline_ms < max_deadline_ms
                      ? now_() + std::chrono::milliseconds{request.deadline_ms}
                      : step_clock::time_point::max();
  uint64_t fed = 0;
  for (const auto& feed : request.feeds)
    fed += held_bytes(feed.value);
  begin({request.handle,
         request.step,
         deadline,
         std::move(request.feeds),
         {.times = request.wants_statistics, .check_numerics = request.check_numerics},
         request.incarnation,
         request.initializes_task,
         request.retried},
        owner, std::move(on_end), unit, fed);
}

void step_server::begin(run_request&& request, const connection_ptr& owner, step_end on_end,
                        caf::execution_unit* unit, uint64_t fed) {
  active_->fetch_add(1); // before the checks: a drain waits for this step, or the step is refused
  auto stage = initialization_stage::over;
  auto refuse = [&](status why) {
    counts_->count_refused(why.kind());
    log_end(*log_, step_refused, request.step, request.retried, why);
    on_end({.outcome = std::move(why).with_task(name_), .fetches = {}, .initialization = stage});
    active_->fetch_sub(1, std::memory_order_release);
  };
  if (request.incarnation != 0 && request.incarnation != incarnation_)
    return refuse(
        failure(error_kind::aborted, name_, " has been restarted: prepare the step again"));
  if (request.deadline <= now_())
    return refuse(deadline_passed_before_start());
  if (auto outcome = refusal(); !outcome)
    return refuse(std::move(outcome));
  auto program = find_program(programs_, request, *owner, name_);
  if (!program)
    return refuse(program.status());
  if (initialization_.closed() && (*program)->has_state()) {
    auto admission =
        initialization_.admit(request.initializes, owner.get(), owner->peer, name_, now_());
    if (owner->is_closed) // connection_ended() may have come before this step was admitted
      end_initialization(*owner, false);
    stage = admission.stage;
    if (!admission.outcome)
      return refuse(std::move(admission.outcome));
  }
  if (owner->account && owner->cancelled.take(request.step)) {
    if (steps_->admit(request.step)) // drops its early tensors
      steps_->end(request.step, true);
    return refuse(failure(error_kind::cancelled, "the step was cancelled before it came"));
  }
  if (auto reserved = reserve_step(*owner, fed, name_); !reserved)
    return refuse(std::move(reserved));
  // A step whose part here has ended counts until it is settled.
  auto ended = [owner, stage, fed, kept_program = *program, step = request.step,
                retried = request.retried, unsettled = unsettled_, counts = counts_,
                active = active_, log = log_, now = now_, began = now_(),
                notify = std::move(on_end)](step_result result) {
    counts->count_ended(result.outcome.kind(), now() - began);
    log_end(*log, step_failed, step, retried, result.outcome);
    result.initialization = stage;
    owner->feed_bytes.fetch_sub(fed, std::memory_order_relaxed);
    if (result.keeps_inputs)
      unsettled->add(step, kept_program, owner); // before the requester can settle it
    else
      owner->end_step();
    notify(std::move(result));
    active->fetch_sub(1, std::memory_order_release);
  };
  start_background_step(*program, steps_, request, name_, std::move(ended), unit,
                        by_steady_clock(request.deadline, now_()));
  // A connection that the program needs may have been lost while the step began, before its loss
  // could fail the step.
  if (auto current = programs_.find(request.handle, *owner); !current)
    steps_->abort(request.step, current.status(), unit);
  note_expiring_state();
}

status step_server::refusal() const {
  if (!draining())
    return {};
  return failure(error_kind::unavailable, name_, " is draining: it accepts no new requests");
}

void step_server::end_initialization(const peer_connection& peer, bool done) {
  if (initialization_.end(&peer, done))
    log_->write(log_level::info, "initialized", {{"by", peer.peer}});
}

size_t step_server::in_flight() const {
  // Read first, because a step is added to unsettled_ before it leaves active_.
  auto active = active_->load(std::memory_order_acquire);
  return active + unsettled();
}

fetch_decision step_server::expect(step_id step, const caf::actor_addr& exchange) {
  auto decision = steps_->expect(step, exchange);
  note_expiring_state();
  return decision;
}

void step_server::connection_ended(peer_connection& connection, const status& why) {
  auto reason = failure(error_kind::unavailable, connection.peer, " is gone: ", why.message());
  connections_.remove(connection);
  auto dropped = programs_.close(connection);
  end_initialization(connection, false); // begin() ends what comes later
  lose_programs(connection.exchange, reason);
  steps_->abort_all(connection.peer, connection.incarnation, reason, nullptr);
  for (const auto& program : dropped) // no caller waits for its steps any more
    steps_->abort_all(*program, reason, nullptr);
  unsettled_->lose(connection);
}

void step_server::send_failed(step_id step, const caf::actor_addr& exchange, const status& why) {
  steps_->abort(step, status{why}, nullptr);
  if (why.kind() == error_kind::unavailable) // other errors concern this tensor only
    lose_programs(exchange, why);
}

// The owner of a lost program registers it again before its next step, which would fail otherwise.
void step_server::lose_programs(const caf::actor_addr& exchange, const status& why) {
  for (const auto& [owner, handle] : programs_.mark_lost(exchange, why))
    if (auto exchange_actor = caf::actor_cast<caf::actor>(owner->exchange))
      caf::anon_send(exchange_actor, outgoing{program_lost{handle}});
}

void step_server::close(const status& why) {
  steps_->close(why, nullptr);
  unsettled_->close();
  programs_.clear();
}

void step_server::note_expiring_state() {
  if (!busy_.exchange(true, std::memory_order_acq_rel) && on_busy_)
    on_busy_();
}

bool step_server::expire() {
  busy_.store(false, std::memory_order_release);
  steps_->expire(now_() - grace, self_, nullptr);
  return !steps_->idle() && !busy_.exchange(true, std::memory_order_acq_rel);
}

} // namespace troupe
