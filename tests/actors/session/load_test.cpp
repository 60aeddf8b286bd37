// Many steps, threads, sessions and bytes at once; and none at all.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/actors/session/session.hpp"
#include "troupe/api/internal/library.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

namespace troupe::test::load_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

const char* between_two = R"(
x = Placeholder dtype=i32 shape=[] @"/job:worker/task:0"
y = Add(x, i32(1)) @"/job:worker/task:0"
z = Mul(y, y) @"/job:worker/task:1"
feed x = i32(2)
fetch z = i32(9)
)";

client_options local_options() {
  client_options options;
  options.ops = &library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); };
  options.inter_op_threads = 2;
  return options;
}

std::chrono::microseconds cpu_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto seconds_of = [](const timeval& t) {
    return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
  };
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

int64_t free_gib() {
  std::ifstream info{"/proc/meminfo"};
  for (std::string field; info >> field;)
    if (field == "MemAvailable:") {
      int64_t kib = 0;
      info >> kib;
      return kib >> 20;
    }
  return 0;
}

// Creates, uses and closes sessions; no resource may be left after the first few.
void sessions_leave_nothing(int count, const std::function<void()>& one_session) {
  for (int i = 0; i < 10; ++i)
    one_session();
  auto before = footprint_of(::getpid());
  for (int i = 0; i < count; ++i)
    one_session();
  auto end = clock_type::now() + 10s; // connections close and threads end asynchronously
  auto after = footprint_of(::getpid());
  while ((after.descriptors > before.descriptors || after.threads > before.threads + 1) &&
         clock_type::now() < end) {
    std::this_thread::sleep_for(20ms);
    after = footprint_of(::getpid());
  }
  CHECK(after.threads <= before.threads + 1);
  CHECK(after.descriptors <= before.descriptors);
  if (size_is_telling)
    CHECK(after.resident_kib - before.resident_kib < 4 * 1024 + std::min(count, 1000) * 4);
}

void local_session() {
  auto client = client::local(local_options());
  REQUIRE(client);
  CHECK(run_all(**client, text_case{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"}) == "");
}

void large_tensor(int64_t mebi_elements, std::chrono::seconds timeout) {
  auto cluster = make_cluster(2);
  task_process zero{cluster, {"worker", 0}}, second_task{cluster, {"worker", 1}};
  auto client = connect_to(cluster);
  text_case text{concat("big = Fill(i32[", mebi_elements,
                        ", 1048576], f32(0.5)) @\"/job:worker/task:0\"\n", "row = Slice(big, i32[",
                        mebi_elements - 1, ", 1048572], i32[1, 4]) @\"/job:worker/task:1\"\n",
                        "fetch row = f32[[0.5, 0.5, 0.5, 0.5]]\n")};
  CHECK(difference_of(text.text.runs[0], run(*client, text, 0, timeout)) == "");
}

} // namespace

TEST_CASE("64 threads may run steps of one client at once") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}),
       second_task = start_task(cluster, {"worker", 1});
  auto client = connect_to(cluster);
  text_case text{between_two};
  auto step =
      client->prepare(*text.nodes, signature_of(text.text.runs[0]), clock_type::now() + 10s);
  REQUIRE(step);
  std::atomic<int> wrong_results = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 64; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 8; ++i) {
          std::vector<tensor> feeds{tensor::scalar(t + i)};
          auto results = client->run(**step, feeds, clock_type::now() + 30s);
          wrong_results +=
              !results || *results->front().data<int32_t>() != (t + i + 1) * (t + i + 1);
        }
      });
  }
  CHECK(wrong_results == 0);
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("a host's own actor system runs a thousand steps at once through a session actor") {
  watchdog watch;
  system_config config{2, true};
  caf::actor_system system{config};
  auto cluster = make_cluster(2);
  auto first_task = start_task(cluster, {"worker", 0}),
       second_task = start_task(cluster, {"worker", 1});
  for (auto local : {true, false}) {
    auto session = local ? spawn_local_session(system, local_options())
                         : spawn_cluster_session(system, cluster, local_options());
    REQUIRE(session);
    text_case text{local ? "x = Placeholder dtype=i32 shape=[]\ny = Add(x, i32(1))\nz = Mul(y, y)\n"
                           "feed x = i32(1)\nfetch z"
                         : between_two};
    caf::scoped_actor self{system, true};
    std::shared_ptr<prepared_step> step;
    auto deadline = clock_type::now() + 30s;
    self->request(*session, 30s,
                  *prepare_request::make(*text.nodes, signature_of(text.text.runs[0]), deadline))
        .receive([&](std::shared_ptr<prepared_step>& prepared) { step = prepared; },
                 [&](const caf::error& reason) { FAIL(from_caf(reason)); });
    int right_results = 0;
    constexpr int count = 1000;
    std::vector<std::function<void()>> receive;
    for (int i = 0; i < count; ++i) {
      auto answer = std::make_shared<decltype(self->request(*session, 30s, step_request{}))>(
          self->request(*session, 30s, step_request{step, {tensor::scalar(i)}, deadline}));
      receive.push_back([&right_results, answer, i] {
        answer->receive(
            [&](const step_outcome& outcome) {
              right_results += outcome.outcome.ok() &&
                               *outcome.fetches.at(0).data<int32_t>() == (i + 1) * (i + 1);
            },
            [](const caf::error&) {});
      });
    }
    for (const auto& one_answer : receive)
      one_answer();
    CHECK(right_results == count);
    step.reset();
    receive.clear();
    caf::anon_send_exit(*session, caf::exit_reason::user_shutdown);
  }
}

