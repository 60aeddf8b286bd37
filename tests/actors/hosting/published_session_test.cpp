// A session that other CAF nodes use. The other node is a second actor system here; every message
// between the two goes through CAF's serializer, as between processes.
#include "troupe/actors/hosting/published_session.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/caf.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/response_promise.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

namespace troupe::test::published_session_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

// Forwards each message through the serializer, as if it came from another node.
caf::behavior wire_behavior(caf::event_based_actor* self, const caf::actor& target) {
  self->monitor(target);
  self->set_down_handler(
      [=](const caf::down_msg& down_message) { self->quit(down_message.reason); });
  auto client = std::make_shared<caf::actor>(); // the first sender
  self->set_exit_handler(
      [=](const caf::exit_msg& exit_message) { self->quit(exit_message.reason); });
  return {[=](hosted_atom, const hosted_bytes& bytes) {
    std::vector<char> serialized;
    caf::binary_serializer serializer{self->system(), serialized};
    auto bytes_message = caf::make_message(hosted_atom::value, bytes);
    REQUIRE(!serializer(bytes_message));
    caf::message message;
    caf::binary_deserializer deserializer{self->system(), serialized};
    REQUIRE(!deserializer(message));
    REQUIRE((message.match_elements<hosted_atom, hosted_bytes>()));
    auto from = caf::actor_cast<caf::actor>(self->current_sender());
    if (!*client)
      *client = from;
    self->send(from == *client ? target : *client, hosted_atom::value,
               message.get_as<hosted_bytes>(1));
  }};
}

struct node {
  caf::actor_system_config config;
  caf::actor_system system{config};
};

struct user {
  caf::scoped_actor self;
  caf::actor session;

  user(node& user_node, const caf::actor& published, std::chrono::milliseconds timeout = 20s)
      : self(user_node.system), session(use_session(user_node.system, published, timeout)) {}
  ~user() { caf::anon_send_exit(session, caf::exit_reason::user_shutdown); }

  template <class Answer, class Question>
  result<Answer> ask(Question question) {
    result<Answer> got{status{error_kind::internal, "no answer"}};
    self->request(session, 30s, std::move(question))
        .receive([&](Answer& answer) { got = std::move(answer); },
                 [&](const caf::error& reason) { got = from_caf(reason); });
    return got;
  }
  result<std::shared_ptr<prepared_step>> prepare(const text_case& test_case) {
    auto request = prepare_request::make(*test_case.nodes, signature_of(test_case.text.runs[0]),
                                         step_clock::now() + 20s);
    REQUIRE(request);
    return ask<std::shared_ptr<prepared_step>>(*std::move(request));
  }
  step_outcome run(const std::shared_ptr<prepared_step>& step, std::vector<tensor> feeds = {}) {
    auto outcome = ask<step_outcome>(step_request{step, std::move(feeds), step_clock::now() + 20s});
    REQUIRE(outcome);
    return *std::move(outcome);
  }
};

} // namespace

