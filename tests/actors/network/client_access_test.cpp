// The rights of clients at a task, and their limits.
#include "tests/serialization/wire/example_messages.hpp"
#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/peer_account.hpp"
#include "troupe/actors/network/access_control.hpp"
#include "troupe/actors/operator/observer.hpp"
#include "troupe/serialization/tls/token.hpp"

#include <atomic>
#include <fstream>
#include <future>
#include <set>

namespace troupe::test::client_access_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

using clock_type = std::chrono::steady_clock;

TEST_CASE(
    "a client may do at a task what its access list permits, and errors name the missing right") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"alice": {"may": ["register", "run", "reset", "drain"]},
                                      "bob": {"may": ["register", "run"]},
                                      "carol": {"may": ["register"]}, "dave": {"may": ["run"]}}})"};
  auto client_of = [&](const std::string& name) {
    return cluster.connect(cluster.authority.client(name));
  };
  auto in_five_seconds = [] { return step_clock::now() + 5s; };
  const text_case small{small_text};
  auto alice = client_of("alice"), bob = client_of("bob");
  CHECK(run_all(*alice, small).empty());
  CHECK(alice->reset("box", in_five_seconds()));
  CHECK(run_all(*bob, small).empty());
  auto refused_reset = bob->reset("box", in_five_seconds());
  CHECK(refused_reset.kind() == error_kind::failed_precondition);
  CHECK_THAT(refused_reset.message(), Contains("client 'bob' may not reset containers"));
  CHECK(bob->devices(in_five_seconds()));
  auto drain_as = [&](const std::string& name) {
    return (*observer::connect(cluster.cluster, {.tls = cluster.authority.client(name)}))
        ->drain({"worker", 0}, 5s);
  };
  auto refused_drain = drain_as("bob");
  CHECK(refused_drain.kind() == error_kind::failed_precondition);
  CHECK_THAT(refused_drain.message(), Contains("client 'bob' may not have the task drain"));
  CHECK_THAT(refused(*client_of("carol")).message(), Contains("client 'carol' may not run steps"));
  CHECK_THAT(refused(*client_of("dave")).message(),
             Contains("client 'dave' may not register graphs"));
  CHECK_THAT(refused(*client_of("eve")).message(),
             Contains("client 'eve' is not on the access list of this task"));
  // Programs of tasks have sessions as well.
  CHECK(run_all(*cluster.connect(cluster.authority.task("worker", 0)), small).empty());
  CHECK(drain_as("alice"));
}

TEST_CASE(
    "the permitted messages of a client are listed: all others are refused, and future ones too") {
  auto allowed = [](const access_rights& rights) {
    const peer_account account{"eve", rights};
    std::set<std::string_view> result;
    for (const auto& example : test::example_messages())
      if (check_request_rights(account, example, {"worker", 0}))
        result.insert(name_of(example));
    return result;
  };
  const std::set<std::string_view> allowed_to_all{"device_list_request", "state_list_request",
                                                  "inspect_request",     "member_changes",
                                                  "client_waits",        "goodbye"};
  auto and_also = [&](std::set<std::string_view> with_anybody) {
    with_anybody.insert(allowed_to_all.begin(), allowed_to_all.end());
    return with_anybody;
  };
  CHECK(allowed({}) == allowed_to_all);
  CHECK(allowed({.may_register = true}) == and_also({"register_graph", "deregister_graph"}));
  CHECK(allowed({.may_run = true}) ==
        and_also({"run_step", "cancel_step", "settle_step", "positions_request",
                  "initialization_end", "session_request"})); // a session request runs a step
  CHECK(allowed({.may_reset = true}) == and_also({"container_reset"}));
  CHECK(allowed({.may_drain = true}) == and_also({"drain_request"}));
}

TEST_CASE("session requests to a host need the rights that the tasks require") {
  auto allowed = [](const access_rights& rights) {
    const peer_account account{"eve", rights};
    std::set<size_t> result;
    for (const auto& example : test::example_session_messages())
      if (const auto* request = std::get_if<session_request>(&example);
          request && check_request_rights(account, example, {"worker", 0}))
        result.insert(request->content.index());
    return result;
  };
  // Indices in the order of the variant: open, prepare, run, forget, reset, state_of, devices,
  // positions, initialization_end, known_devices, stop.
  CHECK(allowed({}) == std::set<size_t>{5, 6, 9, 10});
  CHECK(allowed({.may_register = true}) == std::set<size_t>{0, 1, 3, 5, 6, 9, 10});
  CHECK(allowed({.may_run = true}) == std::set<size_t>{2, 5, 6, 7, 8, 9, 10});
  CHECK(allowed({.may_reset = true}) == std::set<size_t>{4, 5, 6, 9, 10});
}

