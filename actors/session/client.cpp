#include "troupe/actors/session/client.hpp"

#include "troupe/actors/base/adaptive_spin.hpp"
#include "troupe/actors/base/background_executor.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/caller_unit.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/session/master.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/actors/session/remote_session.hpp"
#include "troupe/actors/session/session.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <condition_variable>
#include <thread>

namespace troupe {
namespace {

// The calling thread of run(): waits at the gate of a step, and for the end of the step.
class step_driver final : public step_observer, public step_gate::waiter, public waiting_caller {
public:
  void admitted() override {
    std::lock_guard guard{mutex_};
    admitted_ = true;
    changed_.notify_one();
  }
  bool enter(step_gate& gate, step_clock::time_point deadline, const std::stop_token& stop) {
    if (gate.enter(*this))
      return true;
    std::stop_callback on_stop{stop, [this] {
                                 std::lock_guard guard{mutex_};
                                 stopped_ = true;
                                 changed_.notify_one();
                               }};
    {
      std::unique_lock lock{mutex_};
      changed_.wait_until(lock, deadline, [&] { return admitted_ || stopped_; });
      if (admitted_)
        return true;
    }
    return !gate.withdraw(*this); // the gate may have admitted it meanwhile
  }
  // If the waiting thread itself runs the end of the step, there is no thread to wake.
  void on_step_ended(caf::execution_unit* unit) noexcept override {
    if (unit == unit_) {
      ended_here_ = true;
      return;
    }
    std::lock_guard guard{mutex_};
    ended_ = true;
    changed_.notify_one(); // under the lock, because the waiting thread destroys this object
  }
  void drives(caf::execution_unit& unit) { unit_ = &unit; }
  bool has_ended_here() const noexcept { return ended_here_; }
  void work_waits() noexcept override {
    std::lock_guard guard{mutex_};
    work_waits_ = true;
    changed_.notify_one();
  }
  // Waits until the step has ended or has work for this thread; false at the deadline.
  bool wait_until(step_clock::time_point deadline) {
    std::unique_lock lock{mutex_};
    auto woken = changed_.wait_until(lock, deadline, [&] { return ended_ || work_waits_; });
    work_waits_ = false;
    return woken;
  }
  bool has_ended() {
    if (ended_here_)
      return true;
    std::lock_guard guard{mutex_};
    return ended_;
  }
  // Called after an abort: no new work starts, and running kernels stop within about 10 ms.
  void wait_for_stop() {
    if (ended_here_)
      return;
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return ended_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false, admitted_ = false, stopped_ = false, work_waits_ = false;
  caf::execution_unit* unit_ = nullptr;
  bool ended_here_ = false;
};

// Calls `done` exactly once, also if the message with this object is dropped.
class callback {
public:
  using on_warning = std::function<void(const std::string&)>;
  explicit callback(client::on_done done, on_warning warn = {})
      : done_(std::move(done)), warn_(std::move(warn)) {}
  callback(const callback&) = delete;
  callback& operator=(const callback&) = delete;
  ~callback() { call(failure(error_kind::cancelled, "the session is closed")); }
  void call(result<std::vector<tensor>> outcome) {
    auto done = std::exchange(done_, nullptr);
    if (!done)
      return;
    auto was_running = std::exchange(running_, true);
    auto outcome_of_call = guarded("a callback of run_async", [&] { done(std::move(outcome)); });
    done = nullptr; // destroys its captures here as well
    running_ = was_running;
    if (!outcome_of_call && warn_)
      warn_(outcome_of_call.message());
  }
  // A thread that runs a callback must not wait for the end of the actor system it belongs to.
  static bool runs_here() noexcept { return running_; }

private:
  static inline thread_local bool running_ = false;
  client::on_done done_;
  on_warning warn_;
};

// An actor system, and the objects that its actors use until they end. A local session needs one
// thread for actors: kernels, long jobs and callbacks have other threads.
struct engine {
  engine(size_t threads, bool networked, std::shared_ptr<node_times> measured_times,
         std::shared_ptr<link_times> measured_links)
      : times(std::move(measured_times)), links(std::move(measured_links)),
        config(networked ? threads : 1, networked), system(config) {}
  std::shared_ptr<node_times> times;
  std::shared_ptr<link_times> links;
  system_config config;
  caf::actor_system system;
};

// Client -> async runner: run a step, and call back when it has ended. No answer.
struct async_run {
  step_request request;
  std::shared_ptr<callback> done;
  std::function<void(step_outcome&)> take_statistics = {}; // called before `done`, if set
};

} // namespace
} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::async_run)

