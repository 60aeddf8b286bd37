#include "troupe/api/session.hpp"

#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/operator/local_operator_port.hpp"
#include "troupe/api/filled_elsewhere.hpp"
#include "troupe/api/internal/client_options.hpp"
#include "troupe/api/internal/durations.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/api/internal/recovery.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/platform/sharded_refcount.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace troupe {
namespace {

// A process that runs ever new signatures, or ever new graphs, must not keep all of them.
constexpr size_t max_cached_steps = 256;

std::string at(const char* function, const std::source_location& where) {
  return call_text(function, where);
}

template <class T>
T unwrap(result<T> outcome, const char* function, const std::source_location& where) {
  if (!outcome)
    throw error{outcome.status().within(at(function, where))};
  return *std::move(outcome);
}

run_insight insight_of(const run_options& options) {
  return {.statistics = options.statistics,
          .check_numerics = options.check_numerics,
          .stop = options.stop};
}

struct signature_key {
  const graph* of;
  uint64_t version; // says all: it is unique among graphs, too
  std::vector<std::pair<node*, int>> feeds, fetches;
  std::vector<node*> targets;
  auto operator<=>(const signature_key&) const = default;
};

signature_key key_of(const graph& of, const step_signature& signature) {
  signature_key key{&of, of.version(), {}, {}, signature.targets};
  for (const auto& one : signature.feeds)
    key.feeds.emplace_back(one.node, one.index);
  for (const auto& one : signature.fetches)
    key.fetches.emplace_back(one.node, one.index);
  return key;
}

} // namespace

device_choice to_device_choice(const thread_options& threads, const memory_options& memory,
                               const gpu_options& gpu) {
  return {.intra_op_threads = threads.intra_op,
          .memory_limit = memory.limit,
          .swap_space = memory.swap_space,
          .gpus = gpu.count,
          .devices_per_gpu = gpu.devices_each,
          .gpu_memory_limit = memory.gpu_limit,
          .gpu_memory_reserve = memory.gpu_reserve,
          .gpu_memory_idle = memory.gpu_idle,
          .tf32 = gpu.tf32,
          .measure_convolutions = gpu.measure_convolutions};
}

status check_peer_timeout(std::chrono::milliseconds timeout) {
  using namespace std::chrono_literals;
  if (timeout < 1ms || timeout > 24h)
    return invalid("cluster.peer_timeout must be from 1 ms to 24 hours, got ", timeout.count(),
                   " ms");
  return {};
}

namespace {

status check_durations(const session_options& what) {
  TROUPE_TRY(check_duration("timeout", what.timeout, std::chrono::milliseconds{1}));
  TROUPE_TRY(check_duration("recovery.wait", what.recovery.wait));
  TROUPE_TRY(check_duration("memory.gpu_idle", what.memory.gpu_idle));
  return check_peer_timeout(what.cluster.peer_timeout);
}

} // namespace

client_options to_client(const session_options& from, std::source_location where) {
  if (auto may = check_durations(from); !may)
    throw error{std::move(may).within(concat("session (", to_string(where), ")"))};
  client_options to;
  to.ops = &library();
  to.make_devices = [chosen = to_device_choice(from.threads, from.memory, from.gpu)] {
    return make_devices(chosen);
  };
  to.inter_op_threads = from.threads.inter_op;
  to.gpu_launch_threads = from.gpu.launch_threads;
  to.container = from.container;
  to.programs = {.region_per_node = from.insight.region_per_node,
                 .max_concurrent = from.max_concurrent_steps,
                 .deterministic = from.deterministic,
                 .replay = from.gpu.replay,
                 .place_by_cost = from.gpu.place_by_cost};
  to.passes = from.passes;
  if (auto type = to.passes.mixed_precision;
      type != dtype::none && type != dtype::bf16 && type != dtype::f16)
    throw error{invalid("session (", to_string(where),
                        "): passes.mixed_precision must be bf16 or f16, got ", type)};
  if (to.passes.swap.memory == 0)
    to.passes.swap.memory = from.memory.gpu_limit;
  to.timeout = from.timeout;
  to.peer_timeout = from.cluster.peer_timeout;
  to.tls = from.cluster.tls;
  to.insecure = from.cluster.insecure;
  to.near_memory = from.cluster.near_memory;
  to.programs.between_tasks = from.cluster.between_tasks;
  to.programs.placement = from.placement;
  to.check_numerics = from.insight.check_numerics;
  to.passes.fuse = from.passes.fuse && !to.check_numerics; // the very op is to be named
  to.sample_every = from.insight.sample_every;
  to.measured = from.insight.node_times;
  to.on_warning = from.on_warning;
  to.http = from.http;
  to.http_anywhere = from.http_anywhere;
  to.open_port = open_local_port;
  return to;
}

