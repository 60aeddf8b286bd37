// A session whose master runs in another process, and its hosts' messages in an order that the test
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

// Stands in for the connection to a host: keeps the requests to the host.
struct fake_host {
  connection_ptr connection = std::make_shared<peer_connection>();
  caf::actor exchange, owner;
  std::vector<session_request> requests;
};

caf::behavior host_behavior(caf::event_based_actor* self, fake_host* host,
                            const caf::actor_addr& opener) {
  host->connection->peer = "/job:worker/task:0";
  host->connection->exchange = self->address();
  self->send(caf::actor_cast<caf::actor>(opener),
             peer_ready{{.software = {}, .role = "task", .job = {}}, host->connection});
  return {[=](const outgoing& outgoing_message) {
            host->requests.push_back(std::get<session_request>(outgoing_message.content));
          },
          [](const actor_action& action) { action.act(); }};
}

struct remote_world : actor_world {
  std::deque<fake_host> hosts;
  std::set<std::string> unrestored;
  caf::actor session;
  text_case text{small_text};
  std::shared_ptr<prepared_step> step;

  remote_world() {
    membership_transport transport;
    transport.dial = [](caf::actor_system&, dial_result call, const std::string&,
                        const std::shared_ptr<std::atomic<bool>>&,
                        const caf::actor& reply) { caf::anon_send(reply, std::move(call)); };
    transport.open = [this](caf::actor_system& session_system, dial_result&,
                            const exchange_options& exchange_settings) {
      auto& host = hosts.emplace_back();
      host.owner = exchange_settings.owner;
      return host.exchange = session_system.spawn(host_behavior, &host, exchange_settings.opener);
    };
    client_options options;
    options.lost_state.on_state_lost = [this](const state_loss& loss) {
      unrestored.insert(loss.task);
      return true;
    };
    options.lost_state.awaits_restore = [this](const std::string& task) {
      return unrestored.contains(task);
    };
    session = *spawn_remote_session(system(), {"one:1", "two:2"}, options, nullptr, &transport);
    begin_prepare();
  }
  ~remote_world() {
    step.reset();
    caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
    session = nullptr;
    run();
    hosts.clear();
  }

  // The session's current host: the last one that was called.
  fake_host& host() { return hosts.back(); }

  void answer(fake_host& from, session_reply reply) {
    caf::anon_send(session, incoming{std::move(reply), from.exchange, from.connection});
    run();
  }
  // The id of the last request of that kind to the host.
  template <class What>
  uint64_t last(fake_host& asked_host) {
    REQUIRE(!asked_host.requests.empty());
    REQUIRE(std::holds_alternative<What>(asked_host.requests.back().content));
    return asked_host.requests.back().request;
  }
  const session_run& last_run(fake_host& asked_host) {
    last<session_run>(asked_host);
    return std::get<session_run>(asked_host.requests.back().content);
  }
  void open_at_last() { answer(host(), {.request = last<session_open>(host())}); }
  void prepared_at_last() {
    answer(host(), {.request = last<session_prepare>(host()), .content = prepared_handle{5}});
  }

  void begin_prepare() {
    auto pending = ask<std::shared_ptr<prepared_step>>(
        session, *prepare_request::make(*text.nodes, signature_of(text.text.runs[0]), now() + 60s));
    run();
    open_at_last();
    answer(host(), {.request = last<session_prepare>(host()),
                    .content = prepared_handle{4},
                    .state_peers = {{"/job:ps/task:0", 11}}});
    REQUIRE(*pending);
    REQUIRE((**pending).ok());
    step = ***pending;
  }
  awaited_answer<step_outcome> start(uint64_t initialization = 0, uint64_t known_losses = 0,
                                     const std::stop_token& stop = {}) {
    step_request request{.step = step,
                         .feeds = feeds_of(text.text.runs[0]),
                         .deadline = now() + 60s,
                         .acknowledged_loss = known_losses,
                         .initialization = initialization,
                         .stop = stop};
    auto pending = ask<step_outcome>(session, std::move(request));
    run();
    return pending;
  }
  std::shared_ptr<std::optional<status>> end(uint64_t initialization) {
    auto pending = std::make_shared<std::optional<status>>();
    system().spawn([=, whom = session](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, end_initialization{true, initialization})
          .then([=](status& answer) { *pending = std::move(answer); },
                [=](const caf::error& reason) { *pending = from_caf(reason); });
    });
    run();
    return pending;
  }
};

