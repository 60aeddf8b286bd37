// Sessions whose master is in a task: "master:host:port".
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <atomic>
#include <future>
#include <optional>
#include <thread>

namespace troupe::test::hosted_session_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

// Two workers and a parameter server. Each task hosts sessions; the tests use the first worker.
struct hosts {
  explicit hosts(const hosting_limits& limits = {}, size_t workers = 2) {
    cluster = make_cluster(workers, 1);
    for (size_t i = 0; i < workers; ++i)
      tasks.push_back(start({"worker", static_cast<int>(i)}, limits));
    ps = start({"ps", 0}, limits);
  }
  std::unique_ptr<task> start(const task_name& self, const hosting_limits& limits = {}) const {
    auto options = options_of_task(cluster, self);
    options.hosting = limits;
    return start_task(std::move(options));
  }
  std::string address(size_t worker) const { return cluster.jobs.at("worker")[worker]; }
  std::string at(size_t worker) const { return concat("master:", address(worker)); }

  cluster_spec cluster;
  std::vector<std::unique_ptr<task>> tasks;
  std::unique_ptr<task> ps;
};

// Steps that wait for an element that another step enqueues.
struct waiting_graph {
  graph_builder g;
  edge queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  edge x = g.placeholder(dtype::i32, shape{}, "x");
  node* put = queue_enqueue(queue, {x});
  edge taken = queue_dequeue(queue, {dtype::i32}, "take")[0];
};

int number(const std::vector<tensor>& from) { return to_scalar<int>(from.front()); }

} // namespace

TEST_CASE("a session whose master is in a task runs steps over all tasks of its cluster") {
  watchdog watch;
  hosts cluster;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x"), y = g.placeholder(dtype::f32, {-1}, "y");
  variable_handle slope, offset;
  {
    auto placement = g.on("/job:ps/task:0");
    slope = g.variable(0.0f, "slope");
    offset = g.variable(0.0f, "offset");
  }
  auto placement = g.on("/job:worker/task:1");
  auto loss = mean(square(slope * x + offset - y));
  auto* train = gradient_descent{0.1f}.minimize(loss);
  auto s = session::connect(cluster.at(0));
  s.run(g.initializer());
  auto step = s.prepare({x, y}, {loss}, {train});
  auto feeds = std::vector{tensor::vector<float>({0, 1, 2}), tensor::vector<float>({1, 3, 5})};
  for (int i = 0; i < 200; ++i)
    step.run(feeds);
  CHECK(to_scalar<float>(s.fetch(slope)) == Approx(2).margin(0.01));
  CHECK(step.run_async(feeds).get().size() == 1);
  CHECK(step.run({{"y", feeds[1]}, {"x", feeds[0]}}).size() == 1);
  // The tasks hold the state: a session with a master of its own finds the same values.
  CHECK(to_scalar<float>(session::connect(cluster.cluster).fetch(slope)) == Approx(2).margin(0.01));
  auto state = s.state_of("/job:ps/task:0");
  CHECK(state.entries.size() == 2);
  CHECK_THAT(status_thrown_by([&] { s.state_of("/job:chef/task:0"); }).message(),
             Contains("there is no task /job:chef/task:0"));
  auto devices = s.devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].name == "/job:ps/task:0/device:cpu:0");
  s.reset();
  CHECK_THAT(status_thrown_by([&] { s.fetch(slope); }).message(), Contains("slope"));
}

TEST_CASE("a task that is down hides neither devices nor state of the others") {
  watchdog watch;
  hosts hosting;
  hosting.tasks[1] = nullptr;
  graph_builder g;
  auto placement = g.on("/job:ps/task:0");
  g.variable(1.f, "v");
  for (const auto& cluster : {to_json(hosting.cluster), hosting.at(0)}) {
    INFO(cluster);
    auto s = session::connect(cluster);
    s.run(g.initializer());
    auto before = std::chrono::steady_clock::now();
    std::vector<task_problem> problems;
    auto devices = s.devices(problems);
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].name == "/job:ps/task:0/device:cpu:0");
    CHECK(devices[1].name == "/job:worker/task:0/device:cpu:0");
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].task == "/job:worker/task:1");
    CHECK(problems[0].reason.kind() == error_kind::unavailable);
    CHECK_THAT(problems[0].reason.message(),
               Contains("cannot connect to " + hosting.address(1) + ": Connection refused"));
    auto state = s.state_of({}, problems);
    REQUIRE(state.entries.size() == 1);
    CHECK(state.entries[0].name == "v");
    CHECK(problems.size() == 1);
    s.state_of("/job:ps/task:0", problems);
    CHECK(problems.empty());
    for (const auto& call :
         std::vector<std::function<void()>>{[&] { s.devices(); }, [&] { s.state_of(); }})
      CHECK_THAT(status_thrown_by(call).message(),
                 Contains("/job:worker/task:1 could not be queried: cannot connect to "));
    CHECK(std::chrono::steady_clock::now() - before < 8s); // each waited 10 s for it
  }
}