client_options to_remote_client(session_options from, std::source_location where) {
  from.gpu.count = 0;
  return to_client(from, where);
}

struct step::state {
  std::shared_ptr<session::shared_state> of;
  std::shared_ptr<prepared_step> prepared; // nothing once the session is closed
  std::vector<std::string> feeds = {};     // their names, in order
  bool effects = false;                    // it may not run twice
};

struct session::state {
  std::shared_ptr<recovery> recovers; // with the client, whose threads tell it what is lost
  std::unique_ptr<troupe::client> client;
  std::mutex mutex;
  std::map<signature_key, std::shared_ptr<step::state>> steps; // of run()
  std::vector<std::weak_ptr<step::state>> compiled;            // all that users may still hold

  // A compiled step holds actors, which must be gone before the client's actor system is. Runs keep
  // this object alive, so none is under way.
  ~state() {
    for (auto& one : compiled)
      if (auto left = one.lock())
        left->prepared.reset();
  }

  static std::unique_ptr<state> connected(const cluster_access& cluster,
                                          const session_options& options,
                                          std::source_location where) {
    auto made = std::make_unique<state>();
    auto to = to_remote_client(options, where);
    if (auto recovers = std::make_shared<recovery>(options.recovery); recovers->is_wanted()) {
      to.lost_state = {
          .lose = [recovers](const state_loss& what) { return recovers->lose(what.task); },
          .awaits = [recovers](const std::string& task) { return recovers->awaits(task); },
          .restores_here = [recovers] { return recovers->restores_here(); },
          .tries_again = [] { return recovery::tries_again_here(); },
          .unfilled = [recovers](const std::string& task) { recovers->unfilled(task); },
      };
      if (!options.recovery.restore)
        to.lost_state.lose = nullptr; // a task that hosts the session would wait for that
      made->recovers = std::move(recovers);
    }
    made->client = unwrap(client::connect(cluster, to), "session::connect", where);
    return made;
  }

  step_clock::time_point deadline() const { return after(client->options().timeout); }

  // Of a run. Only a deadline that is given as such can have passed.
  step_clock::time_point deadline(const run_options& options, const char* function,
                                  const std::source_location& where) const {
    if (options.deadline)
      return *options.deadline;
    if (options.timeout.count() == 0)
      return deadline();
    if (options.timeout.count() < 0)
      throw error{check_duration("timeout", options.timeout).within(at(function, where))};
    return after(options.timeout);
  }

  // The same; fails for one that has passed, before anything is done.
  step_clock::time_point deadline_ahead(const run_options& options, const char* function,
                                        const std::source_location& where) const {
    auto until = deadline(options, function, where);
    if (options.deadline)
      must_be_ahead(until, function, where);
    return until;
  }

  static void must_be_ahead(step_clock::time_point until, const char* function,
                            const std::source_location& where) {
    if (step_clock::now() >= until)
      throw error{not_begun_in_time().within(at(function, where))};
  }

  // A timeout that the clock cannot count is none.
  static step_clock::time_point after(std::chrono::milliseconds timeout) {
    constexpr std::chrono::hours century{100 * 365 * 24};
    return timeout < century ? step_clock::now() + timeout : step_clock::time_point::max();
  }

