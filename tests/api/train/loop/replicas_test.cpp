// Replicas that train one model together, in one process.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace troupe::test::replicas_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = replica_event_kind;

replicas_options options_of(replica_mode mode, int workers) {
  replicas_options options;
  options.mode = mode;
  options.workers = workers;
  options.ps_tasks = 0;
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.retry_delay_seconds = 0.01;
  return options;
}

// A gate that the test opens: batches wait at it, as in a slow replica.
class gate {
public:
  void open() {
    std::lock_guard guard{mutex_};
    open_ = true;
    changed_.notify_all();
  }
  void pass(std::chrono::milliseconds timeout = 20s) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, timeout, [&] { return open_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

} // namespace

TEST_CASE("synchronous replicas take exactly the steps of one device with their batches together") {
  watchdog watch;
  constexpr int workers = 3, steps = 20;
  graph_builder g;
  auto single_step = regression::build(g, 0);
  auto* train = momentum{0.05}.minimize(single_step.loss);
  auto s = session::local();
  s.run(g.initializer());
  for (int i = 0; i < steps; ++i) {
    std::vector<std::vector<tensor>> parts;
    for (int r = 0; r < workers; ++r)
      parts.push_back(*regression::batch(i * workers + r));
    auto joined_batch = regression::joined(parts);
    s.run({{single_step.feeds[0], joined_batch[0]}, {single_step.feeds[1], joined_batch[1]}}, {},
          {train});
  }
  auto w = s.fetch(single_step.extra_fetches[0]), b = s.fetch(single_step.extra_fetches[1]);

  auto options = options_of(replica_mode::sync, workers);
  options.make_optimizer = [](edge) { return std::make_unique<momentum>(0.05); };
  options.last_step = steps;
  replicas training{regression::build, options};
  auto other_session = session::local();
  auto report = training.run(other_session);
  CHECK(report.end_reason == training_end::last_step);
  CHECK(report.step == steps);
  auto close = [](const tensor& actual, const tensor& expected) {
    return std::ranges::equal(actual.values<float>(), expected.values<float>(),
                              [](float x, float y) { return std::abs(x - y) < 1e-5f; });
  };
  CHECK(close(w, other_session.fetch(training.chief().extra_fetches[0])));
  CHECK(close(b, other_session.fetch(training.chief().extra_fetches[1])));
  CHECK(to_scalar<int64_t>(other_session.fetch(training.global_step())) == steps);
}

TEST_CASE("in each mode, replicas find the solution, and report their steps") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto options = options_of(mode, 3);
  options.last_step = 300;
  std::atomic<int64_t> reported{0}, last{0};
  options.on_step = [&](const training_progress& now) {
    ++reported;
    auto known = last.load();
    while (now.step > known && !last.compare_exchange_weak(known, now.step)) {
    }
  };
  replicas training{regression::build, options};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.step == 300);
  CHECK(report.loss < 1e-3);
  CHECK(last == 300);
  CHECK(regression::is_found(s, training.chief()));
  int64_t steps = 0;
  for (const auto& replica_report : report.replicas) {
    CHECK(replica_report.failures == 0);
    steps += replica_report.steps;
  }
  CHECK(reported == steps);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 300);
}

TEST_CASE("with backups, a step does not wait for slow replicas, and late gradients are dropped") {
  watchdog watch;
  auto options = options_of(replica_mode::sync, 3);
  options.backups = 1;
  options.last_step = 50;
  gate slow;
  std::atomic<int64_t> late_batches{0};
  options.batch = [&](int64_t n) {
    if (n % 3 == 2) { // the third replica
      slow.pass();
      ++late_batches;
      return std::optional{regression::wrong_batch()};
    }
    if (n / 3 == 40)
      slow.open();
    return regression::batch(n);
  };
  replicas training{regression::build, options};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.step == 50);
  CHECK(report.replicas[0].steps >= 40);
  CHECK(report.replicas[1].steps >= 40);
  CHECK(late_batches >= 1);
}

TEST_CASE("without backups, a step waits for all replicas, until the run gives up") {
  watchdog watch;
  auto options = options_of(replica_mode::sync, 2);
  options.give_up_timeout_seconds = 0.5;
  gate slow;
  options.batch = [&](int64_t n) {
    // A run waits for its batches in any case.
    if (n == 7)
      slow.pass(700ms);
    return regression::batch(n);
  };
  replicas training{regression::build, options};
  auto s = session::local();
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(std::string{thrown.what()},
             Contains("no step has succeeded for 0.5 s") && Contains("of 2 replicas"));
}

