// Tasks agree on which of them live, and training goes on among those.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::living_tasks_test {

using namespace std::chrono_literals;

namespace {

std::string device(int worker) { return concat("/job:worker/task:", worker, "/cpu:0"); }

std::vector<std::string> devices(std::initializer_list<int> workers) {
  std::vector<std::string> names;
  for (auto i : workers)
    names.push_back(device(i));
  return names;
}

living_tasks_options patient() { return {.patience = 1s * patience_factor()}; }

} // namespace

TEST_CASE("tasks agree on which of them live, and who has kept its state comes first") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task_process>> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(std::make_unique<task_process>(cluster, task_name{"worker", i}));
  auto s = session::connect(cluster);
  living_tasks tasks{devices({0, 1, 2}), patient()};
  auto all = tasks.agree(s);
  CHECK(all.devices == devices({0, 1, 2}));
  CHECK(all.kept == 0);
  CHECK(all.changed);
  CHECK(all.missing.empty());
  auto again = tasks.agree(s);
  CHECK(again.devices == all.devices);
  CHECK(again.kept == 3);
  CHECK(!again.changed);
  CHECK(again.epoch > all.epoch);

  workers[0]->kill();
  auto rest = tasks.agree(s);
  CHECK(rest.devices == devices({1, 2}));
  CHECK(rest.kept == 2);
  CHECK(rest.missing == devices({0}));
  CHECK(rest.changed);
  CHECK(rest.epoch > again.epoch);

  workers[0] = std::make_unique<task_process>(cluster, task_name{"worker", 0});
  workers[2]->kill();
  workers[2] = std::make_unique<task_process>(cluster, task_name{"worker", 2});
  auto back = tasks.agree(s);
  CHECK(back.devices == devices({1, 0, 2}));
  CHECK(back.kept == 1);
  CHECK(back.changed);

  workers[1]->freeze(); // it does not answer, and does not end its connections either
  auto without = tasks.agree(s);
  CHECK(without.devices == devices({0, 2}));
  CHECK(without.kept == 2);
}

TEST_CASE("training goes on among the tasks that have agreed, without being told who lives") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task_process>> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(std::make_unique<task_process>(cluster, task_name{"worker", i}));
  auto s = session::connect(cluster);
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {6}, "x");
  auto training = train_data_parallel(
      g, devices({0, 1, 2}),
      [&](const replica& at) {
        auto w = g.variable(tensor::vector<float>({0}), "w");
        return mean(square(w - at.part_of(x)));
      },
      [] { return std::make_unique<gradient_descent>(0.1); });
  living_tasks tasks{devices({0, 1, 2}), patient()};
  tasks.agree(s);
  s.run(g.initializer());
  s.run(training.synchronize);
  data_parallel_step step{training.train, training.synchronize, training.loss};
  auto batch = tensor::vector<float>({3, 3, 3, 3, 3, 3});
  int formed = 0;
  float loss = 9;
  for (int i = 0; i < 60; ++i) {
    if (i == 10)
      workers[0]->kill();
    if (i == 30)
      workers[0] = std::make_unique<task_process>(cluster, task_name{"worker", 0});
    try {
      if (i == 31) // who comes back is not noticed by a step that does without it
        throw error{error_kind::unavailable, "look"};
      loss = to_scalar<float>(
          s.run({{x, batch}}, {step.loss}, {step.train}, {.timeout = 1s * patience_factor()})[0]);
    } catch (const error& e) {
      INFO(e.what());
      REQUIRE((e.kind() == error_kind::unavailable || e.kind() == error_kind::aborted));
      auto living = tasks.agree(s);
      REQUIRE(living.kept > 0);
      CHECK(living.devices == (i < 30 ? devices({1, 2}) : devices({1, 2, 0})));
      step = training.among(living.devices);
      s.run(step.synchronize);
      ++formed;
    }
  }
  CHECK(formed >= 2);
  CHECK(loss < 0.01f);
}

TEST_CASE("of tasks that live and do not reach each other, those that were named first stay") {
  watchdog watch;
  auto cluster = make_cluster(3);
  auto elsewhere = cluster;
  auto nowhere = concat("127.0.0.1:", free_ports(1)[0]);
  // Neither of the last two can call the other.
  auto last = cluster;
  elsewhere.jobs["worker"][2] = nowhere;
  last.jobs["worker"][1] = nowhere;
  auto zero = start_task(cluster, {"worker", 0}), one = start_task(elsewhere, {"worker", 1}),
       two = start_task(last, {"worker", 2});
  auto s = session::connect(cluster);
  living_tasks tasks{devices({0, 1, 2}), {.patience = 2s * patience_factor()}};
  auto living = tasks.agree(s);
  CHECK(living.devices == devices({0, 1}));
  CHECK(living.missing == devices({2}));
}

TEST_CASE("too few tasks are an error that says why, and so are devices that name none") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto one = start_task(cluster, {"worker", 1});
  auto s = session::connect(cluster);
  living_tasks tasks{devices({0, 1}), {.patience = 2s * patience_factor(), .at_least = 2}};
  try {
    tasks.agree(s);
    FAIL("one task is two");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::unavailable);
    CHECK_THAT(e.what(), Catch::Contains("1 of 2 tasks live, 2 are needed"));
    CHECK_THAT(e.what(), Catch::Contains("/job:worker/task:0: "));
  }
  CHECK_THROWS_WITH(living_tasks({}), Catch::Contains("at least one device"));
  CHECK_THROWS_WITH(living_tasks({"/cpu:0"}), Catch::Contains("with a job and a task"));
  CHECK_THROWS_WITH(living_tasks({device(0)}, {.patience = 0ms}), Catch::Contains("patience"));
}

} // namespace troupe::test::living_tasks_test
