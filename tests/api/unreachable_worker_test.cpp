// Steps go on without a worker that was killed and does not come back.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <atomic>
#include <fstream>
#include <optional>

namespace troupe::test::unreachable_worker_test {

using namespace std::chrono_literals;

namespace {

const task_name ps{"ps", 0};

// Counts on the parameter server what the first worker computes, as nothing says where.
struct counting {
  counting() {
    auto more = neg(neg(by));
    auto on = g.on("/job:ps/task:0");
    count = g.variable(dtype::i32, {}, "count");
    reset = assign(count, 0).node;
    add = assign_add(count, more).node;
  }
  graph_builder g;
  edge by = g.placeholder(dtype::i32, shape{}, "by"), count;
  node *reset = nullptr, *add = nullptr;
};

// Kills the first worker between two runs.
void goes_on_without(session s, task_process& first) {
  counting m;
  s.run(m.reset);
  auto add = s.prepare({m.by}, {}, {m.add}), twice = s.prepare({}, {neg(neg(m.count))});
  const auto one = std::vector{tensor::scalar(1)};
  for (int i = 0; i < 5; ++i)
    add.run(one);
  CHECK(to_scalar<int>(twice.run().front()) == 5);
  first.kill();
  auto done = 5, failed = 0;
  for (int i = 0; i < 10; ++i)
    try {
      add.run(one);
      ++done;
    } catch (const error& why) { // a run that has begun is not repeated
      INFO(why.what());
      CHECK((why.kind() == error_kind::unavailable || why.kind() == error_kind::aborted));
      ++failed;
    }
  CHECK(failed <= 1);
  CHECK(to_scalar<int>(twice.run().front()) == done);
  CHECK(to_scalar<int>(s.fetch(neg(neg(m.count)))) == done); // prepared now
}

} // namespace

TEST_CASE("steps of a cluster whose tasks are listed go on when the first worker is killed") {
  watchdog watch;
  temporary_folder folder;
  for (auto by_file : {false, true}) {
    CAPTURE(by_file);
    auto cluster = make_cluster(2, 1);
    auto server = start_task(cluster, ps), second = start_task(cluster, {"worker", 1});
    task_process first{cluster, {"worker", 0}};
    auto text = to_json(cluster);
    if (by_file) {
      auto path = folder / "cluster.json";
      std::ofstream{path} << text;
      text = "file:" + path;
    }
    std::atomic<int> warnings{0};
    session_options how{.timeout = 30s};
    how.on_warning = [&](const std::string& said) {
      warnings += said.find("/job:worker/task:0 does not come back") != said.npos;
    };
    goes_on_without(session::connect(text, how), first);
    CHECK(warnings == 1);
  }
}

TEST_CASE("steps of a cluster that tasks join go on when the first worker is killed") {
  watchdog watch;
  std::vector<std::string> at;
  for (auto port : free_ports(3))
    at.push_back(concat("127.0.0.1:", port));
  task_process server{at[0], ps, at[0]}, first{at[0], {"worker", 0}, at[1]},
      second{at[0], {"worker", 1}, at[2]};
  goes_on_without(session::connect("join:" + at[0], {.timeout = 30s}), first);
}

TEST_CASE("a session that a task hosts goes on without a worker that was killed") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto host = start_task(cluster, ps), second = start_task(cluster, {"worker", 1});
  task_process first{cluster, {"worker", 0}};
  goes_on_without(session::connect("master:" + cluster.jobs.at("ps")[0], {.timeout = 30s}), first);
}

} // namespace troupe::test::unreachable_worker_test
