// Replicas that each have a copy of the variables, and all-reduce their gradients.
#include "tests/api/train/loop/regression.hpp"
#include "tests/api/train/loop/replica_run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/membership/find_cluster.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <set>

namespace troupe::test::all_reduce_replicas_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = replica_event_kind;

replicas_options options_of(int workers) {
  replicas_options options;
  options.mode = replica_mode::all_reduce;
  options.workers = workers;
  options.make_optimizer = [](edge) { return std::make_unique<momentum>(0.05); };
  options.batch = regression::batch;
  options.retry_delay_seconds = 0.02;
  options.lost_timeout_seconds = 0.5 * timeout_scale;
  options.step_timeout_seconds = 5 * timeout_scale; // where two are lost at the same moment
  return options;
}

// Workers in this process.
struct workers {
  explicit workers(int count) : spec(make_cluster(count)) {
    for (int i = 0; i < count; ++i)
      tasks.push_back(start_task(spec, {"worker", i}));
  }
  cluster_spec spec;
  std::vector<std::unique_ptr<task>> tasks;
  session s = session::connect(spec);
};

// Three workers, each a process.
struct processes {
  watchdog watch{120s};
  cluster_spec spec = make_cluster(3);
  std::vector<std::optional<task_process>> workers;
  session s = session::connect(spec, {.cluster = {.peer_timeout = 1s}});

  processes() {
    workers.resize(3);
    for (int i = 0; i < 3; ++i)
      start(i);
  }
  void start(int i) {
    workers[static_cast<size_t>(i)].emplace(spec, task_name{"worker", i},
                                            std::chrono::milliseconds{1000});
  }
};

// One device that trains on the batches of all replicas together in each step.
struct single_device {
  graph_builder g;
  replica_step built = regression::build(g, 0);
  node* train = momentum{0.05}.minimize(built.loss);
  session s = session::local();

  single_device() { s.run(g.initializer()); }
  float step(const std::vector<int64_t>& batches) {
    std::vector<std::vector<tensor>> parts;
    for (auto batch_index : batches)
      parts.push_back(*regression::batch(batch_index));
    auto joined_batch = regression::joined(parts);
    return to_scalar<float>(
        s.run({{built.feeds[0], joined_batch[0]}, {built.feeds[1], joined_batch[1]}}, {built.loss},
              {train})
            .front());
  }
  void check_like(session& other_session, const replica_step& expected_step) {
    for (size_t i = 0; i < built.extra_fetches.size(); ++i) {
      auto own_value = s.fetch(built.extra_fetches[i]),
           other_value = other_session.fetch(expected_step.extra_fetches[i]);
      for (int64_t k = 0; k < own_value.elements(); ++k)
        CHECK(other_value.data<float>()[k] ==
              Approx(own_value.data<float>()[k]).epsilon(1e-4).margin(1e-5));
    }
  }
};

// Checks that all copies are equal bit by bit. Names are replica_N/w, replica_N/w/momentum.
void check_equal(session& s, replicas& training, int count) {
  auto& g = training.graph_of(0);
  std::map<std::string, std::vector<tensor>> result;
  for (const auto& variable : g.variables()) {
    auto name = variable.name();
    name.erase(0, name.find('/') + 1);
    result[name].push_back(s.fetch(variable));
  }
  CHECK(result.size() >= 5); // w, b, their momentum, and the counter
  for (const auto& [name, values] : result) {
    INFO(name);
    CHECK(std::ssize(values) == count);
    for (const auto& replica_value : values)
      CHECK(identical(replica_value, values.front()));
  }
}

} // namespace

TEST_CASE("all-reduce replicas take exactly the steps of one device") {
  watchdog watch;
  constexpr int count = 3, steps = 20;
  workers worker_tasks{count};
  auto options = options_of(count);
  options.last_step = steps;
  std::map<size_t, std::vector<double>> losses_of;
  options.on_step = [&](const training_progress& now) {
    losses_of[now.replica].push_back(now.loss);
  };
  replicas training{regression::build, options};
  auto report = training.run(worker_tasks.s);
  CHECK(report.step == steps);
  CHECK(report.end_reason == training_end::last_step);
  REQUIRE(report.replicas.size() == count);
  for (const auto& replica_report : report.replicas)
    CHECK((replica_report.steps == steps && replica_report.failures == 0));
  single_device reference;
  REQUIRE(losses_of.size() == count);
  CHECK(losses_of[1] == losses_of[0]); // the loss is the mean over all replicas
  const auto& losses = losses_of[2];
  REQUIRE(losses.size() == steps);
  for (int i = 0; i < steps; ++i)
    CHECK(losses[static_cast<size_t>(i)] ==
          Approx(reference.step({3 * i, 3 * i + 1, 3 * i + 2})).epsilon(1e-4));
  reference.check_like(worker_tasks.s, training.chief());
  CHECK(to_scalar<int64_t>(worker_tasks.s.fetch(training.global_step())) == steps);
  check_equal(worker_tasks.s, training, count);
}