  // Has what runs on this thread meanwhile fill the tasks that wait for that.
  template <class Act>
  status fill(step_clock::time_point until, const Act& act) {
    client::filling here{*client};
    auto end = [&](bool done) {
      return here.is_outermost() ? client->end_fill(here.number(), done, until) : status{};
    };
    try {
      act();
    } catch (const error& why) {
      (void)end(false); // what it throws is the cause
      if (here.elsewhere().empty() || why.kind() != error_kind::unavailable)
        throw;
      throw filled_elsewhere{why, here.elsewhere()};
    } catch (...) {
      (void)end(false);
      throw;
    }
    return end(true);
  }

  // Variables may be declared otherwise now: run() compiles its steps again.
  void drop_steps() {
    std::map<signature_key, std::shared_ptr<step::state>> dropped; // goes when the lock is free
    std::lock_guard guard{mutex};
    dropped.swap(steps);
  }

  // `try_again` calls what it is given, as often as recovery_options want.
  template <class TryAgain>
  std::shared_ptr<step::state> compile(const graph& of, const step_signature& signature,
                                       step_clock::time_point until, const std::stop_token& stop,
                                       const char* function, const std::source_location& where,
                                       const TryAgain& try_again) {
    auto made = std::make_shared<step::state>();
    made->prepared = unwrap(try_again([&] { return client->prepare(of, signature, until, stop); }),
                            function, where);
    made->effects = recovers && has_effects(signature);
    std::lock_guard guard{mutex};
    std::erase_if(compiled, [](const auto& one) { return one.expired(); });
    compiled.push_back(made);
    return made;
  }

  template <class TryAgain>
  std::shared_ptr<step::state>
  find_or_compile(const step_signature& signature, step_clock::time_point until,
                  const std::stop_token& stop, const char* function,
                  const std::source_location& where, const TryAgain& try_again) {
    const auto& of = graph_of(signature, function, where);
    auto key = key_of(of, signature);
    {
      std::lock_guard guard{mutex};
      if (auto it = steps.find(key); it != steps.end())
        return it->second;
    }
    auto made = compile(of, signature, until, stop, function, where, try_again);
    std::lock_guard guard{mutex};
    std::erase_if(steps, [&](const auto& entry) {
      return entry.first.of == &of && entry.first.version != key.version;
    });
    if (steps.size() >= max_cached_steps)
      steps.clear();
    steps.emplace(std::move(key), made);
    must_be_ahead(until, function, where); // compiling may have taken all of the time
    return made;
  }

  static const graph& graph_of(const step_signature& signature, const char* function,
                               const std::source_location& where) {
    auto fail = [&](const auto&... parts) -> const graph& {
      throw error{invalid(parts...).within(at(function, where))};
    };
    for (size_t i = 0; i < signature.fetches.size(); ++i)
      if (signature.fetches[i].is_nothing())
        return fail("fetch ", i, " is an edge to nothing");
    for (size_t i = 0; i < signature.feeds.size(); ++i)
      if (signature.feeds[i].is_nothing())
        return fail("feed ", i, " is an edge to nothing");
    for (size_t i = 0; i < signature.targets.size(); ++i)
      if (!signature.targets[i])
        return fail("target ", i, " is no node");
    if (!signature.fetches.empty())
      return signature.fetches.front().node->graph();
    if (!signature.targets.empty())
      return signature.targets.front()->graph();
    return fail("there is nothing to fetch and no target to run");
  }
};

struct session::shared_state {
  sharded_refcount users; // of the state, apart from the session itself
  std::unique_ptr<session::state> state;
};

// Runs a step as the session's recovery_options want it.
template <class Run>
auto session::recovering(const std::shared_ptr<shared_state>& in, bool has_effects,
                         step_clock::time_point until, const std::stop_token& stop, const Run& run)
    -> decltype(run()) {
  auto* recovers = in->state->recovers.get();
  if (!recovers)
    return run();
  decltype(run()) outcome{status{error_kind::internal, "it did not run"}};
  auto ended = recovers->run(
      has_effects, until, stop,
      [&]() -> status {
        outcome = run();
        if constexpr (std::is_same_v<decltype(run()), status>)
          return outcome;
        else
          return outcome.status();
      },
      [&] {
        struct borrowed {
          explicit borrowed(std::shared_ptr<shared_state> from) : of(std::move(from)) {}
          ~borrowed() { of.shared_ = nullptr; } // it closes nothing
          session of;
        } one{in};
        auto filled = in->state->fill(until, [&] { recovers->restore(one.of); });
        throw_if_failed(std::move(filled));
      },
      [&] {
        const auto* here = client::filling::of(*in->state->client);
        return here && !here->elsewhere().empty();
      });
  if (!ended)
    return decltype(run()){std::move(ended)};
  return outcome;
}

