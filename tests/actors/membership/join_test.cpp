// Tasks that join a cluster by the address of another, on loopback.
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

struct how {
  std::string listen = "127.0.0.1:0", advertise = {};
  std::chrono::milliseconds patience = 30s;
  std::function<bool()> give_up = {};
  std::function<void(const status&)> on_failure = {};
};

result<std::unique_ptr<task>> try_to_join(const std::string& seeds, const task_name& self,
                                          how with = {}) {
  TROUPE_ASSIGN(auto cluster, find_cluster("join:" + seeds));
  auto options = options_of_task(cluster, self);
  options.listen = std::move(with.listen);
  options.advertise = std::move(with.advertise);
  options.peer_timeout = 2s;
  options.join_patience = with.patience;
  options.give_up = std::move(with.give_up);
  options.on_failure = std::move(with.on_failure);
  options.member_times = quick;
  return task::start(std::move(options));
}

std::unique_ptr<task> checked(result<std::unique_ptr<task>> made) {
  INFO(made.status());
  REQUIRE(made);
  return *std::move(made);
}

std::unique_ptr<task> join(const std::string& seeds, const task_name& self, how with = {}) {
  return checked(try_to_join(seeds, self, std::move(with)));
}

// Joins while the test goes on, and is checked by it: Catch may be used by one thread alone.
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
  auto made = client::connect(*cluster, std::move(options));
  REQUIRE(made);
  return *std::move(made);
}

std::string free_address() { return concat("127.0.0.1:", free_ports(1)[0]); }
const task_name any{"worker", -1}, ps{"ps", 0};

const char* over_two = R"(
x = Add(i32(1), i32(2)) @"/job:worker/task:0"
y = Mul(x, i32(5)) @"/job:worker/task:1"
fetch y = i32(15)
)";

const char* on_two = R"(
x = Add(i32(1), i32(2)) @"/job:worker/task:2"
fetch x = i32(3)
)";

std::set<task_name> tasks_of(client& of) {
  std::set<task_name> found;
  if (auto devices = of.devices(clock_type::now() + 5s))
    for (const auto& one : devices->devices)
      found.insert(device_name::parse(one.name)->on_task());
  return found;
}

} // namespace

TEST_CASE("tasks that join get numbers and find each other, in whatever order they start") {
  watchdog watch;
  auto seeds = free_address();
  auto client = connect_by(seeds);
  auto outcome =
      std::async(std::launch::async, [&] { return run_all(*client, text_case{over_two}); });
  auto one = joining(seeds, any), other = joining(seeds, any);
  auto first = join(seeds, ps, {.listen = seeds});
  auto one_task = checked(one.get()), other_task = checked(other.get());
  CHECK(std::set{one_task->self(), other_task->self()} ==
        std::set<task_name>{{"worker", 0}, {"worker", 1}});
  CHECK(outcome.get() == "");
  CHECK(tasks_of(*client) == std::set<task_name>{ps, {"worker", 0}, {"worker", 1}});
}

TEST_CASE("who knows the second seed only learns all tasks, and is told where to get a number") {
  watchdog watch;
  auto first_at = free_address(), second_at = free_address();
  auto seeds = concat(first_at, ',', second_at);
  auto first = join(seeds, ps, {.listen = first_at});
  auto second = join(seeds, {"ps", 1}, {.listen = second_at});
  auto worker = join(seeds, any);
  auto client = connect_by(second_at);
  CHECK(soon([&] {
    return tasks_of(*client) == std::set<task_name>{ps, {"ps", 1}, {"worker", 0}};
  }));
  auto other = join(second_at, any);
  CHECK(other->self() == task_name{"worker", 1});
  CHECK(soon([&] { return tasks_of(*client).size() == 4; }));
}

TEST_CASE("a number is given again when its task has said goodbye, or is back at its address") {
  watchdog watch;
  auto seeds = free_address(), address = free_address();
  auto first = join(seeds, ps, {.listen = seeds});
  auto zero = join(seeds, any, {.listen = address}), one = join(seeds, any);
  REQUIRE(zero->self() == task_name{"worker", 0});
  auto before = zero->incarnation();
  auto client = connect_by(seeds);
  CHECK(soon([&] { return tasks_of(*client).size() == 3; }));
  zero.reset();
  CHECK(soon([&] { return tasks_of(*client) == std::set<task_name>{ps, {"worker", 1}}; }));
  zero = join(seeds, any);
  CHECK(zero->self() == task_name{"worker", 0});
  CHECK(zero->incarnation() > before);
  CHECK(join(seeds, any)->self() == task_name{"worker", 2});
  auto taken = try_to_join(seeds, {"worker", 1});
  REQUIRE(!taken);
  CHECK(taken.status().kind() == error_kind::already_exists);
}