TEST_CASE("all replicas may be in one task, and rates follow the steps of each replica") {
  watchdog watch;
  auto s = session::local();
  auto options = options_of(1);
  options.ps_tasks = 0;
  options.last_step = 10;
  options.make_optimizer = [](edge step) {
    // Rate 0 after six steps.
    return std::make_unique<gradient_descent>(piecewise_constant(step, {5}, {0.1, 0.0}));
  };
  replicas training{regression::build, options};
  training.run(s);
  auto at_10 = s.fetch(training.chief().extra_fetches[0]);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 10);
  options.last_step = 6;
  replicas rebuilt{regression::build, options};
  rebuilt.run(s);
  CHECK(identical(s.fetch(rebuilt.chief().extra_fetches[0]), at_10));
  CHECK(at_10.data<float>()[0] > 0.1f); // it has learned
}

TEST_CASE("a checkpoint of all-reduce replicas is resumed by any number of replicas, or by none") {
  watchdog watch;
  temporary_folder folder;
  auto options = options_of(2);
  options.checkpoints = folder / "m";
  options.checkpoint_steps = 3;
  options.last_step = 10;
  single_device reference;
  std::atomic<int> saved{0};
  options.on_event = [&](const replica_event& event) { saved += event.kind == kind::saved; };
  {
    workers two{2};
    replicas training{regression::build, options};
    auto report = training.run(two.s);
    CHECK(report.step == 10);
    CHECK(report.restored_from == -1);
    CHECK(report.checkpoint == folder / "m/step-10");
    CHECK(saved >= 2);
  }
  for (int i = 0; i < 10; ++i)
    reference.step({2 * i, 2 * i + 1});
  options.last_step = 15;
  options.workers = 3;
  {
    workers three{3};
    replicas training{regression::build, options};
    auto report = training.run(three.s);
    CHECK(report.step == 15);
    CHECK(report.restored_from == 10);
    // Each batch is used exactly once.
    for (int i = 0; i < 5; ++i)
      reference.step({20 + 3 * i, 20 + 3 * i + 1, 20 + 3 * i + 2});
    reference.check_like(three.s, training.chief());
    check_equal(three.s, training, 3);
  }
  graph_builder g;
  auto plain = regression::build(g, 0);
  auto s = session::local();
  saver single_saver{g, folder / "m"};
  auto result = single_saver.restore(s);
  REQUIRE(result);
  CHECK(result->step == 15);
  reference.check_like(s, plain);
}

TEST_CASE("batches of replicas are made concurrently, and at most a step ahead") {
  watchdog watch;
  workers worker_tasks{3};
  auto options = options_of(3);
  options.last_step = 4;
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  int64_t ended_replicas = 0;
  bool is_together = false, too_early = false;
  options.batch = [&](int64_t n) {
    std::unique_lock lock{mutex};
    is_together |= ++inside == 3;
    too_early |= n >= 3 * (ended_replicas + 2);
    changed.notify_all();
    if (n < 3)
      changed.wait_for(lock, 10s, [&] { return is_together; });
    --inside;
    return regression::batch(n);
  };
  options.on_step = [&](const training_progress& now) {
    std::unique_lock lock{mutex};
    ended_replicas = now.step;
  };
  CHECK(replicas{regression::build, options}.run(worker_tasks.s).step == 4);
  CHECK(is_together);
  CHECK(!too_early);
}

