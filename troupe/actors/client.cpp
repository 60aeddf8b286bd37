#include "troupe/actors/client.hpp"

#include "troupe/actors/brief_look.hpp"
#include "troupe/actors/caller_unit.hpp"
#include "troupe/actors/clerk.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/inline_unit.hpp"
#include "troupe/actors/kernel_threads.hpp"
#include "troupe/actors/master.hpp"
#include "troupe/actors/prepared_step.hpp"
#include "troupe/actors/remote_session.hpp"
#include "troupe/actors/session.hpp"
#include "troupe/actors/step_server.hpp"
#include "troupe/actors/stop_request.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/runtime/device/tsc_clock.hpp"
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

// Where a thread waits for its turn, and for the step that it drives.
class driver final : public step_observer, public step_gate::waiter, public waiting_caller {
public:
  void let_in() override {
    std::lock_guard guard{mutex_};
    let_in_ = true;
    changed_.notify_one();
  }
  bool enter(step_gate& gate, step_clock::time_point deadline, const std::stop_token& stop) {
    if (gate.enter(*this))
      return true;
    std::stop_callback leaves{stop, [this] {
                                std::lock_guard guard{mutex_};
                                leaves_ = true;
                                changed_.notify_one();
                              }};
    {
      std::unique_lock lock{mutex_};
      changed_.wait_until(lock, deadline, [&] { return let_in_ || leaves_; });
      if (let_in_)
        return true;
    }
    return !gate.withdraw(*this); // it may have come in the last moment
  }
  // On the thread that waits there is nothing to wake.
  void step_ended(caf::execution_unit* unit) noexcept override {
    if (unit == unit_) {
      ended_here_ = true;
      return;
    }
    std::lock_guard guard{mutex_};
    ended_ = true;
    changed_.notify_one(); // under the lock, because the waiter destroys this
  }
  void drives(caf::execution_unit& unit) { unit_ = &unit; }
  bool has_ended_here() const noexcept { return ended_here_; }
  void region_waits() noexcept override {
    std::lock_guard guard{mutex_};
    region_waits_ = true;
    changed_.notify_one();
  }
  // Until the step has ended or has something to do; false when the time is over.
  bool wait_until(step_clock::time_point deadline) {
    std::unique_lock lock{mutex_};
    auto woken = changed_.wait_until(lock, deadline, [&] { return ended_ || region_waits_; });
    region_waits_ = false;
    return woken;
  }
  bool has_ended() {
    if (ended_here_)
      return true;
    std::lock_guard guard{mutex_};
    return ended_;
  }
  // After an abort: nothing new starts, and running kernels leave off within some 10 ms.
  void wait_for_stop() {
    if (ended_here_)
      return;
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return ended_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false, let_in_ = false, leaves_ = false, region_waits_ = false;
  caf::execution_unit* unit_ = nullptr;
  bool ended_here_ = false;
};

// Calls back once, wherever its way ends: also when its message is never read.
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
    auto outer = std::exchange(running_, true);
    auto said = guarded("a callback of run_async", [&] { done(std::move(outcome)); });
    done = nullptr; // what it holds goes here as well
    running_ = outer;
    if (!said && warn_)
      warn_(said.message());
  }
  // On a thread that runs a callback nothing can wait for the end of the system that it belongs to.
  static bool runs_here() noexcept { return running_; }

private:
  static inline thread_local bool running_ = false;
  client::on_done done_;
  on_warning warn_;
};

// An actor system, and what its actors use to the end. Those of a local session need one thread:
// kernels have others, and so have jobs that take long, and callbacks.
struct engine {
  engine(size_t threads, bool networked, std::shared_ptr<node_times> t,
         std::shared_ptr<link_times> l)
      : times(std::move(t)), links(std::move(l)), config(networked ? threads : 1, networked),
        system(config) {}
  std::shared_ptr<node_times> times;
  std::shared_ptr<link_times> links;
  system_config config;
  caf::actor_system system;
};

