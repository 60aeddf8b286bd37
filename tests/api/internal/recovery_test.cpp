#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/recovery.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace troupe::test::recovery_test {

using namespace std::chrono_literals;

namespace {

const task_name ps{"ps", 0}, worker{"worker", 0};

// A variable and a queue on a parameter server, in a process that can be killed.
struct two_tasks {
  two_tasks() { server.emplace(cluster, ps); }

  void restart() {
    server->kill();
    server.reset();
    server.emplace(cluster, ps);
  }

  session connect(recovery_options options) {
    options.on_event = [this](const recovery_event& event) {
      std::lock_guard guard{mutex};
      events.push_back(event);
    };
    return session::connect(cluster, {.recovery = std::move(options), .timeout = 20s});
  }

  size_t count(recovery_event_kind event_kind) {
    std::lock_guard guard{mutex};
    return static_cast<size_t>(std::ranges::count(events, event_kind, &recovery_event::kind));
  }

  cluster_spec cluster = make_cluster(1, 1);
  std::unique_ptr<task> local_task = start_task(cluster, worker);
  std::optional<task_process> server;
  std::mutex mutex;
  std::vector<recovery_event> events;
};

struct model {
  model() {
    auto placement = g.on("/job:ps/task:0");
    w = g.variable(dtype::f32, {}, "w");
    fill = assign(w, 5.0f).node;
    increment = assign_add(w, 1.0f).node;
    q = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}, .capacity = 10}, "q");
    put = queue_enqueue(q, {g.constant(1.0f)});
    size = queue_size(q);
  }
  graph_builder g;
  edge w, q, size;
  node *fill = nullptr, *increment = nullptr, *put = nullptr;
};

error_kind kind_of_failure(const std::function<void()>& body, std::string& text) {
  try {
    body();
    return error_kind::ok;
  } catch (const error& thrown) {
    text = thrown.what();
    return thrown.kind();
  }
}

} // namespace

TEST_CASE("a queue of a restarted task is not silently empty: one step reports the loss") {
  watchdog watch;
  two_tasks tasks;
  model m;
  auto s = tasks.connect({});
  s.run({}, {}, {m.put});
  CHECK(to_scalar<int32_t>(s.fetch(m.size)) == 1);
  tasks.restart();
  std::string text;
  auto failures = 0;
  for (int i = 0; i < 10; ++i)
    if (auto kind = kind_of_failure([&] { s.fetch(m.size); }, text); kind != error_kind::ok) {
      CHECK((kind == error_kind::aborted || kind == error_kind::unavailable));
      CHECK(text.find("/job:ps/task:0") != text.npos);
      ++failures;
    }
  CHECK(failures == 1);
  CHECK(to_scalar<int32_t>(s.fetch(m.size)) == 0);
}

TEST_CASE("retries do not hide lost state where nothing restores it") {
  watchdog watch;
  two_tasks tasks;
  model m;
  auto s = tasks.connect({.max_retries = 10});
  s.run(m.fill);
  s.run({}, {}, {m.put});
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
  tasks.restart();
  session::connect(tasks.cluster).run(m.fill); // a read of the variable finds a value
  std::string text;
  auto failures = 0;
  for (int i = 0; i < 5; ++i)
    if (auto kind = kind_of_failure([&] { s.fetch(m.w); }, text); kind != error_kind::ok) {
      CHECK(kind == error_kind::aborted);
      CHECK(text.find("/job:ps/task:0 was restarted, and the state of this session") != text.npos);
      ++failures;
    }
  CHECK(failures == 1);
  CHECK(to_scalar<int32_t>(s.fetch(m.size)) == 0);
}

TEST_CASE("an error that reports lost state is retried only where the state is restored") {
  auto attempts = 0;
  auto run = [&](recovery_options options) {
    attempts = 0;
    recovery policy{std::move(options)};
    auto outcome = policy.run(
        false, step_clock::now() + 10s, {},
        [&] {
          ++attempts;
          return failure(error_kind::aborted, "it is gone").with_lost_state();
        },
        [] {});
    CHECK(outcome.kind() == error_kind::aborted);
  };
  run({.max_retries = 3, .initial_delay = 1ms});
  CHECK(attempts == 1);
  run({.max_retries = 3, .initial_delay = 1ms, .restore_state = [](session&) {}});
  CHECK(attempts == 4);
}

