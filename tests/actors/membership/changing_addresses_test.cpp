// Tasks whose addresses become known, change and disappear while a membership and a master run.
#include "troupe/actors/membership/membership.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/api/internal/library.hpp"

#include <fstream>
#include <thread>

namespace troupe::test::changing_addresses_test {

using namespace std::chrono_literals;

namespace {

const task_name zero{"worker", 0}, one{"worker", 1};

class settable_source final : public address_source {
public:
  result<task_addresses> read() override {
    ++reads;
    return addresses_read;
  }
  std::chrono::milliseconds poll_interval() const override { return 1s; }
  void on_change(std::function<void()> changed) override { report_change = std::move(changed); }
  std::string name() const override { return "the test"; }

  result<task_addresses> addresses_read = failure(error_kind::not_found, "nothing yet");
  std::function<void()> report_change;
  int reads = 0;
};

struct call {
  dial_result target;
  std::shared_ptr<std::atomic<bool>> stop;
};

struct changing_world : actor_world {
  std::shared_ptr<settable_source> source;
  std::vector<call> calls;
  std::vector<caf::actor> exchanges;
  std::vector<task_list> reported; // by the watcher
  caf::actor membership, watcher;

  explicit changing_world(
      std::shared_ptr<settable_source> read_source = std::make_shared<settable_source>())
      : source(std::move(read_source)) {
    membership_options options;
    options.role = "client";
    options.cluster.source = source;
    options.transport = {
        .dial =
            [this](caf::actor_system&, dial_result dialed_peer, const std::string& address,
                   const std::shared_ptr<std::atomic<bool>>& stop, const caf::actor&) {
              CHECK(dialed_peer.address == address);
              calls.push_back({std::move(dialed_peer), stop});
            },
        .open =
            [this](caf::actor_system& system, dial_result&, const exchange_options&) {
              exchanges.push_back(system.spawn([](caf::event_based_actor*) -> caf::behavior {
                return {[](const outgoing&) {}};
              }));
              return exchanges.back();
            }};
    membership = spawn_membership(system(), std::move(options));
    watcher = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      self->send(membership, watch_atom::value);
      return {[this](const task_list& known_tasks) { reported.push_back(known_tasks); },
              [](const link_lost&) {}};
    });
    run();
  }
  ~changing_world() {
    caf::anon_send_exit(membership, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(watcher, caf::exit_reason::user_shutdown);
    membership = watcher = nullptr;
    run();
    exchanges.clear();
  }

  void say(std::map<task_name, std::string> tasks) {
    task_addresses now;
    now.tasks = std::move(tasks);
    source->addresses_read = std::move(now);
  }
  awaited_answer<peer_link> connect(const task_name& target,
                                    std::chrono::milliseconds timeout = 10s) {
    auto pending = ask<peer_link>(membership, connect_request{target, now() + timeout});
    run();
    return pending;
  }
  void answer(call answered_call, status outcome = {}) {
    answered_call.target.outcome = std::move(outcome);
    answered_call.target.socket = std::make_shared<socket_handle>();
    caf::anon_send(membership, std::move(answered_call.target));
    run();
  }
  void introduce(const task_name& task, uint64_t incarnation) {
    hello peer_hello;
    peer_hello.role = "task";
    peer_hello.job = task.job;
    peer_hello.task = task.task;
    peer_hello.incarnation = incarnation;
    caf::anon_send(membership, peer_ready{peer_hello});
    run();
  }
};

bool message_contains(const status& outcome, std::string_view part) {
  INFO(outcome);
  return outcome.message().find(part) != std::string::npos;
}

const char* over_two = R"(
x = Add(i32(1), i32(2)) @"/job:worker/task:0"
y = Mul(x, i32(5)) @"/job:worker/task:1"
fetch y = i32(15)
)";

void write(const std::string& path, const cluster_spec& spec) {
  std::ofstream{path + ".new"} << to_json(spec);
  std::filesystem::rename(path + ".new", path);
}

std::unique_ptr<client> connect_by(const std::string& text) {
  auto cluster = find_cluster(text);
  REQUIRE(cluster);
  client_options options;
  options.ops = &library();
  options.inter_op_threads = 2;
  auto connected = client::connect(*cluster, std::move(options));
  REQUIRE(connected);
  return *std::move(connected);
}

std::unique_ptr<client> connect_to_file(const std::string& path) {
  return connect_by("file:" + path);
}

} // namespace

TEST_CASE("a connect request that comes before the task's address is answered when the address is "
          "known") {
  changing_world world;
  auto answer = world.connect(one);
  CHECK(world.calls.empty());
  world.say({{one, "h:1"}});
  world.advance_and_run(100ms); // a waiting request is answered earlier than after a second
  REQUIRE(world.calls.size() == 1);
  CHECK(world.calls[0].target.address == "h:1");
  world.answer(world.calls[0]);
  world.introduce(one, 7);
  REQUIRE(*answer);
  REQUIRE(**answer);
  CHECK((**answer)->incarnation == 7);
}