TEST_CASE("with bounded staleness, no replica exceeds its allowed lead over the slowest") {
  watchdog watch;
  auto options = options_of(replica_mode::bounded, 3);
  options.max_staleness = 2;
  options.last_step = 100;
  gate slow;
  std::atomic<int> begun_batches{0};
  std::mutex mutex;
  std::array<int64_t, 3> steps{};
  int64_t largest_lead = 0;
  options.batch = [&](int64_t n) {
    // One replica is slow at its first step.
    if (n == 0)
      slow.pass();
    return regression::batch(n);
  };
  options.on_step = [&](const training_progress& now) {
    std::lock_guard guard{mutex};
    ++steps[now.replica];
    largest_lead = std::max(largest_lead, std::ranges::max(steps) - std::ranges::min(steps));
    if (++begun_batches == 4) // the other replicas have reached the limit of their lead
      slow.open();
  };
  replicas training{regression::build, options};
  auto s = session::local();
  CHECK(training.run(s).step == 100);
  CHECK(largest_lead <= 3); // the report of one step may arrive after the report of the next
}

TEST_CASE("a replica's nodes are on its own worker and on ps tasks, and the chief's on ps tasks") {
  auto options =
      options_of(GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync), 3);
  INFO(to_string(options.mode));
  options.ps_tasks = 2;
  options.top_k_fraction = GENERATE(1.0, 0.5);
  replicas training{regression::build, options};
  auto check = [](const graph& source_graph, std::string_view worker) {
    for (const auto& graph_node : source_graph.nodes()) {
      INFO(graph_node->description() << " on '" << graph_node->device() << "'");
      auto device_name = std::string_view{graph_node->device()};
      CHECK((graph_node->op().name == "Const" || device_name.starts_with("/job:ps/task:") ||
             (!worker.empty() && device_name.starts_with(worker))));
    }
  };
  for (int i : {0, 2})
    check(training.graph_of(i), concat("/job:worker/task:", i));
  check(training.graph(), "");
}

TEST_CASE("with bounded staleness, a replica of an earlier run delays the others once") {
  watchdog watch;
  auto options = options_of(replica_mode::bounded, 2);
  options.max_staleness = 2;
  options.last_step = 400;
  options.step_timeout_seconds = 0.3;
  auto s = session::local();
  graph_builder g;
  auto clock = replica_clock(g, 1024, {.shared_name = "replicas/clock"});
  auto late_tick = replica_clock_tick(clock, int64_t{7}, int64_t{1000});
  std::atomic<bool> has_ticked{false};
  options.on_step = [&](const training_progress& now) {
    if (now.step >= 20 && !has_ticked.exchange(true))
      s.run({}, {late_tick});
  };
  replicas training{regression::build, options};
  auto report = training.run(s);
  CHECK(report.step == 400);
  CHECK(report.replicas[0].failures + report.replicas[1].failures <= 6);
}

TEST_CASE("a synchronous step whose answer was lost is not applied twice") {
  watchdog watch;
  constexpr int steps = 12, lost = 5;
  auto cluster = make_cluster(1, 1);
  auto server = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  const auto& ps_address = cluster.jobs["ps"].front();
  relay delaying_relay{
      static_cast<uint16_t>(std::stoi(ps_address.substr(ps_address.rfind(':') + 1)))};
  auto relayed_cluster = cluster;
  relayed_cluster.jobs["ps"].front() = concat("127.0.0.1:", delaying_relay.port());
  auto s = session::connect(relayed_cluster), direct_session = session::connect(cluster);
  auto options = options_of(replica_mode::sync, 1);
  options.ps_tasks = 1;
  options.last_step = steps;
  edge counter;
  std::jthread cuts;
  auto chief_waits = [&] {
    for (const auto& entry : direct_session.state_of("/job:ps/task:0").entries)
      if (entry.kind == "accumulator" && entry.content.find("1 wait for 1") == std::string::npos)
        return false;
    return true;
  };
  options.batch = [&](int64_t n) {
    if (n == lost && !cuts.joinable()) {
      CHECK(becomes_true(chief_waits));
      delaying_relay.hold(); // the step will be done, and its answer is withheld
      cuts = std::jthread{[&] {
        becomes_true([&] { return to_scalar<int64_t>(direct_session.fetch(counter)) > lost; });
        delaying_relay.cut();
      }};
    }
    return regression::batch(n);
  };
  replicas training{regression::build, options};
  counter = training.global_step();
  auto report = training.run(s);
  CHECK(report.step == steps);
  CHECK(to_scalar<int64_t>(direct_session.fetch(counter)) == steps);

  graph_builder g;
  auto single_step = regression::build(g, 0);
  auto* train = gradient_descent{0.1}.minimize(single_step.loss);
  auto other_session = session::local();
  other_session.run(g.initializer());
  for (int i = 0; i < steps; ++i) {
    auto feeds = *regression::batch(i);
    other_session.run({{single_step.feeds[0], feeds[0]}, {single_step.feeds[1], feeds[1]}}, {},
                      {train});
  }
  auto actual = direct_session.fetch(training.chief().extra_fetches[0]),
       expected = other_session.fetch(single_step.extra_fetches[0]);
  CHECK(std::ranges::equal(actual.values<float>(), expected.values<float>(),
                           [](float x, float y) { return std::abs(x - y) < 1e-5f; }));
}