// Keeps a step's session while the step runs in it. All callers of a step pass here: it must not
// make them write to one place.
class step::use {
public:
  use(const step& of, const char* function, const location& where)
      : of_(session_of(of, function, where)), ticket_(of_.users.enter()) {
    if (!ticket_)
      throw error{failure(error_kind::failed_precondition, "the step's session is closed")
                      .within(at(function, where))};
  }
  use(const use&) = delete;
  use& operator=(const use&) = delete;
  ~use() {
    if (of_.users.leave(ticket_))
      of_.state.reset();
  }
  session::state* operator->() const noexcept { return of_.state.get(); }

private:
  static session::shared_state& session_of(const step& of, const char* function,
                                           const location& where) {
    need_state(function, where, of.state_ != nullptr, "step");
    return *of.state_->of;
  }

  session::shared_state& of_;
  sharded_refcount::ticket ticket_;
};

std::vector<tensor> step::run(std::span<const tensor> feeds, const run_options& options,
                              location where) {
  use in{*this, "step::run", where};
  auto until = in->deadline_ahead(options, "step::run", where);
  return unwrap(session::recovering(state_->of, state_->effects, until, options.stop,
                                    [&] {
                                      return in->client->run(*state_->prepared, feeds, until,
                                                             insight_of(options));
                                    }),
                "step::run", where);
}

std::vector<tensor> step::run(const std::map<std::string, tensor>& feeds,
                              const run_options& options, location where) {
  need_state("step::run", where, state_ != nullptr, "step");
  for (const auto& [name, value] : feeds) // first: a misspelt one is why another is missing
    if (std::ranges::find(state_->feeds, name) == state_->feeds.end())
      throw error{invalid("the step is fed no '", name, '\'',
                          did_you_mean(name, {state_->feeds.begin(), state_->feeds.end()}))
                      .within(at("step::run", where))};
  std::vector<tensor> ordered;
  for (const auto& name : state_->feeds) {
    auto it = feeds.find(name);
    if (it == feeds.end())
      throw error{invalid("the feed '", name, "' is missing").within(at("step::run", where))};
    ordered.push_back(it->second);
  }
  return run(ordered, options, where);
}

void step::run_async(std::vector<tensor> feeds, on_done done, const run_options& options,
                     location where) {
  use in{*this, "step::run_async", where};
  need_function("step::run_async", where, done, "the callback");
  in->client->run_async(
      *state_->prepared, std::move(feeds), in->deadline(options, "step::run_async", where),
      [done = std::move(done), where](result<std::vector<tensor>> outcome) {
        if (!outcome)
          outcome = outcome.status().within(at("step::run_async", where));
        done(std::move(outcome));
      },
      insight_of(options));
}

std::future<std::vector<tensor>> step::run_async(std::vector<tensor> feeds,
                                                 const run_options& options, location where) {
  auto promise = std::make_shared<std::promise<std::vector<tensor>>>();
  auto future = promise->get_future();
  run_async(
      std::move(feeds),
      [promise](result<std::vector<tensor>> outcome) {
        if (outcome)
          promise->set_value(*std::move(outcome));
        else
          promise->set_exception(std::make_exception_ptr(error{outcome.status()}));
      },
      options, where);
  return future;
}

void step::run_into(std::span<const tensor> feeds, std::span<tensor> fetches,
                    const run_options& options, location where) {
  use in{*this, "step::run_into", where};
  auto until = in->deadline_ahead(options, "step::run_into", where);
  auto outcome = session::recovering(state_->of, state_->effects, until, options.stop, [&] {
    return in->client->run_into(*state_->prepared, feeds, fetches, until, insight_of(options));
  });
  if (!outcome)
    throw error{std::move(outcome).within(at("step::run_into", where))};
}