TEST_CASE("errors of a hosted step name the node, its line, and the task") {
  watchdog watch;
  hosts cluster;
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  edge quotient;
  {
    auto placement = g.on("/job:worker/task:1");
    quotient = div(g.constant(tensor::scalar(1)), x, "quotient");
  }
  auto s = session::connect(cluster.at(0));
  auto thrown = status_thrown_by([&] { s.run({{x, tensor::scalar(0)}}, {quotient}); });
  CHECK(thrown.kind() == error_kind::invalid_argument);
  CHECK_THAT(thrown.message(), Contains("quotient") && Contains("hosted_session_test.cpp:") &&
                                   Contains("/job:worker/task:1"));
  auto thrown_for_type = status_thrown_by([&] { s.run({{x, tensor::scalar(1.5f)}}, {quotient}); });
  CHECK_THAT(thrown_for_type.message(), Contains("must be fed with i32"));
  CHECK(number(s.run({{x, tensor::scalar(1)}}, {quotient})) == 1);
  auto placement = g.on("/job:chef/task:0");
  auto misplaced = neg(x);
  CHECK_THAT(status_thrown_by([&] {
               s.run({{x, tensor::scalar(1)}}, {misplaced});
             }).message(),
             Contains("/job:chef/task:0"));
}

TEST_CASE("feeds that a hosted step does not need are not sent, but are checked") {
  watchdog watch;
  hosts cluster;
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x"), unused = g.placeholder(dtype::f32, {-1}, "u");
  auto s = session::connect(cluster.at(0));
  auto step = s.prepare({unused, x}, {neg(x)});
  CHECK(number(step.run(
            {tensor::vector<float>(std::vector<float>(1'000'000)), tensor::scalar(3)})) == -3);
  CHECK_THAT(status_thrown_by([&] {
               step.run({tensor::scalar(1), tensor::scalar(3)});
             }).message(),
             Contains("must be fed with f32"));
  // Large tensors are sent beside the message, in both directions.
  auto rows = g.placeholder(dtype::f32, {-1}, "rows");
  auto doubled_rows =
      s.run({{rows, tensor::vector(std::vector<float>(300'000, 1.5f))}}, {rows + rows});
  CHECK(doubled_rows[0].values<float>()[299'999] == 3.0f);
}

TEST_CASE("a hosted step that reaches its deadline fails, and keeps no resources") {
  watchdog watch;
  hosts cluster;
  waiting_graph w;
  auto s = session::connect(cluster.at(0));
  auto take = s.prepare({}, {w.taken});
  auto late_outcome = status_thrown_by([&] { take.run({}, {.timeout = 200ms}); });
  CHECK(late_outcome.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(late_outcome.message(), Contains("was not done in time"));
  auto answer = take.run_async();
  s.run({{w.x, tensor::scalar(7)}}, {}, {w.put});
  CHECK(number(answer.get()) == 7); // the failed step has not taken it
  auto open = take.run_async();
  { auto closing = std::move(s); }
  CHECK(status_thrown_by([&] { open.get(); }).kind() == error_kind::cancelled);
}

TEST_CASE("the host returns the statistics and the numerics checks of runs") {
  watchdog watch;
  hosts cluster;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  edge root;
  {
    auto placement = g.on("/job:worker/task:1");
    root = sqrt(x, "root");
  }
  auto s = session::connect(cluster.at(0), {.insight = {.sample_every = 1}});
  step_statistics statistics;
  auto begin = std::chrono::steady_clock::now().time_since_epoch();
  s.run({{x, tensor::scalar(4.0f)}}, {root}, {}, {.statistics = &statistics});
  auto end = std::chrono::steady_clock::now().time_since_epoch();
  REQUIRE(statistics.tasks.size() == 1);
  CHECK(statistics.tasks[0].task == "/job:worker/task:1");
  CHECK(statistics.step > 0);
  CHECK(!statistics.tasks[0].spans.empty());
  CHECK(statistics.tasks[0].begin_ns >= std::chrono::nanoseconds{begin}.count());
  CHECK(statistics.tasks[0].end_ns <= std::chrono::nanoseconds{end}.count());
  auto times = s.node_times();
  auto known = std::ranges::find(times, "root", &node_time::node);
  REQUIRE(known != times.end());
  CHECK(known->device == "/job:worker/task:1/device:cpu:0");
  auto thrown = status_thrown_by([&] {
    s.run({{x, tensor::scalar(-1.0f)}}, {root}, {}, {.check_numerics = true});
  });
  CHECK_THAT(thrown.message(), Contains("root"));
  auto report = s.explain_placement({x}, {root});
  CHECK(std::ranges::any_of(report.nodes, [](const placed_node& placed) {
    return placed.node == "root" && placed.device == "/job:worker/task:1/device:cpu:0";
  }));
  std::mutex mutex;
  std::vector<std::string> warnings;
  auto soft = session::connect(
      cluster.at(0), {.placement = {.soft = true}, .on_warning = [&](const std::string& text) {
                        std::lock_guard guard{mutex};
                        warnings.push_back(text);
                      }});
  auto placement = g.on("/job:worker/task:7");
  CHECK(to_scalar<float>(soft.fetch(neg(g.constant(tensor::scalar(1.0f))))) == -1);
  std::lock_guard guard{mutex};
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("/job:worker/task:7"));
}

TEST_CASE("a client's measured times tell the host the costs of nodes on that kind of device") {
  watchdog watch;
  hosts cluster;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto root = sqrt(x, "root");
  auto total_of = [&](const std::string& device) {
    auto s = session::connect(
        cluster.at(0),
        {.insight = {.node_times = {{.node = "root", .device = device, .runs = 1, .mean_ns = 5e6}}},
         .placement = {.strategy = placement_strategy::greedy}});
    return s.explain_placement({x}, {root}).total_ns;
  };
  CHECK(total_of("/job:worker/task:1/device:cpu:0") >= 5e6);
  CHECK(total_of("/job:worker/task:1/device:gpu:0") < 5e6); // the tasks have processors alone
}

TEST_CASE("random positions of a hosted session can be read and restored") {
  watchdog watch;
  hosts cluster;
  graph_builder g;
  g.set_random_seed(3);
  auto noise = random_uniform(g, tensor::vector<int>({4}), dtype::f32, "noise");
  auto s = session::connect(cluster.at(0));
  s.fetch(noise);
  auto positions = s.random_state();
  REQUIRE(positions.size() == 1);
  CHECK(positions[0].task.starts_with("/job:worker/task:0"));
  REQUIRE(positions[0].positions.contains("noise"));
  CHECK(s.random_state({"/job:worker/task:0"}).size() == 1);
  CHECK(s.random_state({"/job:worker/task:1"}).empty());
  auto second = s.fetch(noise).values<float>()[0];
  s.restore_random_state(positions[0].positions);
  CHECK(s.fetch(noise).values<float>()[0] == second);
  CHECK_THROWS_AS(s.restore_random_state({{"noise", "nonsense"}}), error);
}

TEST_CASE(
    "after the task that hosts a session is killed, the steps fail, and another task hosts it") {
  watchdog watch;
  hosts cluster{{}, 3};
  cluster.tasks[1] = nullptr;
  cluster.tasks[2] = nullptr; // the session begins at the first host, even if that takes long
  std::optional<task_process> first{std::in_place, cluster.cluster, task_name{"worker", 1}};
  waiting_graph w;
  w.g.push_device("/job:ps/task:0");
  auto count = w.g.variable(0, "count");
  auto* increment = assign_add(count, w.g.constant(tensor::scalar(1))).node;
  auto s = session::connect(concat("master:", cluster.address(1), ",", cluster.address(2)));
  s.run(w.g.initializer());
  auto count_step = s.prepare({}, {}, {increment});
  count_step.run();
  cluster.tasks[2] = cluster.start({"worker", 2});
  auto pending_take = s.prepare({}, {w.taken}).run_async();
  s.state_of("/job:ps/task:0"); // after this request the host knows both tasks
  first->kill();
  auto thrown = status_thrown_by([&] { pending_take.get(); });
  CHECK(thrown.kind() == error_kind::unavailable);
  CHECK_THAT(thrown.message(), Contains("/job:worker/task:1 at " + cluster.address(1) +
                                        ", which hosts the session, is gone"));
  count_step.run(); // prepared again by the other host
  CHECK(number(s.run({}, {count})) == 2);
}

TEST_CASE("a recovery policy retries runs that failed by the loss of the host") {
  watchdog watch;
  hosts cluster{{}, 3};
  cluster.tasks[1] = nullptr;
  std::optional<task_process> first{std::in_place, cluster.cluster, task_name{"worker", 1}};
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto y = neg(x);
  std::atomic<int> retried{0};
  auto s = session::connect(
      concat("master:", cluster.address(1), ",", cluster.address(2)),
      {.recovery = {.max_retries = 5, .on_event = [&](const recovery_event&) { ++retried; }}});
  auto step = s.prepare({x}, {y});
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  std::atomic<int> runs{0}, wrong{0};
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int n = 0; !stop; ++n)
        try {
          wrong += number(step.run({tensor::scalar(n)})) != -n;
          ++runs;
        } catch (const error&) {
          ++wrong;
        }
    });
  while (runs < 100)
    std::this_thread::yield();
  first->kill();
  auto before = runs.load();
  while (runs < before + 200)
    std::this_thread::yield();
  stop = true;
  for (auto& caller : callers)
    caller.join();
  CHECK(wrong == 0);
}

// A variable and a queue on the parameter server, which is restarted.
struct kept_on_ps {
  graph_builder g;
  graph_scope placement = g.on("/job:ps/task:0");
  edge w = g.variable(dtype::i32, {}, "w");
  node *set_five = assign(w, 5).node, *increment = assign_add(w, 1).node;
  edge queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "kept"});
  node* put = queue_enqueue(queue, {g.constant(1)});
  edge size = queue_size(queue);
};

TEST_CASE("a hosted session restores a task's lost state before any of its steps uses it") {
  watchdog watch;
  hosts cluster;
  kept_on_ps m;
  std::atomic<int> restored{0}, refused{0}, empty{0};
  std::optional<step> looking_step;
  // Without a wait, as in runs on a caller's thread.
  auto looks_early = [&] { return status_thrown_by([&] { looking_step->run_async({}).get(); }); };
  auto s = session::connect(
      cluster.at(0), {.recovery = {.max_retries = 50,
                                   .initial_delay = 10ms,
                                   .repeat_effects = true, // queue_size counts as an effect
                                   .restore_state =
                                       [&](session& restoring_session) {
                                         restoring_session.run(m.set_five);
                                         auto early_look =
                                             std::async(std::launch::async, looks_early);
                                         refused += early_look.get().kind() == error_kind::aborted;
                                         restoring_session.run(m.put);
                                         ++restored;
                                       }},
                      .timeout = 20s});
  s.run(m.set_five);
  s.run(m.put);
  looking_step = s.prepare({}, {m.size});
  CHECK(number(looking_step->run()) == 1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      while (!stop)
        empty += number(looking_step->run()) != 1;
    });
  for (int round = 1; round <= 3; ++round) {
    cluster.ps = nullptr;
    cluster.ps = cluster.start({"ps", 0});
    CHECK(becomes_true([&] { return restored == round; }));
    CHECK(number(s.run({}, {m.w})) == 5);
    s.run(m.increment);
    CHECK(number(s.run({}, {m.w})) == 6);
  }
  stop = true;
  for (auto& caller : callers)
    caller.join();
  CHECK(empty == 0);
  CHECK(restored == 3);
  CHECK(refused == 3);
}

TEST_CASE("a hosted session restores state that was lost while it moved between hosts") {
  watchdog watch;
  hosts cluster;
  kept_on_ps m;
  std::atomic<int> restored{0};
  auto s = session::connect(concat("master:", cluster.address(0), ",", cluster.address(1)),
                            {.recovery = {.max_retries = 50,
                                          .initial_delay = 10ms,
                                          .repeat_effects = true, // queue_size counts as an effect
                                          .restore_state =
                                              [&](session& restoring_session) {
                                                restoring_session.run(m.set_five);
                                                restoring_session.run(m.put);
                                                ++restored;
                                              }},
                             .timeout = 20s});
  s.run(m.set_five);
  s.run(m.put);
  auto size_step = s.prepare({}, {m.size});
  CHECK(number(size_step.run()) == 1);
  cluster.tasks[0] = nullptr;
  cluster.ps = nullptr;
  cluster.ps = cluster.start({"ps", 0});
  CHECK(number(size_step.run()) == 1);
  CHECK(restored == 1);
  CHECK(number(s.run({}, {m.w})) == 5);
}

TEST_CASE("a hosted session initializes tasks, again after an abandoned initialization") {
  watchdog watch;
  hosts cluster;
  kept_on_ps m;
  auto start_waiting = [&] {
    cluster.ps = nullptr;
    auto options = options_of_task(cluster.cluster, {"ps", 0});
    options.initialize_before_serving = 60s;
    cluster.ps = start_task(std::move(options));
  };
  start_waiting();
  auto s = session::connect(concat("master:", cluster.address(0), ",", cluster.address(1)));
  auto looking_session = session::connect(cluster.at(1));
  auto may_look = [&] { return status_thrown_by([&] { looking_session.run({}, {m.size}); }); };
  s.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(m.set_five);
    CHECK(initializing_session.is_initializing());
    CHECK_THAT(may_look().message(), Contains("has been doing so for"));
    CHECK_THROWS_AS(
        looking_session.initialize_tasks([&](session& other_session) { other_session.run(m.put); }),
        initialized_by_other_client);
    initializing_session.run(m.put);
  });
  CHECK(may_look().ok());
  CHECK(number(looking_session.run({}, {m.size})) == 1);

  start_waiting();
  auto thrown = status_thrown_by([&] {
    s.initialize_tasks([&](session& initializing_session) {
      // The run notices that the task was restarted.
      while (!status_thrown_by([&] { initializing_session.run(m.set_five); }).ok())
        continue;
      cluster.tasks[0] = nullptr;
      while (!status_thrown_by([&] { initializing_session.run(m.put); }).ok())
        continue;
    });
  });
  CHECK(thrown.kind() == error_kind::aborted);
  CHECK_THAT(thrown.message(), Contains("moved to another host while it initialized tasks"));
  CHECK(becomes_true([&] { return !may_look().ok(); }));
  s.initialize_tasks([&](session& initializing_session) {
    // Until the task has noticed the end of the first host's connection.
    while (!status_thrown_by([&] { initializing_session.run(m.set_five); }).ok())
      continue;
  });
  CHECK(becomes_true([&] { return may_look().ok(); }));
}