TEST_CASE("while the task that gives out numbers is away none is given, and all else goes on") {
  watchdog watch;
  auto seeds = free_address();
  auto first = join(seeds, ps, {.listen = seeds});
  auto zero = join(seeds, any), one = join(seeds, any);
  auto client = connect_by(seeds);
  text_case text{over_two};
  REQUIRE(run_all(*client, text) == "");
  first.reset();
  CHECK(run_all(*client, text) == "");
  auto hasty = try_to_join(seeds, any, {.patience = 300ms});
  REQUIRE(!hasty);
  CHECK(hasty.status().kind() == error_kind::unavailable);
  CHECK(hasty.status().message().find(seeds) != std::string::npos);
  auto late = joining(seeds, any);
  first = join(seeds, ps, {.listen = seeds});
  auto two = checked(late.get());
  CHECK(two->self() == task_name{"worker", 2}); // the others have their numbers still
  CHECK(run_all(*client, text) == "");
  CHECK(soon([&] { return tasks_of(*client).size() == 4; }));
}

TEST_CASE(
    "another member gives out numbers when the task that does is killed, until that is back") {
  watchdog watch;
  std::vector<std::string> at;
  for (auto port : free_ports(6))
    at.push_back(concat("127.0.0.1:", port));
  auto seeds = concat(at[0], ',', at[1]);
  std::optional<task_process> first{std::in_place, seeds, ps, at[0]};
  task_process zero{seeds, {"worker", 0}, at[1]}, one{seeds, any, at[2]};
  auto client = connect_by(seeds);
  text_case text{over_two};
  REQUIRE(run_all(*client, text) == "");
  first->kill();
  CHECK(run_all(*client, text) == "");
  task_process two{seeds, any, at[3]}; // returns when it has a number
  CHECK(run_all(*client, text_case{on_two}) == "");
  CHECK(run_all(*client, text) == "");
  first.emplace(seeds, ps, at[0]);
  CHECK(soon([&] { return tasks_of(*client).contains(ps); }));
  task_process three{at[0], any, at[4]}; // by the first address alone
  CHECK(soon([&] {
    return tasks_of(*client) ==
           std::set<task_name>{ps, {"worker", 0}, {"worker", 1}, {"worker", 2}, {"worker", 3}};
  }));
  CHECK(run_all(*client, text) == "");
}

TEST_CASE("a cluster of two tasks and a witness replaces the one that gives out numbers") {
  watchdog watch;
  std::vector<std::string> at;
  for (auto port : free_ports(4))
    at.push_back(concat("127.0.0.1:", port));
  auto seeds = concat(at[0], ',', at[1]);
  std::optional<task_process> first{std::in_place, seeds, ps, at[0]};
  task_process zero{seeds, any, at[1]}, witness{seeds, {"witness", -1}, at[2]};
  auto client = connect_by(seeds);
  text_case anywhere{"x = Add(i32(1), i32(2))\nfetch x = i32(3)\n"};
  REQUIRE(soon([&] { return tasks_of(*client).size() == 3; }));
  CHECK(run_all(*client, anywhere) == "");
  first->kill();
  task_process one{seeds, any, at[3]}; // returns when it has a number
  text_case on_one{"x = Add(i32(1), i32(2)) @\"/job:worker/task:1\"\nfetch x = i32(3)\n"};
  CHECK(run_all(*client, on_one) == "");
  CHECK(run_all(*client, anywhere) == "");
}

TEST_CASE("a task that waits for a number stops when it is told to, and says why it has none") {
  watchdog watch;
  std::atomic<int> asked{0};
  auto told = try_to_join(free_address(), any, {.give_up = [&] { return ++asked > 2; }});
  REQUIRE(!told);
  CHECK(told.status().kind() == error_kind::cancelled);
  auto seeds = free_address();
  auto numberless = try_to_join(seeds, any, {.listen = seeds});
  REQUIRE(!numberless);
  CHECK(numberless.status().message().find("gives out the numbers") != std::string::npos);
  auto everywhere = try_to_join(seeds, any, {.listen = "0.0.0.0:0"});
  CHECK(everywhere.status().message().find("insecure") != std::string::npos);
}

TEST_CASE("a task whose place another has taken ends, and says so") {
  watchdog watch;
  auto seeds = free_address(), address = free_address();
  auto first = join(seeds, ps, {.listen = seeds});
  std::promise<status> failed;
  auto old =
      join(seeds, any,
           {.advertise = address, .on_failure = [&](const status& why) { failed.set_value(why); }});
  // As if the process at that address had ended, and this were the next.
  auto next = join(seeds, any, {.advertise = address});
  CHECK(next->self() == old->self());
  CHECK(next->incarnation() > old->incarnation());
  auto why = failed.get_future();
  REQUIRE(why.wait_for(20s) == std::future_status::ready);
  CHECK(why.get().message().find("/job:worker/task:0 with the incarnation") != std::string::npos);
}

} // namespace troupe::test::join_test
