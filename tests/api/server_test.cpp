#include "troupe/api/server.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/runtime/insight/event_log.hpp"
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <thread>

namespace troupe::test::server_test {

using namespace std::chrono_literals;

namespace {

class environment_variable {
public:
  environment_variable(const char* name, const char* value) : name_(name) {
    ::setenv(name, value, 1);
  }
  ~environment_variable() { ::unsetenv(name_); }
  environment_variable(const environment_variable&) = delete;

private:
  const char* name_;
};

// The log events of a server so far.
struct log_of {
  std::mutex mutex;
  std::vector<log_event> events;

  log_hook hook() {
    return [this](const log_event& entry) {
      std::lock_guard guard{mutex};
      events.push_back(entry);
    };
  }
  std::optional<log_event> find(std::string_view event) {
    std::lock_guard guard{mutex};
    auto found_event = std::ranges::find(events, event, &log_event::event);
    return found_event == events.end() ? std::nullopt : std::optional{*found_event};
  }
  log_event wait_for(std::string_view event) {
    for (;;) // the watchdog bounds it
      if (auto result = find(event))
        return *result;
  }
};

std::string field(const log_event& entry, std::string_view name) {
  for (const auto& field_entry : entry.fields)
    if (field_entry.name == name)
      return text_of(&field_entry.value);
  return {};
}

} // namespace

TEST_CASE("a program serves as a task, and a session uses it") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto running_server = server::start(to_json(cluster), {.http = "127.0.0.1:0"});
  CHECK(running_server.incarnation() != 0);
  CHECK(http_client{running_server.http_port()}.get("/readyz")->status == 200);
  auto s = session::connect(cluster);
  graph_builder g;
  CHECK(s.fetch(g.constant(tensor::scalar(2.f)) * 3.f).values<float>()[0] == 6);
}

TEST_CASE("the error of a server that cannot start names the line of its start") {
  auto cluster = make_cluster(1);
  try {
    server::start(cluster, {.job = "chef"});
    FAIL("it has started");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::not_found);
    CHECK(std::string_view{e.what()}.find("server_test.cpp") != std::string_view::npos);
  }
  CHECK_THROWS_AS(server::start("{", {}), error);
  std::string log_text;
  try {
    server::start(cluster, {.cluster = {.peer_timeout = std::chrono::milliseconds{0}}});
  } catch (const error& e) {
    log_text = e.what();
  }
  CHECK(log_text.find("cluster.peer_timeout must be from 1 ms to 24 hours") != log_text.npos);
  CHECK_THROWS_AS(server::start(cluster, {.access = "no_such_list.json"}), error); // without TLS
}

TEST_CASE(
    "a server that drains refuses new steps and counts the remaining ones, which its end fails") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto running_server = std::make_unique<server>(server::start(cluster));
  CHECK(running_server->http_port() == 0);
  auto s = session::connect(cluster);
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.shapes = {{}}});
  auto take = s.prepare({}, queue_dequeue(queue, {dtype::f32}));
  auto long_take = take.run_async({}, {.timeout = 60s}),
       short_take = take.run_async({}, {.timeout = 2s});
  REQUIRE(becomes_true([&] {
    auto entries = s.state_of().entries;
    return !entries.empty() && entries[0].content.find("2 dequeues wait") != std::string::npos;
  }));
  auto begin = std::chrono::steady_clock::now();
  auto elapsed = [&] { return std::chrono::steady_clock::now() - begin; };
  CHECK(running_server->drain(50ms) == 2);
  CHECK(elapsed() >= 50ms);
  CHECK(elapsed() < 1s);
  auto refused = status_thrown_by([&] { s.run({}, {queue_size(queue)}, {}, {.timeout = 500ms}); });
  INFO(refused);
  CHECK(refused.kind() == error_kind::unavailable);
  CHECK(running_server->drain(5s) == 1); // the second step has ended with its deadline
  CHECK(status_thrown_by([&] { short_take.get(); }).kind() == error_kind::deadline_exceeded);
  begin = std::chrono::steady_clock::now();
  running_server.reset();
  CHECK(elapsed() < 6s); // two seconds, on a machine that may be busy
  auto failed = status_thrown_by([&] { long_take.get(); });
  INFO(failed);
  CHECK(failed.kind() == error_kind::unavailable);
}

