#include "troupe/api/session.hpp"
// Implements sessions and prepared steps on the client of actors/session.

#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/operator/local_operator_port.hpp"
#include "troupe/api/initialized_by_other_client.hpp"
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

// Limits the cache for processes that keep running new signatures or new graphs.
constexpr size_t max_cached_steps = 256;

std::string call_site(const char* function, const std::source_location& where) {
  return call_text(function, where);
}

template <class T>
T unwrap(result<T> outcome, const char* function, const std::source_location& where) {
  if (!outcome)
    throw error{outcome.status().with_context(call_site(function, where))};
  return *std::move(outcome);
}

run_insight insight_of(const run_options& options) {
  return {.statistics = options.statistics,
          .check_numerics = options.check_numerics,
          .stop = options.stop};
}

struct signature_key {
  const graph* source_graph;
  uint64_t version; // unique among all graphs
  std::vector<std::pair<node*, int>> feeds, fetches;
  std::vector<node*> targets;
  auto operator<=>(const signature_key&) const = default;
};

signature_key key_of(const graph& source_graph, const step_signature& signature) {
  signature_key key{&source_graph, source_graph.version(), {}, {}, signature.targets};
  for (const auto& edge_key : signature.feeds)
    key.feeds.emplace_back(edge_key.node, edge_key.index);
  for (const auto& edge_key : signature.fetches)
    key.fetches.emplace_back(edge_key.node, edge_key.index);
  return key;
}

} // namespace

