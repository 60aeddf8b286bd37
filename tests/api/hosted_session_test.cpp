// Sessions whose master is in a task: "master:host:port".
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/processes.hpp"
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

// Two workers and one that keeps variables. The first worker hosts sessions, as all do.
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

// Steps that wait for what another brings.
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
  hosts here;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x"), y = g.placeholder(dtype::f32, {-1}, "y");
  variable_handle slope, offset;
  {
    auto on = g.on("/job:ps/task:0");
    slope = g.variable(0.0f, "slope");
    offset = g.variable(0.0f, "offset");
  }
  auto on = g.on("/job:worker/task:1");
  auto loss = mean(square(slope * x + offset - y));
  auto* train = gradient_descent{0.1f}.minimize(loss);
  auto s = session::connect(here.at(0));
  s.run(g.initializer());
  auto step = s.prepare({x, y}, {loss}, {train});
  auto feeds = std::vector{tensor::vector<float>({0, 1, 2}), tensor::vector<float>({1, 3, 5})};
  for (int i = 0; i < 200; ++i)
    step.run(feeds);
  CHECK(to_scalar<float>(s.fetch(slope)) == Approx(2).margin(0.01));
  CHECK(step.run_async(feeds).get().size() == 1);
  CHECK(step.run({{"y", feeds[1]}, {"x", feeds[0]}}).size() == 1);
  // The state is that of the tasks: a session that asks them itself finds the same.
  CHECK(to_scalar<float>(session::connect(here.cluster).fetch(slope)) == Approx(2).margin(0.01));
  auto state = s.state_of("/job:ps/task:0");
  CHECK(state.entries.size() == 2);
  CHECK_THAT(thrown_by([&] { s.state_of("/job:chef/task:0"); }).message(),
             Contains("there is no task /job:chef/task:0"));
  auto devices = s.devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].name == "/job:ps/task:0/device:cpu:0");
  s.reset();
  CHECK_THAT(thrown_by([&] { s.fetch(slope); }).message(), Contains("slope"));
}

TEST_CASE("a task that is down hides neither devices nor state of the others") {
  watchdog watch;
  hosts here;
  here.tasks[1] = nullptr;
  graph_builder g;
  auto on = g.on("/job:ps/task:0");
  g.variable(1.f, "v");
  for (const auto& cluster : {to_json(here.cluster), here.at(0)}) {
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
    CHECK(problems[0].why.kind() == error_kind::unavailable);
    CHECK_THAT(problems[0].why.message(),
               Contains("cannot connect to " + here.address(1) + ": Connection refused"));
    auto state = s.state_of({}, problems);
    REQUIRE(state.entries.size() == 1);
    CHECK(state.entries[0].name == "v");
    CHECK(problems.size() == 1);
    s.state_of("/job:ps/task:0", problems);
    CHECK(problems.empty());
    for (const auto& act :
         std::vector<std::function<void()>>{[&] { s.devices(); }, [&] { s.state_of(); }})
      CHECK_THAT(thrown_by(act).message(),
                 Contains("/job:worker/task:1 could not be asked: cannot connect to "));
    CHECK(std::chrono::steady_clock::now() - before < 8s); // each waited 10 s for it
  }
}

TEST_CASE("errors of a hosted step name the node, its line, and the task") {
  watchdog watch;
  hosts here;
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  edge quotient;
  {
    auto on = g.on("/job:worker/task:1");
    quotient = div(g.constant(tensor::scalar(1)), x, "quotient");
  }
  auto s = session::connect(here.at(0));
  auto said = thrown_by([&] { s.run({{x, tensor::scalar(0)}}, {quotient}); });
  CHECK(said.kind() == error_kind::invalid_argument);
  CHECK_THAT(said.message(), Contains("quotient") && Contains("hosted_session_test.cpp:") &&
                                 Contains("/job:worker/task:1"));
  auto wrong = thrown_by([&] { s.run({{x, tensor::scalar(1.5f)}}, {quotient}); });
  CHECK_THAT(wrong.message(), Contains("must be fed with i32"));
  CHECK(number(s.run({{x, tensor::scalar(1)}}, {quotient})) == 1);
  auto on = g.on("/job:chef/task:0");
  auto nowhere = neg(x);
  CHECK_THAT(thrown_by([&] {
               s.run({{x, tensor::scalar(1)}}, {nowhere});
             }).message(),
             Contains("/job:chef/task:0"));
}