namespace troupe {
namespace {

// The master answers at the deadline, and its error names the late task, so CAF waits longer.
caf::duration patience_until(step_clock::time_point deadline) {
  constexpr std::chrono::hours century{100 * 365 * 24};
  auto left = std::clamp<caf::timespan>(deadline - step_clock::now(), std::chrono::milliseconds{1},
                                        century);
  return caf::duration{left + std::chrono::seconds{3}};
}

result<std::vector<tensor>> fetches_of(step_outcome& ended) {
  if (ended.outcome)
    return std::move(ended.fetches);
  return std::move(ended.outcome);
}

// Calls back on the background executor, or on this thread if there is none.
void call_back(const caf::actor& background, const std::shared_ptr<callback>& done,
               result<std::vector<tensor>> outcome) {
  if (!background)
    return done->call(std::move(outcome));
  auto result_to_pass = std::make_shared<result<std::vector<tensor>>>(std::move(outcome));
  caf::anon_send(background, job{[=] { done->call(std::move(*result_to_pass)); }});
}

// Runs steps for callers that do not wait.
caf::behavior async_runner_behavior(caf::event_based_actor* self, const caf::actor& session,
                                    const caf::actor& background) {
  return {[=](async_run& run) {
    // Without a timeout, as in ask_session().
    self->request(session, caf::infinite, std::move(run.request))
        .then(
            [background, done = run.done,
             take_statistics = std::move(run.take_statistics)](step_outcome& ended) {
              if (take_statistics)
                take_statistics(ended);
              call_back(background, done, fetches_of(ended));
            },
            [background, done = run.done](const caf::error& why) {
              call_back(background, done, from_caf(why));
            });
  }};
}

// Registers a step that its caller drives with the step_server of a local session, so that
// operators see it. Without a port, does nothing.
class shown_step {
public:
  shown_step(const local_port& port, uint64_t step, const std::shared_ptr<task_instance>& instance,
             step_clock::time_point deadline)
      : server_(port.server.get()), id_{port.session, step} {
    if (!server_)
      return;
    began_ = std::chrono::steady_clock::now();
    if (server_->steps().admit(id_))
      (void)server_->steps().deliver_early_tensors(id_, instance, nullptr, deadline).ok();
  }
  shown_step(const shown_step&) = delete;
  shown_step& operator=(const shown_step&) = delete;
  ~shown_step() {
    if (server_)
      server_->steps().end(id_);
  }
  void note_end(const status& outcome) const {
    if (server_)
      server_->note_ended(outcome.kind(), std::chrono::steady_clock::now() - began_);
  }

private:
  step_server* const server_;
  const step_id id_;
  std::chrono::steady_clock::time_point began_; // set if there is a server
};

class actor_client final : public client {
public:
  actor_client(client_options options, bool networked)
      : client(std::move(options)), networked_(networked),
        engine_(
            std::make_unique<engine>(this->options().inter_op_threads, networked, times_, links_)),
        system_(engine_->system) {}

  ~actor_client() override {
    for (auto* actor : {&async_runner_, &callbacks_, &session_})
      if (auto ending = std::exchange(*actor, nullptr))
        caf::anon_send_exit(ending, caf::exit_reason::user_shutdown);
    if (callback::runs_here())
      std::thread{[last = std::move(engine_)] {}}.detach();
  }

  status start_local() {
    return start(spawn_local_session(system_, options(), times_.get(), &port_));
  }
  status start_connected(const cluster_access& cluster) {
    if (!cluster.session_hosts.empty())
      return start(spawn_remote_session(system_, cluster.session_hosts, options(), times_.get()));
    return start(
        spawn_cluster_session(system_, cluster, options(), times_.get(), nullptr, links_.get()));
  }

  result<std::shared_ptr<prepared_step>> prepare(const graph& source,
                                                 const step_signature& signature,
                                                 step_clock::time_point deadline,
                                                 const std::stop_token& stop) override {
    TROUPE_ASSIGN(auto request, prepare_request::make(source, signature, deadline));
    request.acknowledged_loss = known_losses();
    request.retried = is_retried();
    request.stop = stop;
    return ask_for<std::shared_ptr<prepared_step>>(patience_until(deadline), std::move(request));
  }

