#include "tests/simulate/client_host.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/session/session.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// The time after its deadline within which a step is answered, if the client is not paused.
constexpr duration slack = 200ms;
// Preparing and resetting wait for tasks that have to be reached; a paused client starts to do so
// when it wakes.
constexpr duration prepare_slack = 1500ms, reset_bound = 22s;
constexpr duration end_patience = 2s;

// Whether a step waits for a condition that other steps may never establish.
bool waits(run_kind kind) {
  return kind >= run_kind::take && kind != run_kind::apply && kind != run_kind::shut;
}

constexpr std::initializer_list<fault_kind> losses{fault_kind::loss,   fault_kind::partition,
                                                   fault_kind::pause,  fault_kind::crash,
                                                   fault_kind::reopen, fault_kind::split};

// The faults that may have caused the error of a request.
struct error_causes {
  const core& simulation;
  const std::vector<int>& named;     // the tasks that the error names
  const std::vector<int>& blamed;    // the processes whose faults may be the cause
  const std::vector<int>& processes; // those that took part in the request
  time_point issued, deadline;
  bool may_wait;

  // The promise that an error without such a fault breaks, or nothing.
  std::string_view promise_broken_by(const status& error) const {
    switch (error.kind()) {
      case error_kind::unavailable:
        if ((simulation.now < deadline - margin() || deadline - issued >= 1s) && !had_loss(blamed))
          return "a task is unavailable only after a loss";
        break;
      case error_kind::aborted:
        if (!simulation.had_fault({fault_kind::loss, fault_kind::partition, fault_kind::pause,
                                   fault_kind::crash, fault_kind::reset, fault_kind::split},
                                  blamed, {}, simulation.now))
          return "a step is aborted only after a loss or a reset";
        break;
      case error_kind::deadline_exceeded:
        if (simulation.now < deadline)
          return "DEADLINE_EXCEEDED is reported after the deadline, not before";
        if (!may_wait && deadline - issued >= 1s && !had_loss(processes))
          return "a step is in time if nothing was lost";
        break;
      case error_kind::not_found:
        if (!simulation.settings.joined || !had_loss(blamed))
          return "a task is unknown only after a loss";
        break;
      case error_kind::resource_exhausted:
        if (!simulation.had_fault({fault_kind::shortage, fault_kind::buggify}, named, issued,
                                  simulation.now))
          return "memory is exhausted only during an injected shortage";
        break;
      case error_kind::failed_precondition:
        if (error.message().find("uninitiali") == std::string::npos)
          return "FAILED_PRECONDITION is reported only for an uninitialized variable";
        break;
      default: return "an error has one of the injected causes";
    }
    return {};
  }

  // A session that cannot reach a task fails the step a little before the deadline.
  duration margin() const { return std::clamp<duration>((deadline - issued) / 8, 0s, 50ms); }

  // Whether a loss was injected within the time in which it must be noticed. Later steps are
  // registered again before they start.
  bool had_loss(const std::vector<int>& of_processes) const {
    auto timeout = std::chrono::milliseconds{simulation.settings.peer_timeout_ms};
    return simulation.had_fault(losses, of_processes, issued - 2 * timeout - 5s, simulation.now);
  }
};

} // namespace

std::string first_line(const status& outcome) {
  auto text = concat(outcome);
  return text.substr(0, text.find('\n'));
}