TEST_CASE("runs with different numbers of replicas follow each other in one session") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto s = session::local();
  for (auto workers : {3, 1, 2, 3}) {
    auto options = options_of(mode, workers);
    options.max_staleness = 0;
    options.last_step = 40;
    replicas training{regression::build, options};
    auto report = training.run(s);
    CHECK(report.step == 40);
    CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 40);
  }
}

TEST_CASE("rows of a table that replicas look up change like those of one device") {
  watchdog watch;
  auto build = [](graph_builder& g, int) {
    auto rows = g.placeholder(dtype::i32, {-1}, "rows");
    auto labels = g.placeholder(dtype::f32, {-1, 2}, "wanted");
    auto table = g.variable(fill(g, {6, 2}, 1.0f), "table");
    return replica_step{{rows, labels}, mean_squared_error(gather(table, rows), labels), {table}};
  };
  auto batch = [](int64_t n) {
    auto a = static_cast<int32_t>(n % 6), b = static_cast<int32_t>((n * n + 1) % 6);
    auto x = static_cast<float>(n % 5);
    auto label_values = *tensor::make(dtype::f32, shape{3, 2});
    std::ranges::copy(std::vector{x, 1.f, 2.f, x, 0.5f, 3.f}, label_values.data<float>());
    return std::optional{std::vector{tensor::vector<int32_t>({a, b, a}), label_values}};
  };
  graph_builder g;
  auto single_step = build(g, 0);
  auto* train = adagrad{0.1}.minimize(single_step.loss);
  auto s = session::local();
  s.run(g.initializer());
  auto options = options_of(replica_mode::sync, 1);
  options.make_optimizer = [](edge) { return std::make_unique<adagrad>(0.1); };
  options.batch = batch;
  options.last_step = 12;
  replicas training{build, options};
  auto other_session = session::local();
  training.run(other_session);
  for (int64_t n = 0; n < 12; ++n) {
    auto feeds = *batch(n);
    s.run({{single_step.feeds[0], feeds[0]}, {single_step.feeds[1], feeds[1]}}, {}, {train});
  }
  auto single_value = s.fetch(single_step.extra_fetches[0]),
       replica_value = other_session.fetch(training.chief().extra_fetches[0]);
  for (int64_t i = 0; i < single_value.elements(); ++i)
    CHECK(single_value.data<float>()[i] == Approx(replica_value.data<float>()[i]).margin(1e-6));
  // No node builds a dense gradient of the whole table.
  for (const auto& graph_node : training.graph().nodes())
    CHECK(graph_node->op().name != "AccumulatorTakeGradient");
}

TEST_CASE("replicas that send only the largest elements of their gradients find the solution") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync);
  INFO(to_string(mode));
  auto options = options_of(mode, 3);
  constexpr int64_t width = 40;
  options.top_k_fraction = 0.05;
  options.last_step = 1500;
  options.batch = [&](int64_t n) {
    std::mt19937 generator{static_cast<unsigned>(n)};
    auto x = *tensor::make(dtype::f32, shape{16, width}),
         y = *tensor::make(dtype::f32, shape{16, 4});
    for (auto& number : x.values<float>())
      number = static_cast<float>(generator() % 2001) / 1000.0f - 1.0f;
    // Each output is a difference of two inputs.
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t i = 0; i < 4; ++i) {
        const auto* from = x.data<float>() + row * width;
        y.data<float>()[row * 4 + i] = from[9 * i] - from[9 * i + 3];
      }
    return std::optional{std::vector{x, y}};
  };
  replicas training{[&](graph_builder& g, int) {
                      auto x = g.placeholder(dtype::f32, {-1, width}, "x");
                      auto y = g.placeholder(dtype::f32, {-1, 4}, "y");
                      auto w = g.variable(fill(g, tensor::vector<int64_t>({width, 4}), 0.0f), "w");
                      return replica_step{{x, y}, mean_squared_error(matmul(x, w), y), {w}};
                    },
                    options};
  for (const auto& graph_node : training.graph_of(1).nodes())
    if (graph_node->op().name == "SparsifyTopK")
      CHECK(graph_node->output_shape(0) == partial_shape{8}); // of 160
  auto s = session::local();
  CHECK(training.run(s).loss < 1e-3);
}

