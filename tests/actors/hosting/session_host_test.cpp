// The service of a task for clients whose sessions it hosts, and its refusals.
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
#include <functional>
#include <future>

#include <sys/resource.h>
#include <sys/socket.h>

namespace troupe::test::session_host_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {
const text_case small{small_text};
const text_case waiting_case{
    "q = FIFOQueue component_types=[i32] shapes=[[]] shared_name=\"rows\"\n"
    "x = QueueDequeue(q) component_types=[i32]\nfetch x"};
const text_case puts{"q = FIFOQueue component_types=[i32] shapes=[[]] shared_name=\"rows\"\n"
                     "n = QueueEnqueue(q, i32(7))\ntarget n"};

step_clock::time_point after_now(std::chrono::milliseconds time) {
  return step_clock::now() + time;
}

std::string address_of_first(const cluster_spec& cluster) { return cluster.jobs.at("worker")[0]; }

std::unique_ptr<client> hosted_at(const cluster_spec& cluster, const tls_files& tls = {},
                                  std::chrono::milliseconds timeout = 20s) {
  cluster_access access;
  access.session_hosts = {address_of_first(cluster)};
  auto connected = client::connect(access, {.ops = &library(),
                                            .make_devices = {},
                                            .inter_op_threads = 2,
                                            .container = {},
                                            .timeout = timeout,
                                            .tls = tls});
  REQUIRE(connected);
  return *std::move(connected);
}

struct one_host {
  explicit one_host(const hosting_limits& limits = {}) {
    auto options = options_of_task(cluster, {"worker", 0});
    options.hosting = limits;
    options.on_log = [this](const log_event& event) { log.add(std::string{event.event}); };
    task = start_task(std::move(options));
  }
  std::unique_ptr<client> connect() const { return hosted_at(cluster); }

  log_lines log;
  cluster_spec cluster = make_cluster(1);
  std::unique_ptr<troupe::task> task;
};

result<std::shared_ptr<prepared_step>> prepare(client& caller, const text_case& test_case) {
  return caller.prepare(*test_case.nodes, signature_of(test_case.text.runs[0]), after_now(10s));
}

std::future<result<std::vector<tensor>>> begin(client& caller, prepared_step& step,
                                               std::vector<tensor> feeds = {}) {
  auto promise = std::make_shared<std::promise<result<std::vector<tensor>>>>();
  caller.run_async(
      step, std::move(feeds), after_now(60s),
      [=](result<std::vector<tensor>> outcome) { promise->set_value(std::move(outcome)); });
  return promise->get_future();
}

template <class T>
void release_step(result<T>& holder) {
  holder = status{error_kind::cancelled, ""};
}

// A client that sends any message of the test's choice.
class raw_client {
public:
  explicit raw_client(const cluster_spec& cluster) {
    std::atomic<bool> stop{false};
    auto socket = dial(*address::parse(address_of_first(cluster)), after_now(10s), stop);
    REQUIRE(socket);
    socket_ = socket->get();
    exchange_options options;
    options.self.role = "client";
    options.self.incarnation = random_id();
    options.owner = caf::actor_cast<caf::actor>(receiver_);
    exchange_ = spawn_exchange(system_, socket->release(), std::move(options));
  }
  ~raw_client() { caf::anon_send_exit(exchange_, caf::exit_reason::user_shutdown); }