// Client -> errands: run a step, and call somebody when it has ended. No answer.
struct errand {
  step_request request;
  std::shared_ptr<callback> done;
  std::function<void(step_outcome&)> tell = {}; // first, where somebody wants statistics
};

} // namespace
} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::errand)

namespace troupe {
namespace {

// The master answers at the deadline itself, with the name of the task that it waited for.
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

// Has a clerk call back, or does so here where there is none.
void call_back(const caf::actor& clerk, const std::shared_ptr<callback>& done,
               result<std::vector<tensor>> outcome) {
  if (!clerk)
    return done->call(std::move(outcome));
  auto kept = std::make_shared<result<std::vector<tensor>>>(std::move(outcome));
  caf::anon_send(clerk, job{[=] { done->call(std::move(*kept)); }});
}

// Asks on behalf of those who do not wait.
caf::behavior errands_behavior(caf::event_based_actor* self, const caf::actor& session,
                               const caf::actor& clerk) {
  return {[=](errand& what) {
    // Without a time-out, as in ask_session().
    self->request(session, caf::infinite, std::move(what.request))
        .then(
            [clerk, done = what.done, tell = std::move(what.tell)](step_outcome& ended) {
              if (tell)
                tell(ended);
              call_back(clerk, done, fetches_of(ended));
            },
            [clerk, done = what.done](const caf::error& why) {
              call_back(clerk, done, from_caf(why));
            });
  }};
}

// A step that its caller runs, where a local session tells operators what runs.
class shown_step {
public:
  shown_step(const local_port& port, uint64_t step, const std::shared_ptr<task_instance>& in,
             step_clock::time_point deadline)
      : server_(port.server.get()), id_{port.session, step} {
    if (!server_)
      return;
    began_ = std::chrono::steady_clock::now();
    if (server_->steps().announce(id_))
      (void)server_->steps().attach(id_, in, nullptr, deadline).ok();
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
  std::chrono::steady_clock::time_point began_; // where there is a server
};

class actor_client final : public client {
public:
  actor_client(client_options options, bool networked)
      : client(std::move(options)), networked_(networked),
        engine_(
            std::make_unique<engine>(this->options().inter_op_threads, networked, times_, links_)),
        system_(engine_->system) {}

  ~actor_client() override {
    for (auto* one : {&errands_, &callbacks_, &session_})
      if (auto ending = std::exchange(*one, nullptr))
        caf::anon_send_exit(ending, caf::exit_reason::user_shutdown);
    if (callback::runs_here())
      std::thread{[last = std::move(engine_)] {}}.detach();
  }

  status start_local() {
    return start(spawn_local_session(system_, options(), times_.get(), &port_));
  }
  status start_connected(const cluster_access& cluster) {
    if (!cluster.hosts.empty())
      return start(spawn_remote_session(system_, cluster.hosts, options(), times_.get()));
    return start(
        spawn_cluster_session(system_, cluster, options(), times_.get(), nullptr, links_.get()));
  }

  result<std::shared_ptr<prepared_step>> prepare(const graph& of, const step_signature& signature,
                                                 step_clock::time_point deadline,
                                                 const std::stop_token& stop) override {
    TROUPE_ASSIGN(auto request, prepare_request::make(of, signature, deadline));
    request.knows = known_losses();
    request.retried = is_retried();
    request.stop = stop;
    return ask_for<std::shared_ptr<prepared_step>>(patience_until(deadline), std::move(request));
  }

  result<placement_report> explain(const graph& of, const step_signature& signature,
                                   step_clock::time_point deadline) override {
    TROUPE_ASSIGN(auto request, prepare_request::make(of, signature, deadline));
    return ask_for<placement_report>(patience_until(deadline), explain_request{std::move(request)});
  }