session_reply run_reply(uint64_t request, std::vector<state_loss> losses = {},
                        std::vector<initialization_report> reports = {}) {
  return {.request = request,
          .content = session_run_result{.fetches = {tensor::scalar(3)}},
          .losses = std::move(losses),
          .initializations = std::move(reports)};
}

status outcome_of(const awaited_answer<step_outcome>& answer) {
  REQUIRE(*answer);
  return **answer ? (**answer)->outcome : (**answer).status();
}

const std::string ps = "/job:ps/task:0";

} // namespace

TEST_CASE("an answer that overtakes an earlier one does not report the losses of the earlier one") {
  remote_world world;
  auto first_answer = world.start(), second_answer = world.start();
  auto& host = world.host();
  auto last = world.last<session_run>(host), first = last - 1;
  world.answer(host, run_reply(last, {{ps, 2}}));
  CHECK(outcome_of(second_answer).ok());
  CHECK(world.unrestored.contains(ps));
  // A step that uses lost state waits for the restoring step; the host gets no request for it.
  auto request_count = host.requests.size();
  CHECK_THAT(outcome_of(world.start()).message(), Contains(ps) && Contains("not restored yet"));
  CHECK(host.requests.size() == request_count);
  // All reported losses were restored: the host has to be notified that the first loss was not.
  world.unrestored.clear();
  world.start();
  CHECK(world.last_run(host).acknowledged_loss == 0);
  world.answer(host, run_reply(first, {{ps, 1}}));
  CHECK(outcome_of(first_answer).ok());
  CHECK(world.unrestored.contains(ps));
  world.unrestored.clear();
  world.start();
  CHECK(world.last_run(host).acknowledged_loss == 2);
}

