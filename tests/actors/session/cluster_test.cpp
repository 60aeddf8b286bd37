#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"

#include <deque>
#include <filesystem>
#include <thread>

namespace troupe::test::cluster_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

// Repeats `body` until it fails as unavailable, and returns that result. A run gets this error
// shortly before its deadline; on a busy machine the deadline may come first.
template <class Act>
result<std::vector<tensor>> until_unavailable(Act body) {
  auto outcome = body();
  becomes_true([&] {
    if (outcome.status().kind() == error_kind::unavailable)
      return true;
    outcome = body();
    return false;
  });
  return outcome;
}

bool message_contains(const status& outcome, std::string_view part) {
  INFO(outcome);
  return outcome.message().find(part) != std::string::npos;
}

const char* counter = R"(
v = VariableV2 dtype=f32 shape=[2] @"/job:ps/task:0"
init = Assign(v, f32[1, 2])
more = Mul(f32[10, 10], v) @"/job:worker/task:0"
add = AssignAdd(v, more)
target init
run
fetch add = f32[11, 22]
run
x = Placeholder dtype=f32 shape=[2] @"/job:worker/task:1"
y = Add(x, v) @"/job:worker/task:1"
feed x = f32[0.5, 0.5]
fetch y = f32[11.5, 22.5]
)";

const char* waiting = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"/job:worker/task:1"
get = QueueDequeue(q) component_types=[i32]
y = Neg(get) @"/job:worker/task:0"
fetch y = i32(-7)
run
put = QueueEnqueue(q, i32(7))
target put
run
size = QueueSize(q)
fetch size = i32(1)
)";

} // namespace

TEST_CASE("variables live on the task that the graph names, and all tasks may use them") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto ps = start_task(cluster, {"ps", 0});
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  CHECK(run_all(*client, text_case{counter}) == "");
}

TEST_CASE("a client and its tasks may start in any order") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto client = connect_to(cluster);
  std::string failure_text = "nothing ran";
  std::jthread early_run{[&] { failure_text = run_all(*client, text_case{counter}); }};
  std::this_thread::sleep_for(100ms);
  auto second_task = start_task(cluster, {"worker", 1}),
       first_task = start_task(cluster, {"worker", 0});
  std::this_thread::sleep_for(100ms);
  auto ps = start_task(cluster, {"ps", 0});
  early_run.join();
  CHECK(failure_text == "");
}

TEST_CASE("a run with an early deadline does not end the waits of other runs") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto client = connect_to(cluster);
  text_case text{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  auto patient_outcome = std::string{"nothing ran"};
  result<std::vector<tensor>> hasty_outcome = failure(error_kind::internal, "nothing ran");
  std::jthread first{
      [&] { hasty_outcome = until_unavailable([&] { return run(*client, text, 0, 300ms); }); }};
  std::jthread second{[&] { patient_outcome = run_all(*client, text); }};
  first.join();
  CHECK(hasty_outcome.status().kind() == error_kind::unavailable);
  CHECK(message_contains(hasty_outcome.status(), "/job:worker/task:0"));
  auto first_task = start_task(cluster, {"worker", 0});
  second.join();
  CHECK(patient_outcome == "");
}

TEST_CASE("a task that does not run is named within the deadline") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  auto results = until_unavailable([&] {
    auto begin = clock_type::now();
    auto outcome = run(*client, text_case{counter}, 0, 500ms);
    CHECK(clock_type::now() - begin < 3s * timeout_factor());
    return outcome;
  });
  CHECK(results.status().kind() == error_kind::unavailable);
  CHECK(message_contains(results.status(), "/job:ps/task:0"));
}

TEST_CASE("after a restart, a task serves its variables uninitialized") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto ps = start_task(cluster, {"ps", 0});
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{counter};
  REQUIRE(run_all(*client, text) == "");
  auto deadline = clock_type::now() + 20s;
  auto init = client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline);
  auto add = client->prepare(*text.nodes, signature_of(text.text.runs[1]), deadline);
  REQUIRE(init);
  REQUIRE(add);
  ps.reset();
  auto lost =
      until_unavailable([&] { return client->run(**add, {}, clock_type::now() + 2s); }).status();
  CHECK(lost.kind() == error_kind::unavailable);
  CHECK(message_contains(lost, "/job:ps/task:0"));
  ps = start_task(cluster, {"ps", 0});
  auto empty = client->run(**add, {}, clock_type::now() + 5s).status();
  CHECK(empty.kind() == error_kind::failed_precondition);
  CHECK(message_contains(empty, "'v'"));
  CHECK(empty.origin().node == "v");
  CHECK(empty.origin().task == "/job:ps/task:0");
  (void)client->run(**init, {}, clock_type::now() + 5s).ok(); // may still reach the lost task
  REQUIRE(client->run(**init, {}, clock_type::now() + 5s));
  CHECK(client->run(**add, {}, clock_type::now() + 5s));
  init = add = status{error_kind::cancelled, ""};
}