  result<std::vector<tensor>> run(prepared_step& step, std::span<const tensor> feeds,
                                  step_clock::time_point deadline,
                                  const run_insight& insight) override {
    std::vector<tensor> fetches(step.outside.fetches);
    TROUPE_TRY(run_into(step, feeds, fetches, deadline, insight));
    return fetches;
  }

  status run_into(prepared_step& step, std::span<const tensor> feeds, std::span<tensor> fetches,
                  step_clock::time_point deadline, const run_insight& insight) override {
    if (fetches.size() != step.outside.fetches)
      return invalid("the step has ", step.outside.fetches, " fetches, got room for ",
                     fetches.size());
    if (insight.stop.stop_requested())
      return stopped_by_caller();
    auto wanted = measure(step, insight);
    // Who traces many steps into one place pays for its memory once.
    auto found = wanted.to ? std::move(*wanted.to) : step_statistics{};
    found.step = 0;
    const bounds of{deadline, insight.stop, wanted.watch};
    auto outcome = step.local ? drive(step, feeds, fetches, of, found)
                              : ask_session(step, feeds, fetches, of, found);
    if (found.step == 0) // it never began
      found.tasks.clear();
    if (wanted.sampled && outcome.ok())
      links_->add(found);
    tell(*times_, wanted, std::move(found), outcome.ok());
    return outcome;
  }

  void run_async(prepared_step& step, std::vector<tensor> feeds, step_clock::time_point deadline,
                 on_done done, const run_insight& insight) override {
    auto wanted = measure(step, insight);
    // It fills nothing: it may end when that has ended.
    errand what{{step.shared_from_this(), std::move(feeds), deadline, wanted.watch, known_losses()},
                std::make_shared<callback>(std::move(done), options().on_warning)};
    what.request.stop = insight.stop;
    if (wanted.watch.times)
      what.tell = [times = times_, links = links_, wanted](step_outcome& ended) {
        if (wanted.sampled && ended.outcome.ok())
          links->add(ended.statistics);
        tell(*times, wanted, std::move(ended.statistics), ended.outcome.ok());
      };
    if (networked_) {
      caf::anon_send(errands_, std::move(what));
      return;
    }
    // This thread takes the request to the task. It runs no kernel: what that takes may depend on
    // what is fed, and the caller must not wait for it.
    inline_unit unit{system_, inline_unit::regions::none};
    caf::actor_cast<caf::abstract_actor*>(errands_)->eq_impl(caf::make_message_id(), nullptr, &unit,
                                                             std::move(what));
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
    auto taken = ask(patience_until(deadline), reset_request{container},
                     [&](const status& what) { outcome = what; });
    return taken ? outcome : taken;
  }

  status end_fill(uint64_t number, bool done, step_clock::time_point deadline) override {
    status outcome;
    auto taken = ask(patience_until(deadline), troupe::end_fill{done, number},
                     [&](const status& what) { outcome = what; });
    return taken ? outcome : taken;
  }

  result<state_survey> list_state(const std::string& task,
                                  step_clock::time_point deadline) override {
    return ask_for<state_survey>(patience_until(deadline), survey_state{task, deadline});
  }

  result<std::vector<task_positions>> positions(kernel_positions go_on_from,
                                                const std::vector<std::string>& tasks,
                                                step_clock::time_point deadline) override {
    return ask_for<std::vector<task_positions>>(
        patience_until(deadline),
        ask_positions{.go_on_from = std::move(go_on_from), .tasks = tasks});
  }

  uint16_t http_port() const noexcept override { return port_.http; }

private:
  // Who restores knows all; who does not waits to be told.
  uint64_t known_losses() const {
    const auto& asked = options().lost_state.restores_here;
    return asked && asked() ? all_losses : 0;
  }

  bool is_retried() const {
    const auto& asked = options().lost_state.tries_again;
    return asked && asked();
  }

  void hear(const task_fill& what, filling* here) const {
    if (here)
      here->hear(what);
    const auto& tell = options().lost_state.unfilled;
    if (what.stage == fill_stage::awaited && tell)
      tell(what.task);
  }