TEST_CASE(
    "a run of all-reduce replicas ends with its data, on request, by its condition, or at a NaN") {
  watchdog watch;
  workers worker_tasks{2};
  auto options = options_of(2);
  options.batch = [](int64_t n) { return n < 7 ? regression::batch(n) : std::nullopt; };
  CHECK(replicas{regression::build, options}.run(worker_tasks.s).end_reason ==
        training_end::data_ended);
  {
    replicas training{regression::build, options};
    auto report = training.run(worker_tasks.s);
    CHECK(report.step == 3); // of two batches each: the seventh batch belongs to no step
  }
  options.batch = regression::batch;
  options.stop_when = [](const training_progress& now) { return now.step == 4; };
  auto report = replicas{regression::build, options}.run(worker_tasks.s);
  CHECK(report.end_reason == training_end::condition);
  CHECK(report.step == 4);
  options.stop_when = {};
  options.time_limit = 0.2;
  CHECK(replicas{regression::build, options}.run(worker_tasks.s).end_reason ==
        training_end::time_limit);
  options.time_limit = 0;
  {
    replicas stopped_training{regression::build, options};
    stopped_training.request_stop();
    CHECK(stopped_training.run(worker_tasks.s).end_reason == training_end::stop_requested);
  }
  options.batch = [](int64_t n) {
    auto batch = regression::batch(n);
    if (n == 5)
      (*batch)[0].data<float>()[0] = NAN;
    return batch;
  };
  temporary_folder folder;
  options.checkpoints = folder / "m";
  report = replicas{regression::build, options}.run(worker_tasks.s);
  CHECK(report.end_reason == training_end::not_a_number);
  CHECK(report.step == 3);
  CHECK(report.checkpoint.empty());
  options.batch = [](int64_t) -> std::optional<std::vector<tensor>> {
    throw std::runtime_error{"no disk"};
  };
  CHECK_THROWS_WITH(replicas(regression::build, options).run(worker_tasks.s), "no disk");
}

TEST_CASE("a killed worker costs one step, and gets its copy again when it returns") {
  processes worker_processes;
  auto options = options_of(3);
  replica_run now{options};
  auto& training = now.start(options, worker_processes.s);
  REQUIRE(now.await_step(20));
  worker_processes.workers[1]->kill();
  REQUIRE(now.await(kind::lost, 1));
  CHECK(now.tells("/job:worker/task:1"));
  REQUIRE(now.await_step(now.step() + 100)); // the other replicas continue
  worker_processes.start(1);
  REQUIRE(now.await(kind::back, 1));
  REQUIRE(now.await_step(now.step() + 100));
  worker_processes.workers[0]->kill(); // the first worker, whose copy was the source of the others
  REQUIRE(now.await(kind::lost, 0));
  REQUIRE(now.await_step(now.step() + 100));
  worker_processes.start(0);
  REQUIRE(now.await(kind::back, 0));
  REQUIRE(now.await_step(now.step() + 100));
  training.request_stop();
  auto report = now.end();
  CHECK(report.end_reason == training_end::stop_requested);
  CHECK(now.count(kind::initialized) == 1);
  CHECK(to_scalar<int64_t>(worker_processes.s.fetch(training.global_step())) == report.step);
  check_equal(worker_processes.s, training, 3);
  CHECK(regression::is_found(worker_processes.s, training.chief()));
}

TEST_CASE("replicas continue without a frozen worker, and with it when it resumes") {
  processes worker_processes;
  auto options = options_of(3);
  replica_run now{options};
  auto& training = now.start(options, worker_processes.s);
  REQUIRE(now.await_step(20));
  worker_processes.workers[2]->freeze();
  REQUIRE(now.await(kind::lost, 2));
  REQUIRE(now.await_step(now.step() + 100));
  ::kill(worker_processes.workers[2]->pid(), SIGCONT);
  REQUIRE(now.await(kind::back, 2));
  REQUIRE(now.await_step(now.step() + 100));
  training.request_stop();
  auto report = now.end();
  CHECK(to_scalar<int64_t>(worker_processes.s.fetch(training.global_step())) == report.step);
  check_equal(worker_processes.s, training, 3);
}