  result<placement_report> explain(const graph& source, const step_signature& signature,
                                   step_clock::time_point deadline) override {
    TROUPE_ASSIGN(auto request, prepare_request::make(source, signature, deadline));
    return ask_for<placement_report>(patience_until(deadline), explain_request{std::move(request)});
  }

  result<std::vector<tensor>> run(prepared_step& step, std::span<const tensor> feeds,
                                  step_clock::time_point deadline,
                                  const run_insight& insight) override {
    std::vector<tensor> fetches(step.interface.fetches);
    TROUPE_TRY(run_into(step, feeds, fetches, deadline, insight));
    return fetches;
  }

  status run_into(prepared_step& step, std::span<const tensor> feeds, std::span<tensor> fetches,
                  step_clock::time_point deadline, const run_insight& insight) override {
    if (fetches.size() != step.interface.fetches)
      return invalid("the step has ", step.interface.fetches,
                     " fetches, but the caller has room for ", fetches.size());
    if (insight.stop.stop_requested())
      return stopped_by_caller();
    auto measured = measure(step, insight);
    // Reuses the memory of the caller's statistics.
    auto statistics = measured.target ? std::move(*measured.target) : step_statistics{};
    statistics.step = 0;
    const run_limits limits{deadline, insight.stop, measured.watch};
    auto outcome = step.local ? drive(step, feeds, fetches, limits, statistics)
                              : ask_session(step, feeds, fetches, limits, statistics);
    if (statistics.step == 0) // it has not begun
      statistics.tasks.clear();
    if (measured.sampled && outcome.ok())
      links_->add(statistics);
    store(*times_, measured, std::move(statistics), outcome.ok());
    return outcome;
  }

  void run_async(prepared_step& step, std::vector<tensor> feeds, step_clock::time_point deadline,
                 on_done done, const run_insight& insight) override {
    auto measured = measure(step, insight);
    // The run initializes no task: it may end after the initialization has ended.
    async_run pending_run{
        {step.shared_from_this(), std::move(feeds), deadline, measured.watch, known_losses()},
        std::make_shared<callback>(std::move(done), options().on_warning)};
    pending_run.request.stop = insight.stop;
    if (measured.watch.times)
      pending_run.take_statistics = [times = times_, links = links_,
                                     measured](step_outcome& ended) {
        if (measured.sampled && ended.outcome.ok())
          links->add(ended.statistics);
        store(*times, measured, std::move(ended.statistics), ended.outcome.ok());
      };
    if (networked_) {
      caf::anon_send(async_runner_, std::move(pending_run));
      return;
    }
    // The calling thread handles the request until it reaches the task. It runs no kernel, because
    // the caller must not wait for one.
    inline_unit unit{system_, inline_unit::kinds::actors};
    caf::actor_cast<caf::abstract_actor*>(async_runner_)
        ->eq_impl(caf::make_message_id(), nullptr, &unit, std::move(pending_run));
    unit.run();
  }

  result<device_survey> devices(step_clock::time_point deadline) override {
    return ask_for<device_survey>(patience_until(deadline), survey_devices{deadline});
  }

  result<std::vector<device_info>> known_devices(step_clock::time_point deadline) override {
    return ask_for<std::vector<device_info>>(patience_until(deadline), known_devices_atom::value);
  }

  status reset(const std::string& container, step_clock::time_point deadline) override {
    status outcome;
    auto delivered = ask(patience_until(deadline), reset_request{container},
                         [&](const status& answer) { outcome = answer; });
    return delivered ? outcome : delivered;
  }

  status end_initialization(uint64_t number, bool done, step_clock::time_point deadline) override {
    status outcome;
    auto delivered = ask(patience_until(deadline), troupe::end_initialization{done, number},
                         [&](const status& answer) { outcome = answer; });
    return delivered ? outcome : delivered;
  }

  result<state_survey> list_state(const std::string& task,
                                  step_clock::time_point deadline) override {
    return ask_for<state_survey>(patience_until(deadline), survey_state{task, deadline});
  }

  result<std::vector<task_positions>> random_state(kernel_positions restored_state,
                                                   const std::vector<std::string>& tasks,
                                                   step_clock::time_point deadline) override {
    return ask_for<std::vector<task_positions>>(
        patience_until(deadline),
        ask_positions{.restore_from = std::move(restored_state), .tasks = tasks});
  }