TEST_CASE("an attempt knows whether its error reaches the caller") {
  std::vector<bool> retried;
  auto run = [&](bool has_effects, recovery_options options) {
    retried.clear();
    recovery policy{std::move(options)};
    auto attempt = [&] {
      retried.push_back(recovery::is_retrying_thread());
      return failure(error_kind::unavailable, "gone");
    };
    CHECK(!policy.run(has_effects, step_clock::now() + 10s, {}, attempt, [] {}));
    CHECK(!recovery::is_retrying_thread());
  };
  run(false, {.max_retries = 2, .initial_delay = 1ms});
  CHECK(retried == std::vector{true, true, false});
  run(true, {.max_retries = 2, .initial_delay = 1ms});
  CHECK(retried == std::vector{false});
  run(true, {.max_retries = 1, .initial_delay = 1ms, .repeat_effects = true});
  CHECK(retried == std::vector{true, false});
}

TEST_CASE(
    "each retry is logged in one line: the task, its incarnation, the first cause, the action") {
  std::vector<recovery_event> events;
  recovery policy{{.max_retries = 2,
                   .initial_delay = 1ms,
                   .on_event = [&](const recovery_event& event) { events.push_back(event); }}};
  auto attempts = 0;
  auto attempt = [&] {
    auto outcome = ++attempts == 1 ? failure(error_kind::unavailable, "/job:ps/task:1 was lost")
                                         .with_task("/job:ps/task:1")
                                         .with_incarnation(77)
                                   : failure(error_kind::aborted, "it is still not there");
    return outcome;
  };
  CHECK(!policy.run(false, step_clock::now() + 10s, {}, attempt, [] {}));
  const std::string prefix = "/job:ps/task:1 (incarnation 77): ",
                    why = ": unavailable: /job:ps/task:1 was lost";
  REQUIRE(events.size() == 3);
  CHECK(events[0].text == prefix + "retry 1 of 2 in 1 ms" + why);
  CHECK(events[1].text == prefix + "retry 2 of 2 in 2 ms" + why);
  CHECK(events[2].text == prefix + "the run fails after 2 retries" + why);
  for (const auto& event : events) {
    CHECK(event.task == "/job:ps/task:1");
    CHECK(event.incarnation == 77);
  }
}

TEST_CASE("the wait before a retry doubles, up to five seconds") {
  std::vector<step_clock::time_point> attempts;
  auto attempt = [&] {
    attempts.push_back(step_clock::now());
    return failure(error_kind::unavailable, "gone");
  };
  recovery policy{{.max_retries = 4, .initial_delay = 10ms}};
  CHECK(!policy.run(false, step_clock::now() + 20s, {}, attempt, [] {}));
  REQUIRE(attempts.size() == 5);
  for (size_t i = 1; i < 5; ++i)
    CHECK(attempts[i] - attempts[i - 1] >= 10ms * (1 << (i - 1)));

  std::stop_source stop;
  std::vector<std::string> warnings;
  recovery slow{
      {.max_retries = 9, .initial_delay = 2600ms, .on_event = [&](const recovery_event& event) {
         warnings.push_back(event.text);
         if (warnings.size() == 2)
           stop.request_stop();
       }}};
  CHECK(!slow.run(false, step_clock::now() + 60s, stop.get_token(), attempt, [] {}));
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].starts_with("retry 1 of 9 in 2600 ms"));
  CHECK(warnings[1].starts_with("retry 2 of 9 in 5000 ms"));
}