TEST_CASE("a published session is used from another node, by messages that CAF serializes") {
  watchdog watch;
  node host_node, remote_node;
  auto session = spawn_session(host_node.system);
  auto published = publish_session(host_node.system, session);
  {
    auto wire = remote_node.system.spawn(wire_behavior, published);
    user remote_user{remote_node, wire};
    const text_case sum{"x = Placeholder dtype=f32 shape=[-1]\ny = Add(x, x)\nfeed x = f32[1]\n"
                        "fetch y"};
    auto step = remote_user.prepare(sum);
    INFO(step.status());
    REQUIRE(step);
    auto large = tensor::vector(std::vector<float>(100'000, 1.5f)); // larger than one message
    auto outcome = remote_user.run(*step, {large});
    REQUIRE(outcome.outcome);
    CHECK(outcome.fetches[0].values<float>()[99'999] == 3.0f);
    CHECK(remote_user.ask<std::vector<device_info>>(list_devices_atom::value)->size() == 1);
    auto wrong_outcome = remote_user.run(*step, {tensor::scalar(1)});
    CHECK_THAT(wrong_outcome.outcome.message(), Contains("must be fed with f32"));
    step = status{error_kind::cancelled, ""};
    caf::anon_send_exit(wire, caf::exit_reason::user_shutdown);
  }
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown); // the published session ends
}

TEST_CASE(
    "errors keep all their fields through CAF's errors, and CAF's own errors say what to do") {
  auto restart_failure = failure(error_kind::aborted, "it was restarted")
                             .with_origin("Add", "sum")
                             .with_task("/job:ps/task:1")
                             .with_incarnation(7)
                             .with_lost_state();
  auto read = from_caf(to_caf(restart_failure));
  CHECK(read.kind() == error_kind::aborted);
  CHECK(read.message() == "it was restarted");
  CHECK(read.origin().op == "Add");
  CHECK(read.origin().node == "sum");
  CHECK(read.origin().task == "/job:ps/task:1");
  CHECK(read.origin().incarnation == 7);
  CHECK(read.origin().state_lost);
  CHECK(from_caf({}).ok());

  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  auto ask_devices = [&](const caf::actor& target) {
    status outcome;
    self->request(target, 50ms, list_devices_atom::value)
        .receive([&](const std::vector<device_info>&) {},
                 [&](const caf::error& error) { outcome = from_caf(error); });
    return outcome.kind();
  };
  auto silent_peer = system.spawn([](caf::event_based_actor* silent_self) -> caf::behavior {
    auto promises = std::make_shared<std::vector<caf::response_promise>>();
    return {[=](list_devices_atom) {
      promises->push_back(silent_self->make_response_promise());
      return promises->back();
    }};
  });
  CHECK(ask_devices(silent_peer) == error_kind::deadline_exceeded);
  self->send_exit(silent_peer, caf::exit_reason::user_shutdown);
  self->wait_for(silent_peer);
  CHECK(ask_devices(silent_peer) == error_kind::unavailable);
}

TEST_CASE("clients of a published session share its state, and each ends independently") {
  watchdog watch;
  node host_node, remote_node;
  auto session = spawn_session(host_node.system);
  auto published = publish_session(host_node.system, session, {.sessions = 2, .programs = 2});
  const text_case count{"v = VariableV2 dtype=i32 shape=[] shared_name=\"n\"\n"
                        "s = Assign(v, i32(41))\ntarget s"};
  const text_case counter_case{"v = VariableV2 dtype=i32 shape=[] shared_name=\"n\"\n"
                               "a = AssignAdd(v, i32(1))\nfetch a"};
  user remaining_user{remote_node, published};
  auto add = remaining_user.prepare(counter_case);
  REQUIRE(add);
  {
    user leaving_user{remote_node, published};
    auto set = leaving_user.prepare(count);
    REQUIRE(set);
    CHECK(leaving_user.run(*set).outcome.ok());
    user third{remote_node, published};
    auto refused = third.prepare(counter_case).status();
    CHECK(refused.kind() == error_kind::resource_exhausted);
    CHECK_THAT(refused.message(), Contains("hosts 2 sessions, which is the limit"));
    set = status{error_kind::cancelled, ""};
  }
  auto outcome = remaining_user.run(*add);
  REQUIRE(outcome.outcome);
  CHECK(outcome.fetches[0].values<int>()[0] == 42);
  // Messages with garbage from one node do not disturb the other clients.
  caf::scoped_actor stranger{remote_node.system};
  stranger->send(published, hosted_atom::value, hosted_bytes{'n', 'o'});
  stranger->receive([](hosted_atom, const hosted_bytes& bytes) { CHECK(!bytes.empty()); });
  CHECK(remaining_user.run(*add).outcome.ok());
  // The clients are notified of the session's end.
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
  user late_user{remote_node, published, 500ms};
  auto late_outcome = late_user.ask<std::vector<device_info>>(list_devices_atom::value).status();
  CHECK(late_outcome.kind() == error_kind::unavailable);
  add = status{error_kind::cancelled, ""};
}

} // namespace troupe::test::published_session_test