TEST_CASE("where all workers are lost, replicas restart from the newest checkpoint, or anew") {
  auto saves = GENERATE(true, false);
  processes worker_processes;
  temporary_folder folder;
  auto options = options_of(3);
  if (saves) {
    options.checkpoints = folder / "m";
    options.checkpoint_steps = 10;
  }
  replica_run now{options};
  auto& training = now.start(options, worker_processes.s);
  REQUIRE(now.await_step(50));
  for (auto& worker : worker_processes.workers)
    worker->kill();
  REQUIRE(now.await_any({kind::retrying}, 3));
  for (int i = 0; i < 3; ++i)
    worker_processes.start(i);
  REQUIRE(now.await(saves ? kind::restored : kind::initialized, -1, saves ? 1 : 2));
  auto report = [&] {
    REQUIRE(now.await_any({kind::recovered}, 1));
    REQUIRE(now.await_step(now.step() + 100));
    training.request_stop();
    return now.end();
  }();
  CHECK(report.step >= 100);
  CHECK(to_scalar<int64_t>(worker_processes.s.fetch(training.global_step())) == report.step);
  CHECK(regression::is_found(worker_processes.s, training.chief()));
}

TEST_CASE("where variables are gone and their task is not, replicas restart as well") {
  watchdog watch;
  auto is_alone = GENERATE(true, false);
  temporary_folder folder;
  std::optional<workers> two;
  if (!is_alone)
    two.emplace(2);
  auto local = session::local();
  auto& s = is_alone ? local : two->s;
  auto options = options_of(is_alone ? 1 : 2);
  options.ps_tasks = is_alone ? 0 : 1;
  options.checkpoints = folder / "m";
  options.checkpoint_steps = 5;
  options.last_step = 40;
  int restored = 0;
  options.on_event = [&](const replica_event& event) { restored += event.kind == kind::restored; };
  bool reset = false;
  options.on_step = [&](const training_progress& now) {
    if (now.step == 20 && !std::exchange(reset, true))
      s.reset();
  };
  replicas training{regression::build, options};
  auto report = training.run(s);
  CHECK(report.step == 40);
  CHECK(restored == 1);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 40);
}