TEST_CASE("a task that drains finishes the begun requests of its sessions, and accepts no more") {
  watchdog watch;
  hosts cluster;
  waiting_graph w;
  w.g.push_device("/job:ps/task:0");
  auto on_ps = fifo_queue(w.g, {dtype::i32}, {.shapes = {{}}, .shared_name = "far"});
  auto* enqueue = queue_enqueue(on_ps, {w.x});
  auto dequeued = queue_dequeue(on_ps, {dtype::i32}, "far_take")[0];
  auto s = session::connect(concat("master:", cluster.address(0), ",", cluster.address(1)));
  auto host_session = session::connect(cluster.at(0), {.timeout = 2s});
  auto pending_take = s.prepare({}, {dequeued}).run_async();
  auto y = neg(w.x);
  CHECK(number(host_session.run({{w.x, tensor::scalar(1)}}, {y})) == -1);
  CHECK(!cluster.tasks[0]->drain(100ms).none()); // its client waits, though the step runs elsewhere
  auto thrown = status_thrown_by([&] {
    host_session.run({{w.x, tensor::scalar(1)}}, {y}, {}, {.timeout = 500ms});
  });
  CHECK(thrown.kind() == error_kind::unavailable);
  CHECK_THAT(thrown.message(), Contains("/job:worker/task:0") && Contains("drain"));
  // Over the other host: the first has not begun to use it.
  s.run({{w.x, tensor::scalar(5)}}, {}, {enqueue});
  CHECK(number(pending_take.get()) == 5);
  CHECK(cluster.tasks[0]->drain(5s).none());
}

