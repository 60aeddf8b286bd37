#include "tests/support/catch.hpp"
#include "troupe/runtime/insight/node_times.hpp"

namespace troupe::test::node_times_test {

namespace {

step_statistics step(int64_t ns, uint64_t bytes, std::string device = "cpu") {
  auto subjects = std::make_shared<std::vector<span_subject>>();
  subjects->push_back({.kind = span_kind::node, .name = "a", .op = "Add", .device = device});
  subjects->push_back({.kind = span_kind::read, .name = "a", .op = "Add", .device = device});
  subjects->push_back({.kind = span_kind::region, .name = "region 0", .device = device});
  task_statistics task{.task = "t", .subjects = subjects};
  task.spans = {{0, 0, 100, 100 + ns, bytes}, {1, 0, 0, 100, 0}, {2, 0, 0, 1000, 0}};
  step_statistics statistics;
  statistics.tasks.push_back(std::move(task));
  return statistics;
}

} // namespace

TEST_CASE("a node's time is the mean over its runs, and reads do not count") {
  node_times times;
  CHECK_FALSE(times.find("a"));
  times.add(step(10, 4));
  times.add(step(30, 8));
  auto time = times.find("a");
  REQUIRE(time);
  CHECK(time->runs == 2);
  CHECK(time->mean_ns == Approx(20));
  CHECK(time->mean_bytes == Approx(6));
  CHECK(times.list().size() == 1);
}

TEST_CASE("a node that moves to another device is measured again from zero") {
  node_times times;
  times.add(step(10, 0));
  times.add(step(500, 0, "gpu"));
  CHECK(times.find("a")->runs == 1);
  CHECK(times.find("a")->mean_ns == Approx(500));
}

TEST_CASE("nodes of different graphs that have the same name are measured separately") {
  node_times times;
  times.add(step(10, 0), 7);
  times.add(step(1000, 0), 8);
  times.add(step(30, 0), 7);
  CHECK(times.find("a", 7)->mean_ns == Approx(20));
  CHECK(times.find("a", 8)->mean_ns == Approx(1000));
  CHECK_FALSE(times.find("a", 9));
  auto measured = times.list();
  REQUIRE(measured.size() == 1);
  CHECK(measured[0].runs == 2);
  CHECK(measured[0].mean_ns == Approx(20));
  node_times of_one;
  times.copy_to(of_one, 8);
  CHECK(of_one.find("a")->mean_ns == Approx(1000));
}

TEST_CASE("times measured elsewhere apply to all graphs until these are measured themselves") {
  node_times times;
  times.add({.node = "a", .device = "cpu", .runs = 5, .mean_ns = 100});
  CHECK(times.find("a", 7)->mean_ns == Approx(100));
  times.add(step(10, 0), 7);
  CHECK(times.find("a", 7)->mean_ns == Approx(10));
  CHECK(times.find("a", 8)->mean_ns == Approx(100));
  CHECK(times.find("a")->mean_ns == Approx(100));
}

TEST_CASE("times of destroyed graphs do not accumulate") {
  node_times times;
  for (uint64_t graph = 1; graph <= 1000; ++graph)
    times.add(step(10, 0), graph);
  CHECK_FALSE(times.find("a", 1));
  CHECK(times.find("a", 1000));
}

} // namespace troupe::test::node_times_test