client_host::client_host(core& simulation, network& in, ledger& book, const cluster_spec& cluster,
                         const layout& lay, int number,
                         std::vector<std::unique_ptr<task_host>>& tasks)
    : core_(simulation), network_(in), ledger_(book), cluster_(cluster), layout_(lay),
      number_(number), tasks_(tasks), chance_(simulation.settings.seed, concat("client ", number)),
      program_chance_(simulation.settings.seed, concat("programs of client ", number)),
      stop_chance_(simulation.settings.seed, concat("stops of client ", number)) {
  int64_t factor = 2 + number * 100;
  for (int server = 0; server < lay.servers; ++server) {
    auto worker = static_cast<int>(chance_.below(static_cast<uint64_t>(lay.workers)));
    const auto& server_kind =
        kinds_.emplace_back(server_kinds::draw(simulation.settings.seed, server));
    auto kinds = server_kind.runs();
    for (auto kind : {run_kind::update, run_kind::read, run_kind::init})
      kinds.insert(kinds.begin(), kind);
    for (auto kind : kinds)
      steps_.push_back(make_step(kind, lay, server_kind, number, worker, server, factor++, 0));
  }
  // Torn reads and large tensors together need more reads than the time permits.
  for (int worker = 0; worker < lay.workers; ++worker)
    steps_.push_back(make_step(run_kind::train, lay, {}, number, worker, 0, factor++,
                               simulation.settings.torn                     ? 0
                               : chance_.permille(simulation.settings.huge) ? 250'000
                               : chance_.permille(300)                      ? 20'000
                                                                            : 0));
  if (simulation.settings.reductions)
    for (auto elements : {3, simulation.settings.torn ? 5 : 3000}) // a single piece, and several
      steps_.push_back(make_step(run_kind::reduce, lay, {}, number, 0, 0, factor++, elements));
}

void client_host::open() {
  process_ =
      std::make_unique<process>(name(), static_cast<size_t>(layout_.client(number_)), network_);
  process_->enter(core_.now);
  client_options options;
  options.ops = &ledger::ops();
  options.container = concat("client", number_);
  options.programs.max_concurrent_steps = static_cast<size_t>(core_.settings.max_concurrent);
  options.peer_timeout = std::chrono::milliseconds{core_.settings.peer_timeout_ms};
  auto transport = network_.transport(*process_);
  held_.clear();
  lost_reported_.clear();
  options.lost_state.on_state_lost = [this](const state_loss& loss) {
    for (size_t i = 0; i < tasks_.size(); ++i)
      if (to_string(tasks_[i]->name()) == loss.task)
        lost_reported_.insert(static_cast<int>(i));
    return core_.settings.recovers != 0;
  };
  cluster_access cluster{cluster_};
  if (core_.settings.joined) {
    cluster.known.tasks.clear();
    cluster.seeds = tasks_[0]->seeds();
  }
  auto session = spawn_cluster_session(process_->system(), cluster, options, nullptr, &transport);
  session_ = *session;
  core_.tell(name(), "open", "session ", session_.id());
  auto generation = ++generation_;
  for (int64_t i = 0; i < core_.settings.lanes; ++i)
    core_.after(chance_.between(duration{0}, 50ms), [=, this] { lane(generation); });
  if (core_.settings.replicas && number_ == 0)
    core_.after(50ms, [=, this] {
      if (generation == generation_ && !stopping_)
        train(false, {});
    });
}

void client_host::close(network::departure leave_mode) {
  core_.tell(name(), "close", leave_mode == network::departure::orderly ? "orderly" : "crash");
  ++generation_;
  closing_ = true;
  busy_ = 0;
  in_program_ = false;
  if (leave_mode != network::departure::orderly)
    network_.leave(*process_, leave_mode);
  process_->enter(core_.now);
  prepared_.clear();
  caf::anon_send_exit(session_, caf::exit_reason::user_shutdown);
  session_ = nullptr;
  auto took = process_->finish(core_.now);
  network_.leave(*process_, leave_mode);
  prepared_.clear();
  if (process_->actors() > 0)
    core_.violated("no actor is left when a session is closed", name(), " has ",
                   process_->actors());
  else if (took > end_patience)
    core_.violated("a session ends soon", name(), " took ", took.count() / 1'000'000, " ms");
  else if (!waits_.empty())
    core_.violated("requests to a closed session are answered", name(), " waits for ",
                   waits_.begin()->second.description);
  process_.reset();
  waits_.clear();
  closing_ = false;
}