TEST_CASE("feeds that a hosted step does not need are not sent, and are checked all the same") {
  watchdog watch;
  hosts here;
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x"), unused = g.placeholder(dtype::f32, {-1}, "u");
  auto s = session::connect(here.at(0));
  auto step = s.prepare({unused, x}, {neg(x)});
  CHECK(number(step.run(
            {tensor::vector<float>(std::vector<float>(1'000'000)), tensor::scalar(3)})) == -3);
  CHECK_THAT(thrown_by([&] {
               step.run({tensor::scalar(1), tensor::scalar(3)});
             }).message(),
             Contains("must be fed with f32"));
  // Large ones go beside the message, both ways.
  auto rows = g.placeholder(dtype::f32, {-1}, "rows");
  auto twice = s.run({{rows, tensor::vector(std::vector<float>(300'000, 1.5f))}}, {rows + rows});
  CHECK(twice[0].values<float>()[299'999] == 3.0f);
}

TEST_CASE("a hosted step that is not done in time fails, and leaves nothing behind") {
  watchdog watch;
  hosts here;
  waiting_graph w;
  auto s = session::connect(here.at(0));
  auto take = s.prepare({}, {w.taken});
  auto late = thrown_by([&] { take.run({}, {.timeout = 200ms}); });
  CHECK(late.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(late.message(), Contains("was not done in time"));
  auto answer = take.run_async();
  s.run({{w.x, tensor::scalar(7)}}, {}, {w.put});
  CHECK(number(answer.get()) == 7); // not taken by the step that has failed
  auto open = take.run_async();
  { auto closing = std::move(s); }
  CHECK(thrown_by([&] { open.get(); }).kind() == error_kind::cancelled);
}

TEST_CASE("what runs took, and what they were asked to look for, is told by the host") {
  watchdog watch;
  hosts here;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  edge root;
  {
    auto on = g.on("/job:worker/task:1");
    root = sqrt(x, "root");
  }
  auto s = session::connect(here.at(0), {.insight = {.sample_every = 1}});
  step_statistics found;
  auto begin = std::chrono::steady_clock::now().time_since_epoch();
  s.run({{x, tensor::scalar(4.0f)}}, {root}, {}, {.statistics = &found});
  auto end = std::chrono::steady_clock::now().time_since_epoch();
  REQUIRE(found.tasks.size() == 1);
  CHECK(found.tasks[0].task == "/job:worker/task:1");
  CHECK(found.step > 0);
  CHECK(!found.tasks[0].spans.empty());
  CHECK(found.tasks[0].begin_ns >= std::chrono::nanoseconds{begin}.count());
  CHECK(found.tasks[0].end_ns <= std::chrono::nanoseconds{end}.count());
  auto times = s.node_times();
  auto known = std::ranges::find(times, "root", &node_time::node);
  REQUIRE(known != times.end());
  CHECK(known->device == "/job:worker/task:1/device:cpu:0");
  auto bad = thrown_by([&] {
    s.run({{x, tensor::scalar(-1.0f)}}, {root}, {}, {.check_numerics = true});
  });
  CHECK_THAT(bad.message(), Contains("root"));
  auto report = s.explain_placement({x}, {root});
  CHECK(std::ranges::any_of(report.nodes, [](const placed_node& one) {
    return one.node == "root" && one.device == "/job:worker/task:1/device:cpu:0";
  }));
  std::mutex mutex;
  std::vector<std::string> warnings;
  auto soft = session::connect(
      here.at(0), {.placement = {.soft = true}, .on_warning = [&](const std::string& text) {
                     std::lock_guard guard{mutex};
                     warnings.push_back(text);
                   }});
  auto on = g.on("/job:worker/task:7");
  CHECK(to_scalar<float>(soft.fetch(neg(g.constant(tensor::scalar(1.0f))))) == -1);
  std::lock_guard guard{mutex};
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("/job:worker/task:7"));
}

TEST_CASE("what a client has measured tells the host what nodes cost on that kind of device") {
  watchdog watch;
  hosts here;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto root = sqrt(x, "root");
  auto total_of = [&](const std::string& device) {
    auto s = session::connect(
        here.at(0),
        {.insight = {.node_times = {{.node = "root", .device = device, .runs = 1, .mean_ns = 5e6}}},
         .placement = {.strategy = placement_strategy::greedy}});
    return s.explain_placement({x}, {root}).total_ns;
  };
  CHECK(total_of("/job:worker/task:1/device:cpu:0") >= 5e6);
  CHECK(total_of("/job:worker/task:1/device:gpu:0") < 5e6); // there are processors alone
}

TEST_CASE("streams of random numbers of a hosted session can be told, and go on from there") {
  watchdog watch;
  hosts here;
  graph_builder g;
  g.set_random_seed(3);
  auto drawn = random_uniform(g, tensor::vector<int>({4}), dtype::f32, "noise");
  auto s = session::connect(here.at(0));
  s.fetch(drawn);
  auto positions = s.positions();
  REQUIRE(positions.size() == 1);
  CHECK(positions[0].task.starts_with("/job:worker/task:0"));
  REQUIRE(positions[0].at.contains("noise"));
  CHECK(s.positions({"/job:worker/task:0"}).size() == 1);
  CHECK(s.positions({"/job:worker/task:1"}).empty());
  auto second = s.fetch(drawn).values<float>()[0];
  s.go_on_from(positions[0].at);
  CHECK(s.fetch(drawn).values<float>()[0] == second);
  CHECK_THROWS_AS(s.go_on_from({{"noise", "nonsense"}}), error);
}

TEST_CASE("where the task that hosts a session is killed, its steps fail, and others host it") {
  watchdog watch;
  hosts here{{}, 3};
  here.tasks[1] = nullptr;
  here.tasks[2] = nullptr; // it begins at the first, however long that takes
  std::optional<task_process> first{std::in_place, here.cluster, task_name{"worker", 1}};
  waiting_graph w;
  w.g.push_device("/job:ps/task:0");
  auto count = w.g.variable(0, "count");
  auto* up = assign_add(count, w.g.constant(tensor::scalar(1))).node;
  auto s = session::connect(concat("master:", here.address(1), ",", here.address(2)));
  s.run(w.g.initializer());
  auto more = s.prepare({}, {}, {up});
  more.run();
  here.tasks[2] = here.start({"worker", 2});
  auto waits = s.prepare({}, {w.taken}).run_async();
  s.state_of("/job:ps/task:0"); // asked after it: the host has both
  first->kill();
  auto said = thrown_by([&] { waits.get(); });
  CHECK(said.kind() == error_kind::unavailable);
  CHECK_THAT(said.message(), Contains("/job:worker/task:1 at " + here.address(1) +
                                      ", which hosts the session, is gone"));
  more.run(); // prepared again, by the other
  CHECK(number(s.run({}, {count})) == 2);
}

TEST_CASE("a recovery policy runs again what the loss of the host has failed") {
  watchdog watch;
  hosts here{{}, 3};
  here.tasks[1] = nullptr;
  std::optional<task_process> first{std::in_place, here.cluster, task_name{"worker", 1}};
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto y = neg(x);
  std::atomic<int> retried{0};
  auto s = session::connect(
      concat("master:", here.address(1), ",", here.address(2)),
      {.recovery = {.retries = 5, .on_event = [&](const recovery_event&) { ++retried; }}});
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
  for (auto& one : callers)
    one.join();
  CHECK(wrong == 0);
}

// A variable and a queue on the parameter server, which is started anew.
struct kept_on_ps {
  graph_builder g;
  graph_scope on = g.on("/job:ps/task:0");
  edge w = g.variable(dtype::i32, {}, "w");
  node *five = assign(w, 5).node, *up = assign_add(w, 1).node;
  edge queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "kept"});
  node* put = queue_enqueue(queue, {g.constant(1)});
  edge size = queue_size(queue);
};

TEST_CASE("a hosted session restores what a task has lost before any of its steps uses it") {
  watchdog watch;
  hosts here;
  kept_on_ps m;
  std::atomic<int> restored{0}, refused{0}, empty{0};
  std::optional<step> looks;
  // Without waiting, as runs do that a thread waits for.
  auto looks_early = [&] { return thrown_by([&] { looks->run_async({}).get(); }); };
  auto s = session::connect(
      here.at(0), {.recovery = {.retries = 50,
                                .wait = 10ms,
                                .repeat_effects = true, // as those of queue_size count
                                .restore =
                                    [&](session& in) {
                                      in.run(m.five);
                                      auto early = std::async(std::launch::async, looks_early);
                                      refused += early.get().kind() == error_kind::aborted;
                                      in.run(m.put);
                                      ++restored;
                                    }},
                   .timeout = 20s});
  s.run(m.five);
  s.run(m.put);
  looks = s.prepare({}, {m.size});
  CHECK(number(looks->run()) == 1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      while (!stop)
        empty += number(looks->run()) != 1;
    });
  for (int round = 1; round <= 3; ++round) {
    here.ps = nullptr;
    here.ps = here.start({"ps", 0});
    CHECK(soon([&] { return restored == round; }));
    CHECK(number(s.run({}, {m.w})) == 5);
    s.run(m.up);
    CHECK(number(s.run({}, {m.w})) == 6);
  }
  stop = true;
  for (auto& one : callers)
    one.join();
  CHECK(empty == 0);
  CHECK(restored == 3);
  CHECK(refused == 3);
}

TEST_CASE("a hosted session restores what was lost while it moved from host to host") {
  watchdog watch;
  hosts here;
  kept_on_ps m;
  std::atomic<int> restored{0};
  auto s = session::connect(concat("master:", here.address(0), ",", here.address(1)),
                            {.recovery = {.retries = 50,
                                          .wait = 10ms,
                                          .repeat_effects = true, // as those of queue_size count
                                          .restore =
                                              [&](session& in) {
                                                in.run(m.five);
                                                in.run(m.put);
                                                ++restored;
                                              }},
                             .timeout = 20s});
  s.run(m.five);
  s.run(m.put);
  auto looks = s.prepare({}, {m.size});
  CHECK(number(looks.run()) == 1);
  here.tasks[0] = nullptr;
  here.ps = nullptr;
  here.ps = here.start({"ps", 0});
  CHECK(number(looks.run()) == 1);
  CHECK(restored == 1);
  CHECK(number(s.run({}, {m.w})) == 5);
}

TEST_CASE("a hosted session fills tasks, and those that its host has left are to be filled anew") {
  watchdog watch;
  hosts here;
  kept_on_ps m;
  auto start_waiting = [&] {
    here.ps = nullptr;
    auto options = options_of_task(here.cluster, {"ps", 0});
    options.fill_before_serving = 60s;
    here.ps = start_task(std::move(options));
  };
  start_waiting();
  auto s = session::connect(concat("master:", here.address(0), ",", here.address(1)));
  auto looks = session::connect(here.at(1));
  auto may_look = [&] { return thrown_by([&] { looks.run({}, {m.size}); }); };
  s.fill([&](session& in) {
    in.run(m.five);
    CHECK(in.is_filling());
    CHECK_THAT(may_look().message(), Contains("has been doing so for"));
    CHECK_THROWS_AS(looks.fill([&](session& other) { other.run(m.put); }), filled_elsewhere);
    in.run(m.put);
  });
  CHECK(may_look().ok());
  CHECK(number(looks.run({}, {m.size})) == 1);

  start_waiting();
  auto why = thrown_by([&] {
    s.fill([&](session& in) {
      while (!thrown_by([&] { in.run(m.five); }).ok())
        continue; // it finds that the task was restarted
      here.tasks[0] = nullptr;
      while (!thrown_by([&] { in.run(m.put); }).ok())
        continue;
    });
  });
  CHECK(why.kind() == error_kind::aborted);
  CHECK_THAT(why.message(), Contains("went to another host while it filled tasks"));
  CHECK(soon([&] { return !may_look().ok(); }));
  s.fill([&](session& in) {
    while (!thrown_by([&] { in.run(m.five); }).ok())
      continue; // until the task knows that the first host's connection has ended
  });
  CHECK(soon([&] { return may_look().ok(); }));
}

TEST_CASE("a task that drains answers what it has begun for its sessions, and takes no more") {
  watchdog watch;
  hosts here;
  waiting_graph w;
  w.g.push_device("/job:ps/task:0");
  auto on_ps = fifo_queue(w.g, {dtype::i32}, {.shapes = {{}}, .shared_name = "far"});
  auto* put = queue_enqueue(on_ps, {w.x});
  auto taken = queue_dequeue(on_ps, {dtype::i32}, "far_take")[0];
  auto s = session::connect(concat("master:", here.address(0), ",", here.address(1)));
  auto one = session::connect(here.at(0), {.timeout = 2s});
  auto waits = s.prepare({}, {taken}).run_async();
  auto y = neg(w.x);
  CHECK(number(one.run({{w.x, tensor::scalar(1)}}, {y})) == -1);
  CHECK(!here.tasks[0]->drain(100ms).none()); // its client waits, though the step is elsewhere
  auto said = thrown_by([&] { one.run({{w.x, tensor::scalar(1)}}, {y}, {}, {.timeout = 500ms}); });
  CHECK(said.kind() == error_kind::unavailable);
  CHECK_THAT(said.message(), Contains("/job:worker/task:0") && Contains("drain"));
  s.run({{w.x, tensor::scalar(5)}}, {}, {put}); // by the other: the first has not begun with it
  CHECK(number(waits.get()) == 5);
  CHECK(here.tasks[0]->drain(5s).none());
}

TEST_CASE("a step that is prepared where the session leaves meanwhile is prepared at the next") {
  watchdog watch;
  hosts here{{}, 3};
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  edge y, z;
  {
    auto on = g.on("/job:ps/task:0");
    y = neg(x);
  }
  {
    auto on = g.on("/job:worker/task:2");
    z = square(x);
  }
  auto s = session::connect(
      concat("master:", here.address(0), ",", here.address(1), ",", here.address(2)));
  auto far = s.prepare({x}, {y}), near = s.prepare({x}, {z});
  CHECK(number(far.run({tensor::scalar(3)})) == -3);
  here.tasks[0] = nullptr;
  while (!thrown_by([&] { near.run({tensor::scalar(3)}); }).ok())
    continue; // until it is at the second
  here.ps = nullptr;
  auto waits = far.run_async({tensor::scalar(4)}); // prepared when the parameter server is back
  std::this_thread::sleep_for(200ms);
  CHECK(!here.tasks[1]->drain(100ms).none());
  here.ps = here.start({"ps", 0});
  CHECK(number(waits.get()) == -4);
  CHECK(number(near.run({tensor::scalar(5)})) == 25);
}

TEST_CASE("what is lost while a session moves from host to host is told") {
  watchdog watch;
  hosts here;
  waiting_graph w;
  w.g.push_device("/job:ps/task:0");
  auto far = fifo_queue(w.g, {dtype::i32}, {.shapes = {{}}, .shared_name = "far"});
  auto* put = queue_enqueue(far, {w.x});
  auto taken = queue_dequeue(far, {dtype::i32}, "far_take")[0];
  auto s = session::connect(concat("master:", here.address(0), ",", here.address(1)));
  auto puts = s.prepare({w.x}, {}, {put}), takes = s.prepare({}, {taken});
  puts.run({tensor::scalar(1)});
  here.tasks[0] = nullptr;
  here.ps = nullptr;
  here.ps = here.start({"ps", 0});
  status lost;
  do
    lost = thrown_by([&] { takes.run({}, {.timeout = 5s}); });
  while (lost.kind() == error_kind::unavailable); // it has not moved yet
  CHECK(lost.kind() == error_kind::aborted);
  CHECK_THAT(lost.message(), Contains("/job:ps/task:0 was restarted, and what this session had "
                                      "there (variables, queues, tables) is gone"));
  puts.run({tensor::scalar(2)}); // it is said once
  CHECK(number(takes.run()) == 2);
}

TEST_CASE("addresses of hosts are checked, and only sessions understand them") {
  watchdog watch;
  hosts here;
  CHECK_THAT(thrown_by([] { session::connect("master:nowhere"); }).message(),
             Contains("master: 'nowhere' is no address"));
  CHECK_THAT(thrown_by([&] { server::start(here.at(0)); }).message(),
             Contains("says who hosts a session, and not where the tasks are"));
  graph_builder g;
  auto one = g.constant(tensor::scalar(1));
  auto empty = concat("127.0.0.1:", free_ports(1)[0]);
  auto none = session::connect(concat("master:", empty), {.timeout = 500ms});
  auto said = thrown_by([&] { none.fetch(one); });
  CHECK(said.kind() == error_kind::unavailable);
  CHECK_THAT(said.message(),
             Contains("no task that hosts the session was there in time at " + empty));
  auto second = session::connect(concat("master:", empty, ",", here.address(1)));
  CHECK(to_scalar<int>(second.fetch(one)) == 1);
}

} // namespace troupe::test::hosted_session_test
