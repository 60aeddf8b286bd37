// Tasks that join a cluster by the address of a member, on loopback.
#include "troupe/actors/operator/task.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/api/internal/library.hpp"

#include <future>
#include <optional>
#include <set>

namespace troupe::test::join_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr coordinator_options quick{.settle = 300ms, .unreachable_after = 100ms, .gone_after = 60s};

struct join_settings {
  std::string listen = "127.0.0.1:0", advertise = {};
  std::chrono::milliseconds patience = 30s;
  std::function<bool()> give_up = {};
  std::function<void(const status&)> on_failure = {};
};

result<std::unique_ptr<task>> try_to_join(const std::string& seeds, const task_name& self,
                                          join_settings settings = {}) {
  TROUPE_ASSIGN(auto cluster, find_cluster("join:" + seeds));
  auto options = options_of_task(cluster, self);
  options.listen = std::move(settings.listen);
  options.advertise = std::move(settings.advertise);
  options.peer_timeout = 2s;
  options.join_timeout = settings.patience;
  options.give_up = std::move(settings.give_up);
  options.on_failure = std::move(settings.on_failure);
  options.member_times = quick;
  return task::start(std::move(options));
}

std::unique_ptr<task> checked(result<std::unique_ptr<task>> joined) {
  INFO(joined.status());
  REQUIRE(joined);
  return *std::move(joined);
}

std::unique_ptr<task> join(const std::string& seeds, const task_name& self,
                           join_settings settings = {}) {
  return checked(try_to_join(seeds, self, std::move(settings)));
}

// Joins on another thread. The caller checks the result, since Catch may be used by one thread
// alone.
std::future<result<std::unique_ptr<task>>> joining(const std::string& seeds,
                                                   const task_name& self) {
  return std::async(std::launch::async, [=] { return try_to_join(seeds, self); });
}

std::unique_ptr<client> connect_by(const std::string& seeds) {
  auto cluster = find_cluster("join:" + seeds);
  REQUIRE(cluster);
  client_options options;
  options.ops = &library();
  options.inter_op_threads = 2;
  options.peer_timeout = 2s;
  auto connected = client::connect(*cluster, std::move(options));
  REQUIRE(connected);
  return *std::move(connected);
}

std::string free_address() { return concat("127.0.0.1:", free_ports(1)[0]); }
const task_name any_worker{"worker", -1}, ps{"ps", 0};

const char* over_two = R"(
x = Add(i32(1), i32(2)) @"/job:worker/task:0"
y = Mul(x, i32(5)) @"/job:worker/task:1"
fetch y = i32(15)
)";

const char* on_two = R"(
x = Add(i32(1), i32(2)) @"/job:worker/task:2"
fetch x = i32(3)
)";

std::set<task_name> tasks_of(client& tested_client) {
  std::set<task_name> result;
  if (auto devices = tested_client.devices(clock_type::now() + 5s))
    for (const auto& device : devices->devices)
      result.insert(device_name::parse(device.name)->name_of_task());
  return result;
}

} // namespace

TEST_CASE("tasks that join get numbers and find each other, in any order of starting") {
  watchdog watch;
  auto seeds = free_address();
  auto client = connect_by(seeds);
  auto outcome =
      std::async(std::launch::async, [&] { return run_all(*client, text_case{over_two}); });
  auto first_join = joining(seeds, any_worker), second_join = joining(seeds, any_worker);
  auto first = join(seeds, ps, {.listen = seeds});
  auto one_task = checked(first_join.get()), other_task = checked(second_join.get());
  CHECK(std::set{one_task->self(), other_task->self()} ==
        std::set<task_name>{{"worker", 0}, {"worker", 1}});
  CHECK(outcome.get() == "");
  CHECK(tasks_of(*client) == std::set<task_name>{ps, {"worker", 0}, {"worker", 1}});
}

TEST_CASE(
    "a task that knows only the second seed learns all tasks, and is referred to the coordinator") {
  watchdog watch;
  auto first_at = free_address(), second_at = free_address();
  auto seeds = concat(first_at, ',', second_at);
  auto first = join(seeds, ps, {.listen = first_at});
  auto second = join(seeds, {"ps", 1}, {.listen = second_at});
  auto worker = join(seeds, any_worker);
  auto client = connect_by(second_at);
  CHECK(becomes_true([&] {
    return tasks_of(*client) == std::set<task_name>{ps, {"ps", 1}, {"worker", 0}};
  }));
  auto second_worker = join(second_at, any_worker);
  CHECK(second_worker->self() == task_name{"worker", 1});
  CHECK(becomes_true([&] { return tasks_of(*client).size() == 4; }));
}

TEST_CASE("a number is given again after its task has left, or to a task at the same address") {
  watchdog watch;
  auto seeds = free_address(), address = free_address();
  auto first = join(seeds, ps, {.listen = seeds});
  auto zero = join(seeds, any_worker, {.listen = address}), second_worker = join(seeds, any_worker);
  REQUIRE(zero->self() == task_name{"worker", 0});
  auto before = zero->incarnation();
  auto client = connect_by(seeds);
  CHECK(becomes_true([&] { return tasks_of(*client).size() == 3; }));
  zero.reset();
  CHECK(becomes_true([&] { return tasks_of(*client) == std::set<task_name>{ps, {"worker", 1}}; }));
  zero = join(seeds, any_worker);
  CHECK(zero->self() == task_name{"worker", 0});
  CHECK(zero->incarnation() > before);
  CHECK(join(seeds, any_worker)->self() == task_name{"worker", 2});
  auto refused_join = try_to_join(seeds, {"worker", 1});
  REQUIRE(!refused_join);
  CHECK(refused_join.status().kind() == error_kind::already_exists);
}