TEST_CASE(
    "clients send the version of their task list, and neither task identities nor their numbers") {
  const std::vector<certificate_name> client{certificate_name::of_client("c", "eve")},
      task{certificate_name::of_task("c", {"worker", 0})},
      foreign{certificate_name::of_client("c", "eve"), certificate_name::of_job("d", "worker")};
  const message greeting = member_changes{{3, 4}, {3, 4}, {}},
                none = member_changes{{0, 0}, {UINT64_MAX, 1}, {}},
                some = member_changes{{3, 4}, {3, 5}, {{{"ps", 0}, 1, "h:1"}}},
                grant = number_grant{{}, {"worker", 1}, 5};
  for (const auto* certificate : {&client, &foreign}) {
    CHECK(check_cluster_message(*certificate, greeting, "c"));
    for (const auto* encoded : {&none, &some, &grant})
      CHECK(check_cluster_message(*certificate, *encoded, "c").kind() ==
            error_kind::failed_precondition);
  }
  for (const auto* encoded : {&greeting, &none, &some, &grant})
    CHECK(check_cluster_message(task, *encoded, "c"));
}

TEST_CASE("a certificate's names in other clusters give no rights in this cluster") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"admin": {"may": ["register", "run", "reset"]},
                                      "alice": {"may": ["register", "run"]},
                                      "bob": {"may": ["register", "run"]}}})"};
  auto reset_with = [&](const std::vector<certificate_name>& names) {
    auto client = cluster.connect(cluster.authority.issue(names));
    CHECK(run_all(*client, text_case{small_text}).empty());
    return client->reset("box", step_clock::now() + 5s);
  };
  auto as_task = reset_with(
      {certificate_name::of_client("", "bob"), certificate_name::of_task("other", {"worker", 0})});
  CHECK_THAT(as_task.message(), Contains("client 'bob' may not reset containers"));
  auto as_admin = reset_with(
      {certificate_name::of_client("other", "admin"), certificate_name::of_client("", "bob")});
  CHECK_THAT(as_admin.message(), Contains("client 'bob' may not reset containers"));
  CHECK(reset_with({certificate_name::of_client("", "admin")}));
}

TEST_CASE("a client without a certificate is admitted by its token, and by no other") {
  watchdog watch;
  auto token = new_token();
  secure_cluster cluster{concat(R"({"clients": {"alice": {"may": ["register", "run"]}},
      "tokens": {"ci": {"sha256": ")",
                                digest_of_token(token), R"(", "may": ["register", "run"]}}})")};
  const text_case small{small_text};
  auto ci = cluster.connect(cluster.authority.token(token));
  CHECK(run_all(*ci, small).empty());
  CHECK_THAT(ci->reset("box", step_clock::now() + 5s).message(),
             Contains("client 'ci' may not reset containers"));
  CHECK_THAT(refused(*cluster.connect(cluster.authority.token(new_token()))).message(),
             Contains("its token is not on the access list"));
  // A token identifies the client, also beside a certificate.
  auto certificate_files = cluster.authority.client("eve");
  certificate_files.token = cluster.authority.token(token).token;
  CHECK(run_all(*cluster.connect(certificate_files), small).empty());

  secure_cluster plain_cluster{1};
  CHECK_THAT(refused(*plain_cluster.connect(plain_cluster.authority.token(token))).message(),
             Contains("it requires a certificate, and takes no tokens"));
}

TEST_CASE("a changed access list applies to the next connection") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"*": {"may": ["register", "run"]}}})"};
  const text_case small{small_text};
  auto bob = cluster.connect(cluster.authority.client("bob"));
  CHECK(run_all(*bob, small).empty());
  cluster.authority.write("access.json", R"({"clients": {"alice": {"may": ["register", "run"]}}})");
  CHECK_THAT(refused(*cluster.connect(cluster.authority.client("bob"))).message(),
             Contains("is not on the access list"));
  CHECK(run_all(*bob, small).empty()); // bob was admitted
  cluster.authority.write("access.json", "nonsense");
  CHECK(cluster.runs_steps()); // as alice, under the previous list
  CHECK(cluster.log.eventually_contain("the previous one stays in force"));
}