TEST_CASE("concurrent runs that find a task restarted register their step again once") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto first_task = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  text_case text{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  auto step = client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + 5s);
  REQUIRE(step);
  first_task.reset();
  auto lost = until_unavailable([&] { return client->run(**step, {}, clock_type::now() + 2s); });
  CHECK(lost.status().kind() == error_kind::unavailable);
  first_task = start_task(cluster, {"worker", 0});
  std::vector<status> outcomes(16);
  {
    std::vector<std::jthread> threads;
    for (auto& outcome : outcomes)
      threads.emplace_back(
          [&] { outcome = client->run(**step, {}, clock_type::now() + 10s).status(); });
  }
  for (const auto& outcome : outcomes) {
    INFO(outcome);
    CHECK(outcome.ok());
  }
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a step that waits for a queue of another task ends at its deadline and takes nothing") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{waiting};
  auto step =
      client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + patience());
  REQUIRE(step);
  auto late_outcome = client->run(**step, {}, clock_type::now() + 300ms).status();
  CHECK(late_outcome.kind() == error_kind::deadline_exceeded);
  CHECK(message_contains(late_outcome, "/job:worker/task:1"));
  REQUIRE(run(*client, text, 1));
  CHECK(difference_of(text.text.runs[2], run(*client, text, 2)) == "");
  CHECK(difference_of(text.text.runs[0], run(*client, text, 0)) == "");
}

TEST_CASE("all tasks list their devices, and a missing one is named") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0});
  auto connected = client::connect(cluster, {.ops = nullptr,
                                             .make_devices = {},
                                             .inter_op_threads = 1,
                                             .container = {},
                                             .timeout = 500ms});
  REQUIRE(connected);
  auto devices_alone = (*connected)->devices(clock_type::now() + 500ms);
  REQUIRE(devices_alone);
  auto missing = as_error(devices_alone->problems);
  CHECK(missing.kind() == error_kind::unavailable);
  CHECK(message_contains(missing, "/job:worker/task:1"));
  auto second_task = start_task(cluster, {"worker", 1});
  auto devices_found = (*connected)->devices(clock_type::now() + 5s);
  REQUIRE(devices_found);
  CHECK(devices_found->devices.size() == 2);
}

TEST_CASE("tasks that send to each other have one connection") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  std::deque<task_process> tasks;
  for (const auto& name : tasks_of(cluster))
    tasks.emplace_back(cluster, name);
  auto client = connect_to(cluster);
  text_case each_with_each{"x = Placeholder dtype=f32 shape=[] @\"/job:worker/task:0\"\n"
                           "b = Add(x, x) @\"/job:worker/task:1\"\n"
                           "c = Add(b, b) @\"/job:worker/task:0\"\n"
                           "d = Add(c, c) @\"/job:ps/task:0\"\n"
                           "e = Add(d, d) @\"/job:worker/task:0\"\n"
                           "f = Mul(b, b) @\"/job:ps/task:0\"\n"
                           "g = Mul(f, f) @\"/job:worker/task:1\"\n"
                           "feed x = f32(1)\nfetch e = f32(16)\nfetch g = f32(16)"};
  REQUIRE(run_all(*client, each_with_each).empty());
  for (const auto& served_task : tasks) {
    int sockets = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator{concat("/proc/", served_task.pid(), "/fd")})
      if (std::error_code removed;
          std::filesystem::read_symlink(entry, removed).string().starts_with("socket:"))
        ++sockets;
    CHECK(sockets == 1 + 1 + 2); // the listener, the client, the other tasks
  }
  CHECK(run_all(*client, each_with_each).empty());
}

TEST_CASE("large tensors are sent between tasks") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}), two = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  // 64 MB from task 0 to task 1; only a sum returns.
  CHECK(run_all(*client, text_case{R"(
big = Fill(i32[16, 1048576], f32(0.5)) @"/job:worker/task:0"
twice = Add(big, big) @"/job:worker/task:1"
s = Mean(twice, i32[0, 1]) @"/job:worker/task:1"
fetch s ~ 1e-3 = f32(1)
)"}) == "");
}

} // namespace troupe::test::cluster_test
