// Tasks agree on which of them are alive, and training continues on those.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::live_tasks_test {

using namespace std::chrono_literals;

namespace {

std::string device(int worker) { return concat("/job:worker/task:", worker, "/cpu:0"); }

std::vector<std::string> devices(std::initializer_list<int> workers) {
  std::vector<std::string> names;
  for (auto i : workers)
    names.push_back(device(i));
  return names;
}

live_tasks_options patient_options() { return {.timeout = 1s * timeout_factor()}; }

} // namespace

TEST_CASE("tasks agree on which of them are alive, and those with their state come first") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task_process>> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(std::make_unique<task_process>(cluster, task_name{"worker", i}));
  auto s = session::connect(cluster);
  live_tasks tasks{devices({0, 1, 2}), patient_options()};
  auto first_members = tasks.agree(s);
  CHECK(first_members.devices == devices({0, 1, 2}));
  CHECK(first_members.kept_count == 0);
  CHECK(first_members.changed);
  CHECK(first_members.missing.empty());
  auto second_members = tasks.agree(s);
  CHECK(second_members.devices == first_members.devices);
  CHECK(second_members.kept_count == 3);
  CHECK(!second_members.changed);
  CHECK(second_members.epoch > first_members.epoch);

  workers[0]->kill();
  auto remaining = tasks.agree(s);
  CHECK(remaining.devices == devices({1, 2}));
  CHECK(remaining.kept_count == 2);
  CHECK(remaining.missing == devices({0}));
  CHECK(remaining.changed);
  CHECK(remaining.epoch > second_members.epoch);

  workers[0] = std::make_unique<task_process>(cluster, task_name{"worker", 0});
  workers[2]->kill();
  workers[2] = std::make_unique<task_process>(cluster, task_name{"worker", 2});
  auto members_after_return = tasks.agree(s);
  CHECK(members_after_return.devices == devices({1, 0, 2}));
  CHECK(members_after_return.kept_count == 1);
  CHECK(members_after_return.changed);

  workers[1]->freeze(); // it does not answer, and keeps its connections open
  auto members_left = tasks.agree(s);
  CHECK(members_left.devices == devices({0, 2}));
  CHECK(members_left.kept_count == 2);
}

TEST_CASE("training continues among the tasks that have agreed, without a list of live tasks") {
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
      [&](const replica& context) {
        auto w = g.variable(tensor::vector<float>({0}), "w");
        return mean(square(w - context.slice_of(x)));
      },
      [] { return std::make_unique<gradient_descent>(0.1); });
  live_tasks tasks{devices({0, 1, 2}), patient_options()};
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
      if (i == 31) // a step that runs without a task does not notice its return
        throw error{error_kind::unavailable, "look"};
      loss = to_scalar<float>(
          s.run({{x, batch}}, {step.loss}, {step.train}, {.timeout = 1s * timeout_factor()})[0]);
    } catch (const error& e) {
      INFO(e.what());
      REQUIRE((e.kind() == error_kind::unavailable || e.kind() == error_kind::aborted));
      auto living = tasks.agree(s);
      REQUIRE(living.kept_count > 0);
      CHECK(living.devices == (i < 30 ? devices({1, 2}) : devices({1, 2, 0})));
      step = training.step_of(living.devices);
      s.run(step.synchronize);
      ++formed;
    }
  }
  CHECK(formed >= 2);
  CHECK(loss < 0.01f);
}

TEST_CASE("of live tasks that do not reach each other, those that were named first stay") {
  watchdog watch;
  auto cluster = make_cluster(3);
  auto other_cluster = cluster;
  auto unused_address = concat("127.0.0.1:", free_ports(1)[0]);
  // The last two tasks cannot reach each other.
  auto last = cluster;
  other_cluster.jobs["worker"][2] = unused_address;
  last.jobs["worker"][1] = unused_address;
  auto first_task = start_task(cluster, {"worker", 0}),
       middle_task = start_task(other_cluster, {"worker", 1}),
       two = start_task(last, {"worker", 2});
  auto s = session::connect(cluster);
  live_tasks tasks{devices({0, 1, 2}), {.timeout = 2s * timeout_factor()}};
  auto living = tasks.agree(s);
  CHECK(living.devices == devices({0, 1}));
  CHECK(living.missing == devices({2}));
}

TEST_CASE("too few tasks are an error with a reason, and so are devices of no task") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto second_worker = start_task(cluster, {"worker", 1});
  auto s = session::connect(cluster);
  live_tasks tasks{devices({0, 1}), {.timeout = 2s * timeout_factor(), .min_tasks = 2}};
  try {
    tasks.agree(s);
    FAIL("one task is two");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::unavailable);
    CHECK_THAT(e.what(), Catch::Contains("1 of 2 tasks are alive, at least 2 are needed"));
    CHECK_THAT(e.what(), Catch::Contains("/job:worker/task:0: "));
  }
  CHECK_THROWS_WITH(live_tasks({}), Catch::Contains("at least one device"));
  CHECK_THROWS_WITH(live_tasks({"/cpu:0"}), Catch::Contains("with a job and a task"));
  CHECK_THROWS_WITH(live_tasks({device(0)}, {.timeout = 0ms}), Catch::Contains("timeout"));
}

} // namespace troupe::test::live_tasks_test