  status start(result<caf::actor> session) {
    TROUPE_ASSIGN(session_, std::move(session));
    // Callbacks of users must hold up neither the thread that reads nor the session.
    if (networked_) {
      errands_ = spawn_control(system_, errands_behavior, session_, caf::actor{});
    } else {
      callbacks_ = spawn_clerk(system_);
      errands_ = system_.spawn(errands_behavior, session_, callbacks_);
    }
    return {};
  }

  // Asks the session and waits for its answer.
  template <class Question, class Take>
  status ask(caf::duration patience, Question question, Take take) {
    caf::scoped_actor self{system_, true};
    status outcome;
    thread_local brief_look look_briefly;
    // The session and its master handle it here.
    inline_unit unit{system_};
    auto* usual = self->context();
    if (networked_ && std::is_same_v<Question, step_request>)
      self->context(&unit);
    auto answer = self->request(session_, patience, std::move(question));
    unit.run();
    self->context(usual);
    if (networked_)
      look_briefly([&] { return !self->mailbox().empty(); });
    answer.receive(take, [&](const caf::error& why) { outcome = from_caf(why); });
    return outcome;
  }

  template <class Answer, class Question>
  result<Answer> ask_for(caf::duration patience, Question question) {
    Answer answer;
    TROUPE_TRY(ask(patience, std::move(question), [&](Answer& what) { answer = std::move(what); }));
    return answer;
  }

  // What one run shall tell, and to whom.
  struct measurement {
    profile_options watch = {};
    step_statistics* to = nullptr;
    uint64_t graph = 0; // that the step was prepared from
    bool sampled = false;
    int64_t begin_ns = 0;
  };

  measurement measure(const prepared_step& step, const run_insight& wants) {
    auto every = options().sample_every;
    measurement made;
    made.to = wants.statistics;
    made.graph = step.outside.graph;
    made.sampled = every > 0 && runs_.fetch_add(1, std::memory_order_relaxed) % every == 0;
    made.watch.times = made.to || made.sampled;
    made.watch.check_numerics = wants.check_numerics || options().check_numerics;
    made.begin_ns = made.watch.times ? steady_ns() : 0;
    return made;
  }

  static void tell(node_times& times, const measurement& wanted, step_statistics&& found,
                   bool ended_well) {
    if (!wanted.watch.times)
      return;
    found.begin_ns = wanted.begin_ns;
    found.end_ns = steady_ns();
    if (wanted.sampled && ended_well)
      times.add(found, wanted.graph);
    if (wanted.to)
      *wanted.to = std::move(found);
  }

  // When one run ends at the latest, and what it watches for.
  struct bounds {
    step_clock::time_point deadline;
    const std::stop_token& stop;
    profile_options watch;
  };

  status ask_session(prepared_step& step, std::span<const tensor> feeds, std::span<tensor> fetches,
                     const bounds& of, step_statistics& found) {
    auto* here = filling::of(*this);
    step_request request{.step = step.shared_from_this(),
                         .feeds = {feeds.begin(), feeds.end()},
                         .deadline = of.deadline,
                         .watch = of.watch,
                         .knows = known_losses(),
                         .fill = here ? here->number() : 0,
                         .retried = is_retried(),
                         .stop = of.stop};
    // The master answers at the deadline. CAF would keep a time-out of its own, and this thread's
    // actor with it, until the deadline though the answer has come.
    TROUPE_ASSIGN(auto outcome, ask_for<step_outcome>(caf::infinite, std::move(request)));
    found = std::move(outcome.statistics);
    for (const auto& one : outcome.fills)
      hear(one, here);
    if (!outcome.outcome)
      return std::move(outcome.outcome);
    std::ranges::move(outcome.fetches, fetches.begin());
    return {};
  }