TEST_CASE("a client has no more connections, programs and steps at a task than its limits") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"*": {"may": ["register", "run"],
      "connections": 2, "programs": 2, "steps": 1}}})"};
  auto files = cluster.authority.client("bob");
  const text_case small{small_text}, other{"x = Neg(i32(1))\nfetch x = i32(-1)"};
  const text_case waiting_case{"q = FIFOQueue component_types=[i32] shapes=[[]]\n"
                               "x = QueueDequeue(q) component_types=[i32]\nfetch x"};
  auto first_client = cluster.connect(files), two = cluster.connect(files);
  auto in_five_seconds = [] { return step_clock::now() + 5s; };
  auto first =
      first_client->prepare(*small.nodes, signature_of(small.text.runs[0]), in_five_seconds());
  auto second =
      two->prepare(*waiting_case.nodes, signature_of(waiting_case.text.runs[0]), in_five_seconds());
  REQUIRE(first);
  REQUIRE(second);
  auto third =
      first_client->prepare(*other.nodes, signature_of(other.text.runs[0]), in_five_seconds());
  CHECK(third.status().kind() == error_kind::resource_exhausted);
  CHECK_THAT(third.status().message(),
             Contains("client 'bob' has registered 2 graphs, which is its limit"));
  CHECK_THAT(refused(*cluster.connect(files)).message(),
             Contains("client 'bob' has 2 connections already"));
  CHECK(cluster.runs_steps()); // as alice

  std::promise<status> failed;
  std::atomic<int> ended_runs{0};
  for (int i = 0; i < 2; ++i)
    two->run_async(**second, {}, step_clock::now() + 20s, [&](auto outcome) {
      if (ended_runs++ == 0)
        failed.set_value(outcome.status());
    });
  auto refused_step = failed.get_future();
  REQUIRE(refused_step.wait_for(10s) == std::future_status::ready);
  CHECK_THAT(refused_step.get().message(),
             Contains("client 'bob' has 1 steps on /job:worker/task:0 already"));
  second = status{error_kind::cancelled, ""};
  two.reset(); // its step, program and connection end with it
  auto end = clock_type::now() + 10s;
  auto next_client = cluster.connect(files);
  while (!run_all(*next_client, other).empty() && clock_type::now() < end)
    next_client = cluster.connect(files);
  CHECK(run_all(*next_client, other) == "");
  first = status{error_kind::cancelled, ""};
}

TEST_CASE("a token and a certificate with the same name are counted separately") {
  temporary_folder folder;
  auto token = new_token();
  auto path = folder / "access.json";
  std::ofstream{path} << concat(R"({"clients": {"ci": {"may": ["run"], "connections": 1}},
      "tokens": {"ci": {"sha256": ")",
                                digest_of_token(token), R"(", "may": [], "connections": 1}}})");
  auto control = access_control::load(path, nullptr);
  REQUIRE(control);
  const std::vector<certificate_name> proven{certificate_name::of_client("c", "ci")};
  hello shows_token;
  shows_token.access_token = token;
  auto by_token = (*control)->admit(shows_token, {}),
       by_certificate = (*control)->admit({}, proven);
  REQUIRE(by_token);
  REQUIRE(by_certificate);
  for (int i = 0; i < 2; ++i) {
    CHECK((*control)->admit(shows_token, {}).status().kind() == error_kind::resource_exhausted);
    CHECK((*control)->admit({}, proven).status().kind() == error_kind::resource_exhausted);
  }
}

TEST_CASE("a client sends no more bytes at once than its limit") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"*": {"may": ["register", "run"], "bytes": 300000}}})"};
  auto client = cluster.connect(cluster.authority.client("bob"));
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

TEST_CASE("a task receives no large tensors from a client without rights") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"alice": {"may": ["register", "run"]},
                                      "eve": {"may": []}}})"};
  auto why_not = [&](int64_t count) {
    graph nodes{library()};
    auto values = *tensor::make(dtype::f32, shape{count});
    std::ranges::fill(values.values<float>(), 1.0f);
    auto* x =
        *nodes.add({.op = "Const", .attrs = {{"value", std::move(values)}, {"dtype", dtype::f32}}});
    auto eve = cluster.connect(cluster.authority.client("eve"));
    auto step = eve->prepare(nodes, {.fetches = {{x, 0}}}, step_clock::now() + 5s);
    return (step ? eve->run(**step, {}, step_clock::now() + 5s).status() : step.status()).message();
  };
  CHECK_THAT(why_not(100'000), Contains("client 'eve' may not register graphs"));
  CHECK_THAT(why_not(1'000'000), Contains("payloads of more than 1048576 bytes"));
  CHECK(cluster.runs_steps());
}

TEST_CASE("an access list without TLS is refused, since it cannot verify identities") {
  test_authority authority;
  auto started = task::start({.ops = &library(),
                              .make_devices = [] { return make_devices({.gpus = 0}); },
                              .cluster = make_cluster(1),
                              .self = {"worker", 0},
                              .listen = {},
                              .access_list = authority.write("access.json", "{}")});
  CHECK(started.status().kind() == error_kind::failed_precondition);
  CHECK_THAT(started.status().message(), Contains("but no TLS"));
}

} // namespace troupe::test::client_access_test
