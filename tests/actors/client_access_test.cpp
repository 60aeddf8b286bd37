// What clients may do at a task, and how much of it.
#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/tls/token.hpp"

#include <atomic>
#include <future>

namespace troupe::test::client_access_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

using clock_type = std::chrono::steady_clock;

TEST_CASE("a client may do at a task what its access list says, and is told what not") {
  watchdog watch;
  secure_cluster here{R"({"clients": {"alice": {"may": ["register", "run", "reset"]},
                                      "bob": {"may": ["register", "run"]},
                                      "carol": {"may": ["register"]}, "dave": {"may": ["run"]}}})"};
  auto client_of = [&](const std::string& name) {
    return here.connect(here.authority.client(name));
  };
  auto soon = [] { return step_clock::now() + 5s; };
  const text_case small{small_text};
  auto alice = client_of("alice"), bob = client_of("bob");
  CHECK(run_all(*alice, small).empty());
  CHECK(alice->reset("box", soon()));
  CHECK(run_all(*bob, small).empty());
  auto refused_reset = bob->reset("box", soon());
  CHECK(refused_reset.kind() == error_kind::failed_precondition);
  CHECK_THAT(refused_reset.message(), Contains("client 'bob' may not reset containers"));
  CHECK(bob->devices(soon()));
  CHECK_THAT(refused(*client_of("carol")).message(), Contains("client 'carol' may not run steps"));
  CHECK_THAT(refused(*client_of("dave")).message(),
             Contains("client 'dave' may not register graphs"));
  CHECK_THAT(refused(*client_of("eve")).message(),
             Contains("client 'eve' is not on the access list of this task"));
  // Programs of tasks have sessions, too.
  CHECK(run_all(*here.connect(here.authority.task("worker", 0)), small).empty());
}

TEST_CASE("a client without a certificate comes in by its token, and by no other") {
  watchdog watch;
  auto token = new_token();
  secure_cluster here{concat(R"({"clients": {"alice": {"may": ["register", "run"]}},
      "tokens": {"ci": {"sha256": ")",
                             digest_of_token(token), R"(", "may": ["register", "run"]}}})")};
  const text_case small{small_text};
  auto ci = here.connect(here.authority.token(token));
  CHECK(run_all(*ci, small).empty());
  CHECK_THAT(ci->reset("box", step_clock::now() + 5s).message(),
             Contains("client 'ci' may not reset containers"));
  CHECK_THAT(refused(*here.connect(here.authority.token(new_token()))).message(),
             Contains("its token is not on the access list"));
  // A token says who it is where a certificate is there, too.
  auto both = here.authority.client("eve");
  both.token = here.authority.token(token).token;
  CHECK(run_all(*here.connect(both), small).empty());

  secure_cluster without{1};
  CHECK_THAT(refused(*without.connect(without.authority.token(token))).message(),
             Contains("it wants a certificate, and takes no tokens"));
}

TEST_CASE("an access list that has changed counts for the next connection") {
  watchdog watch;
  secure_cluster here{R"({"clients": {"*": {"may": ["register", "run"]}}})"};
  const text_case small{small_text};
  auto bob = here.connect(here.authority.client("bob"));
  CHECK(run_all(*bob, small).empty());
  here.authority.write("access.json", R"({"clients": {"alice": {"may": ["register", "run"]}}})");
  CHECK_THAT(refused(*here.connect(here.authority.client("bob"))).message(),
             Contains("is not on the access list"));
  CHECK(run_all(*bob, small).empty()); // it was let in
  here.authority.write("access.json", "nonsense");
  CHECK(here.lives()); // as alice, by the list of before
  CHECK(here.log.come_to_have("that of before serves on"));
}

TEST_CASE("a client has no more connections, programs and steps at a task than it may") {
  watchdog watch;
  secure_cluster here{R"({"clients": {"*": {"may": ["register", "run"],
      "connections": 2, "programs": 2, "steps": 1}}})"};
  auto files = here.authority.client("bob");
  const text_case small{small_text}, other{"x = Neg(i32(1))\nfetch x = i32(-1)"};
  const text_case waits{"q = FIFOQueue component_types=[i32] shapes=[[]]\n"
                        "x = QueueDequeue(q) component_types=[i32]\nfetch x"};
  auto one = here.connect(files), two = here.connect(files);
  auto soon = [] { return step_clock::now() + 5s; };
  auto first = one->prepare(*small.nodes, signature_of(small.text.runs[0]), soon());
  auto second = two->prepare(*waits.nodes, signature_of(waits.text.runs[0]), soon());
  REQUIRE(first);
  REQUIRE(second);
  auto third = one->prepare(*other.nodes, signature_of(other.text.runs[0]), soon());
  CHECK(third.status().kind() == error_kind::resource_exhausted);
  CHECK_THAT(third.status().message(), Contains("client 'bob' has registered 2 graphs, as many"));
  CHECK_THAT(refused(*here.connect(files)).message(),
             Contains("client 'bob' has 2 connections already"));
  CHECK(here.lives()); // alice

  std::promise<status> failed;
  std::atomic<int> ended{0};
  for (int i = 0; i < 2; ++i)
    two->run_async(**second, {}, step_clock::now() + 20s, [&](auto outcome) {
      if (ended++ == 0)
        failed.set_value(outcome.status());
    });
  auto refused_step = failed.get_future();
  REQUIRE(refused_step.wait_for(10s) == std::future_status::ready);
  CHECK_THAT(refused_step.get().message(),
             Contains("client 'bob' has 1 steps on /job:worker/task:0 already"));
  second = status{error_kind::cancelled, ""};
  two.reset(); // its step, program and connection go with it
  auto end = clock_type::now() + 10s;
  auto again = here.connect(files);
  while (!run_all(*again, other).empty() && clock_type::now() < end)
    again = here.connect(files);
  CHECK(run_all(*again, other) == "");
  first = status{error_kind::cancelled, ""};
}

TEST_CASE("a client sends no more bytes at once than it may") {
  watchdog watch;
  secure_cluster here{R"({"clients": {"*": {"may": ["register", "run"], "bytes": 300000}}})"};
  auto client = here.connect(here.authority.client("bob"));
  const text_case sum{"x = Placeholder dtype=f32 shape=[-1]\ns = Sum(x, i32[0])\n"
                      "feed x = f32[1]\nfetch s = f32(1)"};
  auto step = client->prepare(*sum.nodes, signature_of(sum.text.runs[0]), step_clock::now() + 5s);
  REQUIRE(step);
  auto run_with = [&](int64_t count) {
    std::vector<tensor> feeds{*tensor::make(dtype::f32, shape{count})};
    std::ranges::fill(feeds[0].values<float>(), 1.0f);
    return client->run(**step, feeds, step_clock::now() + 5s);
  };
  CHECK(run_with(70'000));
  auto refused_feed = run_with(80'000).status();
  CHECK_THAT(refused_feed.message(), Contains("payloads of more than 300000 bytes"));
  step = status{error_kind::cancelled, ""};
}

TEST_CASE("an access list without TLS is refused: it could not know who is who") {
  test_authority authority;
  auto made = task::start({.ops = &library(),
                           .make_devices = [] { return make_devices({.gpus = 0}); },
                           .cluster = make_cluster(1),
                           .self = {"worker", 0},
                           .listen = {},
                           .access = authority.write("access.json", "{}")});
  CHECK(made.status().kind() == error_kind::failed_precondition);
  CHECK_THAT(made.status().message(), Contains("but no TLS"));
}

} // namespace troupe::test::client_access_test