device_choice to_device_choice(const thread_options& threads, const memory_options& memory,
                               const gpu_options& gpu) {
  return {.intra_op_threads = threads.intra_op,
          .memory_limit = memory.limit,
          .swap_space = memory.swap_space,
          .gpus = gpu.count,
          .devices_per_gpu = gpu.devices_per_gpu,
          .gpu_memory_limit = memory.gpu_limit,
          .gpu_memory_reserve = memory.gpu_reserve,
          .gpu_memory_idle = memory.gpu_idle_timeout,
          .gpu_watchdog = gpu.watchdog,
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

status check_durations(const session_options& options) {
  TROUPE_TRY(check_duration("timeout", options.timeout, std::chrono::milliseconds{1}));
  TROUPE_TRY(check_duration("recovery.initial_delay", options.recovery.initial_delay));
  TROUPE_TRY(check_duration("memory.gpu_idle_timeout", options.memory.gpu_idle_timeout));
  TROUPE_TRY(check_duration("gpu.watchdog", options.gpu.watchdog));
  return check_peer_timeout(options.cluster.peer_timeout);
}

} // namespace

client_options to_client(const session_options& options, std::source_location where) {
  if (auto valid = check_durations(options); !valid)
    throw error{std::move(valid).with_context(concat("session (", to_string(where), ")"))};
  client_options client_settings;
  client_settings.ops = &library();
  client_settings.make_devices =
      [chosen = to_device_choice(options.threads, options.memory, options.gpu)] {
        return make_devices(chosen);
      };
  client_settings.inter_op_threads = options.threads.inter_op;
  client_settings.gpu_launch_threads = options.gpu.launch_threads;
  client_settings.container = options.container;
  client_settings.programs = {.region_per_node = options.insight.region_per_node,
                              .max_concurrent_steps = options.max_concurrent_steps,
                              .deterministic = options.deterministic,
                              .replay = options.gpu.replay,
                              .place_by_cost = options.gpu.place_by_cost};
  client_settings.passes = options.passes;
  if (auto type = client_settings.passes.mixed_precision;
      type != dtype::none && type != dtype::bf16 && type != dtype::f16)
    throw error{invalid("session (", to_string(where),
                        "): passes.mixed_precision must be bf16 or f16, got ", type)};
  if (client_settings.passes.swap.memory == 0)
    client_settings.passes.swap.memory = options.memory.gpu_limit;
  client_settings.timeout = options.timeout;
  client_settings.peer_timeout = options.cluster.peer_timeout;
  client_settings.tls = options.cluster.tls;
  client_settings.insecure = options.cluster.insecure;
  client_settings.same_host_reads = options.cluster.same_host_reads;
  client_settings.share_io = options.cluster.share_io;
  client_settings.programs.transfer_precision = options.cluster.transfer_precision;
  client_settings.programs.placement = options.placement;
  client_settings.check_numerics = options.insight.check_numerics;
  client_settings.passes.fuse =
      options.passes.fuse && !client_settings.check_numerics; // errors name the original op
  client_settings.sample_every = options.insight.sample_every;
  client_settings.node_times = options.insight.node_times;
  client_settings.on_warning = options.on_warning;
  client_settings.http = options.http;
  client_settings.http_allow_remote = options.http_allow_remote;
  client_settings.open_port = open_local_port;
  return client_settings;
}

client_options to_remote_client(session_options options, std::source_location where) {
  options.gpu.count = 0;
  return to_client(options, where);
}

struct step::state {
  std::shared_ptr<session::shared_state> session_state;
  std::shared_ptr<prepared_step> prepared; // null after the session has closed
  std::vector<std::string> feeds = {};     // names in the order of prepare()
  bool effects = false;                    // the step must not be repeated
};

struct session::state {
  std::shared_ptr<recovery> recoverer; // shared with the client, whose threads report lost state
  std::unique_ptr<troupe::client> client;
  std::mutex mutex;
  std::map<signature_key, std::shared_ptr<step::state>> steps; // cache of run()
  std::vector<std::weak_ptr<step::state>> compiled;            // includes steps that users hold

  // A compiled step holds actors, which must be destroyed before the client's actor system. Runs
  // keep this object alive, so no run is in progress here.
  ~state() {
    for (auto& compiled_step : compiled)
      if (auto live_step = compiled_step.lock())
        live_step->prepared.reset();
  }

  static std::unique_ptr<state> connected(const cluster_access& cluster,
                                          const session_options& options,
                                          std::source_location where) {
    auto session_state = std::make_unique<state>();
    auto client_settings = to_remote_client(options, where);
    if (auto recoverer = std::make_shared<recovery>(options.recovery); recoverer->is_wanted()) {
      client_settings.lost_state = {
          .on_state_lost =
              [recoverer](const state_loss& loss) { return recoverer->add_lost_task(loss.task); },
          .awaits_restore =
              [recoverer](const std::string& task) { return recoverer->awaits_restore(task); },
          .is_restoring = [recoverer] { return recoverer->is_restoring_thread(); },
          .is_retrying = [] { return recovery::is_retrying_thread(); },
          .on_uninitialized =
              [recoverer](const std::string& task) { recoverer->add_uninitialized_task(task); },
      };
      if (!options.recovery.restore_state)
        client_settings.lost_state.on_state_lost =
            nullptr; // else a task that hosts the session would wait for a restore
      session_state->recoverer = std::move(recoverer);
    }
    session_state->client =
        unwrap(client::connect(cluster, client_settings), "session::connect", where);
    return session_state;
  }

  step_clock::time_point deadline() const { return after(client->options().timeout); }

  // The deadline of a run. Only an explicit deadline can be in the past.
  step_clock::time_point deadline(const run_options& options, const char* function,
                                  const std::source_location& where) const {
    if (options.deadline)
      return *options.deadline;
    if (options.timeout.count() == 0)
      return deadline();
    if (options.timeout.count() < 0)
      throw error{
          check_duration("timeout", options.timeout).with_context(call_site(function, where))};
    return after(options.timeout);
  }

  // The deadline of a run; fails for one in the past, before any work.
  step_clock::time_point deadline_ahead(const run_options& options, const char* function,
                                        const std::source_location& where) const {
    auto deadline_time = deadline(options, function, where);
    if (options.deadline)
      must_be_ahead(deadline_time, function, where);
    return deadline_time;
  }

  static void must_be_ahead(step_clock::time_point until, const char* function,
                            const std::source_location& where) {
    if (step_clock::now() >= until)
      throw error{deadline_passed_before_start().with_context(call_site(function, where))};
  }

  // A timeout beyond the range of the clock means no deadline.
  static step_clock::time_point after(std::chrono::milliseconds timeout) {
    constexpr std::chrono::hours century{100 * 365 * 24};
    return timeout < century ? step_clock::now() + timeout : step_clock::time_point::max();
  }

  // Runs of `act` on this thread initialize the tasks that wait for it.
  template <class Act>
  status initialize(step_clock::time_point until, const Act& act) {
    client::initialization initialization_scope{*client};
    auto end = [&](bool succeeded) {
      return initialization_scope.is_outermost()
                 ? client->end_initialization(initialization_scope.number(), succeeded, until)
                 : status{};
    };
    try {
      act();
    } catch (const error& cause) {
      (void)end(false); // the exception of `act` is the cause
      if (initialization_scope.tasks_of_others().empty() || cause.kind() != error_kind::unavailable)
        throw;
      throw initialized_by_other_client{cause, initialization_scope.tasks_of_others()};
    } catch (...) {
      (void)end(false);
      throw;
    }
    return end(true);
  }

  // Variables may be declared differently now: run() must compile its steps again.
  void drop_steps() {
    std::map<signature_key, std::shared_ptr<step::state>>
        dropped; // destroyed after the lock is released
    std::lock_guard guard{mutex};
    dropped.swap(steps);
  }

  // `retry` calls its argument, repeatedly as recovery_options allow.
  template <class Retry>
  std::shared_ptr<step::state> compile(const graph& source_graph, const step_signature& signature,
                                       step_clock::time_point until, const std::stop_token& stop,
                                       const char* function, const std::source_location& where,
                                       const Retry& retry) {
    auto compiled_step = std::make_shared<step::state>();
    compiled_step->prepared =
        unwrap(retry([&] { return client->prepare(source_graph, signature, until, stop); }),
               function, where);
    compiled_step->effects = recoverer && has_effects(signature);
    std::lock_guard guard{mutex};
    std::erase_if(compiled, [](const auto& candidate) { return candidate.expired(); });
    compiled.push_back(compiled_step);
    return compiled_step;
  }

  template <class Retry>
  std::shared_ptr<step::state>
  find_or_compile(const step_signature& signature, step_clock::time_point until,
                  const std::stop_token& stop, const char* function,
                  const std::source_location& where, const Retry& retry) {
    const auto& source_graph = graph_of(signature, function, where);
    auto key = key_of(source_graph, signature);
    {
      std::lock_guard guard{mutex};
      if (auto cached = steps.find(key); cached != steps.end())
        return cached->second;
    }
    auto compiled_step = compile(source_graph, signature, until, stop, function, where, retry);
    std::lock_guard guard{mutex};
    std::erase_if(steps, [&](const auto& entry) {
      return entry.first.source_graph == &source_graph && entry.first.version != key.version;
    });
    if (steps.size() >= max_cached_steps)
      steps.clear();
    steps.emplace(std::move(key), compiled_step);
    must_be_ahead(until, function, where); // the deadline may have passed while compiling
    return compiled_step;
  }

  static const graph& graph_of(const step_signature& signature, const char* function,
                               const std::source_location& where) {
    auto fail = [&](const auto&... parts) -> const graph& {
      throw error{invalid(parts...).with_context(call_site(function, where))};
    };
    for (size_t i = 0; i < signature.fetches.size(); ++i)
      if (signature.fetches[i].is_empty())
        return fail("fetch ", i, " is an empty edge");
    for (size_t i = 0; i < signature.feeds.size(); ++i)
      if (signature.feeds[i].is_empty())
        return fail("feed ", i, " is an empty edge");
    for (size_t i = 0; i < signature.targets.size(); ++i)
      if (!signature.targets[i])
        return fail("target ", i, " is null");
    if (!signature.fetches.empty())
      return signature.fetches.front().node->graph();
    if (!signature.targets.empty())
      return signature.targets.front()->graph();
    return fail("there is nothing to fetch and no target to run");
  }
};

struct session::shared_state {
  sharded_refcount users; // of the state, not counting the session itself
  std::unique_ptr<session::state> state;
};

// Runs a step with the retries of the session's recovery_options.
template <class Run>
auto session::recovering(const std::shared_ptr<shared_state>& in, bool has_effects,
                         step_clock::time_point until, const std::stop_token& stop, const Run& run)
    -> decltype(run()) {
  auto* recoverer = in->state->recoverer.get();
  if (!recoverer)
    return run();
  decltype(run()) outcome{status{error_kind::internal, "the run did not begin"}};
  auto ended = recoverer->run(
      has_effects, until, stop,
      [&]() -> status {
        outcome = run();
        if constexpr (std::is_same_v<decltype(run()), status>)
          return outcome;
        else
          return outcome.status();
      },
      [&] {
        struct borrowed_session {
          explicit borrowed_session(std::shared_ptr<shared_state> shared)
              : handle(std::move(shared)) {}
          ~borrowed_session() { handle.shared_ = nullptr; } // it must not close the session
          session handle;
        } borrowed{in};
        auto outcome_of_restore =
            in->state->initialize(until, [&] { recoverer->restore(borrowed.handle); });
        throw_if_failed(std::move(outcome_of_restore));
      },
      [&] {
        const auto* initialization_scope = client::initialization::outermost_of(*in->state->client);
        return initialization_scope && !initialization_scope->tasks_of_others().empty();
      });
  if (!ended)
    return decltype(run()){std::move(ended)};
  return outcome;
}

// Keeps a step's session alive during a run of the step. All callers of a step use it, so it must
// not make them write to one shared cache line.
class step::use {
public:
  use(const step& prepared, const char* function, const location& where)
      : session_state_(session_of(prepared, function, where)),
        ticket_(session_state_.users.enter()) {
    if (!ticket_)
      throw error{failure(error_kind::failed_precondition, "the step's session is closed")
                      .with_context(call_site(function, where))};
  }
  use(const use&) = delete;
  use& operator=(const use&) = delete;
  ~use() {
    if (session_state_.users.leave(ticket_))
      session_state_.state.reset();
  }
  session::state* operator->() const noexcept { return session_state_.state.get(); }

private:
  static session::shared_state& session_of(const step& prepared, const char* function,
                                           const location& where) {
    need_state(function, where, prepared.state_ != nullptr, "step");
    return *prepared.state_->session_state;
  }

  session::shared_state& session_state_;
  sharded_refcount::ticket ticket_;
};

std::vector<tensor> step::run(std::span<const tensor> feeds, const run_options& options,
                              location where) {
  use in{*this, "step::run", where};
  auto until = in->deadline_ahead(options, "step::run", where);
  return unwrap(session::recovering(state_->session_state, state_->effects, until, options.stop,
                                    [&] {
                                      return in->client->run(*state_->prepared, feeds, until,
                                                             insight_of(options));
                                    }),
                "step::run", where);
}

std::vector<tensor> step::run(const std::map<std::string, tensor>& feeds,
                              const run_options& options, location where) {
  need_state("step::run", where, state_ != nullptr, "step");
  for (const auto& [name, value] : feeds) // before missing ones: a misspelt name causes one
    if (std::ranges::find(state_->feeds, name) == state_->feeds.end())
      throw error{invalid("the step has no feed '", name, '\'',
                          did_you_mean(name, {state_->feeds.begin(), state_->feeds.end()}))
                      .with_context(call_site("step::run", where))};
  std::vector<tensor> ordered;
  for (const auto& name : state_->feeds) {
    auto entry = feeds.find(name);
    if (entry == feeds.end())
      throw error{
          invalid("the feed '", name, "' is missing").with_context(call_site("step::run", where))};
    ordered.push_back(entry->second);
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
          outcome = outcome.status().with_context(call_site("step::run_async", where));
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
  auto outcome =
      session::recovering(state_->session_state, state_->effects, until, options.stop, [&] {
        return in->client->run_into(*state_->prepared, feeds, fetches, until, insight_of(options));
      });
  if (!outcome)
    throw error{std::move(outcome).with_context(call_site("step::run_into", where))};
}

session session::local(const session_options& options, location where) {
  auto initial_state = std::make_unique<state>();
  initial_state->client = unwrap(client::local(to_client(options, where)), "session::local", where);
  return session{std::move(initial_state)};
}

session session::connect(const cluster_spec& cluster, const session_options& options,
                         location where) {
  return session{state::connected(cluster, options, where)};
}

session session::connect(std::string_view cluster, const session_options& options, location where) {
  return session{
      state::connected(unwrap(find_cluster(cluster), "session::connect", where), options, where)};
}

session::session(std::unique_ptr<state> initial_state) : shared_(std::make_shared<shared_state>()) {
  shared_->state = std::move(initial_state);
}
session::session(std::shared_ptr<shared_state> initial_state) : shared_(std::move(initial_state)) {}
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
  for (const auto& fed : feeds) {
    if (fed.value.is_edge())
      throw error{invalid("the value of a feed must be a number, a list or a tensor, not an edge")
                      .with_context(call_site("session::run", where))};
    auto value =
        fed.fed_edge.node && fed.value.literal()
            ? unwrap(convert_literal(fed.value.value(), fed.fed_edge.type()), "session::run", where)
            : fed.value.value();
    // Several feeds may have the same edge, as in signatures of SavedModels.
    if (auto before = find_edge(signature.feeds, fed.fed_edge);
        before != signature.feeds.end() &&
        identical(values[static_cast<size_t>(before - signature.feeds.begin())], value))
      continue;
    signature.feeds.push_back(fed.fed_edge);
    values.push_back(std::move(value));
  }
  for (const auto& target_entry : targets)
    signature.targets.push_back(target_entry.node);
  auto until = in.deadline_ahead(options, "session::run", where);
  auto compiled_step = in.find_or_compile(
      signature, until, options.stop, "session::run", where, [&](const auto& prepare) {
        return recovering(shared_, false, until, options.stop, prepare);
      });
  auto outcome = recovering(shared_, compiled_step->effects, until, options.stop, [&] {
    return in.client->run(*compiled_step->prepared, values, until, insight_of(options));
  });
  if (outcome.status().kind() == error_kind::aborted) // the session may have been reset elsewhere
    in.drop_steps();
  return unwrap(std::move(outcome), "session::run", where);
}

tensor session::fetch(edge output, const std::vector<feed>& feeds, const run_options& options,
                      location where) {
  return std::move(run(feeds, {output}, {}, options, where).front());
}

step session::prepare(const std::vector<edge>& feeds, const std::vector<edge>& fetches,
                      const std::vector<target>& targets, const prepare_options& options,
                      location where) {
  step_signature signature{
      .feeds = feeds, .fetches = fetches, .targets = {}, .low_priority = options.low_priority};
  for (const auto& target_entry : targets)
    signature.targets.push_back(target_entry.node);
  auto& in = open("session::prepare", where);
  const auto& source_graph = state::graph_of(signature, "session::prepare", where);
  auto until = in.deadline();
  auto compiled_step = in.compile(
      source_graph, signature, until, {}, "session::prepare", where,
      [&](const auto& prepare) { return recovering(shared_, false, until, {}, prepare); });
  compiled_step->session_state = shared_;
  for (const auto& feed_edge : feeds)
    compiled_step->feeds.push_back(feed_edge.name());
  return step{std::move(compiled_step)};
}

std::vector<node_time> session::node_times(location where) const {
  return open("session::node_times", where).client->times().list();
}

std::vector<link_time> session::link_times(location where) const {
  return open("session::link_times", where).client->links().list();
}

placement_report session::explain_placement(const std::vector<edge>& feeds,
                                            const std::vector<edge>& fetches,
                                            const std::vector<target>& targets, location where) {
  step_signature signature{.feeds = feeds, .fetches = fetches, .targets = {}};
  for (const auto& target_entry : targets)
    signature.targets.push_back(target_entry.node);
  auto& in = open("session::explain_placement", where);
  const auto& source_graph = state::graph_of(signature, "session::explain_placement", where);
  return unwrap(in.client->explain(source_graph, signature, in.deadline()),
                "session::explain_placement", where);
}

std::vector<device_info> session::devices(location where) {
  std::vector<task_problem> problems;
  auto device_list = devices(problems, where);
  if (auto failed = as_error(problems); !failed)
    throw error{std::move(failed).with_context(call_site("session::devices", where))};
  return device_list;
}

std::vector<device_info> session::devices(std::vector<task_problem>& problems, location where) {
  auto& in = open("session::devices", where);
  auto reply = unwrap(in.client->devices(in.deadline()), "session::devices", where);
  std::ranges::sort(reply.devices, {}, &device_info::name); // tasks answer in any order
  std::ranges::sort(reply.problems, {}, &task_problem::task);
  problems = std::move(reply.problems);
  return std::move(reply.devices);
}

uint16_t session::http_port() const noexcept {
  return shared_ ? shared_->state->client->http_port() : uint16_t{0};
}

std::vector<std::string> session::tasks(location where) {
  auto& in = open("session::tasks", where);
  std::set<task_name> names;
  for (const auto& device :
       unwrap(in.client->known_devices(in.deadline()), "session::tasks", where))
    if (auto name = device_name::parse(device.name))
      names.insert(name->name_of_task());
  std::vector<std::string> texts;
  for (const auto& name : names)
    texts.push_back(to_string(name));
  return texts;
}

state_list session::state_of(const std::string& task, location where) {
  std::vector<task_problem> problems;
  auto list = state_of(task, problems, where);
  if (auto failed = as_error(problems); !failed)
    throw error{std::move(failed).with_context(call_site("session::state_of", where))};
  return list;
}

state_list session::state_of(const std::string& task, std::vector<task_problem>& problems,
                             location where) {
  auto& in = open("session::state_of", where);
  auto reply = unwrap(in.client->list_state(task, in.deadline()), "session::state_of", where);
  std::ranges::stable_sort(reply.state.entries, {}, &state_info::task); // tasks answer in any order
  std::ranges::sort(reply.problems, {}, &task_problem::task);
  problems = std::move(reply.problems);
  return std::move(reply.state);
}

void session::initialize_tasks(const std::function<void(session&)>& act, location where) {
  auto& in = open("session::initialize_tasks", where);
  need_function("session::initialize_tasks", where, act, "the callback");
  if (auto outcome = in.initialize(in.deadline(), [&] { act(*this); }); !outcome)
    throw error{std::move(outcome).with_context(call_site("session::initialize_tasks", where))};
}

bool session::is_initializing() const noexcept {
  if (!shared_)
    return false;
  const auto* initialization_scope = client::initialization::outermost_of(*shared_->state->client);
  return initialization_scope && initialization_scope->has_begun();
}

std::vector<task_positions> session::random_state(const std::vector<std::string>& tasks,
                                                  location where) {
  auto& in = open("session::random_state", where);
  auto positions_of_tasks =
      unwrap(in.client->random_state({}, tasks, in.deadline()), "session::random_state", where);
  std::ranges::sort(positions_of_tasks, {}, &task_positions::task); // tasks answer in any order
  return positions_of_tasks;
}

void session::restore_random_state(const kernel_positions& positions, location where) {
  auto& in = open("session::restore_random_state", where);
  if (!positions.empty())
    unwrap(in.client->random_state(positions, {}, in.deadline()), "session::restore_random_state",
           where);
}

void session::reset(location where) {
  reset(open("session::reset", where).client->options().container, where);
}

void session::reset(const std::string& container, location where) {
  auto& in = open("session::reset", where);
  if (auto outcome = in.client->reset(container, in.deadline()); !outcome)
    throw error{std::move(outcome).with_context(call_site("session::reset", where))};
  in.drop_steps();
}

} // namespace troupe
