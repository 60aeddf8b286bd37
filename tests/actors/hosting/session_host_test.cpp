// What a task does for the clients whose sessions it hosts, and what it refuses.
#include "troupe/actors/hosting/session_host.hpp"

#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/session/hosted_step.hpp"
#include "troupe/actors/task/step_server.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <atomic>
#include <future>

#include <sys/resource.h>
#include <sys/socket.h>

namespace troupe::test::session_host_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {
const text_case small{small_text};
const text_case waits{"q = FIFOQueue component_types=[i32] shapes=[[]] shared_name=\"rows\"\n"
                      "x = QueueDequeue(q) component_types=[i32]\nfetch x"};
const text_case puts{"q = FIFOQueue component_types=[i32] shapes=[[]] shared_name=\"rows\"\n"
                     "n = QueueEnqueue(q, i32(7))\ntarget n"};

step_clock::time_point within(std::chrono::milliseconds time) { return step_clock::now() + time; }

std::string address_of_first(const cluster_spec& cluster) { return cluster.jobs.at("worker")[0]; }

std::unique_ptr<client> hosted_at(const cluster_spec& cluster, const tls_files& tls = {},
                                  std::chrono::milliseconds timeout = 20s) {
  cluster_access to;
  to.hosts = {address_of_first(cluster)};
  auto made = client::connect(to, {.ops = &library(),
                                   .make_devices = {},
                                   .inter_op_threads = 2,
                                   .container = {},
                                   .timeout = timeout,
                                   .tls = tls});
  REQUIRE(made);
  return *std::move(made);
}

struct one_host {
  explicit one_host(const hosting_limits& limits = {}) {
    auto options = options_of_task(cluster, {"worker", 0});
    options.hosting = limits;
    options.on_log = [this](const log_event& what) { log.add(std::string{what.event}); };
    task = start_task(std::move(options));
  }
  std::unique_ptr<client> connect() const { return hosted_at(cluster); }

  log_lines log;
  cluster_spec cluster = make_cluster(1);
  std::unique_ptr<troupe::task> task;
};

result<std::shared_ptr<prepared_step>> prepare(client& by, const text_case& what) {
  return by.prepare(*what.nodes, signature_of(what.text.runs[0]), within(10s));
}

std::future<result<std::vector<tensor>>> begin(client& by, prepared_step& step,
                                               std::vector<tensor> feeds = {}) {
  auto promise = std::make_shared<std::promise<result<std::vector<tensor>>>>();
  by.run_async(step, std::move(feeds), within(60s), [=](result<std::vector<tensor>> outcome) {
    promise->set_value(std::move(outcome));
  });
  return promise->get_future();
}

template <class T>
void let_go(result<T>& of) {
  of = status{error_kind::cancelled, ""};
}

// Says whatever the test wants.
class raw_client {
public:
  explicit raw_client(const cluster_spec& cluster) {
    std::atomic<bool> stop{false};
    auto socket = dial(*address::parse(address_of_first(cluster)), within(10s), stop);
    REQUIRE(socket);
    socket_ = socket->get();
    exchange_options options;
    options.self.role = "client";
    options.self.incarnation = random_id();
    options.owner = caf::actor_cast<caf::actor>(me_);
    exchange_ = spawn_exchange(system_, socket->release(), std::move(options));
  }
  ~raw_client() { caf::anon_send_exit(exchange_, caf::exit_reason::user_shutdown); }

