// Tasks that crash, freeze or shut down while steps need them.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"

#include <optional>
#include <thread>

namespace troupe::test::lost_task_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

bool message_contains(const status& outcome, std::string_view part) {
  UNSCOPED_INFO(outcome);
  return outcome.message().find(part) != std::string::npos;
}

// A dequeue on the task, which is blocked or busy when the task is lost. The second run of each
// text returns when the first has begun.
const char* waits_on_one = R"(
begun = FIFOQueue component_types=[i32] shapes=[[]] @"/job:worker/task:1"
tell = QueueEnqueue(begun, i32(1))
q = FIFOQueue component_types=[i32] shapes=[[]] @"/job:worker/task:1"
get = QueueDequeue(q, ^tell) component_types=[i32]
y = Neg(get) @"/job:worker/task:0"
fetch y = i32(-7)
run
news = QueueDequeue(begun) component_types=[i32]
fetch news
run
put = QueueEnqueue(q, i32(7))
target put
)";

const char* busy_on_one = R"(
begun = FIFOQueue component_types=[i32] shapes=[[]] @"/job:worker/task:1"
tell = QueueEnqueue(begun, i32(1))
a = Fill(i32[1500, 1500], f32(1), ^tell) @"/job:worker/task:1"
b = MatMul(a, a) @"/job:worker/task:1"
c = MatMul(b, a) @"/job:worker/task:1"
d = MatMul(c, a) @"/job:worker/task:1"
e = MatMul(d, a) @"/job:worker/task:1"
f = MatMul(e, a) @"/job:worker/task:1"
g = MatMul(f, a) @"/job:worker/task:1"
s = Sum(g, i32[0, 1]) @"/job:worker/task:0"
fetch s
run
news = QueueDequeue(begun) component_types=[i32]
fetch news
)";

// A limit for immediate effects on a machine with other work. Otherwise a test takes the 20 s of a
// deadline, or the 10 s of a peer timeout.
const auto at_once = 5s * timeout_scale * timeout_factor();

struct two_workers {
  explicit two_workers(std::chrono::milliseconds peer_timeout = 10s)
      : worker_0(cluster, {"worker", 0}, peer_timeout),
        worker_1(std::in_place, cluster, task_name{"worker", 1}, peer_timeout),
        client(connect_to(cluster, peer_timeout)) {}
  cluster_spec cluster = make_cluster(2);
  task_process worker_0;
  std::optional<task_process> worker_1;
  std::unique_ptr<troupe::client> client;

  // Runs the step, causes the event after the step has begun, and returns the outcome and the
  // duration.
  status run_while(const text_case& text, std::chrono::milliseconds timeout,
                   const std::function<void()>& happens, std::chrono::milliseconds& duration) {
    auto step =
        client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + 10s);
    REQUIRE(step);
    status outcome;
    clock_type::time_point begin, end;
    std::jthread waiting_run{[&] {
      outcome = client->run(**step, {}, clock_type::now() + timeout).status();
      end = clock_type::now();
    }};
    auto first_outcome = run(*client, text, 1, 10s * timeout_factor());
    begin = clock_type::now();
    happens();
    waiting_run.join();
    duration = std::chrono::duration_cast<std::chrono::milliseconds>(end - begin);
    step = status{error_kind::cancelled, ""};
    INFO(first_outcome.status());
    REQUIRE(first_outcome.ok());
    return outcome;
  }
};

} // namespace

TEST_CASE("a task that is killed while a step waits on it is named at once, and may restart") {
  watchdog watch;
  two_workers workers;
  text_case text{waits_on_one};
  std::chrono::milliseconds duration{};
  auto outcome = workers.run_while(
      text, 20s, [&] { workers.worker_1->kill(); }, duration);
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(message_contains(outcome, "/job:worker/task:1"));
  CHECK(duration < at_once);
  workers.worker_1.emplace(workers.cluster, task_name{"worker", 1});
  CHECK(run(*workers.client, text, 2).ok());
  CHECK(difference_of(text.text.runs[0], run(*workers.client, text)) == "");
}

TEST_CASE("a task that is killed while it computes is named at once") {
  watchdog watch;
  two_workers workers;
  std::chrono::milliseconds duration{};
  auto outcome = workers.run_while(
      text_case{busy_on_one}, 20s, [&] { workers.worker_1->kill(); }, duration);
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(message_contains(outcome, "/job:worker/task:1"));
  CHECK(duration < at_once);
}