bool client_host::idle() const { return busy_ == 0 && waits_.empty(); }

uint64_t client_host::incarnation_of(int process) const {
  return process < 0 ? 0 : tasks_[static_cast<size_t>(process)]->incarnation();
}

uint64_t client_host::expect(std::string description, time_point bound) {
  waits_[next_wait_] = {std::move(description), bound};
  return next_wait_++;
}

void client_host::answered(uint64_t wait_id) {
  auto wait = waits_.find(wait_id);
  if (wait == waits_.end())
    return core_.violated("each request is answered once", name());
  if (!closing_ && core_.now > std::max(wait->second.bound, process_->wakes() + slack))
    core_.violated("each request is answered in time", name(), ": ", wait->second.description,
                   " was answered ", (core_.now - wait->second.bound).count() / 1'000'000,
                   " ms late");
  waits_.erase(wait);
}

void client_host::check_waits() {
  if (!process_)
    return;
  for (const auto& [id, wait] : waits_)
    if (core_.now > std::max(wait.bound, process_->wakes()) + 1s)
      return core_.violated("each request is answered in time", name(), ": ", wait.description,
                            " has no answer");
}

// As a client does: an actor sends the request, and has no timer of its own.
template <class Answer, class Question>
void client_host::ask(Question question, std::function<void(status, Answer)> then) {
  process_->enter(core_.now);
  process_->system().spawn([=, whom = session_](caf::event_based_actor* self) {
    self->request(whom, caf::infinite, question)
        .then([=](Answer& answer) { then({}, std::move(answer)); },
              [=](const caf::error& error) { then(from_caf(error), {}); });
  });
}

// -- one step after another ----------------------------------------------------------------------

void client_host::lane(uint64_t generation) {
  if (generation != generation_ || stopping_ || core_.violation())
    return;
  if (process_->wakes() > core_.now) {
    core_.at(process_->wakes(), [=, this] { lane(generation); });
    return;
  }
  ++busy_;
  auto next = [=, this](const status&) {
    if (generation != generation_)
      return;
    --busy_;
    auto pause = chance_.between(duration{0}, std::chrono::milliseconds{core_.settings.think_ms});
    core_.after(pause, [=, this] { lane(generation); });
  };
  if (!calm_ && chance_.permille(core_.settings.resets))
    return reset(next);
  if (!calm_ && chance_.permille(core_.settings.listings))
    return list_devices(next);
  if (core_.settings.programs && !in_program_ && program_chance_.permille(core_.settings.programs))
    return run_program(false, next);
  auto step_index = chance_.below(steps_.size());
  if (chance_.permille(core_.settings.queues))
    while (steps_[step_index].kind < run_kind::put)
      step_index = chance_.below(steps_.size());
  while (steps_[step_index].kind == run_kind::shut && !chance_.permille(200))
    step_index = chance_.below(steps_.size());
  auto patience = chance_.between(duration{2s}, duration{6s});
  if (!calm_ && chance_.permille(core_.settings.short_deadlines))
    patience = chance_.between(duration{1us}, duration{60ms});
  auto finish = [=, this](const status& outcome) {
    // Otherwise the queue would stay closed.
    if (generation == generation_ && outcome.ok() && steps_[step_index].kind == run_kind::shut)
      return core_.after(100ms, [=, this] {
        if (generation == generation_)
          reset(next);
      });
    // The first step on a variable of a task that has just started finds no value.
    if (generation == generation_ && outcome.kind() == error_kind::failed_precondition)
      for (size_t i = 0; i < steps_.size(); ++i)
        if (steps_[i].kind == run_kind::init &&
            outcome.message().find("uninitiali") != std::string::npos &&
            outcome.message().find(to_string(
                tasks_[static_cast<size_t>(steps_[i].server)]->name())) != std::string::npos)
          return run(i, core_.now + 4s, next);
    next(outcome);
  };
  run(step_index, core_.now + patience, finish);
}