TEST_CASE("while the coordinator is away it assigns no numbers, and everything else continues") {
  watchdog watch;
  auto seeds = free_address();
  auto first = join(seeds, ps, {.listen = seeds});
  auto zero = join(seeds, any_worker), second_worker = join(seeds, any_worker);
  auto client = connect_by(seeds);
  text_case text{over_two};
  REQUIRE(run_all(*client, text) == "");
  first.reset();
  CHECK(run_all(*client, text) == "");
  auto refused_join = try_to_join(seeds, any_worker, {.patience = 300ms});
  REQUIRE(!refused_join);
  CHECK(refused_join.status().kind() == error_kind::unavailable);
  CHECK(refused_join.status().message().find(seeds) != std::string::npos);
  auto late_join = joining(seeds, any_worker);
  first = join(seeds, ps, {.listen = seeds});
  auto late_worker = checked(late_join.get());
  CHECK(late_worker->self() == task_name{"worker", 2}); // the other tasks keep their numbers
  CHECK(run_all(*client, text) == "");
  CHECK(becomes_true([&] { return tasks_of(*client).size() == 4; }));
}

TEST_CASE("another member assigns numbers after the coordinator is killed, until it returns") {
  watchdog watch;
  std::vector<std::string> addresses;
  for (auto port : free_ports(6))
    addresses.push_back(concat("127.0.0.1:", port));
  auto seeds = concat(addresses[0], ',', addresses[1]);
  std::optional<task_process> first{std::in_place, seeds, ps, addresses[0]};
  task_process zero{seeds, {"worker", 0}, addresses[1]},
      second_worker{seeds, any_worker, addresses[2]};
  auto client = connect_by(seeds);
  text_case text{over_two};
  REQUIRE(run_all(*client, text) == "");
  first->kill();
  CHECK(run_all(*client, text) == "");
  task_process second_worker_process{seeds, any_worker,
                                     addresses[3]}; // returns when it has a number
  CHECK(run_all(*client, text_case{on_two}) == "");
  CHECK(run_all(*client, text) == "");
  first.emplace(seeds, ps, addresses[0]);
  CHECK(becomes_true([&] { return tasks_of(*client).contains(ps); }));
  task_process third_worker_process{addresses[0], any_worker,
                                    addresses[4]}; // by the first address alone
  CHECK(becomes_true([&] {
    return tasks_of(*client) ==
           std::set<task_name>{ps, {"worker", 0}, {"worker", 1}, {"worker", 2}, {"worker", 3}};
  }));
  CHECK(run_all(*client, text) == "");
}

TEST_CASE("a cluster of two tasks and a witness replaces its coordinator") {
  watchdog watch;
  std::vector<std::string> addresses;
  for (auto port : free_ports(4))
    addresses.push_back(concat("127.0.0.1:", port));
  auto seeds = concat(addresses[0], ',', addresses[1]);
  std::optional<task_process> first{std::in_place, seeds, ps, addresses[0]};
  task_process zero{seeds, any_worker, addresses[1]}, witness{seeds, {"witness", -1}, addresses[2]};
  auto client = connect_by(seeds);
  text_case unplaced_case{"x = Add(i32(1), i32(2))\nfetch x = i32(3)\n"};
  REQUIRE(becomes_true([&] { return tasks_of(*client).size() == 3; }));
  CHECK(run_all(*client, unplaced_case) == "");
  first->kill();
  task_process first_worker{seeds, any_worker, addresses[3]}; // returns when it has a number
  text_case on_one{"x = Add(i32(1), i32(2)) @\"/job:worker/task:1\"\nfetch x = i32(3)\n"};
  CHECK(run_all(*client, on_one) == "");
  CHECK(run_all(*client, unplaced_case) == "");
}

TEST_CASE("a task that waits for a number stops on request, and its error says why it has none") {
  watchdog watch;
  std::atomic<int> give_up_checks{0};
  auto refused_join =
      try_to_join(free_address(), any_worker, {.give_up = [&] { return ++give_up_checks > 2; }});
  REQUIRE(!refused_join);
  CHECK(refused_join.status().kind() == error_kind::cancelled);
  auto seeds = free_address();
  auto numberless = try_to_join(seeds, any_worker, {.listen = seeds});
  REQUIRE(!numberless);
  CHECK(numberless.status().message().find("assigns the numbers") != std::string::npos);
  auto wildcard_join = try_to_join(seeds, any_worker, {.listen = "0.0.0.0:0"});
  CHECK(wildcard_join.status().message().find("insecure") != std::string::npos);
}

TEST_CASE("a task whose place another task has taken ends with an error that says so") {
  watchdog watch;
  auto seeds = free_address(), address = free_address();
  auto first = join(seeds, ps, {.listen = seeds});
  std::promise<status> failed;
  auto old = join(seeds, any_worker,
                  {.advertise = address,
                   .on_failure = [&](const status& reason) { failed.set_value(reason); }});
  // Stands in for the next process at that address, after the first has ended.
  auto next = join(seeds, any_worker, {.advertise = address});
  CHECK(next->self() == old->self());
  CHECK(next->incarnation() > old->incarnation());
  auto failure_future = failed.get_future();
  REQUIRE(failure_future.wait_for(20s) == std::future_status::ready);
  CHECK(failure_future.get().message().find("/job:worker/task:0 with the incarnation") !=
        std::string::npos);
}

} // namespace troupe::test::join_test