session session::local(const session_options& options, location where) {
  auto made = std::make_unique<state>();
  made->client = unwrap(client::local(to_client(options, where)), "session::local", where);
  return session{std::move(made)};
}

session session::connect(const cluster_spec& cluster, const session_options& options,
                         location where) {
  return session{state::connected(cluster, options, where)};
}

session session::connect(std::string_view cluster, const session_options& options, location where) {
  return session{
      state::connected(unwrap(find_cluster(cluster), "session::connect", where), options, where)};
}

session::session(std::unique_ptr<state> made) : shared_(std::make_shared<shared_state>()) {
  shared_->state = std::move(made);
}
session::session(std::shared_ptr<shared_state> of) : shared_(std::move(of)) {}
session::session(session&&) noexcept = default;
session& session::operator=(session&& other) noexcept {
  if (this != &other) {
    close();
    shared_ = std::move(other.shared_);
  }
  return *this;
}
session::~session() { close(); }

session::state& session::open(const char* function, const location& where) const {
  need_state(function, where, shared_ != nullptr, "session");
  return *shared_->state;
}

void session::close() noexcept {
  if (auto closing = std::exchange(shared_, nullptr); closing && closing->users.close())
    closing->state.reset();
}

std::vector<tensor> session::run(const std::vector<feed>& feeds, const std::vector<edge>& fetches,
                                 const std::vector<target>& targets, const run_options& options,
                                 location where) {
  auto& in = open("session::run", where);
  step_signature signature{.feeds = {}, .fetches = fetches, .targets = {}};
  std::vector<tensor> values;
  values.reserve(feeds.size());
  for (const auto& one : feeds) {
    if (one.value.is_edge())
      throw error{invalid("a feed must be a number, a list or a tensor, no edge")
                      .within(at("session::run", where))};
    auto value = one.to.node && one.value.literal()
                     ? unwrap(converted(one.value.value(), one.to.type()), "session::run", where)
                     : one.value.value();
    // Several names may stand for one tensor, as in signatures of SavedModels.
    if (auto before = find_edge(signature.feeds, one.to);
        before != signature.feeds.end() &&
        identical(values[static_cast<size_t>(before - signature.feeds.begin())], value))
      continue;
    signature.feeds.push_back(one.to);
    values.push_back(std::move(value));
  }
  for (const auto& one : targets)
    signature.targets.push_back(one.run);
  auto until = in.deadline_ahead(options, "session::run", where);
  auto found = in.find_or_compile(signature, until, options.stop, "session::run", where,
                                  [&](const auto& prepare) {
                                    return recovering(shared_, false, until, options.stop, prepare);
                                  });
  auto outcome = recovering(shared_, found->effects, until, options.stop, [&] {
    return in.client->run(*found->prepared, values, until, insight_of(options));
  });
  if (outcome.status().kind() == error_kind::aborted) // as if the session had been reset elsewhere
    in.drop_steps();
  return unwrap(std::move(outcome), "session::run", where);
}

tensor session::fetch(edge what, const std::vector<feed>& feeds, const run_options& options,
                      location where) {
  return std::move(run(feeds, {what}, {}, options, where).front());
}

step session::prepare(const std::vector<edge>& feeds, const std::vector<edge>& fetches,
                      const std::vector<target>& targets, const prepare_options& options,
                      location where) {
  step_signature signature{
      .feeds = feeds, .fetches = fetches, .targets = {}, .low_priority = options.low_priority};
  for (const auto& one : targets)
    signature.targets.push_back(one.run);
  auto& in = open("session::prepare", where);
  const auto& of = state::graph_of(signature, "session::prepare", where);
  auto until = in.deadline();
  auto made =
      in.compile(of, signature, until, {}, "session::prepare", where, [&](const auto& prepare) {
        return recovering(shared_, false, until, {}, prepare);
      });
  made->of = shared_;
  for (const auto& one : feeds)
    made->feeds.push_back(one.name());
  return step{std::move(made)};
}