void client_host::run(size_t step_index, time_point deadline, on_end then, uint64_t number) {
  auto may_stop = number == 0
                      ? draw_stop(concat(to_string(steps_[step_index].kind), " #", step_index))
                      : nullptr;
  if (prepared_.contains(step_index))
    return start_run(step_index, deadline, std::move(then), number, may_stop);
  auto generation = generation_;
  auto go_on = [=, this](const status& outcome) {
    if (outcome.ok() && generation == generation_)
      start_run(step_index, deadline, then, number, may_stop);
    else
      then(outcome);
  };
  prepare(step_index, deadline, go_on, may_stop);
}

void client_host::prepare(size_t step_index, time_point deadline, on_end then,
                          const stopping_ptr& may_stop) {
  const auto& step = steps_[step_index];
  auto keep = [=, this](const status& outcome, std::shared_ptr<prepared_step> prepared) {
    if (prepared)
      prepared_[step_index] = std::move(prepared);
    then(outcome);
  };
  ask_prepare(*step.text.nodes, test::signature_of(step.text.text.runs[0]),
              concat(to_string(step.kind), " #", step_index), step.processes, deadline, keep,
              may_stop);
}

void client_host::ask_prepare(
    const graph& step_graph, const step_signature& signature, const std::string& step,
    const std::vector<int>& processes, time_point deadline,
    std::function<void(const status&, std::shared_ptr<prepared_step>)> then,
    const stopping_ptr& may_stop) {
  auto description = concat("prepare ", step);
  auto wait = expect(description, deadline + prepare_slack);
  core_.tell(name(), "asks", description);
  auto issued = core_.now;
  auto question = prepare_request::make(step_graph, signature, deadline);
  question->stop = token_of(may_stop, wait);
  ask<std::shared_ptr<prepared_step>>(
      *question, [=, this](const status& outcome, const std::shared_ptr<prepared_step>& prepared) {
        core_.tell(name(), "hears", description, ": ", outcome.ok() ? "ok" : first_line(outcome));
        answered(wait);
        if (!outcome.ok() && !was_stopped(may_stop, outcome))
          check_error(outcome, processes, issued, deadline, description, false);
        then(outcome, outcome.ok() && !closing_ ? prepared : nullptr);
      });
}

void client_host::start_run(size_t step_index, time_point deadline, on_end then,
                            uint64_t repeated_number, const stopping_ptr& may_stop) {
  const auto& step = steps_[step_index];
  run_record* record = nullptr;
  if (repeated_number != 0)
    record = &ledger_.at(repeated_number);
  else
    record = &ledger_.begin({.kind = step.kind,
                             .client = number_,
                             .server = step.server,
                             .processes = step.processes,
                             .slots = step.slots,
                             .issued = core_.now,
                             .deadline = deadline,
                             .session = generation_});
  std::vector<tensor> feeds;
  if (!step.text.text.runs[0].feeds.empty())
    feeds.push_back(tensor::scalar(static_cast<int64_t>(record->number)));
  auto generation = generation_;
  auto handle_answer = [=, this](const status& outcome, const std::vector<tensor>& fetches) {
    if (was_stopped(may_stop, outcome))
      note_end(*record, outcome);
    else
      ended(step_index, *record, outcome, fetches);
    if (repeats_updates && outcome.kind() == error_kind::unavailable && generation == generation_ &&
        repeated_number == 0)
      return run(step_index, core_.now + 5s, then, record->number);
    then(outcome);
  };
  ask_run(*record, prepared_.at(step_index), std::move(feeds), handle_answer, may_stop);
}