TEST_CASE("a restarted task's state is restored before anything else runs") {
  watchdog watch;
  two_tasks tasks;
  model m;
  std::atomic<int> restored{0};
  auto s = tasks.connect({.max_retries = 20, .restore_state = [&](session& restoring_session) {
                            ++restored;
                            restoring_session.run(m.fill);
                          }});
  s.run(m.fill);
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
  for (int i = 1; i <= 3; ++i) {
    tasks.restart();
    std::vector<std::jthread> readers;
    std::atomic<int> right_results{0};
    for (int k = 0; k < 4; ++k)
      readers.emplace_back([&] {
        for (int n = 0; n < 20; ++n)
          right_results += to_scalar<float>(s.fetch(m.w)) == 5;
      });
    readers.clear();
    CHECK(right_results == 80);
    CHECK(restored == i);
  }
  CHECK(tasks.count(recovery_event_kind::restoring) == 3);
  CHECK(tasks.count(recovery_event_kind::restored) == 3);
  CHECK(tasks.count(recovery_event_kind::retrying) > 0);
  CHECK(tasks.count(recovery_event_kind::given_up) == 0);
  for (const auto& event : tasks.events) {
    INFO(event.text);
    CHECK(event.task == "/job:ps/task:0");
    if (event.kind != recovery_event_kind::retrying)
      continue;
    CHECK(event.incarnation != 0);
    CHECK(event.text.find(concat("/job:ps/task:0 (incarnation ", event.incarnation, "): retry ",
                                 event.retry, " of 20 in ")) == 0);
  }
}

TEST_CASE("no run sees a restarted task before it is restored, whichever run notices the loss") {
  watchdog watch;
  two_tasks tasks;
  model m;
  std::atomic<int> restored{0};
  auto s = tasks.connect({.max_retries = 20, .restore_state = [&](session& restoring_session) {
                            ++restored;
                            restoring_session.run(m.fill);
                            restoring_session.run(m.put);
                          }});
  s.run(m.fill);
  s.run(m.put);
  s.fetch(m.w);
  auto size = s.prepare({}, {m.size});
  // A step that queries a queue is not repeated, like one that dequeues.
  auto size_now = [&] {
    for (;;)
      try {
        return to_scalar<int32_t>(size.run().front());
      } catch (const error& thrown) {
        if (thrown.kind() != error_kind::aborted && thrown.kind() != error_kind::unavailable)
          return -1;
      }
  };
  for (int i = 1; i <= 3; ++i) {
    tasks.restart();
    std::vector<std::jthread> readers;
    std::atomic<int> right_results{0};
    for (int k = 0; k < 4; ++k)
      readers.emplace_back([&, k] {
        for (int n = 0; n < 20; ++n)
          right_results += k % 2 == 0 ? to_scalar<float>(s.fetch(m.w)) == 5 : size_now() == 1;
      });
    readers.clear();
    CHECK(right_results == 80);
    CHECK(restored == i);
  }
}

TEST_CASE("a session whose cluster is given as text recovers like others") {
  watchdog watch;
  two_tasks tasks;
  model m;
  auto s = session::connect(
      to_json(tasks.cluster),
      {.recovery = {.max_retries = 20,
                    .restore_state =
                        [&](session& restoring_session) { restoring_session.run(m.fill); }},
       .timeout = 20s});
  s.run(m.fill);
  tasks.restart();
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
}

TEST_CASE(
    "a session that finds another one filling a task gets an error at once, and does not wait") {
  recovery policy{{.max_retries = 5, .initial_delay = 1ms}};
  auto attempts = 0;
  auto attempt = [&] {
    ++attempts;
    return failure(error_kind::unavailable, "another session fills it");
  };
  auto end_time = step_clock::now() + 10s;
  CHECK(!policy.run(
      false, end_time, {}, attempt, [] {}, [] { return true; }));
  CHECK(attempts == 1);
  CHECK(!policy.run(false, end_time, {}, attempt, [] {}));
  CHECK(attempts == 7);
}

TEST_CASE("a restore names all lost tasks, and after any exception later runs work") {
  std::vector<recovery_event> events;
  auto how_it_fails = 0;
  recovery policy{{.restore_state = [](session&) {},
                   .on_event = [&](const recovery_event& event) { events.push_back(event); }}};
  auto run = [&] {
    return policy.run(
        false, step_clock::now() + 10s, {}, [] { return status{}; },
        [&] {
          CHECK(policy.awaits_restore("/job:ps/task:1"));
          if (how_it_fails == 1)
            throw 7;
          if (how_it_fails == 2)
            throw std::runtime_error{"the disk is away"};
        });
  };
  CHECK(policy.add_lost_task("/job:ps/task:10"));
  CHECK(policy.add_lost_task("/job:ps/task:1"));
  CHECK(policy.add_lost_task("/job:ps/task:1"));
  how_it_fails = 1;
  CHECK(run().kind() == error_kind::internal);
  REQUIRE(events.size() == 1);
  CHECK(events[0].task == "/job:ps/task:1, /job:ps/task:10");
  how_it_fails = 2;
  CHECK(run().message().find("the disk is away") != std::string::npos);
  CHECK(policy.awaits_restore("/job:ps/task:10"));
  how_it_fails = 0;
  CHECK(run().ok());
  CHECK(events.back().kind == recovery_event_kind::restored);
  CHECK(!policy.awaits_restore("/job:ps/task:1"));
  CHECK(run().ok());
  CHECK(events.size() == 4);
}