TEST_CASE("a step that is prepared while the session moves is prepared at the next host") {
  watchdog watch;
  hosts cluster{{}, 3};
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  edge y, z;
  {
    auto placement = g.on("/job:ps/task:0");
    y = neg(x);
  }
  {
    auto placement = g.on("/job:worker/task:2");
    z = square(x);
  }
  auto s = session::connect(
      concat("master:", cluster.address(0), ",", cluster.address(1), ",", cluster.address(2)));
  auto far_step = s.prepare({x}, {y}), near_step = s.prepare({x}, {z});
  CHECK(number(far_step.run({tensor::scalar(3)})) == -3);
  cluster.tasks[0] = nullptr;
  // Until the session has moved to the second host.
  while (!status_thrown_by([&] { near_step.run({tensor::scalar(3)}); }).ok())
    continue;
  cluster.ps = nullptr;
  // Prepared after the parameter server has returned.
  auto pending_far = far_step.run_async({tensor::scalar(4)});
  std::this_thread::sleep_for(200ms);
  CHECK(!cluster.tasks[1]->drain(100ms).none());
  cluster.ps = cluster.start({"ps", 0});
  CHECK(number(pending_far.get()) == -4);
  CHECK(number(near_step.run({tensor::scalar(5)})) == 25);
}