void client_host::ask_run(const run_record& record, const std::shared_ptr<prepared_step>& step,
                          std::vector<tensor> feeds,
                          std::function<void(const status&, const std::vector<tensor>&)> then,
                          const stopping_ptr& may_stop) {
  auto description = concat(to_string(record.kind), ' ', record.number);
  auto wait = expect(description, std::max(record.deadline, core_.now) + slack);
  core_.tell(name(), "asks", description);
  ask<step_outcome>(step_request{.step = step,
                                 .feeds = std::move(feeds),
                                 .deadline = record.deadline,
                                 .stop = token_of(may_stop, wait)},
                    [=, this](status error, const step_outcome& outcome) {
                      if (error.ok())
                        error = outcome.outcome;
                      core_.tell(name(), "hears", description, ": ",
                                 error.ok() ? "ok" : first_line(error));
                      answered(wait);
                      then(error, outcome.fetches);
                    });
}

void client_host::note_end(run_record& run, const status& outcome) {
  run.is_answered = true;
  run.reported_doubt = outcome.message().find("may be consumed") != std::string::npos;
  run.answered = core_.now;
  if (outcome.ok()) {
    ++succeeded_;
    return;
  }
  ++failed_;
  if (!core_.settings.recovers)
    for (auto lost_task : tasks_named_in(outcome))
      lost_reported_.insert(lost_task);
}

void client_host::ended(size_t step_index, run_record& run, const status& outcome,
                        const std::vector<tensor>& fetches) {
  const auto& step = steps_[step_index];
  note_end(run, outcome);
  if (!outcome.ok()) {
    if (is_end_of_queue(run, outcome))
      return;
    return check_error(outcome, run.processes, run.issued, run.deadline,
                       concat(to_string(run.kind), ' ', run.number), waits(run.kind));
  }
  ledger_.succeeded(run);
  check_state(run);
  if (fetches.empty())
    return;
  auto value = *fetches.front().data<int64_t>();
  if (run.kind == run_kind::read)
    ledger_.read(run, value);
  else if (run.kind == run_kind::take || run.kind == run_kind::take_own)
    ledger_.dequeued(run, value / step.factor);
  else if (run.kind == run_kind::collect)
    return; // the kernel has told the ledger
  else if (value != step.expected(run.number))
    core_.violated("a step has the results of its graph", to_string(run.kind), ' ', run.number,
                   " gave ", value, ", not ", step.expected(run.number));
}

// If the session wants to restore state, it is asked before any step uses a task that has lost it.
// Otherwise an error has named the task.
void client_host::check_state(const run_record& run) {
  auto process_run = run.ran_on.find(static_cast<size_t>(run.server));
  if (run.server < 0 || process_run == run.ran_on.end() || process_run->second < held_[run.server])
    return;
  auto previous_incarnation = std::exchange(held_[run.server], process_run->second);
  if (previous_incarnation != 0 && previous_incarnation != process_run->second &&
      lost_reported_.erase(run.server) == 0)
    core_.violated("no step uses a task with lost state before its session was notified", name(),
                   ": ", to_string(run.kind), ' ', run.number);
}

// A queue of the client's own container is closed by a step of its own, and reset with the
// container.
bool client_host::is_end_of_queue(const run_record& run, const status& error) const {
  auto uses_own = run.kind == run_kind::put_own || run.kind == run_kind::take_own;
  auto mentions = [&](std::string_view text) {
    return error.message().find(text) != std::string::npos;
  };
  auto expected = error.kind() == error_kind::out_of_range && run.kind == run_kind::take_own;
  expected |= error.kind() == error_kind::cancelled && run.kind == run_kind::put_own;
  if (uses_own && expected && mentions("is closed"))
    return ledger_.was_shut(run.client, run.server);
  return uses_own && error.kind() == error_kind::cancelled && mentions("was reset") &&
         core_.had_fault({fault_kind::reset}, run.processes, {}, core_.now);
}

// The processes of all tasks that the error names.
std::vector<int> client_host::tasks_named_in(const status& error) const {
  std::vector<int> named;
  for (size_t i = 0; i < tasks_.size(); ++i)
    if (error.message().find(to_string(tasks_[i]->name())) != std::string::npos)
      named.push_back(static_cast<int>(i));
  return named;
}