TEST_CASE("a session may move while it initializes tasks that did not wait for it") {
  remote_world world;
  auto step = world.start(9);
  auto& first = world.host();
  CHECK(world.last_run(first).initialization == 9);
  auto leaving = run_reply(world.last<session_run>(first));
  leaving.is_draining = true;
  world.answer(first, std::move(leaving));
  CHECK(outcome_of(step).ok());
  auto next = world.start(9);
  world.advance_and_run(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  world.prepared_at_last();
  world.answer(world.host(), run_reply(world.last<session_run>(world.host())));
  CHECK(outcome_of(next).ok());
  // No host has begun to initialize a task.
  auto end_answer = world.end(9);
  REQUIRE(*end_answer);
  CHECK((*end_answer)->ok());
}

TEST_CASE("an initialization that one host has begun, or may have begun, is not ended by another "
          "host") {
  remote_world world;
  auto answers = GENERATE(true, false);
  auto step = world.start(9);
  auto& first = world.host();
  if (answers) {
    auto done_reply =
        run_reply(world.last<session_run>(first), {}, {{ps, initialization_stage::by_requester}});
    done_reply.is_draining = true;
    world.answer(first, std::move(done_reply));
    CHECK(outcome_of(step).ok());
  } else {
    caf::anon_send(world.session,
                   peer_gone{"it", failure(error_kind::unavailable, "cut"), first.connection});
    world.run();
    CHECK(outcome_of(step).kind() == error_kind::unavailable);
  }
  auto next = world.start(9);
  world.advance_and_run(1s);
  REQUIRE(world.hosts.size() == 2);
  auto& second = world.host();
  world.open_at_last();
  world.prepared_at_last();
  world.answer(second, run_reply(world.last<session_run>(second), {},
                                 {{ps, initialization_stage::by_requester}}));
  CHECK(outcome_of(next).ok());
  auto end_answer = world.end(9);
  // The task is released, so that another session may initialize it.
  auto end_request = world.last<session_initialization_end>(second);
  CHECK(!std::get<session_initialization_end>(second.requests.back().content).done);
  world.answer(second, {.request = end_request});
  REQUIRE(*end_answer);
  CHECK((*end_answer)->kind() == error_kind::aborted);
  CHECK_THAT((*end_answer)->message(), Contains("initialize them again"));
}

TEST_CASE("steps that a leaving host has not begun run at the next host, and once") {
  remote_world world;
  auto step = world.start();
  auto& first = world.host();
  world.answer(first, {.request = world.last<session_run>(first),
                       .outcome = failure(error_kind::unavailable, "it drains"),
                       .is_draining = true,
                       .not_started = true});
  CHECK(!*step);
  world.advance_and_run(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  world.prepared_at_last();
  world.answer(world.host(), run_reply(world.last<session_run>(world.host())));
  CHECK(outcome_of(step).ok());
  CHECK(std::ranges::count_if(first.requests, [](const session_request& request) {
          return std::holds_alternative<session_run>(request.content);
        }) == 1);
}

TEST_CASE("a stopped step ends with its host's answer, or soon if the host is silent") {
  remote_world world;
  std::stop_source first_stop, two, three;
  auto stopped = world.start(0, 0, first_stop.get_token());
  auto& host = world.host();
  auto first = world.last<session_run>(host);
  first_stop.request_stop();
  world.run();
  world.last<session_stop>(host);
  CHECK(std::get<session_stop>(host.requests.back().content).request == first);
  CHECK(!*stopped);
  world.answer(host, {.request = first, .outcome = failure(error_kind::cancelled, "by the host")});
  CHECK_THAT(outcome_of(stopped).message(), Contains("by the host"));

  auto ended_answer = world.start(0, 0, two.get_token());
  auto second = world.last<session_run>(host);
  two.request_stop();
  world.run();
  world.answer(host, run_reply(second)); // before the host was notified of the stop
  CHECK(outcome_of(ended_answer).ok());

  auto unanswered = world.start(0, 0, three.get_token());
  three.request_stop();
  world.run();
  world.advance_and_run(2s);
  CHECK(!*unanswered);
  world.advance_and_run(1s);
  CHECK(outcome_of(unanswered).kind() == error_kind::cancelled);
  CHECK_THAT(outcome_of(unanswered).message(), Contains("has not confirmed it yet"));
}

TEST_CASE("a stopped step is not moved to the next host") {
  remote_world world;
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  auto& first = world.host();
  auto request = world.last<session_run>(first);
  stop.request_stop();
  world.run();
  world.answer(first, {.request = request,
                       .outcome = failure(error_kind::unavailable, "drains"),
                       .is_draining = true,
                       .not_started = true});
  CHECK(outcome_of(step).kind() == error_kind::cancelled);
  // A step that waits for a host is stopped at once.
  std::stop_source second_stop;
  auto waiting = world.start(0, 0, second_stop.get_token());
  CHECK(!*waiting);
  second_stop.request_stop();
  world.run();
  CHECK(outcome_of(waiting).kind() == error_kind::cancelled);
}

TEST_CASE("a cancelled request does not consume the report of lost state by the next host") {
  remote_world world;
  auto& first = world.host();
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), first.connection});
  world.run();
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  world.advance_and_run(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  auto prepare_id = world.last<session_prepare>(world.host());
  stop.request_stop();
  world.run();
  CHECK(outcome_of(step).kind() == error_kind::cancelled);
  CHECK(world.last<session_stop>(world.host()) == 0); // a stop request has no answer
  auto in_time = GENERATE(true, false);
  if (in_time)
    world.answer(world.host(),
                 {.request = prepare_id, .content = prepared_handle{6}, .state_peers = {{ps, 12}}});
  else // otherwise the host has noticed it itself
    world.answer(
        world.host(),
        {.request = prepare_id,
         .outcome =
             failure(error_kind::aborted, ps, " was restarted").with_task(ps).with_lost_state()});
  auto next = world.start();
  if (!*next) {
    auto second_prepare_id = world.last<session_prepare>(world.host());
    world.answer(
        world.host(),
        {.request = second_prepare_id, .content = prepared_handle{7}, .state_peers = {{ps, 12}}});
  }
  CHECK(outcome_of(next).kind() == error_kind::aborted);
  CHECK(outcome_of(next).origin().state_lost);
}

