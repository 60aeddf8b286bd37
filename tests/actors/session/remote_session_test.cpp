// A session whose master is elsewhere, and what its hosts say to it, in an order that a test
// chooses.
#include "troupe/actors/session/remote_session.hpp"

#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/secure_cluster.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/actors/session/prepared_step.hpp"

#include <deque>
#include <set>

namespace troupe::test::remote_session_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

// In the place of the connection to a host: it keeps what the host is asked.
struct fake_host {
  connection_ptr via = std::make_shared<peer_connection>();
  caf::actor exchange, owner;
  std::vector<session_request> asked;
};

caf::behavior host_behavior(caf::event_based_actor* self, fake_host* host,
                            const caf::actor_addr& opener) {
  host->via->peer = "/job:worker/task:0";
  host->via->exchange = self->address();
  self->send(caf::actor_cast<caf::actor>(opener),
             peer_ready{{.software = {}, .role = "task", .job = {}}, host->via});
  return {
      [=](const outgoing& what) { host->asked.push_back(std::get<session_request>(what.content)); },
      [](const deed& what) { what.act(); }};
}

struct remote_world : actor_world {
  std::deque<fake_host> hosts;
  std::set<std::string> unrestored;
  caf::actor session;
  text_case text{small_text};
  std::shared_ptr<prepared_step> step;

  remote_world() {
    membership_ways ways;
    ways.dial = [](caf::actor_system&, dialed call, const std::string&,
                   const std::shared_ptr<std::atomic<bool>>&,
                   const caf::actor& reply) { caf::anon_send(reply, std::move(call)); };
    ways.open = [this](caf::actor_system& in, dialed&, const exchange_options& how) {
      auto& host = hosts.emplace_back();
      host.owner = how.owner;
      return host.exchange = in.spawn(host_behavior, &host, how.opener);
    };
    client_options options;
    options.lost_state.lose = [this](const state_loss& what) {
      unrestored.insert(what.task);
      return true;
    };
    options.lost_state.awaits = [this](const std::string& task) {
      return unrestored.contains(task);
    };
    session = *spawn_remote_session(system(), {"one:1", "two:2"}, options, nullptr, &ways);
    begin_prepare();
  }
  ~remote_world() {
    step.reset();
    caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
    session = nullptr;
    run();
    hosts.clear();
  }

  // The host that has the session: the last that was called.
  fake_host& host() { return hosts.back(); }

  void answer(fake_host& from, session_reply with) {
    caf::anon_send(session, incoming{std::move(with), from.exchange, from.via});
    run();
  }
  // What that host was asked last, which is of that kind.
  template <class What>
  uint64_t last(fake_host& of) {
    REQUIRE(!of.asked.empty());
    REQUIRE(std::holds_alternative<What>(of.asked.back().what));
    return of.asked.back().request;
  }
  const session_run& last_run(fake_host& of) {
    last<session_run>(of);
    return std::get<session_run>(of.asked.back().what);
  }
  void open_at_last() { answer(host(), {.request = last<session_open>(host())}); }
  void prepared_at_last() {
    answer(host(), {.request = last<session_prepare>(host()), .what = prepared_handle{5}});
  }

  void begin_prepare() {
    auto box = ask<std::shared_ptr<prepared_step>>(
        session, *prepare_request::make(*text.nodes, signature_of(text.text.runs[0]), now() + 60s));
    run();
    open_at_last();
    answer(host(), {.request = last<session_prepare>(host()),
                    .what = prepared_handle{4},
                    .held = {{"/job:ps/task:0", 11}}});
    REQUIRE(*box);
    REQUIRE((**box).ok());
    step = ***box;
  }
  answer_box<step_outcome> start(uint64_t fill = 0, uint64_t knows = 0,
                                 const std::stop_token& stop = {}) {
    step_request request{.step = step,
                         .feeds = feeds_of(text.text.runs[0]),
                         .deadline = now() + 60s,
                         .knows = knows,
                         .fill = fill,
                         .stop = stop};
    auto box = ask<step_outcome>(session, std::move(request));
    run();
    return box;
  }
  std::shared_ptr<std::optional<status>> end(uint64_t fill) {
    auto box = std::make_shared<std::optional<status>>();
    system().spawn([=, whom = session](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, end_fill{true, fill})
          .then([=](status& answer) { *box = std::move(answer); },
                [=](const caf::error& why) { *box = from_caf(why); });
    });
    run();
    return box;
  }
};

session_reply ran(uint64_t request, std::vector<state_loss> losses = {},
                  std::vector<task_fill> fills = {}) {
  return {.request = request,
          .what = session_ran{.fetches = {tensor::scalar(3)}},
          .losses = std::move(losses),
          .fills = std::move(fills)};
}

status outcome_of(const answer_box<step_outcome>& box) {
  REQUIRE(*box);
  return **box ? (**box)->outcome : (**box).status();
}

const std::string ps = "/job:ps/task:0";

} // namespace