// Each error has an injected cause, and names the task that the cause affected.
// In a joined cluster, a fault of any task may be the cause.
void client_host::check_error(const status& error, const std::vector<int>& took_part,
                              time_point issued, time_point deadline, const std::string& request,
                              bool may_wait) {
  if (closing_)
    return;
  const bool is_joined = core_.settings.joined;
  auto named = tasks_named_in(error);
  auto processes = is_joined ? all_processes() : took_part;
  // The client itself may have been cut off.
  auto blamed = is_joined ? all_processes() : named;
  blamed.push_back(layout_.client(number_));
  auto violate = [&](std::string_view promise) {
    core_.violated(promise, name(), ": ", request, ": ", first_line(error));
  };
  const error_causes causes{core_, named, blamed, processes, issued, deadline, may_wait};
  if (auto promise = causes.promise_broken_by(error); !promise.empty())
    return violate(promise);
  auto takes_part = [&](int index) {
    return std::ranges::find(processes, index) != processes.end();
  };
  auto knows_none =
      is_joined && error.message().find("no task of the cluster") != error.message().npos;
  if (error.kind() != error_kind::deadline_exceeded && !knows_none &&
      std::ranges::none_of(named, takes_part))
    violate("errors name a task that takes part");
}

void client_host::list_devices(on_end then) {
  auto wait = expect("devices", std::max(core_.now, process_->wakes()) + reset_bound);
  core_.tell(name(), "asks", "devices");
  auto issued = core_.now;
  ask<std::vector<device_info>>(
      list_devices_atom::value,
      [=, this](const status& outcome, const std::vector<device_info>& devices) {
        core_.tell(name(), "hears", "devices: ", outcome.ok() ? "ok" : first_line(outcome));
        answered(wait);
        if (!outcome.ok())
          check_error(outcome, all_processes(), issued, issued, "devices", true);
        else if (core_.settings.joined ? devices.empty() : devices.size() != tasks_.size())
          core_.violated("each task lists its devices", name(), " heard of ", devices.size());
        then(outcome);
      });
}

std::vector<int> client_host::all_processes() const {
  std::vector<int> processes{layout_.client(number_)};
  for (size_t i = 0; i < tasks_.size(); ++i)
    processes.push_back(static_cast<int>(i));
  return processes;
}

void client_host::reset(on_end then) {
  auto wait = expect("reset", std::max(core_.now, process_->wakes()) + reset_bound);
  core_.tell(name(), "asks", "reset");
  auto issued = core_.now;
  core_.begin_fault({fault_kind::reset, -1, -1, core_.now, core_.now});
  ask<status>(reset_request{concat("client", number_)},
              [=, this](const status& lost, const status& outcome) {
                auto error = lost.ok() ? outcome : lost;
                core_.tell(name(), "hears", "reset: ", error.ok() ? "ok" : first_line(error));
                answered(wait);
                if (!error.ok())
                  check_error(error, all_processes(), issued, issued, "reset", true);
                then(error);
              });
}

// -- the end -------------------------------------------------------------------------------------

void client_host::final_round(std::function<void()> then) {
  std::function<void()> last = then;
  if (number_ == 0)
    last = [=, this] { drain(0, run_kind::take, 4, then); };
  if (core_.settings.replicas && number_ == 0)
    last = [=, this, after = last] { train(true, after); };
  std::function<void()> chain = [=, this] { final_shut(0, last); };
  if (core_.settings.programs)
    chain = [=, this] { final_program(4, [=, this] { final_shut(0, last); }); };
  for (size_t i = steps_.size(); i-- > 0;) {
    auto kind = steps_[i].kind;
    // The queues and accumulators may be empty, and the client's own queue may be closed.
    if (kind != run_kind::take && kind != run_kind::collect && kind < run_kind::put_own)
      chain = [=, this] { final_step(i, 4, chain); };
  }
  chain();
}

