// Replicas that each have a copy of the variables, and add up their gradients among themselves.
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
using kind = replica_event::kind;

replicas_options options_of(int workers) {
  replicas_options how;
  how.mode = replica_mode::all_reduce;
  how.workers = workers;
  how.make_optimizer = [](edge) { return std::make_unique<momentum>(0.05); };
  how.batch = regression::batch;
  how.retry_seconds = 0.02;
  how.lost_seconds = 0.5 * slowness;
  how.step_seconds = 5 * slowness; // where two are lost in one moment
  return how;
}

// Workers within this process.
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

// Of one device that has the batches of all of them together in each step.
struct alone {
  graph_builder g;
  replica_step ends = regression::build(g, 0);
  node* train = momentum{0.05}.minimize(ends.loss);
  session s = session::local();

  alone() { s.run(g.initializer()); }
  float step(const std::vector<int64_t>& batches) {
    std::vector<std::vector<tensor>> parts;
    for (auto one : batches)
      parts.push_back(*regression::batch(one));
    auto whole = regression::joined(parts);
    return to_scalar<float>(
        s.run({{ends.feeds[0], whole[0]}, {ends.feeds[1], whole[1]}}, {ends.loss}, {train})
            .front());
  }
  void check_like(session& in, const replica_step& other) {
    for (size_t i = 0; i < ends.others.size(); ++i) {
      auto here = s.fetch(ends.others[i]), there = in.fetch(other.others[i]);
      for (int64_t k = 0; k < here.elements(); ++k)
        CHECK(there.data<float>()[k] == Approx(here.data<float>()[k]).epsilon(1e-4).margin(1e-5));
    }
  }
};

// That all copies are the same, to the bit. Names are replica_N/w, replica_N/w/momentum.
void check_equal(session& in, replicas& of, int count) {
  auto& g = of.graph_of(0);
  std::map<std::string, std::vector<tensor>> found;
  for (const auto& one : g.variables()) {
    auto name = one.name();
    name.erase(0, name.find('/') + 1);
    found[name].push_back(in.fetch(one));
  }
  CHECK(found.size() >= 5); // w, b, what momentum remembers of them, and the counter
  for (const auto& [name, values] : found) {
    INFO(name);
    CHECK(std::ssize(values) == count);
    for (const auto& one : values)
      CHECK(identical(one, values.front()));
  }
}

} // namespace

TEST_CASE("copies that add up their gradients take the very steps of one device") {
  watchdog watch;
  constexpr int count = 3, steps = 20;
  workers all{count};
  auto how = options_of(count);
  how.last_step = steps;
  std::map<size_t, std::vector<double>> losses_of;
  how.on_step = [&](const training_progress& now) { losses_of[now.replica].push_back(now.loss); };
  replicas training{regression::build, how};
  auto report = training.run(all.s);
  CHECK(report.step == steps);
  CHECK(report.why == training_end::last_step);
  REQUIRE(report.replicas.size() == count);
  for (const auto& one : report.replicas)
    CHECK((one.steps == steps && one.failures == 0));
  alone one;
  REQUIRE(losses_of.size() == count);
  CHECK(losses_of[1] == losses_of[0]); // it is that of all
  const auto& losses = losses_of[2];
  REQUIRE(losses.size() == steps);
  for (int i = 0; i < steps; ++i)
    CHECK(losses[static_cast<size_t>(i)] ==
          Approx(one.step({3 * i, 3 * i + 1, 3 * i + 2})).epsilon(1e-4));
  one.check_like(all.s, training.chief());
  CHECK(to_scalar<int64_t>(all.s.fetch(training.global_step())) == steps);
  check_equal(all.s, training, count);
}

TEST_CASE("all of it may be in one task, and rates follow the steps of each copy") {
  watchdog watch;
  auto s = session::local();
  auto how = options_of(1);
  how.ps_tasks = 0;
  how.last_step = 10;
  how.make_optimizer = [](edge step) {
    return std::make_unique<gradient_descent>(
        piecewise_constant(step, {5}, {0.1, 0.0})); // no more after six steps
  };
  replicas training{regression::build, how};
  training.run(s);
  auto at_10 = s.fetch(training.chief().others[0]);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 10);
  how.last_step = 6;
  replicas again{regression::build, how};
  again.run(s);
  CHECK(identical(s.fetch(again.chief().others[0]), at_10));
  CHECK(at_10.data<float>()[0] > 0.1f); // it has learnt
}