TEST_CASE(
    "a connect request for a task that no source names in time fails with the source's message") {
  changing_world world;
  auto answer = world.connect(one, 500ms);
  world.advance_and_run(200ms);
  CHECK(!*answer);
  world.advance_and_run(310ms);
  REQUIRE(*answer);
  CHECK((**answer).status().kind() == error_kind::not_found);
  CHECK(message_contains((**answer).status(), "the test has named no task /job:worker/task:1"));
  CHECK(message_contains((**answer).status(), "nothing yet"));
}

TEST_CASE("a task whose address changes during a call is called at the new address") {
  changing_world world;
  world.say({{one, "h:1"}});
  auto answer = world.connect(one);
  world.advance_and_run(100ms);
  REQUIRE(world.calls.size() == 1);
  world.say({{one, "h:2"}});
  world.advance_and_run(100ms);
  CHECK(*world.calls[0].stop);
  CHECK(world.calls.size() == 1); // one call at a time
  auto reached = GENERATE(false, true);
  INFO(reached);
  world.answer(world.calls[0],
               reached ? status{} : failure(error_kind::unavailable, "nobody there"));
  CHECK(!*answer);
  CHECK(world.exchanges.empty()); // nothing is sent to the process at the old address
  REQUIRE(world.calls.size() == 2);
  CHECK(world.calls[1].target.address == "h:2");
  CHECK(!*world.calls[1].stop);
  world.answer(world.calls[1]);
  world.introduce(one, 7);
  REQUIRE(*answer);
  CHECK(**answer);
}

TEST_CASE("a link outlives the address by which it was made, and its task") {
  changing_world world;
  world.say({{one, "h:1"}});
  auto answer = world.connect(one);
  world.advance_and_run(100ms);
  world.answer(world.calls.at(0));
  world.introduce(one, 7);
  REQUIRE(**answer);
  for (auto now : {std::map<task_name, std::string>{{one, "h:2"}}, {}}) {
    world.say(now);
    world.advance_and_run(1s);
    auto second_link = world.connect(one);
    REQUIRE(*second_link);
    REQUIRE(**second_link);
    CHECK((**second_link)->exchange == world.exchanges.at(0));
  }
  // After the membership has ended, the task is unknown.
  caf::anon_send(world.membership,
                 peer_gone{to_string(one), failure(error_kind::unavailable, "gone")});
  world.run();
  auto late_link = world.connect(one, 100ms);
  world.advance_and_run(110ms);
  REQUIRE(*late_link);
  CHECK((**late_link).status().kind() == error_kind::not_found);
}

TEST_CASE("a watcher is notified of the known tasks, once for each change") {
  changing_world world;
  world.say({{zero, "h:0"}});
  world.advance_and_run(1s);
  world.advance_and_run(3s);
  world.say({{zero, "h:0"}, {one, "h:1"}});
  world.advance_and_run(1s);
  world.source->addresses_read = failure(error_kind::unavailable, "it does not answer");
  world.advance_and_run(3s); // its last result stays in use
  world.say({{one, "h:1"}});
  world.advance_and_run(1s);
  std::vector<std::vector<task_name>> lists;
  for (const auto& known_tasks : world.reported)
    lists.push_back(known_tasks.tasks);
  CHECK(lists == std::vector<std::vector<task_name>>{{}, {zero}, {zero, one}, {one}});
}

TEST_CASE(
    "a source is read once a second, and ten times a second while a request waits for a task") {
  changing_world world;
  for (int i = 0; i < 100; ++i)
    world.advance_and_run(100ms);
  CHECK(world.source->reads >= 9);
  CHECK(world.source->reads <= 12);
  world.source->reads = 0;
  for (int i = 0; i < 20; ++i) // each request may trigger a read, but reads are limited in rate
    world.connect(one, 60s);
  for (int i = 0; i < 100; ++i)
    world.advance_and_run(100ms);
  CHECK(world.source->reads >= 90);
  CHECK(world.source->reads <= 102);
  CHECK(world.timers() < 50);
}

TEST_CASE("a change that a source reports is read at once") {
  changing_world world;
  world.advance_and_run(5s);
  world.advance_and_run(500ms); // half the interval of polls
  world.source->reads = 0;
  world.say({{one, "h:1"}});
  REQUIRE(world.source->report_change);
  world.source->report_change();
  world.run();
  CHECK(world.source->reads == 1);
  auto answer = world.connect(one);
  REQUIRE(world.calls.size() == 1);
  CHECK(world.calls[0].target.address == "h:1");
}