TEST_CASE("the unsent part of a gradient counts once, though its step fails and is repeated") {
  watchdog watch;
  constexpr int64_t width = 100;
  constexpr int steps = 5;
  auto s = session::local();
  graph_builder g;
  auto keys = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}, .shared_name = "keys"});
  auto enqueue = queue_enqueue(keys, {g.constant(1.0f)});
  auto gradient_of = [](int64_t n) {
    std::mt19937 generator{static_cast<unsigned>(n)};
    auto result = *tensor::make(dtype::f32, shape{width});
    for (auto& number : result.values<float>())
      number = static_cast<float>(generator() % 2001) / 1000.0f - 1.0f;
    return result;
  };
  auto options = options_of(replica_mode::async, 1);
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(1.0); };
  options.top_k_fraction = 0.1;
  options.last_step = steps;
  options.step_timeout_seconds = 0.2;
  std::map<int64_t, int> attempts;
  options.batch = [&](int64_t n) {
    if (++attempts[n] > 1)
      s.run(enqueue);
    return std::optional{std::vector{gradient_of(n)}};
  };
  graph_builder* replica_graph = nullptr;
  // Each step waits for a key after its gradients.
  options.transform_gradients = [&](std::vector<variable_gradient> gradients) {
    auto shared_keys = fifo_queue(*replica_graph, {dtype::f32},
                                  {.shapes = {partial_shape{}}, .shared_name = "keys"});
    auto order = replica_graph->after({queue_dequeue(shared_keys, {dtype::f32}).front().node});
    for (auto& gradient_change : gradients)
      gradient_change.gradient = identity(gradient_change.gradient);
    return gradients;
  };
  replicas training{[&](graph_builder& target_graph, int) {
                      replica_graph = &target_graph;
                      auto x = target_graph.placeholder(dtype::f32, {width}, "x");
                      auto w = target_graph.variable(
                          fill(target_graph, tensor::vector<int64_t>({width}), 0.0f), "w");
                      return replica_step{{x}, sum(w * x), {w}};
                    },
                    options};
  auto report = training.run(s);
  CHECK(report.replicas[0].failures == steps);
  edge remaining_edge;
  for (const auto& graph_node : training.graph_of(0).nodes())
    if (graph_node->name() == "replicas/rest_0/w")
      remaining_edge = {graph_node.get(), 0};
  REQUIRE_FALSE(remaining_edge.is_empty());
  auto w = s.fetch(training.chief().extra_fetches[0]), remaining_value = s.fetch(remaining_edge);
  for (int64_t i = 0; i < width; ++i) {
    auto total = 0.0f;
    for (int64_t n = 0; n < steps; ++n)
      total += gradient_of(n).data<float>()[i];
    CHECK(remaining_value.data<float>()[i] - w.data<float>()[i] == Approx(total).margin(1e-4));
  }
}

TEST_CASE("replicas end with the data, after a time, on request, and at a NaN loss") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto options = options_of(mode, 2);
  auto s = session::local();
  auto begin = std::chrono::steady_clock::now();
  SECTION("data") {
    options.batch = [](int64_t n) { return n < 20 ? regression::batch(n) : std::nullopt; };
    replicas training{regression::build, options};
    auto report = training.run(s);
    CHECK(report.end_reason == training_end::data_ended);
    CHECK(report.step == (mode == replica_mode::sync ? 10 : 20));
  }
  SECTION("time") {
    options.time_limit = 0.2;
    replicas training{regression::build, options};
    CHECK(training.run(s).end_reason == training_end::time_limit);
  }
  SECTION("asked") {
    replicas* training_pointer = nullptr;
    options.on_step = [&](const training_progress& now) {
      if (now.step == 5)
        training_pointer->request_stop();
    };
    replicas training{regression::build, options};
    training_pointer = &training;
    CHECK(training.run(s).end_reason == training_end::stop_requested);
  }
  SECTION("condition") {
    options.stop_when = [](const training_progress& now) { return now.step >= 7; };
    replicas training{regression::build, options};
    CHECK(training.run(s).end_reason == training_end::condition);
  }
  SECTION("not a number") {
    options.batch = [](int64_t n) {
      auto batch = *regression::batch(n);
      if (n == 9)
        batch[1].data<float>()[0] = NAN;
      return std::optional{batch};
    };
    temporary_folder folder;
    options.checkpoints = folder / "m";
    replicas training{regression::build, options};
    auto report = training.run(s);
    CHECK(report.end_reason == training_end::not_a_number);
    CHECK(report.checkpoint.empty());
  }
  CHECK(std::chrono::steady_clock::now() - begin < 5s * timeout_scale);
}

