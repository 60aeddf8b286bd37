// Steps continue without a worker that was killed and does not return.
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

// A counter on the parameter server; its increment is computed on the first worker, by default.
struct counting {
  counting() {
    auto twice_negated = neg(neg(increment));
    auto placement = g.on("/job:ps/task:0");
    count = g.variable(dtype::i32, {}, "count");
    reset = assign(count, 0).node;
    add = assign_add(count, twice_negated).node;
  }
  graph_builder g;
  edge increment = g.placeholder(dtype::i32, shape{}, "by"), count;
  node *reset = nullptr, *add = nullptr;
};

// Kills the first worker between two runs.
void check_continues_without(session s, task_process& first) {
  counting m;
  s.run(m.reset);
  auto add = s.prepare({m.increment}, {}, {m.add}), twice_step = s.prepare({}, {neg(neg(m.count))});
  const auto feed_of_one = std::vector{tensor::scalar(1)};
  for (int i = 0; i < 5; ++i)
    add.run(feed_of_one);
  CHECK(to_scalar<int>(twice_step.run().front()) == 5);
  first.kill();
  auto completed = 5, failed = 0;
  for (int i = 0; i < 10; ++i)
    try {
      add.run(feed_of_one);
      ++completed;
    } catch (const error& thrown) { // a run that has begun is not repeated
      INFO(thrown.what());
      CHECK((thrown.kind() == error_kind::unavailable || thrown.kind() == error_kind::aborted));
      ++failed;
    }
  CHECK(failed <= 1);
  CHECK(to_scalar<int>(twice_step.run().front()) == completed);
  CHECK(to_scalar<int>(s.fetch(neg(neg(m.count)))) == completed); // prepared now
}

} // namespace

TEST_CASE("steps of a cluster with listed tasks continue when the first worker is killed") {
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
    session_options options{.timeout = 30s};
    options.on_warning = [&](const std::string& expected_text) {
      warnings += expected_text.find("/job:worker/task:0 does not come back") != expected_text.npos;
    };
    check_continues_without(session::connect(text, options), first);
    CHECK(warnings == 1);
  }
}

TEST_CASE("steps of a cluster that tasks join continue when the first worker is killed") {
  watchdog watch;
  std::vector<std::string> addresses;
  for (auto port : free_ports(3))
    addresses.push_back(concat("127.0.0.1:", port));
  task_process server{addresses[0], ps, addresses[0]},
      first{addresses[0], {"worker", 0}, addresses[1]},
      second{addresses[0], {"worker", 1}, addresses[2]};
  check_continues_without(session::connect("join:" + addresses[0], {.timeout = 30s}), first);
}

TEST_CASE("a session that a task hosts continues without a worker that was killed") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto host = start_task(cluster, ps), second = start_task(cluster, {"worker", 1});
  task_process first{cluster, {"worker", 0}};
  check_continues_without(session::connect("master:" + cluster.jobs.at("ps")[0], {.timeout = 30s}),
                          first);
}

} // namespace troupe::test::unreachable_worker_test