TEST_CASE(
    "a session actor that is released without an exit message ends, with all actors that it owns") {
  watchdog watch;
  system_config config{2, true};
  caf::actor_system system{config};
  auto before = system.registry().running();
  auto cluster = make_cluster(1);
  auto task = start_task(cluster, {"worker", 0});
  for (auto local : {true, false}) {
    auto session = local ? spawn_local_session(system, local_options())
                         : spawn_cluster_session(system, cluster, local_options());
    REQUIRE(session);
    CHECK(system.registry().running() > before);
    if (!local) { // opens a connection
      caf::scoped_actor self{system, true};
      self->request(*session, 30s, list_devices_atom::value)
          .receive([](const std::vector<device_info>&) {},
                   [](const caf::error& reason) { FAIL(from_caf(reason)); });
    }
    *session = nullptr;
    auto end_time = clock_type::now() + 5s;
    while (system.registry().running() > before && clock_type::now() < end_time)
      std::this_thread::sleep_for(10ms);
    CHECK(system.registry().running() == before);
  }
}

TEST_CASE("an idle client and an idle task use hardly any processor time") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto served = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  REQUIRE(run_all(*client, text_case{"x = Neg(i32(1))\nfetch x = i32(-1)"}) == "");
  auto used = [] {
    auto before = cpu_time();
    std::this_thread::sleep_for(1s);
    return cpu_time() - before;
  };
  // The goal is 1 %; the machine may have other work, and threads of earlier tests may still end.
  CHECK(becomes_true([&] { return used() < 50ms; }));
}

TEST_CASE("a hundred local sessions leave no resources behind") {
  watchdog watch;
  sessions_leave_nothing(100, local_session);
}

TEST_CASE("a hundred connected sessions leave no resources behind") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto served = start_task(cluster, {"worker", 0});
  sessions_leave_nothing(100, [&] {
    CHECK(run_all(*connect_to(cluster), text_case{"x = Neg(i32(1))\nfetch x = i32(-1)"}) == "");
  });
}

TEST_CASE("ten thousand sessions leave no resources behind", "[slow]") {
  watchdog watch{100s};
  sessions_leave_nothing(10'000 / timeout_scale, local_session);
}

TEST_CASE("a tensor of three gigabytes is sent between tasks", "[slow]") {
  watchdog watch{100s};
  if (!gigabytes_fit || free_gib() < 16) {
    WARN("skipped: needs 16 GB of free memory");
    return;
  }
  large_tensor(768, 90s);
}

} // namespace troupe::test::load_test
