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

constexpr auto soon = 1s * slowness;

struct one_thread final : caf::actor_system_config {
  one_thread() { set("scheduler.max-threads", size_t{1}); }
};

// Eight steps that would compute for hours; those who ask for them are actors of the same system.
struct busy_system {
  one_thread config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  caf::actor session = spawn_session(system, {.threads = {.intra_op = 1, .inter_op = 2}});
  graph_builder g;
  edge turns = g.placeholder(dtype::i64, shape{}, "turns");
  edge x = g.placeholder(dtype::f32, {-1}, "x");
  std::shared_ptr<prepared_step> endless;
  std::stop_source stop;

  busy_system() {
    auto loop = while_loop(
        {g.constant(int64_t{0})}, [&](auto& v) { return less(v[0], turns); },
        [](auto& v) { return std::vector<edge>{v[0] + int64_t{1}}; })[0];
    endless = prepare(turns, loop);
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
    step_request what{.step = endless,
                      .feeds = {tensor::scalar(int64_t{1} << 60)},
                      .deadline = clock::now() + 60s,
                      .stop = stop.get_token()};
    system.spawn([to = caf::actor_cast<caf::actor>(self), session = session,
                  what = std::move(what)](caf::event_based_actor* by) {
      by->request(session, caf::infinite, what)
          .then([=](const step_outcome& done) { by->send(to, done); },
                [=](const caf::error& why) {
                  by->send(to, step_outcome{from_caf(why), {}});
                });
    });
  }
  std::shared_ptr<prepared_step> prepare(edge feed, edge fetch) {
    auto request =
        prepare_request::make(g, {.feeds = {feed}, .fetches = {fetch}}, clock::now() + 30s);
    REQUIRE(request);
    std::shared_ptr<prepared_step> made;
    self->request(session, 60s, *std::move(request))
        .receive([&](const std::shared_ptr<prepared_step>& step) { made = step; },
                 [&](const caf::error& why) { FAIL(from_caf(why)); });
    return made;
  }
  // The kinds of what the eight steps end with.
  std::vector<error_kind> ends() {
    std::vector<error_kind> kinds;
    for (int i = 0; i < 8; ++i)
      self->receive([&](const step_outcome& done) { kinds.push_back(done.outcome.kind()); },
                    caf::after(70s) >> [] { FAIL("no answer"); });
    return kinds;
  }
};

} // namespace

TEST_CASE("steps of a session in an actor system of one thread are stopped while they compute") {
  watchdog watch;
  busy_system in;
  auto begin = clock::now();
  in.stop.request_stop();
  CHECK(in.ends() == std::vector(8, error_kind::cancelled));
  CHECK(clock::now() - begin < soon);
}

TEST_CASE("a session in an actor system of one thread ends while its steps compute") {
  watchdog watch;
  busy_system in;
  auto begin = clock::now();
  caf::anon_send_exit(std::exchange(in.session, nullptr), caf::exit_reason::user_shutdown);
  CHECK(in.ends() == std::vector(8, error_kind::cancelled));
  CHECK(clock::now() - begin < 2s * slowness);
}

TEST_CASE("an actor system of one thread compiles and runs quick steps while others compute") {
  watchdog watch;
  busy_system in;
  auto begin = clock::now();
  auto twice = in.prepare(in.x, in.x * 2);
  step_request what{.step = twice, .feeds = {tensor::vector<float>({1})}, .deadline = begin + 30s};
  float got = 0;
  in.self->request(in.session, 60s, std::move(what))
      .receive(
          [&](const step_outcome& done) {
            REQUIRE(done.outcome);
            got = done.fetches.at(0).data<float>()[0];
          },
          [&](const caf::error& why) { FAIL(from_caf(why)); });
  CHECK(got == 2);
  CHECK(clock::now() - begin < soon);
}

TEST_CASE("an actor system of one thread serves its other actors while steps compute") {
  watchdog watch;
  busy_system in;
  auto echo = in.system.spawn([]() -> caf::behavior { return {[](int what) { return what; }}; });
  auto begin = clock::now();
  in.self->request(echo, 30s, 7)
      .receive([&](int what) { CHECK(what == 7); },
               [&](const caf::error& why) { FAIL(from_caf(why)); });
  CHECK(clock::now() - begin < soon);
}

TEST_CASE("a step whose deadline has passed is not run for an actor") {
  watchdog watch;
  busy_system in;
  auto twice = in.prepare(in.x, in.x * 2);
  step_request what{
      .step = twice, .feeds = {tensor::vector<float>({1})}, .deadline = clock::now() - 1s};
  in.self->request(in.session, 60s, std::move(what))
      .receive(
          [&](const step_outcome& done) {
            CHECK(done.outcome.kind() == error_kind::deadline_exceeded);
          },
          [&](const caf::error& why) { FAIL(from_caf(why)); });
  auto request =
      prepare_request::make(in.g, {.feeds = {in.x}, .fetches = {in.x * 7}}, clock::now() - 1s);
  REQUIRE(request);
  in.self->request(in.session, 60s, *std::move(request))
      .receive([&](const std::shared_ptr<prepared_step>&) { FAIL("it was compiled"); },
               [&](const caf::error& why) {
                 CHECK(from_caf(why).kind() == error_kind::deadline_exceeded);
               });
}

} // namespace troupe::test::busy_system_test