  template <class What>
  void tell(What what) {
    session_request asked{++number_, 10'000, std::move(what)};
    caf::anon_send(exchange_, outgoing{std::move(asked)});
  }
  session_reply answer() {
    session_reply got;
    me_->receive([&](incoming& what) {
      REQUIRE(std::holds_alternative<session_reply>(what.content));
      got = std::move(std::get<session_reply>(what.content));
    });
    return got;
  }
  template <class What>
  session_reply ask(What what) {
    tell(std::move(what));
    auto got = answer();
    CHECK(got.request == number_);
    return got;
  }
  // As when the machine is gone.
  void cut() { ::shutdown(socket_, SHUT_RDWR); }

private:
  system_config config_{1, true};
  caf::actor_system system_{config_};
  caf::scoped_actor me_{system_};
  caf::actor exchange_;
  int socket_ = -1;
  uint64_t number_ = 0;
};

session_prepare wire_of(const text_case& what) {
  auto request = prepare_request::make(*what.nodes, signature_of(what.text.runs[0]), within(10s));
  REQUIRE(request);
  auto made = to_wire(*request, nullptr);
  REQUIRE(made);
  return *std::move(made);
}

} // namespace

TEST_CASE("a task hosts no more sessions than it may, and says how many") {
  watchdog watch;
  one_host here{{.sessions = 2}};
  auto one = here.connect(), two = here.connect(), three = here.connect();
  CHECK(run_all(*one, small).empty());
  CHECK(run_all(*two, small).empty());
  auto refused = run(*three, small).status();
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK_THAT(refused.message(),
             Contains("/job:worker/task:0 hosts 2 sessions, which is the limit"));
  one.reset();
  CHECK(soon([&] { return run_all(*three, small).empty(); }));
  one_host none{{.sessions = 0}};
  CHECK_THAT(run(*none.connect(), small).status().message(),
             Contains("/job:worker/task:0 hosts no sessions"));
}

TEST_CASE("a client prepares, runs and sends no more than it may, and is told the limit") {
  watchdog watch;
  one_host here{{.programs = 2, .steps = 2, .bytes = 200'000}};
  auto by = here.connect();
  auto first = prepare(*by, waits), second = prepare(*by, puts), third = prepare(*by, small);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(third.status().kind() == error_kind::resource_exhausted);
  CHECK_THAT(third.status().message(),
             Contains("client ") && Contains("has 2 kinds of steps on /job:worker/task:0, "
                                             "which is the limit"));
  auto explained = wire_of(small);
  explained.explain = true; // takes as much while it is compiled
  raw_client full{here.cluster};
  CHECK(full.ask(session_open{}).outcome.ok());
  CHECK(full.ask(explained).outcome.ok());
  CHECK(full.ask(wire_of(waits)).outcome.ok());
  CHECK(full.ask(wire_of(puts)).outcome.ok());
  CHECK(full.ask(explained).outcome.kind() == error_kind::resource_exhausted);
  CHECK(run_all(*here.connect(), small).empty()); // it is another client

  auto one = begin(*by, **first), two = begin(*by, **first);
  auto refused = begin(*by, **first).get().status();
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK_THAT(refused.message(), Contains("has 2 steps and other requests on /job:worker/task:0, "
                                         "which is the limit"));
  auto other = here.connect();
  CHECK(run_all(*other, puts).empty());
  CHECK(run_all(*other, puts).empty());
  CHECK(one.get().ok());
  CHECK(two.get().ok());

  let_go(second); // room for another
  const text_case sum{"x = Placeholder dtype=f32 shape=[-1]\ns = Sum(x, i32[0])\n"
                      "feed x = f32[1]\nfetch s = f32(1)"};
  CHECK(soon([&] {
    second = prepare(*by, sum);
    return second.ok();
  }));
  auto with = [&](int64_t count) {
    std::vector<tensor> feeds{*tensor::make(dtype::f32, shape{count})};
    std::ranges::fill(feeds[0].values<float>(), 1.0f);
    return by->run(**second, feeds, within(10s)).status();
  };
  CHECK(with(40'000).ok());
  auto large = with(60'000);
  CHECK(large.kind() == error_kind::resource_exhausted);
  CHECK_THAT(large.message(), Contains("may have 200000 bytes of graphs and feeds on "
                                       "/job:worker/task:0, has ") &&
                                  Contains(", and sends 240000 more"));
  CHECK(with(40'000).ok());
  let_go(first);
  let_go(second);
}

TEST_CASE("a client with a thousand steps that wait does not keep another's from running") {
  watchdog watch;
  one_host here{{.steps_at_once = 4}};
  auto many = here.connect(), few = here.connect();
  auto take = prepare(*many, waits);
  REQUIRE(take);
  std::vector<std::future<result<std::vector<tensor>>>> answers;
  for (int i = 0; i < 1000; ++i)
    answers.push_back(begin(*many, **take));
  auto put = prepare(*few, puts);
  REQUIRE(put);
  for (int i = 0; i < 1000; ++i) {
    auto done = few->run(**put, {}, within(20s));
    INFO(i << ": " << done.status());
    REQUIRE(done);
  }
  for (auto& one : answers)
    CHECK(one.get().ok());
  // Who waits for its turn has a deadline, too.
  auto stuck = std::vector<std::future<result<std::vector<tensor>>>>{};
  for (int i = 0; i < 4; ++i)
    stuck.push_back(begin(*many, **take));
  status late;
  CHECK(soon([&] { // they come by another thread
    late = many->run(**take, {}, within(20ms)).status();
    return late.message().find("waited for a free slot") != std::string::npos;
  }));
  CHECK(late.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(late.message(),
             Contains("the step waited for a free slot until its deadline: 4 steps are "
                      "running on /job:worker/task:0, and 0 are queued"));
  let_go(take);
  let_go(put);
}

TEST_CASE("steps that wait for what only one in line brings do not wait for ever") {
  watchdog watch;
  one_host here{{.steps_at_once = 2}};
  auto by = here.connect();
  auto take = prepare(*by, waits), put = prepare(*by, puts);
  REQUIRE(take);
  REQUIRE(put);
  std::vector<std::future<result<std::vector<tensor>>>> answers;
  for (int i = 0; i < 5; ++i)
    answers.push_back(begin(*by, **take));
  for (int i = 0; i < 5; ++i) { // in the same line, behind them
    auto done = by->run(**put, {}, within(20s));
    INFO(done.status());
    CHECK(done);
  }
  for (auto& one : answers)
    CHECK(one.get().ok());
  let_go(take);
  let_go(put);
}

TEST_CASE("what strings hold counts as bytes of a client, and so does the rest of what it sends") {
  watchdog watch;
  one_host here{{.bytes = 200'000}};
  raw_client by{here.cluster};
  CHECK(by.ask(session_open{}).outcome.ok());
  const text_case words{"x = Placeholder dtype=string shape=[-1]\ny = Identity(x)\n"
                        "feed x = string[\"a\"]\nfetch y = string[\"a\"]"};
  auto fine = wire_of(words);
  auto refused = [&](const auto& what) {
    auto outcome = by.ask(what).outcome;
    INFO(outcome);
    CHECK(outcome.kind() == error_kind::resource_exhausted);
    CHECK_THAT(outcome.message(), Contains("bytes of graphs and feeds"));
  };
  auto large = fine;
  large.targets = {std::string(300'000, 'x')};
  refused(large);
  large = fine;
  large.costs = {{.node = std::string(300'000, 'x'), .mean_ns = 1}};
  refused(large);
  large = fine;
  large.feeds = 65'536;
  refused(large);
  auto prepared = by.ask(fine);
  REQUIRE(std::holds_alternative<prepared_handle>(prepared.what));
  auto handle = std::get<prepared_handle>(prepared.what).handle;
  auto with = [&](size_t length) {
    return session_run{.handle = handle,
                       .feeds = {tensor::vector<std::string>({std::string(length, 'x')})}};
  };
  refused(with(300'000));
  CHECK(by.ask(with(100'000)).outcome.ok());
  CHECK(by.ask(with(100'000)).outcome.ok()); // those of before are gone
}

TEST_CASE("what a client says of costs goes with that graph, and with no other that it sends") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor me{system};
  auto options = std::make_shared<hosting_options>(hosting_options{
      .server = std::make_shared<step_server>(local_task, 0, clock_of(system)), .view = {}});
  options->session.ops = &library();
  std::vector<std::vector<node_time>> came;
  auto listens = [&](caf::actor_system& in, const client_options&) -> result<caf::actor> {
    return in.spawn([&]() -> caf::behavior {
      return {[&](const explain_request& what) {
        came.push_back(what.what.costs);
        return placement_report{};
      }};
    });
  };
  auto host =
      spawn_session_host(system, options, listens, std::make_shared<std::atomic<size_t>>(0));
  auto from = std::make_shared<peer_connection>();
  auto ask = [&](auto what) {
    session_request asked{1, 10'000, std::move(what)};
    caf::anon_send(host, incoming{std::move(asked), caf::actor_cast<caf::actor>(me), from});
    me->receive(
        [&](const outgoing& said) { CHECK(std::get<session_reply>(said.content).outcome.ok()); });
  };
  ask(session_open{});
  auto graph = wire_of(small);
  graph.explain = true;
  for (double cost : {1e6, 5e6}) {
    graph.costs = {{.node = concat("x", cost), .mean_ns = cost}, {.node = "x", .mean_ns = cost}};
    ask(graph);
    REQUIRE(!came.empty());
    REQUIRE(came.back().size() == 2);
    CHECK(came.back()[1].mean_ns == cost);
  }
  caf::anon_send_exit(host, caf::exit_reason::user_shutdown);
}

TEST_CASE("a client may go while what it has sent is compiled") {
  watchdog watch;
  one_host here;
  std::string long_text = "x0 = Placeholder dtype=f32 shape=[]\n";
  for (int i = 1; i <= 2000; ++i)
    long_text += concat("x", i, " = Neg(x", i - 1, ")\n");
  const text_case large{long_text + "feed x0 = f32(1)\nfetch x2000 = f32(1)"};
  auto asked = wire_of(large);
  asked.costs = {{.node = "x1", .mean_ns = 5}};
  for (int i = 0; i < 3; ++i) {
    raw_client dies{here.cluster};
    CHECK(dies.ask(session_open{}).outcome.ok());
    for (int n = 0; n < 20; ++n)
      dies.tell(asked);
    auto first = dies.answer(); // others are under way
    CHECK(std::holds_alternative<prepared_handle>(first.what));
    dies.cut();
  }
  CHECK(here.log.come_to_have("session_closed"));
  CHECK(run_all(*here.connect(), small).empty());
  CHECK(here.task->drain(10s).none());
}

#if !defined(__SANITIZE_ADDRESS__) // its companion for undefined behaviour needs descriptors itself
TEST_CASE("a task that cannot begin to host sessions says so, and tries again") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor me{system};
  auto host = session_host::make(
      {.server = std::make_shared<step_server>(task_name{"worker", 0}, 1, clock_of(system)),
       .view = {}});
  auto from = std::make_shared<peer_connection>();
  auto ask = [&] {
    host->serve(
        {session_request{7, 1000, session_devices{}}, caf::actor_cast<caf::actor>(me), from});
    session_reply got;
    me->receive([&](outgoing& what) { got = std::get<session_reply>(std::move(what.content)); });
    CHECK(got.request == 7);
    return got;
  };
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto none = before;
  none.rlim_cur = 0; // no descriptors for its connections
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  auto refused = ask();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_THAT(refused.outcome.message(),
             Contains("/job:worker/task:0") && Contains("starting to host sessions"));
  CHECK(refused.not_begun);
  CHECK_THAT(ask().outcome.message(), Contains("this connection has no session"));
  host->close();
}
#endif

TEST_CASE("a cluster with a name hosts sessions of clients whose certificates name it") {
  watchdog watch;
  test_authority authority;
  auto cluster = make_cluster(1);
  cluster.name = "prod";
  auto options = options_of_task(cluster, {"worker", 0});
  options.tls = authority.task("worker", 0, "prod");
  auto task = start_task(std::move(options));
  CHECK(run_all(*hosted_at(cluster, authority.client("alice", "prod")), small).empty());
  auto other = hosted_at(cluster, authority.client("alice", "test"), 2s);
  auto refused = run(*other, small, 0, 2s).status();
  INFO(refused);
  CHECK(!refused.ok());
  CHECK_THAT(refused.message(), Contains("prod"));
}

TEST_CASE("what a client had goes with its connection, and nothing of others does") {
  watchdog watch;
  one_host here;
  auto other = here.connect();
  auto take = prepare(*other, waits);
  REQUIRE(take);
  raw_client dies{here.cluster};
  CHECK(dies.ask(session_open{}).outcome.ok());
  auto prepared = dies.ask(wire_of(waits));
  REQUIRE(std::holds_alternative<prepared_handle>(prepared.what));
  auto handle = std::get<prepared_handle>(prepared.what).handle;
  for (int i = 0; i < 100; ++i)
    dies.tell(session_run{.handle = handle});
  dies.ask(session_devices{}); // all of them have come
  dies.cut();
  CHECK(here.log.come_to_have("session_closed"));
  // The steps of the dead take nothing any more.
  auto answer = begin(*other, **take);
  CHECK(run_all(*other, puts).empty());
  auto got = answer.get();
  REQUIRE(got);
  CHECK((*got)[0].values<int>()[0] == 7);
  CHECK(here.task->drain(10s).none());
  let_go(take);
}

TEST_CASE("what makes no sense is refused with a sentence, and the session goes on") {
  watchdog watch;
  one_host here;
  raw_client by{here.cluster};
  auto said = [&](const auto& what) {
    auto reply = by.ask(what);
    CHECK(!reply.outcome.ok());
    return reply.outcome.message();
  };
  CHECK_THAT(said(session_run{.handle = 1}), Contains("this connection has no session"));
  CHECK(by.ask(session_open{}).outcome.ok());
  CHECK_THAT(said(session_open{}), Contains("this connection has a session already"));
  CHECK_THAT(said(session_run{.handle = 1}), Contains("the session has no step 1"));
  auto fine = wire_of(small);
  auto broken = fine;
  broken.graph = tensor::vector<uint8_t>({1, 2, 3});
  CHECK_THAT(said(broken), Contains("damaged graph"));
  broken = fine;
  broken.targets = {"nobody"};
  CHECK_THAT(said(broken), Contains("the step has no node 'nobody'"));
  broken = fine;
  broken.feeds = 1'000'000;
  CHECK_THAT(said(broken), Contains("at most 65536 feeds"));

  auto graph_of = [](auto add) {
    graph nodes{library()};
    add(nodes);
    auto bytes = write_graph(nodes);
    REQUIRE(bytes);
    return session_prepare{.graph = *bytes, .feeds = 2};
  };
  auto feed = [](graph& in, int64_t index, const std::string& name) {
    auto made =
        in.add({.op = "_Feed",
                .name = name,
                .attrs = {{"index", index}, {"dtype", dtype::i32}, {"shape", partial_shape{}}}});
    REQUIRE(made);
    return *made;
  };
  auto fetch = [](graph& in, node* of, int64_t index, const std::string& name) {
    REQUIRE(
        in.add({.op = "_Fetch", .name = name, .inputs = {{of, 0}}, .attrs = {{"index", index}}}));
  };
  CHECK_THAT(said(graph_of([](graph&) {})), Contains("there is nothing to fetch"));
  CHECK_THAT(said(graph_of([&](graph& in) { fetch(in, feed(in, 2, "x"), 0, "f"); })),
             Contains("is feed 2 of 2"));
  CHECK_THAT(said(graph_of([&](graph& in) {
               fetch(in, feed(in, 1, "x"), 0, "f");
               fetch(in, feed(in, 1, "y"), 1, "g");
             })),
             Contains("is feed 1 of 2, as another is"));
  CHECK_THAT(said(graph_of([&](graph& in) { fetch(in, feed(in, 1, "x"), 9, "f"); })),
             Contains("is fetch 9, which cannot be"));
  CHECK_THAT(said(graph_of([&](graph& in) {
               auto* x = feed(in, 0, "x");
               fetch(in, x, 1, "f");
             })),
             Contains("some are missing"));
  CHECK_THAT(said(graph_of([&](graph& in) {
               auto sent = in.add(
                   {.op = "_Send",
                    .name = "s",
                    .inputs = {{feed(in, 0, "x"), 0}},
                    .attrs = {{"key", int64_t{0}}, {"to", std::string{"/job:worker/task:0"}}}});
               INFO(sent.status());
               REQUIRE(sent);
             })),
             Contains("a step that is to be prepared has no such node"));

  auto prepared = by.ask(fine);
  REQUIRE(std::holds_alternative<prepared_handle>(prepared.what));
  auto handle = std::get<prepared_handle>(prepared.what).handle;
  CHECK_THAT(said(session_run{.handle = handle, .feeds = {tensor::scalar(1)}}),
             Contains("the step has 0 feeds, got 1"));
  auto ran = by.ask(session_run{.handle = handle});
  REQUIRE(std::holds_alternative<session_ran>(ran.what));
  CHECK(std::get<session_ran>(ran.what).fetches[0].values<int>()[0] == 3);
  by.tell(session_forget{handle});
  by.tell(session_forget{12345}); // is passed over
  CHECK_THAT(said(session_run{.handle = handle}), Contains("the session has no step"));
}

TEST_CASE("what a client has stopped is answered soon, also where that came first") {
  watchdog watch;
  one_host here;
  raw_client by{here.cluster};
  CHECK(by.ask(session_open{}).outcome.ok()); // 1
  auto handle = std::get<prepared_handle>(by.ask(wire_of(waits)).what).handle;
  auto is_answered = [&](uint64_t request, error_kind how) {
    auto got = by.answer();
    return got.request == request && got.outcome.kind() == how;
  };
  by.tell(session_run{.handle = handle}); // 3
  by.tell(session_stop{3});
  CHECK(is_answered(3, error_kind::cancelled));
  for (auto one : {3, 8, 9}) // the first has been answered
    by.tell(session_stop{static_cast<uint64_t>(one)});
  by.tell(session_run{.handle = handle}); // 8
  CHECK(is_answered(8, error_kind::cancelled));
  by.tell(wire_of(waits)); // 9
  CHECK(is_answered(9, error_kind::cancelled));
  by.tell(session_run{.handle = handle}); // 10, which is not stopped
  CHECK(run_all(*here.connect(), puts).empty());
  CHECK(is_answered(10, error_kind::ok));
}

TEST_CASE("what a client has stopped leaves the line") {
  watchdog watch;
  one_host here{{.steps_at_once = 1}};
  raw_client by{here.cluster};
  CHECK(by.ask(session_open{}).outcome.ok()); // 1
  auto handle = std::get<prepared_handle>(by.ask(wire_of(waits)).what).handle;
  constexpr uint64_t first = 3, steps = 400; // one more is let in each 50 ms
  for (auto i = first; i < first + steps; ++i)
    by.tell(session_run{.handle = handle});
  CHECK(by.ask(session_known_devices{}).outcome.ok()); // all of them are there
  auto began = step_clock::now();
  for (auto i = first + steps - 1; i > first; --i)
    by.tell(session_stop{i});
  for (size_t i = 1; i < steps; ++i)
    CHECK(by.answer().request != first);  // which runs on
  CHECK(step_clock::now() - began < 10s); // let in one after the other, they would take twice that
  by.tell(session_stop{first});
  CHECK(by.answer().request == first);
}

TEST_CASE("the access list of the host says what clients may have its sessions do") {
  watchdog watch;
  secure_cluster here{R"({"clients": {"alice": {"may": ["register", "run", "reset"]},
                                      "bob": {"may": ["register", "run"], "sessions": 1,
                                              "programs": 1},
                                      "carol": {"may": ["register"]}, "dave": {"may": ["run"]}}})"};
  auto client_of = [&](const std::string& name) {
    return hosted_at(here.cluster, here.authority.client(name), 5s);
  };
  auto why_not = [](client& by) { return run(by, small, 0, 5s).status().message(); };
  auto alice = client_of("alice"), bob = client_of("bob");
  CHECK(run_all(*alice, small).empty());
  CHECK(alice->reset("box", within(5s)));
  auto kept = prepare(*bob, small);
  REQUIRE(kept);
  CHECK(bob->run(**kept, {}, within(5s)));
  CHECK_THAT(prepare(*bob, puts).status().message(),
             Contains("client 'bob' has 1 kinds of steps on /job:worker/task:0"));
  auto reset = bob->reset("box", within(5s));
  CHECK(reset.kind() == error_kind::failed_precondition);
  CHECK_THAT(reset.message(), Contains("client 'bob' may not reset containers"));
  CHECK(bob->devices(within(5s)));
  CHECK_THAT(why_not(*client_of("bob")),
             Contains("client 'bob' has 1 sessions on /job:worker/task:0, which is the limit"));
  CHECK_THAT(why_not(*client_of("carol")), Contains("client 'carol' may not run steps"));
  CHECK_THAT(why_not(*client_of("dave")), Contains("client 'dave' may not register graphs"));
  CHECK_THAT(why_not(*client_of("eve")), Contains("client 'eve' is not on the access list"));
  let_go(kept);
}

} // namespace troupe::test::session_host_test