TEST_CASE("a checkpoint of copies is that of a model: more copies, or none, go on from it") {
  watchdog watch;
  temporary_folder folder;
  auto how = options_of(2);
  how.checkpoints = folder / "m";
  how.checkpoint_steps = 3;
  how.last_step = 10;
  alone one;
  std::atomic<int> saved{0};
  how.on_event = [&](const replica_event& what) { saved += what.what == kind::saved; };
  {
    workers two{2};
    replicas training{regression::build, how};
    auto report = training.run(two.s);
    CHECK(report.step == 10);
    CHECK(report.restored_from == -1);
    CHECK(report.checkpoint == folder / "m/step-10");
    CHECK(saved >= 2);
  }
  for (int i = 0; i < 10; ++i)
    one.step({2 * i, 2 * i + 1});
  how.last_step = 15;
  how.workers = 3;
  {
    workers three{3};
    replicas training{regression::build, how};
    auto report = training.run(three.s);
    CHECK(report.step == 15);
    CHECK(report.restored_from == 10);
    for (int i = 0; i < 5; ++i)
      one.step({20 + 3 * i, 20 + 3 * i + 1, 20 + 3 * i + 2}); // no batch is left out or seen twice
    one.check_like(three.s, training.chief());
    check_equal(three.s, training, 3);
  }
  graph_builder g;
  auto plain = regression::build(g, 0);
  auto s = session::local();
  saver of{g, folder / "m"};
  auto found = of.restore(s);
  REQUIRE(found);
  CHECK(found->step == 15);
  one.check_like(s, plain);
}

TEST_CASE("batches of copies are made side by side, and no more than a step ahead") {
  watchdog watch;
  workers all{3};
  auto how = options_of(3);
  how.last_step = 4;
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  int64_t ended = 0;
  bool together = false, too_early = false;
  how.batch = [&](int64_t n) {
    std::unique_lock lock{mutex};
    together |= ++inside == 3;
    too_early |= n >= 3 * (ended + 2);
    changed.notify_all();
    if (n < 3)
      changed.wait_for(lock, 10s, [&] { return together; });
    --inside;
    return regression::batch(n);
  };
  how.on_step = [&](const training_progress& now) {
    std::unique_lock lock{mutex};
    ended = now.step;
  };
  CHECK(replicas{regression::build, how}.run(all.s).step == 4);
  CHECK(together);
  CHECK(!too_early);
}

TEST_CASE("a run of copies ends with its data, on request, by its condition, or at a NaN") {
  watchdog watch;
  workers all{2};
  auto how = options_of(2);
  how.batch = [](int64_t n) { return n < 7 ? regression::batch(n) : std::nullopt; };
  CHECK(replicas{regression::build, how}.run(all.s).why == training_end::data_ended);
  {
    replicas training{regression::build, how};
    auto report = training.run(all.s);
    CHECK(report.step == 3); // of two batches each: the seventh is that of no step
  }
  how.batch = regression::batch;
  how.when = [](const training_progress& now) { return now.step == 4; };
  auto report = replicas{regression::build, how}.run(all.s);
  CHECK(report.why == training_end::condition);
  CHECK(report.step == 4);
  how.when = {};
  how.time_limit = 0.2;
  CHECK(replicas{regression::build, how}.run(all.s).why == training_end::time_over);
  how.time_limit = 0;
  {
    replicas asked{regression::build, how};
    asked.request_stop();
    CHECK(asked.run(all.s).why == training_end::asked);
  }
  how.batch = [](int64_t n) {
    auto made = regression::batch(n);
    if (n == 5)
      (*made)[0].data<float>()[0] = NAN;
    return made;
  };
  temporary_folder folder;
  how.checkpoints = folder / "m";
  report = replicas{regression::build, how}.run(all.s);
  CHECK(report.why == training_end::not_a_number);
  CHECK(report.step == 3);
  CHECK(report.checkpoint.empty());
  how.batch = [](int64_t) -> std::optional<std::vector<tensor>> {
    throw std::runtime_error{"no disk"};
  };
  CHECK_THROWS_WITH(replicas(regression::build, how).run(all.s), "no disk");
}

