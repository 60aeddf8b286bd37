// A session in a program's own actor system, with one scheduler thread, while its steps compute.
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/caf.hpp"
#include "troupe/troupe.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <thread>

namespace troupe::test::busy_system_test {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

constexpr auto prompt_limit = 1s * timeout_scale;

struct one_thread final : caf::actor_system_config {
  one_thread() { set("scheduler.max-threads", size_t{1}); }
};

// Eight steps that would compute for hours; actors of the same system request them.
struct busy_system {
  one_thread config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  caf::actor session = spawn_session(system, {.threads = {.intra_op = 1, .inter_op = 2}});
  graph_builder g;
  edge iterations = g.placeholder(dtype::i64, shape{}, "turns");
  edge x = g.placeholder(dtype::f32, {-1}, "x");
  std::shared_ptr<prepared_step> endless;
  std::stop_source stop;

  busy_system() {
    auto loop = while_loop(
        {g.constant(int64_t{0})}, [&](auto& v) { return less(v[0], iterations); },
        [](auto& v) { return std::vector<edge>{v[0] + int64_t{1}}; })[0];
    endless = prepare(iterations, loop);
    for (int i = 0; i < 8; ++i)
      begin();
    std::this_thread::sleep_for(100ms);
  }
  ~busy_system() {
    stop.request_stop();
    if (session)
      caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
    endless = nullptr;
  }

  // Sends the answer to `self`.
  void begin() {
    step_request request{.step = endless,
                         .feeds = {tensor::scalar(int64_t{1} << 60)},
                         .deadline = clock::now() + 60s,
                         .stop = stop.get_token()};
    system.spawn([to = caf::actor_cast<caf::actor>(self), session = session,
                  request = std::move(request)](caf::event_based_actor* asker) {
      asker->request(session, caf::infinite, request)
          .then([=](const step_outcome& outcome) { asker->send(to, outcome); },
                [=](const caf::error& reason) {
                  asker->send(to, step_outcome{from_caf(reason), {}});
                });
    });
  }
  std::shared_ptr<prepared_step> prepare(edge feed, edge fetch) {
    auto request =
        prepare_request::make(g, {.feeds = {feed}, .fetches = {fetch}}, clock::now() + 30s);
    REQUIRE(request);
    std::shared_ptr<prepared_step> prepared;
    self->request(session, 60s, *std::move(request))
        .receive([&](const std::shared_ptr<prepared_step>& step) { prepared = step; },
                 [&](const caf::error& reason) { FAIL(from_caf(reason)); });
    return prepared;
  }
  // The error kinds of the eight steps.
  std::vector<error_kind> end_kinds() {
    std::vector<error_kind> kinds;
    for (int i = 0; i < 8; ++i)
      self->receive([&](const step_outcome& outcome) { kinds.push_back(outcome.outcome.kind()); },
                    caf::after(70s) >> [] { FAIL("no answer"); });
    return kinds;
  }
};

} // namespace

TEST_CASE("steps of a session in an actor system of one thread are stopped while they compute") {
  watchdog watch;
  busy_system fixture;
  auto begin = clock::now();
  fixture.stop.request_stop();
  CHECK(fixture.end_kinds() == std::vector(8, error_kind::cancelled));
  CHECK(clock::now() - begin < prompt_limit);
}

TEST_CASE("a session in an actor system of one thread ends while its steps compute") {
  watchdog watch;
  busy_system fixture;
  auto begin = clock::now();
  caf::anon_send_exit(std::exchange(fixture.session, nullptr), caf::exit_reason::user_shutdown);
  CHECK(fixture.end_kinds() == std::vector(8, error_kind::cancelled));
  CHECK(clock::now() - begin < 2s * timeout_scale);
}

TEST_CASE("an actor system of one thread compiles and runs quick steps while others compute") {
  watchdog watch;
  busy_system fixture;
  auto begin = clock::now();
  auto twice_step = fixture.prepare(fixture.x, fixture.x * 2);
  step_request request{
      .step = twice_step, .feeds = {tensor::vector<float>({1})}, .deadline = begin + 30s};
  float result_value = 0;
  fixture.self->request(fixture.session, 60s, std::move(request))
      .receive(
          [&](const step_outcome& outcome) {
            REQUIRE(outcome.outcome);
            result_value = outcome.fetches.at(0).data<float>()[0];
          },
          [&](const caf::error& reason) { FAIL(from_caf(reason)); });
  CHECK(result_value == 2);
  CHECK(clock::now() - begin < prompt_limit);
}

TEST_CASE("an actor system of one thread serves its other actors while steps compute") {
  watchdog watch;
  busy_system fixture;
  auto echo =
      fixture.system.spawn([]() -> caf::behavior { return {[](int number) { return number; }}; });
  auto begin = clock::now();
  fixture.self->request(echo, 30s, 7)
      .receive([&](int number) { CHECK(number == 7); },
               [&](const caf::error& reason) { FAIL(from_caf(reason)); });
  CHECK(clock::now() - begin < prompt_limit);
}

TEST_CASE("a step whose deadline has passed is not run for an actor") {
  watchdog watch;
  busy_system fixture;
  auto twice_step = fixture.prepare(fixture.x, fixture.x * 2);
  step_request twice_request{
      .step = twice_step, .feeds = {tensor::vector<float>({1})}, .deadline = clock::now() - 1s};
  fixture.self->request(fixture.session, 60s, std::move(twice_request))
      .receive(
          [&](const step_outcome& outcome) {
            CHECK(outcome.outcome.kind() == error_kind::deadline_exceeded);
          },
          [&](const caf::error& reason) { FAIL(from_caf(reason)); });
  auto request = prepare_request::make(
      fixture.g, {.feeds = {fixture.x}, .fetches = {fixture.x * 7}}, clock::now() - 1s);
  REQUIRE(request);
  fixture.self->request(fixture.session, 60s, *std::move(request))
      .receive([&](const std::shared_ptr<prepared_step>&) { FAIL("it was compiled"); },
               [&](const caf::error& reason) {
                 CHECK(from_caf(reason).kind() == error_kind::deadline_exceeded);
               });
}

} // namespace troupe::test::busy_system_test
