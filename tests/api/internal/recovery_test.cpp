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

  session connect(recovery_options how) {
    how.on_event = [this](const recovery_event& one) {
      std::lock_guard guard{mutex};
      events.push_back(one);
    };
    return session::connect(cluster, {.recovery = std::move(how), .timeout = 20s});
  }

  size_t count(recovery_event::kind what) {
    std::lock_guard guard{mutex};
    return static_cast<size_t>(std::ranges::count(events, what, &recovery_event::what));
  }

  cluster_spec cluster = make_cluster(1, 1);
  std::unique_ptr<task> here = start_task(cluster, worker);
  std::optional<task_process> server;
  std::mutex mutex;
  std::vector<recovery_event> events;
};

struct model {
  model() {
    auto on = g.on("/job:ps/task:0");
    w = g.variable(dtype::f32, {}, "w");
    fill = assign(w, 5.0f).node;
    more = assign_add(w, 1.0f).node;
    q = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}, .capacity = 10}, "q");
    put = queue_enqueue(q, {g.constant(1.0f)});
    size = queue_size(q);
  }
  graph_builder g;
  edge w, q, size;
  node *fill = nullptr, *more = nullptr, *put = nullptr;
};

error_kind kind_of_failure(const std::function<void()>& what, std::string& text) {
  try {
    what();
    return error_kind::ok;
  } catch (const error& why) {
    text = why.what();
    return why.kind();
  }
}

} // namespace