TEST_CASE("a worker that is killed costs copies one step, and gets its copy when it is back") {
  processes all;
  auto how = options_of(3);
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  all.workers[1]->kill();
  REQUIRE(now.await(kind::lost, 1));
  CHECK(now.tells("/job:worker/task:1"));
  REQUIRE(now.await_step(now.step() + 100)); // the others go on
  all.start(1);
  REQUIRE(now.await(kind::back, 1));
  REQUIRE(now.await_step(now.step() + 100));
  all.workers[0]->kill(); // the first, whose copy has been that of all
  REQUIRE(now.await(kind::lost, 0));
  REQUIRE(now.await_step(now.step() + 100));
  all.start(0);
  REQUIRE(now.await(kind::back, 0));
  REQUIRE(now.await_step(now.step() + 100));
  training.request_stop();
  auto report = now.end();
  CHECK(report.why == training_end::asked);
  CHECK(now.count(kind::initialized) == 1);
  CHECK(to_scalar<int64_t>(all.s.fetch(training.global_step())) == report.step);
  check_equal(all.s, training, 3);
  CHECK(regression::is_found(all.s, training.chief()));
}

TEST_CASE("copies go on without a worker that is stopped, and with it when it goes on") {
  processes all;
  auto how = options_of(3);
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  all.workers[2]->freeze();
  REQUIRE(now.await(kind::lost, 2));
  REQUIRE(now.await_step(now.step() + 100));
  ::kill(all.workers[2]->pid(), SIGCONT);
  REQUIRE(now.await(kind::back, 2));
  REQUIRE(now.await_step(now.step() + 100));
  training.request_stop();
  auto report = now.end();
  CHECK(to_scalar<int64_t>(all.s.fetch(training.global_step())) == report.step);
  check_equal(all.s, training, 3);
}

TEST_CASE("where all workers are lost, copies begin with the newest checkpoint, and else anew") {
  auto saves = GENERATE(true, false);
  processes all;
  temporary_folder folder;
  auto how = options_of(3);
  if (saves) {
    how.checkpoints = folder / "m";
    how.checkpoint_steps = 10;
  }
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(50));
  for (auto& one : all.workers)
    one->kill();
  REQUIRE(now.await_any({kind::retrying}, 3));
  for (int i = 0; i < 3; ++i)
    all.start(i);
  REQUIRE(now.await(saves ? kind::restored : kind::initialized, -1, saves ? 1 : 2));
  auto report = [&] {
    REQUIRE(now.await_any({kind::recovered}, 1));
    REQUIRE(now.await_step(now.step() + 100));
    training.request_stop();
    return now.end();
  }();
  CHECK(report.step >= 100);
  CHECK(to_scalar<int64_t>(all.s.fetch(training.global_step())) == report.step);
  CHECK(regression::is_found(all.s, training.chief()));
}

TEST_CASE("where variables are gone and their task is not, copies begin again, too") {
  watchdog watch;
  auto alone = GENERATE(true, false);
  temporary_folder folder;
  std::optional<workers> two;
  if (!alone)
    two.emplace(2);
  auto local = session::local();
  auto& s = alone ? local : two->s;
  auto how = options_of(alone ? 1 : 2);
  how.ps_tasks = alone ? 0 : 1;
  how.checkpoints = folder / "m";
  how.checkpoint_steps = 5;
  how.last_step = 40;
  int restored = 0;
  how.on_event = [&](const replica_event& what) { restored += what.what == kind::restored; };
  bool reset = false;
  how.on_step = [&](const training_progress& now) {
    if (now.step == 20 && !std::exchange(reset, true))
      s.reset();
  };
  replicas training{regression::build, how};
  auto report = training.run(s);
  CHECK(report.step == 40);
  CHECK(restored == 1);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 40);
}