TEST_CASE("a server may drain for the longest duration") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto running_server = server::start(cluster);
  auto s = session::connect(cluster);
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.shapes = {{}}});
  auto take = s.prepare({}, queue_dequeue(queue, {dtype::f32}));
  auto pending_take = take.run_async({}, {.timeout = 1s});
  REQUIRE(becomes_true([&] {
    auto entries = s.state_of().entries;
    return !entries.empty() && entries[0].content.find("1 dequeues wait") != std::string::npos;
  }));
  CHECK(running_server.drain(std::chrono::milliseconds::max()) == 0);
  CHECK(status_thrown_by([&] { pending_take.get(); }).kind() == error_kind::deadline_exceeded);
}

TEST_CASE("a server applies its access list") {
  watchdog watch;
  auto cluster = make_cluster(1);
  test_authority authority;
  auto list = authority.write("access.json", R"({"clients": {"alice": {"may": ["register"]}}})");
  auto running_server =
      server::start(cluster, {.cluster = {.tls = authority.task("worker", 0)}, .access = list});
  auto s = session::connect(cluster, {.cluster = {.tls = authority.client("alice")}});
  graph_builder g;
  std::string log_text;
  try {
    s.fetch(g.constant(tensor::scalar(2.f)) * 3.f);
  } catch (const error& e) {
    log_text = e.what();
  }
  CHECK(log_text.find("client 'alice' may not run steps") != log_text.npos);
}

TEST_CASE("a server reads its task name from the environment") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto ports = cluster.jobs.at("worker");
  environment_variable nodes{"SLURM_STEP_NODELIST", "127.0.0.1"},
      count{"SLURM_STEP_TASKS_PER_NODE", "2"}, rank{"SLURM_PROCID", "1"};
  auto running_server = server::start("slurm:worker*2,port=7000", {.listen = ports[1]});
  CHECK(running_server.self() == task_name{"worker", 1});
}

TEST_CASE("the log records the task's start, connections, and failed steps") {
  watchdog watch;
  auto cluster = make_cluster(1);
  log_of log;
  auto running_server = server::start(cluster, {.on_log = log.hook()});
  auto start_event = log.wait_for("task_started");
  CHECK(start_event.task == "/job:worker/task:0");
  CHECK(field(start_event, "address") == cluster.jobs.at("worker")[0]);
  {
    auto s = session::connect(cluster);
    graph_builder g;
    auto zero = g.placeholder(dtype::i32);
    auto quotient = g.constant(tensor::scalar(1)) / zero;
    CHECK_THROWS_AS(s.run({{zero, tensor::scalar(0)}}, {quotient}), error);
    s.reset("box");
  }
  CHECK(field(log.wait_for("link_opened"), "peer").starts_with("client "));
  CHECK(field(log.wait_for("program_registered"), "owner").starts_with("client "));
  auto failed = log.wait_for("step_failed");
  CHECK(failed.level == log_level::warning);
  CHECK(field(failed, "kind") == "invalid_argument");
  CHECK(field(log.wait_for("container_reset"), "container") == "box");
  auto lost = log.wait_for("link_lost");
  CHECK(lost.level == log_level::info); // it has ended in order
  {
    http_client stranger{running_server.port()};
    stranger.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100, 'x') + "\r\n\r\n");
    CHECK(log.wait_for("peer_refused").level == log_level::warning);
  }
  running_server.drain(1s);
  CHECK(log.find("drain_began"));
}

TEST_CASE("events that come in thousands are logged twenty at a time, and the rest is counted") {
  std::vector<log_event> events;
  event_log log{"/job:a/task:0", [&](const log_event& entry) { events.push_back(entry); }};
  for (int i = 0; i < 1000; ++i)
    log.write(log_level::warning, "step_failed", {{"step", int64_t{i}}});
  CHECK(events.size() == event_log::max_per_second);
  log.write(log_level::info, "link_lost");
  CHECK(events.back().event == "link_lost");
  while (events.back().event != "step_failed" || events.size() < event_log::max_per_second + 2)
    log.write(log_level::warning, "step_failed");
  CHECK(events.back().fields.back().name == "suppressed");
  CHECK(number_of(&events.back().fields.back().value) >= 980);
}

TEST_CASE("a refused step is logged at level info if its client retries, else as a warning") {
  watchdog watch;
  auto cluster = make_cluster(1);
  log_of log;
  auto running_server = server::start(cluster, {.on_log = log.hook()});
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto retrying_session =
      session::connect(cluster, {.recovery = {.max_retries = 1, .initial_delay = 1ms}});
  auto other_session = session::connect(cluster);
  auto retried = retrying_session.prepare({x}, {x + 1.f}),
       run_once = other_session.prepare({x}, {x + 1.f});
  retried.run({tensor::scalar(1.f)});
  run_once.run({tensor::scalar(1.f)});
  running_server.drain(0ms); // it refuses new steps
  CHECK_THROWS_AS(retried.run({tensor::scalar(1.f)}), error);
  CHECK_THROWS_AS(run_once.run({tensor::scalar(1.f)}), error);
  auto first_of_level = [&](log_level level) {
    std::lock_guard guard{log.mutex};
    return std::ranges::find_if(log.events, [&](const log_event& entry) {
             return entry.event == "step_refused" && entry.level == level;
           }) != log.events.end();
  };
  CHECK(becomes_true(
      [&] { return first_of_level(log_level::info) && first_of_level(log_level::warning); }));
  CHECK(!field(log.wait_for("step_refused"), "why").empty());
}