  template <class What>
  void tell(What content) {
    session_request request{++number_, 10'000, std::move(content)};
    caf::anon_send(exchange_, outgoing{std::move(request)});
  }
  session_reply answer() {
    session_reply reply;
    receiver_->receive([&](incoming& incoming_message) {
      REQUIRE(std::holds_alternative<session_reply>(incoming_message.content));
      reply = std::move(std::get<session_reply>(incoming_message.content));
    });
    return reply;
  }
  template <class What>
  session_reply ask(What content) {
    tell(std::move(content));
    auto reply = answer();
    CHECK(reply.request == number_);
    return reply;
  }
  // Closes the connection, as when the client's machine fails.
  void cut() { ::shutdown(socket_, SHUT_RDWR); }

private:
  system_config config_{1, true};
  caf::actor_system system_{config_};
  caf::scoped_actor receiver_{system_};
  caf::actor exchange_;
  int socket_ = -1;
  uint64_t number_ = 0;
};

session_prepare wire_of(const text_case& test_case) {
  auto request =
      prepare_request::make(*test_case.nodes, signature_of(test_case.text.runs[0]), after_now(10s));
  REQUIRE(request);
  auto result = to_wire(*request, nullptr);
  REQUIRE(result);
  return *std::move(result);
}

// The message of the error with which the host refuses `request`.
template <class Request>
std::string refusal_of(raw_client& peer, const Request& request) {
  auto reply = peer.ask(request);
  CHECK(!reply.outcome.ok());
  return reply.outcome.message();
}

// A client may prepare and run a step, and release it once.
void check_that_session_works(raw_client& peer) {
  auto prepared = peer.ask(wire_of(small));
  REQUIRE(std::holds_alternative<prepared_handle>(prepared.content));
  auto handle = std::get<prepared_handle>(prepared.content).handle;
  CHECK_THAT(refusal_of(peer, session_run{.handle = handle, .feeds = {tensor::scalar(1)}}),
             Contains("the step has 0 feeds, got 1"));
  auto run_reply = peer.ask(session_run{.handle = handle});
  REQUIRE(std::holds_alternative<session_run_result>(run_reply.content));
  CHECK(std::get<session_run_result>(run_reply.content).fetches[0].values<int>()[0] == 3);
  peer.tell(session_release{handle});
  peer.tell(session_release{12345}); // is ignored
  CHECK_THAT(refusal_of(peer, session_run{.handle = handle}), Contains("the session has no step"));
}

// A request to prepare a graph with two feeds, to which `add` adds nodes.
session_prepare request_for(const std::function<void(graph&)>& add) {
  graph nodes{library()};
  add(nodes);
  auto bytes = write_graph(nodes);
  REQUIRE(bytes);
  return session_prepare{.graph = *bytes, .feeds = 2};
}

node* add_feed(graph& g, int64_t index, const std::string& name) {
  auto result =
      g.add({.op = "_Feed",
             .name = name,
             .attrs = {{"index", index}, {"dtype", dtype::i32}, {"shape", partial_shape{}}}});
  REQUIRE(result);
  return *result;
}

void add_fetch(graph& g, node* source_node, int64_t index, const std::string& name) {
  REQUIRE(g.add(
      {.op = "_Fetch", .name = name, .inputs = {{source_node, 0}}, .attrs = {{"index", index}}}));
}

} // namespace

TEST_CASE("a task hosts no more sessions than its limit, and the error names the limit") {
  watchdog watch;
  one_host host{{.sessions = 2}};
  auto first = host.connect(), two = host.connect(), three = host.connect();
  CHECK(run_all(*first, small).empty());
  CHECK(run_all(*two, small).empty());
  auto refused = run(*three, small).status();
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK_THAT(refused.message(),
             Contains("/job:worker/task:0 hosts 2 sessions, which is the limit"));
  first.reset();
  CHECK(becomes_true([&] { return run_all(*three, small).empty(); }));
  one_host closed_host{{.sessions = 0}};
  CHECK_THAT(run(*closed_host.connect(), small).status().message(),
             Contains("/job:worker/task:0 hosts no sessions"));
}

TEST_CASE(
    "a client prepares, runs and sends no more than its limits, and the error names the limit") {
  watchdog watch;
  one_host host{{.programs = 2, .steps = 2, .bytes = 200'000}};
  auto caller = host.connect();
  auto first = prepare(*caller, waiting_case), second = prepare(*caller, puts),
       third = prepare(*caller, small);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(third.status().kind() == error_kind::resource_exhausted);
  CHECK_THAT(third.status().message(),
             Contains("client ") && Contains("has 2 kinds of steps on /job:worker/task:0, "
                                             "which is the limit"));
  auto explained_request = wire_of(small);
  explained_request.explain = true; // uses as much memory while it is compiled
  raw_client full{host.cluster};
  CHECK(full.ask(session_open{}).outcome.ok());
  CHECK(full.ask(explained_request).outcome.ok());
  CHECK(full.ask(wire_of(waiting_case)).outcome.ok());
  CHECK(full.ask(wire_of(puts)).outcome.ok());
  CHECK(full.ask(explained_request).outcome.kind() == error_kind::resource_exhausted);
  CHECK(run_all(*host.connect(), small).empty()); // another client has a limit of its own

  auto first_run = begin(*caller, **first), two = begin(*caller, **first);
  auto refused = begin(*caller, **first).get().status();
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK_THAT(refused.message(), Contains("has 2 steps and other requests on /job:worker/task:0, "
                                         "which is the limit"));
  auto other_client = host.connect();
  CHECK(run_all(*other_client, puts).empty());
  CHECK(run_all(*other_client, puts).empty());
  CHECK(first_run.get().ok());
  CHECK(two.get().ok());

  release_step(second); // frees a slot
  const text_case sum{"x = Placeholder dtype=f32 shape=[-1]\ns = Sum(x, i32[0])\n"
                      "feed x = f32[1]\nfetch s = f32(1)"};
  CHECK(becomes_true([&] {
    second = prepare(*caller, sum);
    return second.ok();
  }));
  auto feed_of_size = [&](int64_t count) {
    std::vector<tensor> feeds{*tensor::make(dtype::f32, shape{count})};
    std::ranges::fill(feeds[0].values<float>(), 1.0f);
    return caller->run(**second, feeds, after_now(10s)).status();
  };
  CHECK(feed_of_size(40'000).ok());
  auto large = feed_of_size(60'000);
  CHECK(large.kind() == error_kind::resource_exhausted);
  CHECK_THAT(large.message(), Contains("may have 200000 bytes of graphs and feeds on "
                                       "/job:worker/task:0, has ") &&
                                  Contains(", and sends 240000 more"));
  CHECK(feed_of_size(40'000).ok());
  release_step(first);
  release_step(second);
}

TEST_CASE(
    "a client with a thousand waiting steps does not keep another client's steps from running") {
  watchdog watch;
  one_host host{{.max_concurrent_steps = 4}};
  auto busy_client = host.connect(), other_client = host.connect();
  auto take = prepare(*busy_client, waiting_case);
  REQUIRE(take);
  std::vector<std::future<result<std::vector<tensor>>>> answers;
  for (int i = 0; i < 1000; ++i)
    answers.push_back(begin(*busy_client, **take));
  auto put_step = prepare(*other_client, puts);
  REQUIRE(put_step);
  for (int i = 0; i < 1000; ++i) {
    auto put_result = other_client->run(**put_step, {}, after_now(20s));
    INFO(i << ": " << put_result.status());
    REQUIRE(put_result);
  }
  for (auto& answer : answers)
    CHECK(answer.get().ok());
  // A queued step has a deadline as well.
  auto stuck = std::vector<std::future<result<std::vector<tensor>>>>{};
  for (int i = 0; i < 4; ++i)
    stuck.push_back(begin(*busy_client, **take));
  status late_outcome;
  CHECK(becomes_true([&] { // another thread queues them
    late_outcome = busy_client->run(**take, {}, after_now(20ms)).status();
    return late_outcome.message().find("waited for a free slot") != std::string::npos;
  }));
  CHECK(late_outcome.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(late_outcome.message(),
             Contains("the step waited for a free slot until its deadline: 4 steps are "
                      "running on /job:worker/task:0, and 0 are queued"));
  release_step(take);
  release_step(put_step);
}

TEST_CASE("steps that wait for an element that a queued step enqueues do not wait for ever") {
  watchdog watch;
  one_host host{{.max_concurrent_steps = 2}};
  auto caller = host.connect();
  auto take = prepare(*caller, waiting_case), put_step = prepare(*caller, puts);
  REQUIRE(take);
  REQUIRE(put_step);
  std::vector<std::future<result<std::vector<tensor>>>> answers;
  for (int i = 0; i < 5; ++i)
    answers.push_back(begin(*caller, **take));
  for (int i = 0; i < 5; ++i) { // queued behind them
    auto put_result = caller->run(**put_step, {}, after_now(20s));
    INFO(put_result.status());
    CHECK(put_result);
  }
  for (auto& answer : answers)
    CHECK(answer.get().ok());
  release_step(take);
  release_step(put_step);
}

TEST_CASE("the content of strings counts as bytes of a client, and so do all its other messages") {
  watchdog watch;
  one_host host{{.bytes = 200'000}};
  raw_client peer{host.cluster};
  CHECK(peer.ask(session_open{}).outcome.ok());
  const text_case words{"x = Placeholder dtype=string shape=[-1]\ny = Identity(x)\n"
                        "feed x = string[\"a\"]\nfetch y = string[\"a\"]"};
  auto valid_request = wire_of(words);
  auto refused = [&](const auto& content) {
    auto outcome = peer.ask(content).outcome;
    INFO(outcome);
    CHECK(outcome.kind() == error_kind::resource_exhausted);
    CHECK_THAT(outcome.message(), Contains("bytes of graphs and feeds"));
  };
  auto large = valid_request;
  large.targets = {std::string(300'000, 'x')};
  refused(large);
  large = valid_request;
  large.costs = {{.node = std::string(300'000, 'x'), .mean_ns = 1}};
  refused(large);
  large = valid_request;
  large.feeds = 65'536;
  refused(large);
  auto prepared = peer.ask(valid_request);
  REQUIRE(std::holds_alternative<prepared_handle>(prepared.content));
  auto handle = std::get<prepared_handle>(prepared.content).handle;
  auto request_of_length = [&](size_t length) {
    return session_run{.handle = handle,
                       .feeds = {tensor::vector<std::string>({std::string(length, 'x')})}};
  };
  refused(request_of_length(300'000));
  CHECK(peer.ask(request_of_length(100'000)).outcome.ok());
  CHECK(peer.ask(request_of_length(100'000)).outcome.ok()); // the earlier steps have ended
}

TEST_CASE(
    "node costs that a client sends apply to that graph, and to no other graph of the client") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor receiver{system};
  auto options = std::make_shared<hosting_options>(hosting_options{
      .server = std::make_shared<step_server>(local_task, 0, clock_of(system)), .view = {}});
  options->session.ops = &library();
  std::vector<std::vector<node_time>> node_times;
  auto open_session = [&](caf::actor_system& client_system,
                          const client_options&) -> result<caf::actor> {
    return client_system.spawn([&]() -> caf::behavior {
      return {[&](const explain_request& request) {
        node_times.push_back(request.request.costs);
        return placement_report{};
      }};
    });
  };
  auto host =
      spawn_session_host(system, options, open_session, std::make_shared<std::atomic<size_t>>(0));
  auto from = std::make_shared<peer_connection>();
  auto ask = [&](auto content) {
    session_request request{1, 10'000, std::move(content)};
    caf::anon_send(host, incoming{std::move(request), caf::actor_cast<caf::actor>(receiver), from});
    receiver->receive([&](const outgoing& sent_reply) {
      CHECK(std::get<session_reply>(sent_reply.content).outcome.ok());
    });
  };
  ask(session_open{});
  auto graph = wire_of(small);
  graph.explain = true;
  for (double cost : {1e6, 5e6}) {
    graph.costs = {{.node = concat("x", cost), .mean_ns = cost}, {.node = "x", .mean_ns = cost}};
    ask(graph);
    REQUIRE(!node_times.empty());
    REQUIRE(node_times.back().size() == 2);
    CHECK(node_times.back()[1].mean_ns == cost);
  }
  caf::anon_send_exit(host, caf::exit_reason::user_shutdown);
}

TEST_CASE("a client may disconnect while its graph is compiled") {
  watchdog watch;
  one_host host;
  std::string long_text = "x0 = Placeholder dtype=f32 shape=[]\n";
  for (int i = 1; i <= 2000; ++i)
    long_text += concat("x", i, " = Neg(x", i - 1, ")\n");
  const text_case large{long_text + "feed x0 = f32(1)\nfetch x2000 = f32(1)"};
  auto prepare_request = wire_of(large);
  prepare_request.costs = {{.node = "x1", .mean_ns = 5}};
  for (int i = 0; i < 3; ++i) {
    raw_client dying_client{host.cluster};
    CHECK(dying_client.ask(session_open{}).outcome.ok());
    for (int n = 0; n < 20; ++n)
      dying_client.tell(prepare_request);
    auto first = dying_client.answer(); // other answers may come first
    CHECK(std::holds_alternative<prepared_handle>(first.content));
    dying_client.cut();
  }
  CHECK(host.log.eventually_contain("session_closed"));
  CHECK(run_all(*host.connect(), small).empty());
  CHECK(host.task->drain(10s).none());
}

#if !defined(__SANITIZE_ADDRESS__) // the undefined behaviour sanitizer that runs with it needs
                                   // descriptors itself
TEST_CASE("a task that fails to begin hosting sessions reports it, and tries again") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config};
  caf::scoped_actor receiver{system};
  auto host = session_host::make(
      {.server = std::make_shared<step_server>(task_name{"worker", 0}, 1, clock_of(system)),
       .view = {}});
  auto from = std::make_shared<peer_connection>();
  auto ask = [&] {
    host->serve(
        {session_request{7, 1000, session_devices{}}, caf::actor_cast<caf::actor>(receiver), from});
    session_reply reply;
    receiver->receive([&](outgoing& outgoing_message) {
      reply = std::get<session_reply>(std::move(outgoing_message.content));
    });
    CHECK(reply.request == 7);
    return reply;
  };
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  auto no_descriptors = before;
  no_descriptors.rlim_cur = 0; // no descriptors are left for its connections
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &no_descriptors) == 0);
  auto refused = ask();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_THAT(refused.outcome.message(),
             Contains("/job:worker/task:0") && Contains("starting to host sessions"));
  CHECK(refused.not_started);
  CHECK_THAT(ask().outcome.message(), Contains("this connection has no session"));
  host->close();
}
#endif

TEST_CASE("a named cluster hosts sessions of clients whose certificates name the cluster") {
  watchdog watch;
  test_authority authority;
  auto cluster = make_cluster(1);
  cluster.name = "prod";
  auto options = options_of_task(cluster, {"worker", 0});
  options.tls = authority.task("worker", 0, "prod");
  auto task = start_task(std::move(options));
  CHECK(run_all(*hosted_at(cluster, authority.client("alice", "prod")), small).empty());
  auto other_client = hosted_at(cluster, authority.client("alice", "test"), 2s);
  auto refused = run(*other_client, small, 0, 2s).status();
  INFO(refused);
  CHECK(!refused.ok());
  CHECK_THAT(refused.message(), Contains("prod"));
}

TEST_CASE("the state of a client ends with its connection, and no state of other clients does") {
  watchdog watch;
  one_host host;
  auto other_client = host.connect();
  auto take = prepare(*other_client, waiting_case);
  REQUIRE(take);
  raw_client dying_client{host.cluster};
  CHECK(dying_client.ask(session_open{}).outcome.ok());
  auto prepared = dying_client.ask(wire_of(waiting_case));
  REQUIRE(std::holds_alternative<prepared_handle>(prepared.content));
  auto handle = std::get<prepared_handle>(prepared.content).handle;
  for (int i = 0; i < 100; ++i)
    dying_client.tell(session_run{.handle = handle});
  dying_client.ask(session_devices{}); // all requests have arrived
  dying_client.cut();
  CHECK(host.log.eventually_contain("session_closed"));
  // The steps of the dead client take no element.
  auto answer = begin(*other_client, **take);
  CHECK(run_all(*other_client, puts).empty());
  auto taken_result = answer.get();
  REQUIRE(taken_result);
  CHECK((*taken_result)[0].values<int>()[0] == 7);
  CHECK(host.task->drain(10s).none());
  release_step(take);
}

TEST_CASE("invalid requests are refused with a sentence, and the session continues") {
  watchdog watch;
  one_host host;
  raw_client peer{host.cluster};
  CHECK_THAT(refusal_of(peer, session_run{.handle = 1}),
             Contains("this connection has no session"));
  CHECK(peer.ask(session_open{}).outcome.ok());
  CHECK_THAT(refusal_of(peer, session_open{}), Contains("this connection has a session already"));
  CHECK_THAT(refusal_of(peer, session_run{.handle = 1}), Contains("the session has no step 1"));
  auto valid_request = wire_of(small);
  auto broken = valid_request;
  broken.graph = tensor::vector<uint8_t>({1, 2, 3});
  CHECK_THAT(refusal_of(peer, broken), Contains("damaged graph"));
  broken = valid_request;
  broken.targets = {"nobody"};
  CHECK_THAT(refusal_of(peer, broken), Contains("the step has no node 'nobody'"));
  broken = valid_request;
  broken.feeds = 1'000'000;
  CHECK_THAT(refusal_of(peer, broken), Contains("at most 65536 feeds"));
  check_that_session_works(peer);
}

TEST_CASE("graphs with invalid feeds and fetches are refused, and the session continues") {
  watchdog watch;
  one_host host;
  raw_client peer{host.cluster};
  CHECK(peer.ask(session_open{}).outcome.ok());
  auto refusal_of_graph = [&](const std::function<void(graph&)>& add) {
    return refusal_of(peer, request_for(add));
  };
  CHECK_THAT(refusal_of_graph([](graph&) {}), Contains("there is nothing to fetch"));
  CHECK_THAT(refusal_of_graph([](graph& g) { add_fetch(g, add_feed(g, 2, "x"), 0, "f"); }),
             Contains("has the feed index 2, but the step has 2 feeds"));
  CHECK_THAT(refusal_of_graph([](graph& g) {
               add_fetch(g, add_feed(g, 1, "x"), 0, "f");
               add_fetch(g, add_feed(g, 1, "y"), 1, "g");
             }),
             Contains("has the feed index 1, which another node has already"));
  CHECK_THAT(refusal_of_graph([](graph& g) { add_fetch(g, add_feed(g, 1, "x"), 9, "f"); }),
             Contains("has the fetch index 9, which is out of range"));
  CHECK_THAT(refusal_of_graph([](graph& g) {
               auto* x = add_feed(g, 0, "x");
               add_fetch(g, x, 1, "f");
             }),
             Contains("some are missing"));
  CHECK_THAT(refusal_of_graph([](graph& g) {
               auto send_node = g.add(
                   {.op = "_Send",
                    .name = "s",
                    .inputs = {{add_feed(g, 0, "x"), 0}},
                    .attrs = {{"key", int64_t{0}}, {"to", std::string{"/job:worker/task:0"}}}});
               INFO(send_node.status());
               REQUIRE(send_node);
             }),
             Contains("a step that is to be prepared has no such node"));
  check_that_session_works(peer);
}

TEST_CASE("a stopped request is answered soon, also if the stop arrived first") {
  watchdog watch;
  one_host host;
  raw_client peer{host.cluster};
  CHECK(peer.ask(session_open{}).outcome.ok()); // request 1
  auto handle = std::get<prepared_handle>(peer.ask(wire_of(waiting_case)).content).handle;
  auto is_answered = [&](uint64_t request, error_kind expected_kind) {
    auto reply = peer.answer();
    return reply.request == request && reply.outcome.kind() == expected_kind;
  };
  peer.tell(session_run{.handle = handle}); // request 3
  peer.tell(session_stop{3});
  CHECK(is_answered(3, error_kind::cancelled));
  for (auto request : {3, 8, 9}) // request 3 has been answered already
    peer.tell(session_stop{static_cast<uint64_t>(request)});
  peer.tell(session_run{.handle = handle}); // request 8
  CHECK(is_answered(8, error_kind::cancelled));
  peer.tell(wire_of(waiting_case)); // request 9
  CHECK(is_answered(9, error_kind::cancelled));
  peer.tell(session_run{.handle = handle}); // request 10, which is not stopped
  CHECK(run_all(*host.connect(), puts).empty());
  CHECK(is_answered(10, error_kind::ok));
}

TEST_CASE("a stopped step leaves the queue") {
  watchdog watch;
  one_host host{{.max_concurrent_steps = 1}};
  raw_client peer{host.cluster};
  CHECK(peer.ask(session_open{}).outcome.ok()); // request 1
  auto handle = std::get<prepared_handle>(peer.ask(wire_of(waiting_case)).content).handle;
  constexpr uint64_t first = 3, steps = 400; // one more step is admitted every 50 ms
  for (auto i = first; i < first + steps; ++i)
    peer.tell(session_run{.handle = handle});
  CHECK(peer.ask(session_known_devices{}).outcome.ok()); // all requests have arrived
  auto start_time = step_clock::now();
  for (auto i = first + steps - 1; i > first; --i)
    peer.tell(session_stop{i});
  for (size_t i = 1; i < steps; ++i)
    CHECK(peer.answer().request != first);     // the first step still runs
  CHECK(step_clock::now() - start_time < 10s); // admitted one by one, they would take twice as long
  peer.tell(session_stop{first});
  CHECK(peer.answer().request == first);
}

TEST_CASE("the access list of the host limits what its clients' sessions may do") {
  watchdog watch;
  secure_cluster cluster{R"({"clients": {"alice": {"may": ["register", "run", "reset"]},
                                      "bob": {"may": ["register", "run"], "sessions": 1,
                                              "programs": 1},
                                      "carol": {"may": ["register"]}, "dave": {"may": ["run"]}}})"};
  auto client_of = [&](const std::string& name) {
    return hosted_at(cluster.cluster, cluster.authority.client(name), 5s);
  };
  auto why_not = [](client& caller) { return run(caller, small, 0, 5s).status().message(); };
  auto alice = client_of("alice"), bob = client_of("bob");
  CHECK(run_all(*alice, small).empty());
  CHECK(alice->reset("box", after_now(5s)));
  auto kept_step = prepare(*bob, small);
  REQUIRE(kept_step);
  CHECK(bob->run(**kept_step, {}, after_now(5s)));
  CHECK_THAT(prepare(*bob, puts).status().message(),
             Contains("client 'bob' has 1 kinds of steps on /job:worker/task:0"));
  auto reset = bob->reset("box", after_now(5s));
  CHECK(reset.kind() == error_kind::failed_precondition);
  CHECK_THAT(reset.message(), Contains("client 'bob' may not reset containers"));
  CHECK(bob->devices(after_now(5s)));
  CHECK_THAT(why_not(*client_of("bob")),
             Contains("client 'bob' has 1 sessions on /job:worker/task:0, which is the limit"));
  CHECK_THAT(why_not(*client_of("carol")), Contains("client 'carol' may not run steps"));
  CHECK_THAT(why_not(*client_of("dave")), Contains("client 'dave' may not register graphs"));
  CHECK_THAT(why_not(*client_of("eve")), Contains("client 'eve' is not on the access list"));
  release_step(kept_step);
}

} // namespace troupe::test::session_host_test
