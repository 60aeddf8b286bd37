// Tasks that crash, freeze or shut down while somebody needs them.
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

bool says(const status& what, std::string_view part) {
  UNSCOPED_INFO(what);
  return what.message().find(part) != std::string::npos;
}

// A dequeue on the task, which is blocked or busy when it is lost. The second run of each hears
// that it has begun.
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

// What happens at once, on a machine that has other work; else it takes the 20 s of a deadline, or
// the 10 s of a peer's silence.
const auto at_once = 5s * slowness * patience_factor();

struct two_workers {
  explicit two_workers(std::chrono::milliseconds peer_timeout = 10s)
      : zero(cluster, {"worker", 0}, peer_timeout),
        one(std::in_place, cluster, task_name{"worker", 1}, peer_timeout),
        client(connect_to(cluster, peer_timeout)) {}
  cluster_spec cluster = make_cluster(2);
  task_process zero;
  std::optional<task_process> one;
  std::unique_ptr<troupe::client> client;

  // Runs it while something happens when it has begun; says how it ended, and when.
  status run_while(const text_case& text, std::chrono::milliseconds timeout,
                   const std::function<void()>& happens, std::chrono::milliseconds& took) {
    auto step =
        client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + 10s);
    REQUIRE(step);
    status outcome;
    clock_type::time_point begin, end;
    std::jthread waits{[&] {
      outcome = client->run(**step, {}, clock_type::now() + timeout).status();
      end = clock_type::now();
    }};
    auto heard = run(*client, text, 1, 10s * patience_factor());
    begin = clock_type::now();
    happens();
    waits.join();
    took = std::chrono::duration_cast<std::chrono::milliseconds>(end - begin);
    step = status{error_kind::cancelled, ""};
    INFO(heard.status());
    REQUIRE(heard.ok());
    return outcome;
  }
};

} // namespace

TEST_CASE("a task that is killed while a step waits on it is named at once, and may come back") {
  watchdog watch;
  two_workers all;
  text_case text{waits_on_one};
  std::chrono::milliseconds took{};
  auto why = all.run_while(
      text, 20s, [&] { all.one->kill(); }, took);
  CHECK(why.kind() == error_kind::unavailable);
  CHECK(says(why, "/job:worker/task:1"));
  CHECK(took < at_once);
  all.one.emplace(all.cluster, task_name{"worker", 1});
  CHECK(run(*all.client, text, 2).ok());
  CHECK(complaint_about(text.text.runs[0], run(*all.client, text)) == "");
}

TEST_CASE("a task that is killed while it computes is named at once") {
  watchdog watch;
  two_workers all;
  std::chrono::milliseconds took{};
  auto why = all.run_while(
      text_case{busy_on_one}, 20s, [&] { all.one->kill(); }, took);
  CHECK(why.kind() == error_kind::unavailable);
  CHECK(says(why, "/job:worker/task:1"));
  CHECK(took < at_once);
}

TEST_CASE("a task that is frozen counts as gone after the peer timeout, also in mid-step") {
  watchdog watch;
  two_workers all{1s};
  std::chrono::milliseconds took{};
  auto why = all.run_while(
      text_case{waits_on_one}, 20s, [&] { all.one->freeze(); }, took);
  CHECK(why.kind() == error_kind::unavailable);
  CHECK(says(why, "/job:worker/task:1"));
  CHECK(took < 1s + at_once);
  auto begin = clock_type::now();
  auto again = run(*all.client, text_case{waits_on_one}, 0, 500ms).status();
  CHECK(says(again, "/job:worker/task:1"));
  CHECK(clock_type::now() - begin < 500ms + at_once);
}

TEST_CASE("a step on a frozen task ends at its deadline, if that is earlier") {
  watchdog watch;
  two_workers all;
  std::chrono::milliseconds took{};
  auto why = all.run_while(
      text_case{waits_on_one}, 2s, [&] { all.one->freeze(); }, took);
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK(says(why, "/job:worker/task:1"));
  CHECK(took < 2s + at_once); // with a moment for the others to stop
}

TEST_CASE("a task shuts down at once, whatever its steps do, and its clients learn of it") {
  watchdog watch;
  two_workers all;
  std::chrono::milliseconds took{};
  int code = -1;
  auto why = all.run_while(
      text_case{waits_on_one}, 20s, [&] { code = all.one->terminate(at_once); }, took);
  CHECK(code == 0);
  CHECK(why.kind() == error_kind::unavailable);
  CHECK(took < at_once);
  CHECK(all.zero.terminate(at_once) == 0);
}

TEST_CASE("a client closes at once, even while it dials a task that is not there") {
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
  auto zero = start_task(cluster, {"worker", 0}), one = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{R"(
big = Fill(i32[64, 1048576], f32(0.5)) @"/job:worker/task:0"
s = Identity(big) @"/job:worker/task:1"
fetch s
)"};
  std::jthread waits{[&] { (void)run(*client, text, 0, 10s).ok(); }};
  std::this_thread::sleep_for(150ms);
  auto begin = clock_type::now();
  zero.reset();
  CHECK(clock_type::now() - begin < at_once);
  begin = clock_type::now();
  one.reset();
  CHECK(clock_type::now() - begin < at_once);
  waits.join();
}

TEST_CASE("a client that is killed takes nothing from a queue that its step waits for") {
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
  auto heard = run(*client, text, 2, 10s); // its step is about to ask the queue
  INFO(heard.status());
  REQUIRE(heard.ok());
  auto connected = descriptors();
  waiting.kill();
  // The task hears of the loss before it closes the connection.
  auto end = clock_type::now() + 10s;
  while (descriptors() >= connected && clock_type::now() < end)
    std::this_thread::yield();
  REQUIRE(descriptors() < connected);
  REQUIRE(run(*client, text, 1, 10s).ok());
  CHECK(complaint_about(text.text.runs[0], run(*client, text, 0, 10s)) == "");
}

} // namespace troupe::test::lost_task_test