TEST_CASE("a request after a stopped preparation has the step prepared again") {
  remote_world world;
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), world.host().connection});
  world.run();
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  world.advance_and_run(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  auto& host = world.host();
  auto prepare_id = world.last<session_prepare>(host);
  stop.request_stop();
  world.run();
  CHECK(outcome_of(step).kind() == error_kind::cancelled);
  auto next = world.start();
  auto second_prepare_id = world.last<session_prepare>(host);
  CHECK(second_prepare_id != prepare_id);
  world.answer(
      host, {.request = prepare_id, .outcome = failure(error_kind::cancelled, "it was stopped")});
  CHECK(!*next);
  world.answer(
      host,
      {.request = second_prepare_id, .content = prepared_handle{7}, .state_peers = {{ps, 11}}});
  world.answer(host, run_reply(world.last<session_run>(host)));
  CHECK(outcome_of(next).ok());
}

TEST_CASE("a late report of a loss does not refuse the step that restores") {
  remote_world world;
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), world.host().connection});
  world.run();
  std::stop_source stop;
  auto step = world.start(0, 0, stop.get_token());
  world.advance_and_run(1s);
  REQUIRE(world.hosts.size() == 2);
  world.open_at_last();
  auto& host = world.host();
  auto prepare_id = world.last<session_prepare>(host);
  stop.request_stop();
  world.run();
  world.answer(
      host, {.request = prepare_id,
             .outcome =
                 failure(error_kind::aborted, ps, " was restarted").with_task(ps).with_lost_state(),
             .losses = {{ps, 1}}});
  auto restores = world.start(0, all_losses);
  world.answer(host, {.request = world.last<session_prepare>(host),
                      .content = prepared_handle{7},
                      .state_peers = {{ps, 12}}});
  CHECK((!*restores || outcome_of(restores).message().find("restarted") != std::string::npos));
  world.unrestored.clear();
  auto after = world.start(0, all_losses);
  world.answer(host, run_reply(world.last<session_run>(host)));
  CHECK(outcome_of(after).ok());
}

TEST_CASE("a step that is stopped before a host is connected is not prepared there") {
  remote_world world;
  caf::anon_send(world.session,
                 peer_gone{"it", failure(error_kind::unavailable, "cut"), world.host().connection});
  world.run();
  std::stop_source stop;
  auto request = *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[0]),
                                        world.now() + 60s);
  request.stop = stop.get_token();
  auto answer = world.ask<std::shared_ptr<prepared_step>>(world.session, std::move(request));
  world.run();
  stop.request_stop();
  world.run();
  REQUIRE(*answer);
  CHECK((**answer).status().kind() == error_kind::cancelled);
  world.advance_and_run(1s);
  CHECK(world.hosts.size() == 1); // no request needs another host
}

TEST_CASE("a step whose preparation is stopped is released by the host that prepared it") {
  remote_world world;
  std::stop_source stop;
  auto request = *prepare_request::make(*world.text.nodes, signature_of(world.text.text.runs[0]),
                                        world.now() + 60s);
  request.stop = stop.get_token();
  auto answer = world.ask<std::shared_ptr<prepared_step>>(world.session, std::move(request));
  world.run();
  auto& host = world.host();
  auto prepare_id = world.last<session_prepare>(host);
  stop.request_stop();
  world.run();
  CHECK(std::get<session_stop>(host.requests.back().content).request == prepare_id);
  REQUIRE(*answer);
  CHECK((**answer).status().kind() == error_kind::cancelled);
  world.answer(host,
               {.request = prepare_id, .content = prepared_handle{77}}); // it was ready by then
  world.last<session_release>(host);
  CHECK(std::get<session_release>(host.requests.back().content).handle == 77);
}

} // namespace troupe::test::remote_session_test
