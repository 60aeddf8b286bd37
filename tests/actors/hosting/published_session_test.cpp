// A session that other CAF nodes use: here, another actor system, and all that passes between them
// goes through CAF's serializer, as it does between processes.
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

// Passes on what comes as it would come from another node.
caf::behavior wire_behavior(caf::event_based_actor* self, const caf::actor& to) {
  self->monitor(to);
  self->set_down_handler([=](const caf::down_msg& what) { self->quit(what.reason); });
  auto client = std::make_shared<caf::actor>(); // whoever speaks first
  self->set_exit_handler([=](const caf::exit_msg& what) { self->quit(what.reason); });
  return {[=](hosted_atom, const hosted_bytes& bytes) {
    std::vector<char> sent;
    caf::binary_serializer out{self->system(), sent};
    auto what = caf::make_message(hosted_atom::value, bytes);
    REQUIRE(!out(what));
    caf::message came;
    caf::binary_deserializer in{self->system(), sent};
    REQUIRE(!in(came));
    REQUIRE((came.match_elements<hosted_atom, hosted_bytes>()));
    auto from = caf::actor_cast<caf::actor>(self->current_sender());
    if (!*client)
      *client = from;
    self->send(from == *client ? to : *client, hosted_atom::value, came.get_as<hosted_bytes>(1));
  }};
}

struct node {
  caf::actor_system_config config;
  caf::actor_system system{config};
};

struct user {
  caf::scoped_actor self;
  caf::actor session;

  user(node& at, const caf::actor& published, std::chrono::milliseconds timeout = 20s)
      : self(at.system), session(use_session(at.system, published, timeout)) {}
  ~user() { caf::anon_send_exit(session, caf::exit_reason::user_shutdown); }

  template <class Answer, class Question>
  result<Answer> ask(Question what) {
    result<Answer> got{status{error_kind::internal, "no answer"}};
    self->request(session, 30s, std::move(what))
        .receive([&](Answer& answer) { got = std::move(answer); },
                 [&](const caf::error& why) { got = from_caf(why); });
    return got;
  }
  result<std::shared_ptr<prepared_step>> prepare(const text_case& what) {
    auto request = prepare_request::make(*what.nodes, signature_of(what.text.runs[0]),
                                         step_clock::now() + 20s);
    REQUIRE(request);
    return ask<std::shared_ptr<prepared_step>>(*std::move(request));
  }
  step_outcome run(const std::shared_ptr<prepared_step>& step, std::vector<tensor> feeds = {}) {
    auto done = ask<step_outcome>(step_request{step, std::move(feeds), step_clock::now() + 20s});
    REQUIRE(done);
    return *std::move(done);
  }
};

} // namespace

TEST_CASE("a session that is published is used from another node, by messages that CAF carries") {
  watchdog watch;
  node here, there;
  auto session = spawn_session(here.system);
  auto published = publish_session(here.system, session);
  {
    auto wire = there.system.spawn(wire_behavior, published);
    user by{there, wire};
    const text_case sum{"x = Placeholder dtype=f32 shape=[-1]\ny = Add(x, x)\nfeed x = f32[1]\n"
                        "fetch y"};
    auto step = by.prepare(sum);
    INFO(step.status());
    REQUIRE(step);
    auto large = tensor::vector(std::vector<float>(100'000, 1.5f)); // more than stands in a message
    auto done = by.run(*step, {large});
    REQUIRE(done.outcome);
    CHECK(done.fetches[0].values<float>()[99'999] == 3.0f);
    CHECK(by.ask<std::vector<device_info>>(list_devices_atom::value)->size() == 1);
    auto wrong = by.run(*step, {tensor::scalar(1)});
    CHECK_THAT(wrong.outcome.message(), Contains("must be fed with f32"));
    step = status{error_kind::cancelled, ""};
    caf::anon_send_exit(wire, caf::exit_reason::user_shutdown);
  }
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown); // and what is published ends
}

TEST_CASE("errors pass through CAF's with all that they tell, and CAF's own say what to do") {
  auto why = failure(error_kind::aborted, "it was restarted")
                 .about("Add", "sum")
                 .on_task("/job:ps/task:1")
                 .of_incarnation(7)
                 .of_lost_state();
  auto read = from_caf(to_caf(why));
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
  auto asked = [&](const caf::actor& whom) {
    status outcome;
    self->request(whom, 50ms, list_devices_atom::value)
        .receive([&](const std::vector<device_info>&) {},
                 [&](const caf::error& error) { outcome = from_caf(error); });
    return outcome.kind();
  };
  auto silent = system.spawn([](caf::event_based_actor* by) -> caf::behavior {
    auto promises = std::make_shared<std::vector<caf::response_promise>>();
    return {[=](list_devices_atom) {
      promises->push_back(by->make_response_promise());
      return promises->back();
    }};
  });
  CHECK(asked(silent) == error_kind::deadline_exceeded);
  self->send_exit(silent, caf::exit_reason::user_shutdown);
  self->wait_for(silent);
  CHECK(asked(silent) == error_kind::unavailable);
}

TEST_CASE("clients of a published session share its state, and what ends ends for itself") {
  watchdog watch;
  node here, there;
  auto session = spawn_session(here.system);
  auto published = publish_session(here.system, session, {.sessions = 2, .programs = 2});
  const text_case count{"v = VariableV2 dtype=i32 shape=[] shared_name=\"n\"\n"
                        "s = Assign(v, i32(41))\ntarget s"};
  const text_case more{"v = VariableV2 dtype=i32 shape=[] shared_name=\"n\"\n"
                       "a = AssignAdd(v, i32(1))\nfetch a"};
  user keeps{there, published};
  auto add = keeps.prepare(more);
  REQUIRE(add);
  {
    user goes{there, published};
    auto set = goes.prepare(count);
    REQUIRE(set);
    CHECK(goes.run(*set).outcome.ok());
    user third{there, published};
    auto refused = third.prepare(more).status();
    CHECK(refused.kind() == error_kind::resource_exhausted);
    CHECK_THAT(refused.message(), Contains("hosts 2 sessions, which is the limit"));
    set = status{error_kind::cancelled, ""};
  }
  auto done = keeps.run(*add);
  REQUIRE(done.outcome);
  CHECK(done.fetches[0].values<int>()[0] == 42);
  // Whatever a node sends, the others are served.
  caf::scoped_actor stranger{there.system};
  stranger->send(published, hosted_atom::value, hosted_bytes{'n', 'o'});
  stranger->receive([](hosted_atom, const hosted_bytes& said) { CHECK(!said.empty()); });
  CHECK(keeps.run(*add).outcome.ok());
  // The end of the session is told.
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
  user late{there, published, 500ms};
  auto gone = late.ask<std::vector<device_info>>(list_devices_atom::value).status();
  CHECK(gone.kind() == error_kind::unavailable);
  add = status{error_kind::cancelled, ""};
}

} // namespace troupe::test::published_session_test