TEST_CASE("a frozen task counts as gone after the peer timeout, also during a step") {
  watchdog watch;
  two_workers workers{1s};
  std::chrono::milliseconds duration{};
  auto outcome = workers.run_while(
      text_case{waits_on_one}, 20s, [&] { workers.worker_1->freeze(); }, duration);
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(message_contains(outcome, "/job:worker/task:1"));
  CHECK(duration < 1s + at_once);
  auto begin = clock_type::now();
  auto second_outcome = run(*workers.client, text_case{waits_on_one}, 0, 500ms).status();
  CHECK(message_contains(second_outcome, "/job:worker/task:1"));
  CHECK(clock_type::now() - begin < 500ms + at_once);
}

TEST_CASE("a step on a frozen task ends at its deadline, if that is earlier") {
  watchdog watch;
  two_workers workers;
  std::chrono::milliseconds duration{};
  auto outcome = workers.run_while(
      text_case{waits_on_one}, 2s, [&] { workers.worker_1->freeze(); }, duration);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
  CHECK(message_contains(outcome, "/job:worker/task:1"));
  CHECK(duration < 2s + at_once); // with a moment for the other tasks to stop
}

TEST_CASE("a task shuts down at once, whatever its steps do, and notifies its clients") {
  watchdog watch;
  two_workers workers;
  std::chrono::milliseconds duration{};
  int code = -1;
  auto outcome = workers.run_while(
      text_case{waits_on_one}, 20s, [&] { code = workers.worker_1->terminate(at_once); }, duration);
  CHECK(code == 0);
  CHECK(outcome.kind() == error_kind::unavailable);
  CHECK(duration < at_once);
  CHECK(workers.worker_0.terminate(at_once) == 0);
}

TEST_CASE("a client closes at once, also while it calls a task that does not run") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto client = connect_to(cluster);
  text_case text{"x = Neg(i32(1))\nfetch x"};
  CHECK(!run(*client, text, 0, 50ms).ok());
  auto begin = clock_type::now();
  client.reset();
  CHECK(clock_type::now() - begin < at_once);
}

TEST_CASE("a task shuts down at once in the middle of a large transfer") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}),
       second_task = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{R"(
big = Fill(i32[64, 1048576], f32(0.5)) @"/job:worker/task:0"
s = Identity(big) @"/job:worker/task:1"
fetch s
)"};
  std::jthread waiting_run{[&] { (void)run(*client, text, 0, 10s).ok(); }};
  std::this_thread::sleep_for(150ms);
  auto begin = clock_type::now();
  first_task.reset();
  CHECK(clock_type::now() - begin < at_once);
  begin = clock_type::now();
  second_task.reset();
  CHECK(clock_type::now() - begin < at_once);
  waiting_run.join();
}

TEST_CASE("a client that is killed takes no element from a queue for which its step waits") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process zero{cluster, {"worker", 0}};
  auto client = connect_to(cluster);
  text_case text{R"(
q = FIFOQueue component_types=[i32] shapes=[[]] shared_name="q" @"/job:worker/task:0"
get = QueueDequeue(q) component_types=[i32]
fetch get = i32(7)
run
put = QueueEnqueue(q, i32(7))
target put
run
begun = FIFOQueue component_types=[i32] shapes=[[]] shared_name="begun" @"/job:worker/task:0"
news = QueueDequeue(begun) component_types=[i32]
fetch news
)"};
  auto descriptors = [&] { return footprint_of(zero.pid()).descriptors; };
  task_process waiting{cluster, {"client", 0}};
  auto outcome = run(*client, text, 2, 10s); // its step is about to query the queue
  INFO(outcome.status());
  REQUIRE(outcome.ok());
  auto connected = descriptors();
  waiting.kill();
  // The task is notified of the loss before it closes the connection.
  auto end = clock_type::now() + 10s;
  while (descriptors() >= connected && clock_type::now() < end)
    std::this_thread::yield();
  REQUIRE(descriptors() < connected);
  REQUIRE(run(*client, text, 1, 10s).ok());
  CHECK(difference_of(text.text.runs[0], run(*client, text, 0, 10s)) == "");
}

} // namespace troupe::test::lost_task_test