TEST_CASE("state that is lost while a session moves between hosts is reported") {
  watchdog watch;
  hosts cluster;
  waiting_graph w;
  w.g.push_device("/job:ps/task:0");
  auto far_queue = fifo_queue(w.g, {dtype::i32}, {.shapes = {{}}, .shared_name = "far"});
  auto* enqueue = queue_enqueue(far_queue, {w.x});
  auto dequeued = queue_dequeue(far_queue, {dtype::i32}, "far_take")[0];
  auto s = session::connect(concat("master:", cluster.address(0), ",", cluster.address(1)));
  auto put_step = s.prepare({w.x}, {}, {enqueue}), take_step = s.prepare({}, {dequeued});
  put_step.run({tensor::scalar(1)});
  cluster.tasks[0] = nullptr;
  cluster.ps = nullptr;
  cluster.ps = cluster.start({"ps", 0});
  status lost;
  do
    lost = status_thrown_by([&] { take_step.run({}, {.timeout = 5s}); });
  while (lost.kind() == error_kind::unavailable); // it has not moved yet
  CHECK(lost.kind() == error_kind::aborted);
  CHECK_THAT(lost.message(), Contains("/job:ps/task:0 was restarted, and the state of this session "
                                      "there (variables, queues, tables) is lost"));
  put_step.run({tensor::scalar(2)}); // the loss is reported once
  CHECK(number(take_step.run()) == 2);
}

TEST_CASE("addresses of hosts are checked, and only sessions accept them") {
  watchdog watch;
  hosts cluster;
  CHECK_THAT(status_thrown_by([] { session::connect("master:nowhere"); }).message(),
             Contains("master: 'nowhere' is not an address"));
  CHECK_THAT(status_thrown_by([&] { server::start(cluster.at(0)); }).message(),
             Contains("names tasks that host sessions, not the tasks of a cluster"));
  graph_builder g;
  auto constant_one = g.constant(tensor::scalar(1));
  auto empty = concat("127.0.0.1:", free_ports(1)[0]);
  auto lonely_session = session::connect(concat("master:", empty), {.timeout = 500ms});
  auto thrown = status_thrown_by([&] { lonely_session.fetch(constant_one); });
  CHECK(thrown.kind() == error_kind::unavailable);
  CHECK_THAT(
      thrown.message(),
      Contains("no task accepted the session before the deadline; the addresses are " + empty));
  auto second = session::connect(concat("master:", empty, ",", cluster.address(1)));
  CHECK(to_scalar<int>(second.fetch(constant_one)) == 1);
}

} // namespace troupe::test::hosted_session_test