TEST_CASE("a restore of one session may use another session, which is restored first") {
  const auto end_time = step_clock::now() + 10s;
  auto do_nothing = [] { return status{}; };
  std::vector<std::string> order;
  recovery_options options{.restore_state = [](session&) {}};
  recovery first{options}, second{options};
  first.add_lost_task("/job:ps/task:0");
  second.add_lost_task("/job:ps/task:0");
  auto outcome = first.run(false, end_time, {}, do_nothing, [&] {
    CHECK(first.is_restoring_thread());
    CHECK(!second.is_restoring_thread());
    auto inner = second.run(false, end_time, {}, do_nothing, [&] {
      CHECK(first.is_restoring_thread());
      CHECK(first.run(false, end_time, {}, do_nothing, [] { FAIL("it restores already"); }).ok());
      order.push_back("second");
    });
    CHECK(inner.ok());
    order.push_back("first");
  });
  CHECK(outcome.ok());
  CHECK(order == std::vector<std::string>{"second", "first"});
  CHECK(!first.is_restoring_thread());
}

TEST_CASE("a run with effects is repeated only on request") {
  watchdog watch;
  for (auto repeat : {false, true}) {
    CAPTURE(repeat);
    two_tasks tasks;
    model m;
    auto s = tasks.connect(
        {.max_retries = 20,
         .repeat_effects = repeat,
         .restore_state = [&](session& restoring_session) { restoring_session.run(m.fill); }});
    s.run(m.fill);
    s.run(m.increment); // compiled from now on
    tasks.restart();
    std::string text;
    auto kind = kind_of_failure([&] { s.run(m.increment); }, text);
    INFO(text);
    if (repeat) {
      CHECK(kind == error_kind::ok);
      CHECK(to_scalar<float>(s.fetch(m.w)) == 6);
    } else {
      CHECK((kind == error_kind::aborted || kind == error_kind::unavailable));
      CHECK(tasks.count(recovery_event_kind::given_up) == 1);
      CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
    }
  }
}

TEST_CASE("a restore that fails is retried, and its error is reported in the end") {
  watchdog watch;
  two_tasks tasks;
  model m;
  std::atomic<int> restore_calls{0};
  auto s = tasks.connect({.max_retries = 2, .initial_delay = 10ms, .restore_state = [&](session&) {
                            ++restore_calls;
                            throw error{error_kind::unavailable, "the disk is away"};
                          }});
  s.run(m.fill);
  tasks.restart();
  std::string text;
  CHECK(kind_of_failure([&] { s.fetch(m.w); }, text) != error_kind::ok);
  CHECK(restore_calls >= 1);
  CHECK(kind_of_failure([&] { s.fetch(m.w); }, text) == error_kind::unavailable);
  CHECK(text.find("the disk is away") != text.npos);
  CHECK(text.find("/job:ps/task:0") != text.npos);
}

TEST_CASE("retries end before the deadline of the run, with the first error") {
  watchdog watch;
  two_tasks tasks;
  model m;
  auto s = tasks.connect({.max_retries = 1000});
  s.run(m.fill);
  tasks.server->kill();
  tasks.server.reset();
  std::string text;
  auto begin = std::chrono::steady_clock::now();
  auto kind = kind_of_failure([&] { s.fetch(m.w, {}, {.timeout = 1500ms}); }, text);
  INFO(text);
  CHECK((kind == error_kind::unavailable || kind == error_kind::deadline_exceeded));
  CHECK(std::chrono::steady_clock::now() - begin < 10s * timeout_factor());
  CHECK(text.find("/job:ps/task:0") != text.npos);
}

} // namespace troupe::test::recovery_test