std::vector<node_time> session::node_times(location where) const {
  return open("session::node_times", where).client->times().all();
}

std::vector<link_time> session::link_times(location where) const {
  return open("session::link_times", where).client->links().all();
}

placement_report session::explain_placement(const std::vector<edge>& feeds,
                                            const std::vector<edge>& fetches,
                                            const std::vector<target>& targets, location where) {
  step_signature signature{.feeds = feeds, .fetches = fetches, .targets = {}};
  for (const auto& one : targets)
    signature.targets.push_back(one.run);
  auto& in = open("session::explain_placement", where);
  const auto& of = state::graph_of(signature, "session::explain_placement", where);
  return unwrap(in.client->explain(of, signature, in.deadline()), "session::explain_placement",
                where);
}

std::vector<device_info> session::devices(location where) {
  std::vector<task_problem> problems;
  auto found = devices(problems, where);
  if (auto failed = as_error(problems); !failed)
    throw error{std::move(failed).within(at("session::devices", where))};
  return found;
}

std::vector<device_info> session::devices(std::vector<task_problem>& problems, location where) {
  auto& in = open("session::devices", where);
  auto found = unwrap(in.client->devices(in.deadline()), "session::devices", where);
  std::ranges::sort(found.devices, {}, &device_info::name); // tasks answer in any order
  std::ranges::sort(found.problems, {}, &task_problem::task);
  problems = std::move(found.problems);
  return std::move(found.devices);
}

uint16_t session::http_port() const noexcept {
  return shared_ ? shared_->state->client->http_port() : uint16_t{0};
}

std::vector<std::string> session::tasks(location where) {
  auto& in = open("session::tasks", where);
  std::set<task_name> found;
  for (const auto& one : unwrap(in.client->known_devices(in.deadline()), "session::tasks", where))
    if (auto name = device_name::parse(one.name))
      found.insert(name->on_task());
  std::vector<std::string> made;
  for (const auto& one : found)
    made.push_back(to_string(one));
  return made;
}

state_list session::state_of(const std::string& task, location where) {
  std::vector<task_problem> problems;
  auto found = state_of(task, problems, where);
  if (auto failed = as_error(problems); !failed)
    throw error{std::move(failed).within(at("session::state_of", where))};
  return found;
}

state_list session::state_of(const std::string& task, std::vector<task_problem>& problems,
                             location where) {
  auto& in = open("session::state_of", where);
  auto found = unwrap(in.client->list_state(task, in.deadline()), "session::state_of", where);
  std::ranges::stable_sort(found.state.entries, {}, &state_info::task); // they answer in any order
  std::ranges::sort(found.problems, {}, &task_problem::task);
  problems = std::move(found.problems);
  return std::move(found.state);
}

void session::fill(const std::function<void(session&)>& act, location where) {
  auto& in = open("session::fill", where);
  need_function("session::fill", where, act, "what to call");
  if (auto filled = in.fill(in.deadline(), [&] { act(*this); }); !filled)
    throw error{std::move(filled).within(at("session::fill", where))};
}

bool session::is_filling() const noexcept {
  if (!shared_)
    return false;
  const auto* here = client::filling::of(*shared_->state->client);
  return here && here->fills();
}

std::vector<task_positions> session::positions(const std::vector<std::string>& tasks,
                                               location where) {
  auto& in = open("session::positions", where);
  auto found = unwrap(in.client->positions({}, tasks, in.deadline()), "session::positions", where);
  std::ranges::sort(found, {}, &task_positions::task); // they answer in any order
  return found;
}

void session::go_on_from(const kernel_positions& positions, location where) {
  auto& in = open("session::go_on_from", where);
  if (!positions.empty())
    unwrap(in.client->positions(positions, {}, in.deadline()), "session::go_on_from", where);
}

void session::reset(location where) {
  reset(open("session::reset", where).client->options().container, where);
}

void session::reset(const std::string& container, location where) {
  auto& in = open("session::reset", where);
  if (auto done = in.client->reset(container, in.deadline()); !done)
    throw error{std::move(done).within(at("session::reset", where))};
  in.drop_steps();
}

} // namespace troupe