void client_host::final_step(size_t step_index, int tries, std::function<void()> then) {
  if (core_.violation())
    return;
  run(step_index, core_.now + 5s, [=, this](const status& outcome) {
    if (outcome.ok())
      return then();
    if (tries == 1)
      return core_.violated("every kind of step succeeds when faults are over", name(), ": ",
                            to_string(steps_[step_index].kind), ": ", first_line(outcome));
    core_.after(100ms, [=, this] { final_step(step_index, tries - 1, then); });
  });
}

size_t client_host::step_of(run_kind kind, int process) const {
  return static_cast<size_t>(
      std::ranges::find_if(
          steps_, [&](const auto& step) { return step.kind == kind && step.server == process; }) -
      steps_.begin());
}

void client_host::final_shut(int server, std::function<void()> then) {
  if (server == layout_.servers)
    return then();
  auto next = [=, this] { final_shut(server + 1, then); };
  if (kinds_[static_cast<size_t>(server)].extra == extra_kind::own_queue)
    final_own(server, 0, 4, next);
  else
    next();
}

// A new queue of the client's own accepts elements until it is closed, and returns them until it is
// empty.
void client_host::final_own(int server, size_t stage, int tries, std::function<void()> then) {
  constexpr run_kind kinds[] = {run_kind::put_own,  run_kind::put_own,  run_kind::shut,
                                run_kind::put_own,  run_kind::take_own, run_kind::take_own,
                                run_kind::take_own, run_kind::take_own};
  constexpr error_kind ends[] = {error_kind::ok,           error_kind::ok,          error_kind::ok,
                                 error_kind::cancelled,    error_kind::ok,          error_kind::ok,
                                 error_kind::out_of_range, error_kind::out_of_range};
  if (core_.violation())
    return;
  auto check = [=, this](const status& outcome, size_t next_stage, error_kind expected_kind,
                         std::string_view request) {
    if (outcome.kind() == expected_kind)
      return final_own(server, next_stage, tries, then);
    if (tries == 1)
      return core_.violated("every kind of step succeeds when faults are over", name(), ": ",
                            request, ' ', stage, ": ", first_line(outcome));
    core_.after(100ms, [=, this] { final_own(server, 0, tries - 1, then); }); // with a new queue
  };
  if (stage == 0)
    return reset([=](const status& outcome) { check(outcome, 1, error_kind::ok, "reset"); });
  if (stage > std::size(kinds))
    return then();
  auto kind = kinds[stage - 1];
  run(step_of(kind, layout_.server(server)), core_.now + 5s,
      [=](const status& outcome) { check(outcome, stage + 1, ends[stage - 1], to_string(kind)); });
}

// Takes until the shared queue is empty; then the ledger must agree with what was taken.
void client_host::drain(int server, run_kind kind, int tries, std::function<void()> then) {
  if (server == layout_.servers)
    return then();
  const auto& server_kind = kinds_[static_cast<size_t>(server)];
  auto process = layout_.server(server);
  run(step_of(kind, process), core_.now + 1s, [=, this](const status& outcome) {
    if (outcome.ok())
      return drain(server, kind, 4, then);
    if (outcome.kind() != error_kind::deadline_exceeded && tries > 1)
      return core_.after(100ms, [=, this] { drain(server, kind, tries - 1, then); });
    if (outcome.kind() != error_kind::deadline_exceeded)
      return core_.violated("every kind of step succeeds when faults are over", name(), ": ",
                            to_string(kind), ": ", first_line(outcome));
    if (kind == run_kind::collect)
      ledger_.gathered(process, incarnation_of(process));
    else
      ledger_.drained(process, incarnation_of(process), server_kind.may_stay(),
                      server_kind.in_order());
    if (kind == run_kind::take && server_kind.extra == extra_kind::accumulator)
      return drain(server, run_kind::collect, 4, then);
    drain(server + 1, run_kind::take, 4, then);
  });
}

} // namespace troupe::simulate