TEST_CASE("tasks write the checkpoint of one replica, of one step") {
  watchdog watch;
  temporary_folder folder;
  workers worker_tasks{2};
  auto options = options_of(2);
  options.checkpoints = folder / "m";
  options.checkpoint_steps = 1;
  options.checkpoint_options.sharded_by_task = true;
  options.checkpoint_options.keep_newest = 0;
  options.last_step = 12;
  replicas training{regression::build, options};
  CHECK(training.run(worker_tasks.s).step == 12);
  single_device reference;
  std::vector<tensor> after; // after each step
  for (int i = 0; i < 12; ++i) {
    reference.step({2 * i, 2 * i + 1});
    after.push_back(reference.s.fetch(reference.built.extra_fetches[0]));
  }
  graph_builder g;
  auto plain = regression::build(g, 0);
  saver single_saver{g, {plain.extra_fetches[0]}, folder / "other"};
  auto s = session::local();
  for (int64_t i : {1, 6, 11}) {
    single_saver.restore_from(s, folder / concat("m/step-", i), {.partial = true});
    auto w = s.fetch(plain.extra_fetches[0]);
    for (int k = 0; k < 2; ++k)
      CHECK(w.data<float>()[k] ==
            Approx(after[static_cast<size_t>(i - 1)].data<float>()[k]).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("all-reduce replicas need their minimum of workers, and wait for missing ones") {
  watchdog watch{60s};
  auto spec = make_cluster(2);
  auto s = session::connect(spec, {.cluster = {.peer_timeout = 1s}});
  auto first = start_task(spec, {"worker", 0});
  auto options = options_of(2);
  options.min_workers = 2;
  options.give_up_timeout_seconds = 3 * timeout_scale;
  CHECK_THROWS_WITH(replicas(regression::build, options).run(s),
                    Contains("no step has succeeded for ") && Contains("1 of 2 tasks are alive") &&
                        Contains("/job:worker/task:1"));
  options.give_up_timeout_seconds = 30 * timeout_scale;
  replica_run now{options};
  now.start(options, s);
  REQUIRE(now.await_any({kind::retrying}, 1));
  auto second = start_task(spec, {"worker", 1});
  REQUIRE(now.await_step(20));
}

TEST_CASE(
    "elastic all-reduce replicas start with workers that join, and end with those that leave") {
  watchdog watch{120s};
  auto seed = concat("127.0.0.1:", free_ports(1)[0]);
  auto start = [&](const task_name& self, const std::string& listen) {
    auto options = options_of_task(*find_cluster("join:" + seed), self);
    options.listen = listen;
    options.peer_timeout = 2s;
    options.member_times = {
        .settle = 100ms, .unreachable_after = 100ms, .gone_after = 2s, .isolated_after = 60s};
    return start_task(std::move(options));
  };
  auto first = start({"worker", 0}, seed);
  auto s = session::connect("join:" + seed, {.cluster = {.peer_timeout = 2s}});
  auto options = options_of(1);
  options.elastic = true;
  replica_run now{options};
  auto& training = now.start(options, s);
  REQUIRE(now.await_step(20));
  auto second = start({"worker", -1}, "127.0.0.1:0"), third = start({"worker", -1}, "127.0.0.1:0");
  REQUIRE(now.await(kind::joined, 1));
  REQUIRE(now.await(kind::joined, 2));
  REQUIRE(now.await_step(now.step() + 50));
  CHECK(training.graph_of(2).variables().size() >= 15);
  second = nullptr;
  REQUIRE(now.await_any({kind::left, kind::lost}, 1));
  REQUIRE(now.await(kind::left, 1));
  REQUIRE(now.await_step(now.step() + 50));
  second = start({"worker", -1}, "127.0.0.1:0"); // the graph already has this worker
  REQUIRE(second->self() == task_name{"worker", 1});
  REQUIRE(now.await_any({kind::joined}, 3));
  REQUIRE(now.await_steps_of(1, 20));
  training.request_stop();
  auto report = now.end();
  REQUIRE(report.replicas.size() == 3);
  CHECK(report.replicas[0].steps > report.replicas[2].steps);
  CHECK(report.replicas[1].steps >= 20);
  CHECK(report.replicas[2].steps >= 50);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == report.step);
  CHECK(now.count(kind::initialized) == 1);
}

TEST_CASE("options that all-reduce replicas do not have are refused") {
  auto refused = [](auto change) {
    auto options = options_of(2);
    change(options);
    try {
      replicas{regression::build, options};
    } catch (const error& thrown) {
      return std::string{thrown.what()};
    }
    return std::string{"taken"};
  };
  CHECK(refused([](auto&) {}) == "taken");
  CHECK_THAT(refused([](auto& options) { options.backups = 1; }),
             Contains("backups must be 0 unless the mode is sync"));
  CHECK_THAT(refused([](auto& options) { options.top_k_fraction = 0.5; }),
             Contains("whole gradients"));
  CHECK_THAT(refused([](auto& options) { options.ps_tasks = 0; }),
             Contains("because all nodes are in one task, got 2"));
  CHECK_THAT(refused([](auto& options) { options.min_workers = 3; }),
             Contains("min_workers must be at least 1 and at most workers, 2, got 3"));
  CHECK_THAT(refused([](auto& options) { options.worker_devices = {}; }),
             Contains("worker_devices must name at least one device"));
  CHECK_THAT(refused([](auto& options) {
               options.worker_devices = {"cpu:0", "cpu:0"};
             }),
             Contains("has cpu:0 twice"));
  CHECK_THAT(refused([](auto& options) { options.worker_devices = {"/job:ps/task:0/cpu:0"}; }),
             Contains("got '/job:ps/task:0/cpu:0'"));
  CHECK_THAT(refused([](auto& options) { options.worker_devices = {"task:1/cpu:0"}; }),
             Contains("got 'task:1/cpu:0'"));
  CHECK_THAT(refused([](auto& options) {
               options.worker_devices = {"cpu:0", "device:cpu:0"};
             }),
             Contains("twice"));
  CHECK_THAT(refused([](auto& options) { options.checkpoint_options.save_all_state = true; }),
             Contains("checkpoint_options.save_all_state"));
  auto options = options_of(2);
  CHECK_THROWS_WITH(
      replicas([](graph_builder& g, int number) { return regression::build(g, number); },
               [&] {
                 auto no_options = options;
                 no_options.batch = {};
                 return no_options;
               }()),
      Contains("the model returns feeds, and replicas_options::batch is empty"));
  CHECK_THROWS_WITH(replicas(
                        [](graph_builder& g, int number) {
                          auto built_step = regression::build(g, number);
                          if (number == 1)
                            built_step.feeds.pop_back();
                          return built_step;
                        },
                        options),
                    Contains("other feeds for replica 1"));
}

} // namespace troupe::test::all_reduce_replicas_test