TEST_CASE("an answer that overtakes another does not tell the losses of that") {
  remote_world world;
  auto late = world.start(), soon = world.start();
  auto& host = world.host();
  auto last = world.last<session_run>(host), first = last - 1;
  world.answer(host, ran(last, {{ps, 2}}));
  CHECK(outcome_of(soon).ok());
  CHECK(world.unrestored.contains(ps));
  // A step of those that use what is lost waits for who restores it, which the host is not asked.
  auto asked = host.asked.size();
  CHECK_THAT(outcome_of(world.start()).message(), Contains(ps) && Contains("not restored yet"));
  CHECK(host.asked.size() == asked);
  // Somebody has restored all that was told: the host has to know that the first was not.
  world.unrestored.clear();
  world.start();
  CHECK(world.last_run(host).knows == 0);
  world.answer(host, ran(first, {{ps, 1}}));
  CHECK(outcome_of(late).ok());
  CHECK(world.unrestored.contains(ps));
  world.unrestored.clear();
  world.start();
  CHECK(world.last_run(host).knows == 2);
}

TEST_CASE("a session may move while it fills tasks none of which waited") {
  remote_world world;
  auto step = world.start(9);
  auto& first = world.host();
  CHECK(world.last_run(first).fill == 9);
  auto leaving = ran(world.last<session_run>(first));
  leaving.leaving = true;
  world.answer(first, std::move(leaving));
  CHECK(outcome_of(step).ok());
  auto next = world.start(9);
  world.pass(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  world.prepared_at_last();
  world.answer(world.host(), ran(world.last<session_run>(world.host())));
  CHECK(outcome_of(next).ok());
  // No host has begun to fill any.
  auto ended = world.end(9);
  REQUIRE(*ended);
  CHECK((*ended)->ok());
}

TEST_CASE("what one host has begun to fill, or may have, is not ended by another") {
  remote_world world;
  auto answers = GENERATE(true, false);
  auto step = world.start(9);
  auto& first = world.host();
  if (answers) {
    auto done = ran(world.last<session_run>(first), {}, {{ps, fill_stage::by_asker}});
    done.leaving = true;
    world.answer(first, std::move(done));
    CHECK(outcome_of(step).ok());
  } else {
    caf::anon_send(world.session,
                   peer_gone{"it", failure(error_kind::unavailable, "cut"), first.via});
    world.run();
    CHECK(outcome_of(step).kind() == error_kind::unavailable);
  }
  auto next = world.start(9);
  world.pass(1s);
  REQUIRE(world.hosts.size() == 2);
  auto& second = world.host();
  world.open_at_last();
  world.prepared_at_last();
  world.answer(second, ran(world.last<session_run>(second), {}, {{ps, fill_stage::by_asker}}));
  CHECK(outcome_of(next).ok());
  auto ended = world.end(9);
  // The task is let go of, so that another may fill it.
  auto asked = world.last<session_fill_end>(second);
  CHECK(!std::get<session_fill_end>(second.asked.back().what).done);
  world.answer(second, {.request = asked});
  REQUIRE(*ended);
  CHECK((*ended)->kind() == error_kind::aborted);
  CHECK_THAT((*ended)->message(), Contains("initialize them again"));
}

TEST_CASE("what a host that leaves has not begun runs at the next, and once") {
  remote_world world;
  auto step = world.start();
  auto& first = world.host();
  world.answer(first, {.request = world.last<session_run>(first),
                       .outcome = failure(error_kind::unavailable, "it drains"),
                       .leaving = true,
                       .not_begun = true});
  CHECK(!*step);
  world.pass(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  world.prepared_at_last();
  world.answer(world.host(), ran(world.last<session_run>(world.host())));
  CHECK(outcome_of(step).ok());
  CHECK(std::ranges::count_if(first.asked, [](const session_request& one) {
          return std::holds_alternative<session_run>(one.what);
        }) == 1);
}

TEST_CASE("a step that is stopped ends as its host says, or soon where that is silent") {
  remote_world world;
  std::stop_source one, two, three;
  auto stopped = world.start(0, 0, one.get_token());
  auto& host = world.host();
  auto first = world.last<session_run>(host);
  one.request_stop();
  world.run();
  world.last<session_stop>(host);
  CHECK(std::get<session_stop>(host.asked.back().what).request == first);
  CHECK(!*stopped);
  world.answer(host, {.request = first, .outcome = failure(error_kind::cancelled, "by the host")});
  CHECK_THAT(outcome_of(stopped).message(), Contains("by the host"));

  auto ended = world.start(0, 0, two.get_token());
  auto second = world.last<session_run>(host);
  two.request_stop();
  world.run();
  world.answer(host, ran(second)); // before it heard of that
  CHECK(outcome_of(ended).ok());

  auto silent = world.start(0, 0, three.get_token());
  three.request_stop();
  world.run();
  world.pass(2s);
  CHECK(!*silent);
  world.pass(1s);
  CHECK(outcome_of(silent).kind() == error_kind::cancelled);
  CHECK_THAT(outcome_of(silent).message(), Contains("has not confirmed it yet"));
}

TEST_CASE("a step that is stopped is not taken to the next host") {
  remote_world world;
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  auto& first = world.host();
  auto request = world.last<session_run>(first);
  stop.request_stop();
  world.run();
  world.answer(first, {.request = request,
                       .outcome = failure(error_kind::unavailable, "drains"),
                       .leaving = true,
                       .not_begun = true});
  CHECK(outcome_of(step).kind() == error_kind::cancelled);
  // One that waits for a host is stopped at once.
  std::stop_source other;
  auto waiting = world.start(0, 0, other.get_token());
  CHECK(!*waiting);
  other.request_stop();
  world.run();
  CHECK(outcome_of(waiting).kind() == error_kind::cancelled);
}

TEST_CASE("who wants a step no more does not take the news that the next host finds state lost") {
  remote_world world;
  auto& first = world.host();
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), first.via});
  world.run();
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  world.pass(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  auto asked = world.last<session_prepare>(world.host());
  stop.request_stop();
  world.run();
  CHECK(outcome_of(step).kind() == error_kind::cancelled);
  CHECK(world.last<session_stop>(world.host()) == 0); // which has no answer
  auto in_time = GENERATE(true, false);
  if (in_time)
    world.answer(world.host(), {.request = asked, .what = prepared_handle{6}, .held = {{ps, 12}}});
  else // the host has found that itself
    world.answer(
        world.host(),
        {.request = asked,
         .outcome =
             failure(error_kind::aborted, ps, " was restarted").on_task(ps).of_lost_state()});
  auto next = world.start();
  if (!*next) {
    auto again = world.last<session_prepare>(world.host());
    world.answer(world.host(), {.request = again, .what = prepared_handle{7}, .held = {{ps, 12}}});
  }
  CHECK(outcome_of(next).kind() == error_kind::aborted);
  CHECK(outcome_of(next).origin().state_lost);
}