  status drive(prepared_step& what, std::span<const tensor> feeds, std::span<tensor> fetches,
               const bounds& of, step_statistics& found) {
    TROUPE_TRY(what.outside.check(feeds));
    TROUPE_TRY(what.local->check_state());
    driver end;
    if (!end.enter(what.gate, of.deadline, of.stop))
      return of.stop.stop_requested() ? stopped_by_caller() : waited_in_line(what.gate);
    const step_gate::turn turn{what.gate};
    return drive_in_turn(*what.local, end, feeds, fetches, of, found);
  }

  // Runs what was left to other threads, and what none of them has begun.
  static void take_back(task_instance& in, kernel_threads& threads, const driver& end,
                        caller_unit& unit) {
    while (!end.has_ended_here()) {
      auto* next = threads.take_back(in);
      if (!next)
        return;
      in.conductor().stop().due(); // past the deadline, the region ends at once
      unit.exec_later(next);
      unit.drain(in.conductor().stop());
    }
  }

  // Waits for the end of a step, and runs what becomes ready meanwhile and finds no thread; false
  // when the time is over.
  static bool wait_for_end(task_instance& in, task_program& program, driver& end, caller_unit& unit,
                           step_clock::time_point deadline) {
    if (end.has_ended())
      return true;
    auto* threads = program.kernels();
    if (!threads)
      return end.wait_until(deadline);
    const kernel_threads::caller_in_line waits{*threads, in, end};
    do
      take_back(in, *threads, end, unit);
    while (!end.has_ended() && end.wait_until(deadline));
    return end.has_ended();
  }

  status drive_in_turn(task_program& program, driver& end, std::span<const tensor> feeds,
                       std::span<tensor> fetches, const bounds& of, step_statistics& found) {
    auto in = program.check_out();
    if (of.watch.any())
      in->watch(of.watch);
    in->set_feeds([&](uint32_t index) -> const tensor& { return feeds[index]; });
    auto& conductor = in->conductor();
    auto step = next_local_step();
    caller_unit unit{system_};
    end.drives(unit);
    const shown_step shown{port_, step, in, of.deadline};
    conductor.begin(step, end, &unit, of.deadline);
    {
      std::stop_callback asked{of.stop, [&conductor, step] {
                                 auto why = stopped_by_caller().within(concat("step ", step));
                                 conductor.abort(step, std::move(why), nullptr);
                               }};
      unit.drain(conductor.stop());
      if (!wait_for_end(*in, program, end, unit, of.deadline)) {
        conductor.abort(step, overdue(step), &unit);
        if (auto* threads = program.kernels())
          take_back(*in, *threads, end, unit); // regions that were queued before the abort
        end.wait_for_stop();
      }
    }
    if (of.watch.times) {
      found.step = step;
      found.tasks.resize(1);
      in->collect(found.tasks.front());
    }
    shown.note_end(conductor.outcome());
    if (!conductor.outcome()) {
      auto outcome = conductor.outcome();
      in->retire();
      return outcome;
    }
    std::ranges::move(conductor.fetches(), fetches.begin());
    program.check_in(std::move(in));
    return {};
  }

  const bool networked_;
  std::unique_ptr<engine> engine_;
  caf::actor_system& system_;
  caf::actor session_;
  caf::actor errands_, callbacks_;
  local_port port_; // goes before the engine
  std::atomic<uint64_t> runs_{0};
};

} // namespace

result<std::unique_ptr<client>> client::local(client_options options) {
  auto made = std::make_unique<actor_client>(std::move(options), false);
  TROUPE_TRY(made->start_local());
  return std::unique_ptr<client>{std::move(made)};
}

result<std::unique_ptr<client>> client::connect(cluster_access cluster, client_options options) {
  auto made = std::make_unique<actor_client>(std::move(options), true);
  TROUPE_TRY(made->start_connected(cluster));
  return std::unique_ptr<client>{std::move(made)};
}

} // namespace troupe