TEST_CASE("equal ends of steps within a moment are one event with a count") {
  std::mutex mutex;
  std::vector<log_event> events;
  constexpr event_names failed{"step_failed", "steps_failed"};
  auto field_of = [](const log_event& entry, std::string_view name) -> const property_value* {
    auto found_entry = std::ranges::find(entry.fields, name, &property::name);
    return found_entry == entry.fields.end() ? nullptr : &found_entry->value;
  };
  {
    event_log log{"/job:a/task:0", [&](const log_event& entry) {
                    std::lock_guard guard{mutex};
                    events.push_back(entry);
                  }};
    for (int64_t i = 8185; i >= 8159; --i)
      log.write_step(log_level::warning, failed, i,
                     {{"why", concat("/job:b/task:1 is gone in step ", i)}});
    log.write_step(log_level::warning, failed, 7, {{"why", std::string{"another cause"}}});
    CHECK(becomes_true([&] {
      std::lock_guard guard{mutex};
      return events.size() == 2;
    }));
    log.write_step(log_level::info, failed, 9, {{"why", std::string{"the log ends first"}}});
  }
  REQUIRE(events.size() == 3);
  CHECK(events[0].event == "steps_failed");
  CHECK(number_of(field_of(events[0], "count")) == 27);
  CHECK(number_of(field_of(events[0], "first")) == 8159);
  CHECK(number_of(field_of(events[0], "last")) == 8185);
  CHECK(text_of(field_of(events[0], "why")).starts_with("/job:b/task:1 is gone"));
  CHECK(events[1].event == "step_failed");
  CHECK(number_of(field_of(events[1], "step")) == 7);
  CHECK(!field_of(events[1], "count"));
  CHECK(events[2].level == log_level::info);
}

TEST_CASE("steps that end for ever new causes take bounded memory, and are all logged") {
  std::atomic<size_t> told_count{0};
  {
    event_log log{"/job:a/task:0", [&](const log_event& entry) {
                    told_count += entry.event == "step_failed" ? 1 : 0;
                    for (const auto& entry_field : entry.fields)
                      if (entry_field.name == "suppressed")
                        told_count += static_cast<size_t>(number_of(&entry_field.value));
                  }};
    for (int64_t i = 0; i < 1000; ++i)
      log.write_step(log_level::warning, {"step_failed", "steps_failed"}, 1,
                     {{"why", concat("cause ", i)}});
    CHECK(told_count >= event_log::max_per_second); // the events beyond the limit, at once
    size_t suppressed = 0;
    CHECK(becomes_true([&] {
      std::this_thread::sleep_for(100ms);
      log.write(log_level::warning, "step_failed"); // reports the number of suppressed events
      return told_count == 1000 + ++suppressed;
    }));
  }
}

TEST_CASE("a hook that throws costs the task nothing") {
  event_log log{"/job:a/task:0", [](const log_event&) { throw std::runtime_error{"full disk"}; }};
  log.write(log_level::info, "task_started");
  event_log silent_log;
  CHECK(!silent_log);
  silent_log.write(log_level::info, "task_started");
}

TEST_CASE("an event is one line, whatever its fields contain") {
  log_event entry{log_level::warning,
                  std::chrono::system_clock::time_point{std::chrono::milliseconds{1700000000123}},
                  "/job:a/task:0",
                  "link_lost",
                  {{"peer", std::string{"client 5"}},
                   {"why", std::string{"a \"b\"\nc\x01"}},
                   {"bytes", int64_t{7}},
                   {"seconds", 0.5},
                   {"called", true},
                   {"address", std::string{"127.0.0.1:80"}}}};
  CHECK(to_line(entry) ==
        "2023-11-14T22:13:20.123Z warning /job:a/task:0 link_lost peer=\"client 5\" "
        "why=\"a \\\"b\\\"\\nc\\x01\" bytes=7 seconds=0.5 called=true address=127.0.0.1:80");
}

} // namespace troupe::test::server_test