TEST_CASE("a source that reports many changes is read ten times a second") {
  changing_world world;
  world.advance_and_run(5s);
  world.source->reads = 0;
  for (int i = 0; i < 100; ++i) {
    world.say({{one, concat("h:", i + 1)}});
    world.source->report_change();
    world.source->report_change();
    world.advance_and_run(10ms);
  }
  CHECK(world.source->reads >= 9);
  CHECK(world.source->reads <= 12);
  world.advance_and_run(100ms);
  auto answer = world.connect(one);
  REQUIRE(world.calls.size() == 1);
  CHECK(world.calls[0].target.address == "h:100"); // the last change is read, too
  CHECK(world.timers() < 50);
}

TEST_CASE("a source may report a change after the membership has ended") {
  auto source = std::make_shared<settable_source>();
  {
    changing_world world{source};
    world.advance_and_run(1s);
    REQUIRE(source->report_change);
  }
  source->reads = 0;
  source->report_change();
  CHECK(source->reads == 0);
}

TEST_CASE("the environment that a text refers to can be given") {
  auto cluster = find_cluster(
      "dns:worker*2=worker-{index}.train:7000", {.variables = [](const std::string& name) {
        return name == "HOSTNAME" ? std::optional<std::string>{"worker-1"} : std::nullopt;
      }});
  REQUIRE(cluster);
  auto self = own_task(*cluster, "", {});
  REQUIRE(self);
  CHECK(*self == one);
}

TEST_CASE("a client and tasks find each other by a file that is written last") {
  watchdog watch;
  temporary_folder folder;
  auto path = folder / "cluster.json";
  auto client = connect_to_file(path);
  std::string outcome = "nothing ran";
  std::jthread early_run{[&] { outcome = run_all(*client, text_case{over_two}); }};
  auto cluster = make_cluster(2);
  auto first = start_task(cluster, zero), second = start_task(cluster, one);
  write(path, cluster);
  early_run.join();
  CHECK(outcome == "");
}

TEST_CASE("a step waits for a task that joins the cluster's file, and names it if it does not") {
  watchdog watch;
  temporary_folder folder;
  auto path = folder / "cluster.json";
  auto full_cluster = make_cluster(2), half = full_cluster;
  half.jobs["worker"].pop_back();
  write(path, half);
  auto first = start_task(full_cluster, zero), second = start_task(full_cluster, one);
  auto client = connect_to_file(path);
  text_case text{over_two};
  auto results = run(*client, text, 0, 500ms);
  INFO(results.status());
  CHECK(!results);
  CHECK(message_contains(results.status(), "/job:worker/task:1"));
  std::string outcome = "nothing ran";
  std::jthread early_run{[&] { outcome = run_all(*client, text); }};
  write(path, full_cluster);
  early_run.join();
  CHECK(outcome == "");
}

TEST_CASE("a step that names a job which is missing in the cluster's file fails at once") {
  watchdog watch;
  temporary_folder folder;
  auto path = folder / "cluster.json";
  auto cluster = make_cluster(1);
  write(path, cluster);
  auto first = start_task(cluster, zero);
  text_case text{R"(
x = Add(i32(1), i32(2)) @"/job:woker/task:0"
fetch x = i32(3)
)"};
  auto client = connect_by(path);
  auto before = std::chrono::steady_clock::now();
  auto results = run(*client, text, 0, 60s);
  CHECK(std::chrono::steady_clock::now() - before < 20s);
  CHECK(results.status().kind() == error_kind::not_found);
  CHECK(message_contains(results.status(),
                         "there is no device '/job:woker/task:0', did you mean 'worker'?"));
  // With file: another job may appear later.
  auto patient_client = connect_to_file(path);
  before = std::chrono::steady_clock::now();
  CHECK(!run(*patient_client, text, 0, 1s));
  CHECK(std::chrono::steady_clock::now() - before > 700ms);
}

TEST_CASE("a task that restarts at another address is found by the cluster's file") {
  watchdog watch;
  temporary_folder folder;
  auto path = folder / "cluster.json";
  auto before = make_cluster(2), after = before;
  after.jobs["worker"][1] = concat("127.0.0.1:", free_ports(1)[0]);
  write(path, before);
  auto client = connect_to_file(path);
  text_case text{over_two};
  auto first = start_task(before, zero), second = start_task(before, one);
  REQUIRE(run_all(*client, text) == "");
  second.reset();
  write(path, after);
  // The sending task uses the same file.
  first.reset();
  first = start_task(after, zero);
  second = start_task(after, one);
  auto deadline = std::chrono::steady_clock::now() + 20s;
  std::string outcome;
  do
    outcome = run_all(*client, text);
  while (outcome != "" && std::chrono::steady_clock::now() < deadline);
  CHECK(outcome == "");
}

} // namespace troupe::test::changing_addresses_test