  uint16_t http_port() const noexcept override { return port_.http; }

private:
  // A caller that restores state acknowledges all losses; another one must wait until the state is
  // restored.
  uint64_t known_losses() const {
    const auto& restores = options().lost_state.is_restoring;
    return restores && restores() ? all_losses : 0;
  }

  bool is_retried() const {
    const auto& retries = options().lost_state.is_retrying;
    return retries && retries();
  }

  void note_report(const initialization_report& report,
                   initialization* current_initialization) const {
    if (current_initialization)
      current_initialization->note_report(report);
    const auto& on_uninitialized = options().lost_state.on_uninitialized;
    if (report.stage == initialization_stage::awaited && on_uninitialized)
      on_uninitialized(report.task);
  }

  status start(result<caf::actor> session) {
    TROUPE_ASSIGN(session_, std::move(session));
    // A user's callback must block neither the thread that reads sockets nor the session.
    if (networked_) {
      async_runner_ = spawn_control(system_, async_runner_behavior, session_, caf::actor{});
    } else {
      callbacks_ = spawn_background_executor(system_);
      async_runner_ = system_.spawn(async_runner_behavior, session_, callbacks_);
    }
    return {};
  }

  // Asks the session and waits for its answer.
  template <class Question, class Take>
  status ask(caf::duration patience, Question question, Take take) {
    caf::scoped_actor self{system_, true};
    status outcome;
    thread_local adaptive_spin spin;
    // The session and its master handle the request on this thread.
    inline_unit unit{system_};
    auto* usual_unit = self->context();
    if (networked_ && std::is_same_v<Question, step_request>)
      self->context(&unit);
    auto answer = self->request(session_, patience, std::move(question));
    unit.run();
    self->context(usual_unit);
    if (networked_)
      spin([&] { return !self->mailbox().empty(); });
    answer.receive(take, [&](const caf::error& why) { outcome = from_caf(why); });
    return outcome;
  }

  template <class Answer, class Question>
  result<Answer> ask_for(caf::duration patience, Question question) {
    Answer answer;
    TROUPE_TRY(ask(patience, std::move(question),
                   [&](Answer& received) { answer = std::move(received); }));
    return answer;
  }

  // The measurements of one run, and their destination.
  struct measurement {
    profile_options watch = {};
    step_statistics* target = nullptr;
    uint64_t graph = 0; // id of the graph that the step was prepared from
    bool sampled = false;
    int64_t begin_ns = 0;
  };

  measurement measure(const prepared_step& step, const run_insight& insight) {
    auto every = options().sample_every;
    measurement measured;
    measured.target = insight.statistics;
    measured.graph = step.interface.graph;
    measured.sampled = every > 0 && runs_.fetch_add(1, std::memory_order_relaxed) % every == 0;
    measured.watch.times = measured.target || measured.sampled;
    measured.watch.check_numerics = insight.check_numerics || options().check_numerics;
    measured.begin_ns = measured.watch.times ? steady_ns() : 0;
    return measured;
  }

  static void store(node_times& times, const measurement& measured, step_statistics&& statistics,
                    bool succeeded) {
    if (!measured.watch.times)
      return;
    statistics.begin_ns = measured.begin_ns;
    statistics.end_ns = steady_ns();
    if (measured.sampled && succeeded)
      times.add(statistics, measured.graph);
    if (measured.target)
      *measured.target = std::move(statistics);
  }

  // The deadline of one run, its stop requests, and its measurements.
  struct run_limits {
    step_clock::time_point deadline;
    const std::stop_token& stop;
    profile_options watch;
  };

  status ask_session(prepared_step& step, std::span<const tensor> feeds, std::span<tensor> fetches,
                     const run_limits& limits, step_statistics& statistics) {
    auto* current_initialization = initialization::outermost_of(*this);
    step_request request{.step = step.shared_from_this(),
                         .feeds = {feeds.begin(), feeds.end()},
                         .deadline = limits.deadline,
                         .watch = limits.watch,
                         .acknowledged_loss = known_losses(),
                         .initialization =
                             current_initialization ? current_initialization->number() : 0,
                         .retried = is_retried(),
                         .stop = limits.stop};
    // The master answers at the deadline. A timeout of CAF would stay, with the actor of this
    // thread, until the deadline, even after the answer.
    TROUPE_ASSIGN(auto outcome, ask_for<step_outcome>(caf::infinite, std::move(request)));
    statistics = std::move(outcome.statistics);
    for (const auto& report : outcome.initialization_reports)
      note_report(report, current_initialization);
    if (!outcome.outcome)
      return std::move(outcome.outcome);
    std::ranges::move(outcome.fetches, fetches.begin());
    return {};
  }