TEST_CASE("a queue of a task that was restarted is not silently empty: one step says so") {
  watchdog watch;
  two_tasks all;
  model m;
  auto s = all.connect({});
  s.run({}, {}, {m.put});
  CHECK(to_scalar<int32_t>(s.fetch(m.size)) == 1);
  all.restart();
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

TEST_CASE("retries do not swallow that state is lost where nothing restores it") {
  watchdog watch;
  two_tasks all;
  model m;
  auto s = all.connect({.retries = 10});
  s.run(m.fill);
  s.run({}, {}, {m.put});
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
  all.restart();
  session::connect(all.cluster).run(m.fill); // what reads the variable finds a value
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

TEST_CASE("what says that state is lost is retried only where it is restored") {
  auto attempts = 0;
  auto run = [&](recovery_options how) {
    attempts = 0;
    recovery of{std::move(how)};
    auto outcome = of.run(
        false, step_clock::now() + 10s, {},
        [&] {
          ++attempts;
          return failure(error_kind::aborted, "it is gone").of_lost_state();
        },
        [] {});
    CHECK(outcome.kind() == error_kind::aborted);
  };
  run({.retries = 3, .wait = 1ms});
  CHECK(attempts == 1);
  run({.retries = 3, .wait = 1ms, .restore = [](session&) {}});
  CHECK(attempts == 4);
}

TEST_CASE("an attempt knows whether its error reaches the caller") {
  std::vector<bool> retried;
  auto run = [&](bool has_effects, recovery_options how) {
    retried.clear();
    recovery of{std::move(how)};
    auto attempt = [&] {
      retried.push_back(recovery::tries_again_here());
      return failure(error_kind::unavailable, "gone");
    };
    CHECK(!of.run(has_effects, step_clock::now() + 10s, {}, attempt, [] {}));
    CHECK(!recovery::tries_again_here());
  };
  run(false, {.retries = 2, .wait = 1ms});
  CHECK(retried == std::vector{true, true, false});
  run(true, {.retries = 2, .wait = 1ms});
  CHECK(retried == std::vector{false});
  run(true, {.retries = 1, .wait = 1ms, .repeat_effects = true});
  CHECK(retried == std::vector{true, false});
}

TEST_CASE("each retry is a line with the task, its incarnation, the first cause and what is done") {
  std::vector<recovery_event> events;
  recovery of{{.retries = 2, .wait = 1ms, .on_event = [&](const recovery_event& one) {
                 events.push_back(one);
               }}};
  auto attempts = 0;
  auto attempt = [&] {
    auto why = ++attempts == 1 ? failure(error_kind::unavailable, "/job:ps/task:1 was lost")
                                     .on_task("/job:ps/task:1")
                                     .of_incarnation(77)
                               : failure(error_kind::aborted, "it is still not there");
    return why;
  };
  CHECK(!of.run(false, step_clock::now() + 10s, {}, attempt, [] {}));
  const std::string who = "/job:ps/task:1 (incarnation 77): ",
                    why = ": unavailable: /job:ps/task:1 was lost";
  REQUIRE(events.size() == 3);
  CHECK(events[0].text == who + "retry 1 of 2 in 1 ms" + why);
  CHECK(events[1].text == who + "retry 2 of 2 in 2 ms" + why);
  CHECK(events[2].text == who + "the run fails after 2 retries" + why);
  for (const auto& one : events) {
    CHECK(one.task == "/job:ps/task:1");
    CHECK(one.incarnation == 77);
  }
}

TEST_CASE("the wait before a retry doubles, up to five seconds") {
  std::vector<step_clock::time_point> attempts;
  auto attempt = [&] {
    attempts.push_back(step_clock::now());
    return failure(error_kind::unavailable, "gone");
  };
  recovery of{{.retries = 4, .wait = 10ms}};
  CHECK(!of.run(false, step_clock::now() + 20s, {}, attempt, [] {}));
  REQUIRE(attempts.size() == 5);
  for (size_t i = 1; i < 5; ++i)
    CHECK(attempts[i] - attempts[i - 1] >= 10ms * (1 << (i - 1)));

  std::stop_source stop;
  std::vector<std::string> told;
  recovery slow{{.retries = 9, .wait = 2600ms, .on_event = [&](const recovery_event& what) {
                   told.push_back(what.text);
                   if (told.size() == 2)
                     stop.request_stop();
                 }}};
  CHECK(!slow.run(false, step_clock::now() + 60s, stop.get_token(), attempt, [] {}));
  REQUIRE(told.size() == 2);
  CHECK(told[0].starts_with("retry 1 of 9 in 2600 ms"));
  CHECK(told[1].starts_with("retry 2 of 9 in 5000 ms"));
}

TEST_CASE("what a restarted task held is restored before anything else runs") {
  watchdog watch;
  two_tasks all;
  model m;
  std::atomic<int> restored{0};
  auto s = all.connect({.retries = 20, .restore = [&](session& in) {
                          ++restored;
                          in.run(m.fill);
                        }});
  s.run(m.fill);
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
  for (int i = 1; i <= 3; ++i) {
    all.restart();
    std::vector<std::jthread> readers;
    std::atomic<int> right{0};
    for (int k = 0; k < 4; ++k)
      readers.emplace_back([&] {
        for (int n = 0; n < 20; ++n)
          right += to_scalar<float>(s.fetch(m.w)) == 5;
      });
    readers.clear();
    CHECK(right == 80);
    CHECK(restored == i);
  }
  CHECK(all.count(recovery_event::kind::restoring) == 3);
  CHECK(all.count(recovery_event::kind::restored) == 3);
  CHECK(all.count(recovery_event::kind::retrying) > 0);
  CHECK(all.count(recovery_event::kind::given_up) == 0);
  for (const auto& one : all.events) {
    INFO(one.text);
    CHECK(one.task == "/job:ps/task:0");
    if (one.what != recovery_event::kind::retrying)
      continue;
    CHECK(one.incarnation != 0);
    CHECK(one.text.find(concat("/job:ps/task:0 (incarnation ", one.incarnation, "): retry ",
                               one.retry, " of 20 in ")) == 0);
  }
}

TEST_CASE("no run sees a restarted task before it is restored, whichever run finds the loss") {
  watchdog watch;
  two_tasks all;
  model m;
  std::atomic<int> restored{0};
  auto s = all.connect({.retries = 20, .restore = [&](session& in) {
                          ++restored;
                          in.run(m.fill);
                          in.run(m.put);
                        }});
  s.run(m.fill);
  s.run(m.put);
  s.fetch(m.w);
  auto size = s.prepare({}, {m.size});
  // Whoever asks a queue is not repeated, as if it had taken something.
  auto size_now = [&] {
    for (;;)
      try {
        return to_scalar<int32_t>(size.run().front());
      } catch (const error& why) {
        if (why.kind() != error_kind::aborted && why.kind() != error_kind::unavailable)
          return -1;
      }
  };
  for (int i = 1; i <= 3; ++i) {
    all.restart();
    std::vector<std::jthread> readers;
    std::atomic<int> right{0};
    for (int k = 0; k < 4; ++k)
      readers.emplace_back([&, k] {
        for (int n = 0; n < 20; ++n)
          right += k % 2 == 0 ? to_scalar<float>(s.fetch(m.w)) == 5 : size_now() == 1;
      });
    readers.clear();
    CHECK(right == 80);
    CHECK(restored == i);
  }
}

TEST_CASE("a session that was given its cluster as text recovers as others do") {
  watchdog watch;
  two_tasks all;
  model m;
  auto s = session::connect(
      to_json(all.cluster),
      {.recovery = {.retries = 20, .restore = [&](session& in) { in.run(m.fill); }},
       .timeout = 20s});
  s.run(m.fill);
  all.restart();
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
}

TEST_CASE("who follows another that fills a task is told at once, and does not wait for its end") {
  recovery of{{.retries = 5, .wait = 1ms}};
  auto attempts = 0;
  auto attempt = [&] {
    ++attempts;
    return failure(error_kind::unavailable, "another session fills it");
  };
  auto until = step_clock::now() + 10s;
  CHECK(!of.run(
      false, until, {}, attempt, [] {}, [] { return true; }));
  CHECK(attempts == 1);
  CHECK(!of.run(false, until, {}, attempt, [] {}));
  CHECK(attempts == 7);
}

TEST_CASE("what restores names all tasks, and whatever it throws, others go on") {
  std::vector<recovery_event> events;
  auto how_it_fails = 0;
  recovery of{{.restore = [](session&) {},
               .on_event = [&](const recovery_event& one) { events.push_back(one); }}};
  auto run = [&] {
    return of.run(
        false, step_clock::now() + 10s, {}, [] { return status{}; },
        [&] {
          CHECK(of.awaits("/job:ps/task:1"));
          if (how_it_fails == 1)
            throw 7;
          if (how_it_fails == 2)
            throw std::runtime_error{"the disk is away"};
        });
  };
  CHECK(of.lose("/job:ps/task:10"));
  CHECK(of.lose("/job:ps/task:1"));
  CHECK(of.lose("/job:ps/task:1"));
  how_it_fails = 1;
  CHECK(run().kind() == error_kind::internal);
  REQUIRE(events.size() == 1);
  CHECK(events[0].task == "/job:ps/task:1, /job:ps/task:10");
  how_it_fails = 2;
  CHECK(run().message().find("the disk is away") != std::string::npos);
  CHECK(of.awaits("/job:ps/task:10"));
  how_it_fails = 0;
  CHECK(run().ok());
  CHECK(events.back().what == recovery_event::kind::restored);
  CHECK(!of.awaits("/job:ps/task:1"));
  CHECK(run().ok());
  CHECK(events.size() == 4);
}

TEST_CASE("what restores one session may use another, which is restored first") {
  const auto until = step_clock::now() + 10s;
  auto nothing = [] { return status{}; };
  std::vector<std::string> order;
  recovery_options how{.restore = [](session&) {}};
  recovery first{how}, second{how};
  first.lose("/job:ps/task:0");
  second.lose("/job:ps/task:0");
  auto outcome = first.run(false, until, {}, nothing, [&] {
    CHECK(first.restores_here());
    CHECK(!second.restores_here());
    auto inner = second.run(false, until, {}, nothing, [&] {
      CHECK(first.restores_here());
      CHECK(first.run(false, until, {}, nothing, [] { FAIL("it restores already"); }).ok());
      order.push_back("second");
    });
    CHECK(inner.ok());
    order.push_back("first");
  });
  CHECK(outcome.ok());
  CHECK(order == std::vector<std::string>{"second", "first"});
  CHECK(!first.restores_here());
}

TEST_CASE("a run with effects is repeated only if that was asked for") {
  watchdog watch;
  for (auto repeat : {false, true}) {
    CAPTURE(repeat);
    two_tasks all;
    model m;
    auto s = all.connect(
        {.retries = 20, .repeat_effects = repeat, .restore = [&](session& in) { in.run(m.fill); }});
    s.run(m.fill);
    s.run(m.more); // compiled from now on
    all.restart();
    std::string text;
    auto kind = kind_of_failure([&] { s.run(m.more); }, text);
    INFO(text);
    if (repeat) {
      CHECK(kind == error_kind::ok);
      CHECK(to_scalar<float>(s.fetch(m.w)) == 6);
    } else {
      CHECK((kind == error_kind::aborted || kind == error_kind::unavailable));
      CHECK(all.count(recovery_event::kind::given_up) == 1);
      CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
    }
  }
}

TEST_CASE("a restore that fails is tried again, and its error is told in the end") {
  watchdog watch;
  two_tasks all;
  model m;
  std::atomic<int> asked{0};
  auto s = all.connect({.retries = 2, .wait = 10ms, .restore = [&](session&) {
                          ++asked;
                          throw error{error_kind::unavailable, "the disk is away"};
                        }});
  s.run(m.fill);
  all.restart();
  std::string text;
  CHECK(kind_of_failure([&] { s.fetch(m.w); }, text) != error_kind::ok);
  CHECK(asked >= 1);
  CHECK(kind_of_failure([&] { s.fetch(m.w); }, text) == error_kind::unavailable);
  CHECK(text.find("the disk is away") != text.npos);
  CHECK(text.find("/job:ps/task:0") != text.npos);
}

TEST_CASE("retries end before the deadline of the run, with the first error") {
  watchdog watch;
  two_tasks all;
  model m;
  auto s = all.connect({.retries = 1000});
  s.run(m.fill);
  all.server->kill();
  all.server.reset();
  std::string text;
  auto begin = std::chrono::steady_clock::now();
  auto kind = kind_of_failure([&] { s.fetch(m.w, {}, {.timeout = 1500ms}); }, text);
  INFO(text);
  CHECK((kind == error_kind::unavailable || kind == error_kind::deadline_exceeded));
  CHECK(std::chrono::steady_clock::now() - begin < 10s * patience_factor());
  CHECK(text.find("/job:ps/task:0") != text.npos);
}

} // namespace troupe::test::recovery_test