TEST_CASE("who comes after a step's preparation was stopped has it prepared anew") {
  remote_world world;
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), world.host().via});
  world.run();
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  world.pass(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  auto& host = world.host();
  auto asked = world.last<session_prepare>(host);
  stop.request_stop();
  world.run();
  CHECK(outcome_of(step).kind() == error_kind::cancelled);
  auto next = world.start();
  auto again = world.last<session_prepare>(host);
  CHECK(again != asked);
  world.answer(host,
               {.request = asked, .outcome = failure(error_kind::cancelled, "it was stopped")});
  CHECK(!*next);
  world.answer(host, {.request = again, .what = prepared_handle{7}, .held = {{ps, 11}}});
  world.answer(host, ran(world.last<session_run>(host)));
  CHECK(outcome_of(next).ok());
}

TEST_CASE("news that comes too late does not refuse what restores") {
  remote_world world;
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), world.host().via});
  world.run();
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  world.pass(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  auto& host = world.host();
  auto asked = world.last<session_prepare>(host);
  stop.request_stop();
  world.run();
  world.answer(
      host,
      {.request = asked,
       .outcome = failure(error_kind::aborted, ps, " was restarted").on_task(ps).of_lost_state(),
       .losses = {{ps, 1}}});
  auto restores = world.start(0, all_losses);
  world.answer(host, {.request = world.last<session_prepare>(host),
                      .what = prepared_handle{7},
                      .held = {{ps, 12}}});
  CHECK((!*restores || outcome_of(restores).message().find("restarted") != std::string::npos));
  world.unrestored.clear();
  auto after = world.start(0, all_losses);
  world.answer(host, ran(world.last<session_run>(host)));
  CHECK(outcome_of(after).ok());
}

TEST_CASE("what is stopped before a host is there is not prepared there") {
  remote_world world;
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), world.host().via});
  world.run();
  std::stop_source stop;
  auto request = *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[0]),
                                        world.now() + 60s);
  request.stop = stop.get_token();
  auto box = world.ask<std::shared_ptr<prepared_step>>(world.session, std::move(request));
  world.run();
  stop.request_stop();
  world.run();
  REQUIRE(*box);
  CHECK((**box).status().kind() == error_kind::cancelled);
  world.pass(1s);
  CHECK(world.hosts.size() == 1); // nobody wants another
}

TEST_CASE("a step whose preparation is stopped is forgotten where it was prepared") {
  remote_world world;
  std::stop_source stop;
  auto request = *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[0]),
                                        world.now() + 60s);
  request.stop = stop.get_token();
  auto box = world.ask<std::shared_ptr<prepared_step>>(world.session, std::move(request));
  world.run();
  auto& host = world.host();
  auto asked = world.last<session_prepare>(host);
  stop.request_stop();
  world.run();
  CHECK(std::get<session_stop>(host.asked.back().what).request == asked);
  REQUIRE(*box);
  CHECK((**box).status().kind() == error_kind::cancelled);
  world.answer(host, {.request = asked, .what = prepared_handle{77}}); // it was ready by then
  world.last<session_forget>(host);
  CHECK(std::get<session_forget>(host.asked.back().what).handle == 77);
}

} // namespace troupe::test::remote_session_test