TEST_CASE("tasks write the checkpoint of a copy, of one step") {
  watchdog watch;
  temporary_folder folder;
  workers all{2};
  auto how = options_of(2);
  how.checkpoints = folder / "m";
  how.checkpoint_steps = 1;
  how.keep.by_tasks = true;
  how.keep.keep_newest = 0;
  how.last_step = 12;
  replicas training{regression::build, how};
  CHECK(training.run(all.s).step == 12);
  alone one;
  std::vector<tensor> after; // each step
  for (int i = 0; i < 12; ++i) {
    one.step({2 * i, 2 * i + 1});
    after.push_back(one.s.fetch(one.ends.others[0]));
  }
  graph_builder g;
  auto plain = regression::build(g, 0);
  saver of{g, {plain.others[0]}, folder / "other"};
  auto s = session::local();
  for (int64_t i : {1, 6, 11}) {
    of.restore_from(s, folder / concat("m/step-", i), {.partly = true});
    auto w = s.fetch(plain.others[0]);
    for (int k = 0; k < 2; ++k)
      CHECK(w.data<float>()[k] ==
            Approx(after[static_cast<size_t>(i - 1)].data<float>()[k]).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("copies need so many workers as they are told, and wait for those that are not there") {
  watchdog watch{60s};
  auto spec = make_cluster(2);
  auto s = session::connect(spec, {.cluster = {.peer_timeout = 1s}});
  auto first = start_task(spec, {"worker", 0});
  auto how = options_of(2);
  how.least_workers = 2;
  how.give_up_seconds = 3 * slowness;
  CHECK_THROWS_WITH(replicas(regression::build, how).run(s),
                    Contains("no step has ended well for ") && Contains("1 of 2 tasks live") &&
                        Contains("/job:worker/task:1"));
  how.give_up_seconds = 30 * slowness;
  replica_run now{how};
  now.start(how, s);
  REQUIRE(now.await_any({kind::retrying}, 1));
  auto second = start_task(spec, {"worker", 1});
  REQUIRE(now.await_step(20));
}

TEST_CASE("elastic copies begin with workers that join, and end with those that leave") {
  watchdog watch{120s};
  auto seed = concat("127.0.0.1:", free_ports(1)[0]);
  auto start = [&](const task_name& self, const std::string& listen) {
    auto options = options_of_task(*find_cluster("join:" + seed), self);
    options.listen = listen;
    options.peer_timeout = 2s;
    options.member_times = {
        .settle = 100ms, .unreachable_after = 100ms, .gone_after = 2s, .alone_after = 60s};
    return start_task(std::move(options));
  };
  auto first = start({"worker", 0}, seed);
  auto s = session::connect("join:" + seed, {.cluster = {.peer_timeout = 2s}});
  auto how = options_of(1);
  how.elastic = true;
  replica_run now{how};
  auto& training = now.start(how, s);
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
  second = start({"worker", -1}, "127.0.0.1:0"); // which the graph has already
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

TEST_CASE("options that copies do not have are refused") {
  auto refused = [](auto change) {
    auto how = options_of(2);
    change(how);
    try {
      replicas{regression::build, how};
    } catch (const error& why) {
      return std::string{why.what()};
    }
    return std::string{"taken"};
  };
  CHECK(refused([](auto&) {}) == "taken");
  CHECK_THAT(refused([](auto& how) { how.backups = 1; }), Contains("backups need the mode sync"));
  CHECK_THAT(refused([](auto& how) { how.sent = 0.5; }), Contains("whole gradients"));
  CHECK_THAT(refused([](auto& how) { how.ps_tasks = 0; }), Contains("one worker, got 2"));
  CHECK_THAT(refused([](auto& how) { how.least_workers = 3; }), Contains("got least_workers = 3"));
  CHECK_THAT(refused([](auto& how) { how.worker_devices = {}; }), Contains("needs a device"));
  CHECK_THAT(refused([](auto& how) {
               how.worker_devices = {"cpu:0", "cpu:0"};
             }),
             Contains("has cpu:0 twice"));
  CHECK_THAT(refused([](auto& how) { how.worker_devices = {"/job:ps/task:0/cpu:0"}; }),
             Contains("got '/job:ps/task:0/cpu:0'"));
  CHECK_THAT(refused([](auto& how) { how.worker_devices = {"task:1/cpu:0"}; }),
             Contains("got 'task:1/cpu:0'"));
  CHECK_THAT(refused([](auto& how) {
               how.worker_devices = {"cpu:0", "device:cpu:0"};
             }),
             Contains("twice"));
  CHECK_THAT(refused([](auto& how) { how.keep.all_state = true; }), Contains("keep.all_state"));
  auto how = options_of(2);
  CHECK_THROWS_WITH(
      replicas([](graph_builder& g, int number) { return regression::build(g, number); },
               [&] {
                 auto none = how;
                 none.batch = {};
                 return none;
               }()),
      Contains("there are edges to feed, and no batches"));
  CHECK_THROWS_WITH(replicas(
                        [](graph_builder& g, int number) {
                          auto made = regression::build(g, number);
                          if (number == 1)
                            made.feeds.pop_back();
                          return made;
                        },
                        how),
                    Contains("other feeds for replica 1"));
}

} // namespace troupe::test::all_reduce_replicas_test