  status drive(prepared_step& step, std::span<const tensor> feeds, std::span<tensor> fetches,
               const run_limits& limits, step_statistics& statistics) {
    TROUPE_TRY(step.interface.check(feeds));
    TROUPE_TRY(step.local->check_state());
    step_driver caller;
    if (!caller.enter(step.gate, limits.deadline, limits.stop))
      return limits.stop.stop_requested() ? stopped_by_caller() : queue_timeout(step.gate);
    const step_gate::admission admitted{step.gate};
    return drive_admitted(*step.local, caller, feeds, fetches, limits, statistics);
  }

  // Runs regions that were queued for other threads, and that none of these has begun.
  static void take_back(task_instance& instance, kernel_threads& threads, const step_driver& caller,
                        caller_unit& unit) {
    while (!caller.has_ended_here()) {
      auto* next = threads.take_back(instance.queue_state());
      if (!next)
        return;
      // Raises the signal if the deadline has passed, so that the region ends soon.
      instance.conductor().stop().is_due();
      unit.exec_later(next);
      unit.drain(instance.conductor().stop());
    }
  }

  // Waits for the end of a step. Meanwhile runs ready regions that no other thread has begun.
  // Returns false at the deadline.
  static bool wait_for_end(task_instance& instance, task_program& program, step_driver& caller,
                           caller_unit& unit, step_clock::time_point deadline) {
    if (caller.has_ended())
      return true;
    auto* threads = program.kernels();
    if (!threads)
      return caller.wait_until(deadline);
    const kernel_threads::registered_caller waits{*threads, instance.queue_state(), caller};
    do
      take_back(instance, *threads, caller, unit);
    while (!caller.has_ended() && caller.wait_until(deadline));
    return caller.has_ended();
  }

  status drive_admitted(task_program& program, step_driver& caller, std::span<const tensor> feeds,
                        std::span<tensor> fetches, const run_limits& limits,
                        step_statistics& statistics) {
    auto instance = program.check_out();
    if (limits.watch.any())
      instance->profile(limits.watch);
    instance->set_feeds([&](uint32_t index) -> const tensor& { return feeds[index]; });
    auto& conductor = instance->conductor();
    auto step = next_local_step();
    caller_unit unit{system_};
    caller.drives(unit);
    const shown_step shown_to_operators{port_, step, instance, limits.deadline};
    conductor.begin(step, caller, &unit, limits.deadline);
    {
      std::stop_callback on_stop{limits.stop, [&conductor, step] {
                                   auto why =
                                       stopped_by_caller().with_context(concat("step ", step));
                                   conductor.abort(step, std::move(why), nullptr);
                                 }};
      unit.drain(conductor.stop());
      if (!wait_for_end(*instance, program, caller, unit, limits.deadline)) {
        conductor.abort(step, deadline_error(step), &unit);
        if (auto* threads = program.kernels())
          take_back(*instance, *threads, caller, unit); // that became ready meanwhile
        caller.wait_for_stop();
      }
    }
    if (limits.watch.times) {
      statistics.step = step;
      statistics.tasks.resize(1);
      instance->collect(statistics.tasks.front());
    }
    shown_to_operators.note_end(conductor.outcome());
    if (!conductor.outcome()) {
      auto outcome = conductor.outcome();
      instance->retire();
      return outcome;
    }
    std::ranges::move(conductor.fetches(), fetches.begin());
    program.check_in(std::move(instance));
    return {};
  }

  const bool networked_;
  std::unique_ptr<engine> engine_;
  caf::actor_system& system_;
  caf::actor session_;
  caf::actor async_runner_, callbacks_;
  local_port port_; // must end before the engine
  std::atomic<uint64_t> runs_{0};
};

} // namespace

result<std::unique_ptr<client>> client::local(client_options options) {
  auto local_client = std::make_unique<actor_client>(std::move(options), false);
  TROUPE_TRY(local_client->start_local());
  return std::unique_ptr<client>{std::move(local_client)};
}

result<std::unique_ptr<client>> client::connect(cluster_access cluster, client_options options) {
  auto cluster_client = std::make_unique<actor_client>(std::move(options), true);
  TROUPE_TRY(cluster_client->start_connected(cluster));
  return std::unique_ptr<client>{std::move(cluster_client)};
}

} // namespace troupe
