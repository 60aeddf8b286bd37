// An element that a step took from a queue is consumed only if the whole step succeeds, on all
// tasks.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"

#include <thread>

namespace troupe::test::returned_elements_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

int32_t int_of(const result<std::vector<tensor>>& fetched) {
  INFO(fetched.status());
  REQUIRE(fetched);
  return *fetched->at(0).data<int32_t>();
}

// Waits until a task has closed a connection: the task is notified of the loss before.
void await_fewer(const task_process& task, int descriptors) {
  auto end = clock_type::now() + 10s;
  while (footprint_of(task.pid()).descriptors >= descriptors && clock_type::now() < end)
    std::this_thread::yield();
  REQUIRE(footprint_of(task.pid()).descriptors < descriptors);
}

} // namespace

TEST_CASE("a dequeued element is returned when the step's answer is too long to be sent") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process zero{cluster, {"worker", 0}};
  auto client = connect_to(cluster);
  std::string steps = R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
put = QueueEnqueue(q, i32(7))
target put
run
get = QueueDequeue(q) component_types=[i32]
)";
  for (int i = 0; i < 30'000; ++i) // an answer of more than 1 MiB
    steps += "fetch get\n";
  text_case text{steps + "run\nsize = QueueSize(q)\nfetch size\n"};
  enum { put, take, size };
  REQUIRE(run(*client, text, put, 10s).ok());
  CHECK(run(*client, text, take, 20s).status().kind() == error_kind::resource_exhausted);
  CHECK(int_of(run(*client, text, size, 10s)) == 1);
}

TEST_CASE("a dequeued element is returned when the step's part on another task fails") {
  watchdog watch;
  auto cluster = make_cluster(2);
  task_process zero{cluster, {"worker", 0}}, one{cluster, {"worker", 1}};
  auto client = connect_to(cluster);
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"/job:worker/task:0"
put = QueueEnqueueMany(q, i32[1, 2, 3])
target put
run
get = QueueDequeue(q) component_types=[i32]
small = Less(get, i32(0)) @"/job:worker/task:1"
fails = Assert(small, get) @"/job:worker/task:1"
target fails
run
there = Neg(get) @"/job:worker/task:1"
fetch there
run
size = QueueSize(q)
fetch size
)"};
  enum { put, fail, take, size };
  REQUIRE(run(*client, text, put, 10s).ok());
  for (int i = 0; i < 20; ++i) {
    CHECK(run(*client, text, fail, 10s).status().kind() == error_kind::invalid_argument);
    CHECK(int_of(run(*client, text, size, 10s)) == 3);
  }
  for (int expected_value : {1, 2}) { // in their order, and each once
    CHECK(int_of(run(*client, text, take, 10s)) == -expected_value);
    CHECK(run(*client, text, fail, 10s).status().kind() == error_kind::invalid_argument);
  }
  CHECK(int_of(run(*client, text, size, 10s)) == 1);
}

TEST_CASE("elements that a client's completed steps took stay consumed after the client has gone") {
  watchdog watch;
  auto cluster = make_cluster(2);
  task_process zero{cluster, {"worker", 0}}, one{cluster, {"worker", 1}};
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q" @"/job:worker/task:0"
put = QueueEnqueueMany(q, i32[1, 2, 3])
target put
run
get = QueueDequeue(q) component_types=[i32]
there = Neg(get) @"/job:worker/task:1"
fetch there
run
size = QueueSize(q)
fetch size
)"};
  auto watcher = connect_to(cluster);
  REQUIRE(run(*watcher, text, 0, 10s).ok());
  auto taker = connect_to(cluster);
  CHECK(int_of(run(*taker, text, 1, 10s)) == -1);
  CHECK(int_of(run(*taker, text, 1, 10s)) == -2);
  auto connected = footprint_of(zero.pid()).descriptors;
  taker.reset();
  await_fewer(zero, connected);
  CHECK(int_of(run(*watcher, text, 2, 10s)) == 1);
}

TEST_CASE("an element that a client's unfinished step took is returned when the client is killed") {
  watchdog watch;
  auto cluster = make_cluster(2);
  task_process zero{cluster, {"worker", 0}}, one{cluster, {"worker", 1}};
  auto client = connect_to(cluster);
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q" @"/job:worker/task:0"
put = QueueEnqueue(q, i32(7))
target put
run
begun = FIFOQueue component_types=[i32] shapes=[[]] shared_name="begun" @"/job:worker/task:1"
news = QueueDequeue(begun) component_types=[i32]
fetch news
run
get = QueueDequeue(q) component_types=[i32]
fetch get
)"};
  REQUIRE(run(*client, text, 0, 10s).ok());
  task_process taker{cluster, {"client", 1}};
  REQUIRE(int_of(run(*client, text, 1, 10s)) == 7); // the other part of its step has the element
  taker.kill();
  CHECK(int_of(run(*client, text, 2, 10s)) == 7);
}

TEST_CASE("a lock is held until the whole step has ended, on all its tasks") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}),
       second_task = start_task(cluster, {"worker", 1});
  auto holder = connect_to(cluster), other_client = connect_to(cluster);
  text_case text{R"(
m = MutexV2 shared_name="m" @"/job:worker/task:0"
lock = MutexLock(m)
gate = FIFOQueue component_types=[i32] shapes=[[]] shared_name="gate" @"/job:worker/task:1"
begun = FIFOQueue component_types=[i32] shapes=[[]] shared_name="begun" @"/job:worker/task:1"
tell = QueueEnqueue(begun, i32(1), ^lock)
pass = QueueDequeue(gate, ^lock) component_types=[i32]
fetch pass
target tell
run
lock2 = MutexLock(m)
target lock2
run
open = QueueEnqueue(gate, i32(5))
target open
run
news = QueueDequeue(begun) component_types=[i32]
fetch news
)"};
  enum { hold, lock, open, news };
  std::jthread holding_run{[&] { CHECK(int_of(run(*holder, text, hold, 20s)) == 5); }};
  CHECK(int_of(run(*other_client, text, news, 10s)) == 1);
  for (int i = 0; i < 3; ++i)
    CHECK(run(*other_client, text, lock, 200ms).status().kind() == error_kind::deadline_exceeded);
  CHECK(run(*other_client, text, open, 10s).ok());
  CHECK(run(*other_client, text, lock, 10s).ok());
}

} // namespace troupe::test::returned_elements_test