TEST_CASE("replicas resume from a checkpoint, and from the newest where variables are lost") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync);
  INFO(to_string(mode));
  temporary_folder folder;
  auto options = options_of(mode, 2);
  options.checkpoints = folder / "m";
  options.last_step = 10;
  {
    auto s = session::local();
    replicas training{regression::build, options};
    auto report = training.run(s);
    CHECK(report.restored_from == -1);
    CHECK(report.checkpoint == folder / "m/step-10");
  }
  options.last_step = 60;
  options.checkpoint_steps = 5;
  std::vector<kind> events;
  options.on_event = [&](const replica_event& event) { events.push_back(event.kind); };
  auto s = session::local();
  std::atomic<bool> lost{false};
  options.on_step = [&](const training_progress& now) {
    // As if the task had been restarted.
    if (now.step >= 35 && !lost.exchange(true))
      s.reset();
  };
  replicas training{regression::build, options};
  auto report = training.run(s);
  CHECK(report.restored_from == 10);
  CHECK(report.step == 60);
  CHECK(events.front() == kind::restored);
  CHECK(std::ranges::count(events, kind::restored) == 2);
  CHECK(std::ranges::count(events, kind::recovered) >= 1);
  CHECK(std::ranges::count(events, kind::initialized) == 0);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) >= 60);
}

TEST_CASE("invalid options are refused, and so are models that differ") {
  auto text_of = [](replicas_options options, replicas::builder build = regression::build) {
    return std::string{error_of([&] { replicas rejected(build, std::move(options)); }).what()};
  };
  auto options = options_of(replica_mode::sync, 2);
  CHECK(text_of(options).empty());
  auto wrong_options = options;
  wrong_options.backups = 2;
  CHECK_THAT(text_of(wrong_options), Contains("backups must be 0 to 1, fewer than workers, got 2"));
  wrong_options = options;
  wrong_options.mode = replica_mode::async;
  wrong_options.backups = 1;
  CHECK_THAT(text_of(wrong_options),
             Contains("backups must be 0 unless the mode is sync, got the mode async"));
  wrong_options = options;
  wrong_options.make_optimizer = {};
  CHECK_THAT(text_of(wrong_options), Contains("make_optimizer is empty"));
  wrong_options = options;
  wrong_options.top_k_fraction = 0;
  CHECK_THAT(text_of(wrong_options),
             Contains("top_k_fraction must be above 0 and at most 1, got 0"));
  wrong_options = options;
  wrong_options.workers = 0;
  CHECK_THAT(text_of(wrong_options), Contains("workers must be 1 to 1024"));
  wrong_options = options;
  wrong_options.batch = {};
  CHECK_THAT(text_of(wrong_options),
             Contains("the model returns feeds, and replicas_options::batch is empty"));
  wrong_options = options;
  wrong_options.checkpoint_steps = 5;
  CHECK_THAT(text_of(wrong_options), Contains("checkpoints need a folder"));
  CHECK_THAT(text_of(options,
                     [](graph_builder& g, int replica) {
                       auto replica_built = regression::build(g, replica);
                       auto extra_variable = g.variable(1.0f, concat("more", replica));
                       replica_built.loss = replica_built.loss * extra_variable;
                       return replica_built;
                     }),
             Contains("it must build the same for each"));
}

TEST_CASE("an error that the model cannot avoid ends the run, and the first error is thrown") {
  watchdog watch;
  auto options = options_of(GENERATE(replica_mode::async, replica_mode::sync), 2);
  options.batch = [](int64_t n) {
    auto batch = *regression::batch(n);
    if (n == 5)
      batch[1] = tensor::vector<float>({1, 2});
    return std::optional{batch};
  };
  replicas training{regression::build, options};
  auto s = session::local();
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() == error_kind::invalid_argument);
  options.batch = regression::batch;
  options.on_step = [](const training_progress&) {
    throw error{error_kind::unavailable, "no disk"};
  };
  replicas second{regression::build, options};
  CHECK_THAT(std::string{error_of([&] { second.run(s); }).what()}, Contains("no disk"));
}

} // namespace troupe::test::replicas_test
