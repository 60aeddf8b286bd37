#include "tests/support/catch.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/insight/inspection_ref.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"
#include "troupe/troupe.hpp"

#include <future>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>

namespace troupe::test::operator_port_test {

using namespace std::chrono_literals;

namespace {

std::unique_ptr<task> start_with_port(const cluster_spec& cluster, const task_name& self) {
  auto options = options_of_task(cluster, self);
  options.http = "127.0.0.1:0";
  return start_task(std::move(options));
}

http_answer get(const task& served_task, std::string_view target) {
  auto answer = http_client{served_task.http_port()}.get(target);
  if (!answer)
    throw std::runtime_error{"no answer"};
  return *answer;
}

inspection inspect_part(const task& served_task, const std::string& ref) {
  auto answer = get(served_task, "/v1/node" + ref);
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  auto read = parse_inspection(answer.body);
  REQUIRE(read.ok());
  return *std::move(read);
}

// The value of a sample, or nothing.
std::optional<double> sample(const std::string& metrics, const std::string& name) {
  auto position = metrics.find('\n' + name + ' ');
  if (position == metrics.npos)
    return std::nullopt;
  return std::stod(metrics.substr(position + name.size() + 2));
}

template <class Predicate>
void wait_for(Predicate is_done) {
  // The watchdog bounds it.
  while (!is_done())
    std::this_thread::yield();
}

// The threads may not have counted an answered step yet.
void wait_until_counted(const task& served_task, int steps) {
  wait_for([&] {
    auto text = get(served_task, "/metrics").body;
    return sample(text, "troupe_steps_running") == 0 &&
           sample(text, "troupe_step_seconds_count") == steps;
  });
}

// A graph whose step waits for an element of a queue.
struct waiting_step {
  graph_builder g;
  edge queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  node* put = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  edge taken = queue_dequeue(queue, {dtype::i32}, "take")[0];
};

} // namespace

TEST_CASE("a task reports that it is healthy and ready, and that unknown paths do not exist") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  CHECK(get(*task, "/healthz").body == "ok\n");
  CHECK(get(*task, "/readyz").body == "ok\n");
  CHECK(get(*task, "/").status == 404);
  CHECK(get(*task, "/v1/nodes").status == 404);
  CHECK(get(*task, "/v1/node/job:worker/task:0/queue:none").status == 404);
  CHECK(get(*task, "/v1/node/job:worker/task:7").status == 404);
  CHECK(get(*task, "/v1/node/%%%").status == 400);
  CHECK(get(*task, "/v1/node/?depth=9").status == 400);
  CHECK(get(*task, "/v1/node/?depth=").status == 400);
  CHECK(get(*task, "/v1/node/?what").status == 400);
}

TEST_CASE("every line of the metrics is in Prometheus' text format, and no sample comes twice") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step waiting_graph;
  s.run(waiting_graph.put);
  auto answer = get(*task, "/metrics");
  CHECK(answer.headers.find("text/plain; version=0.0.4") != answer.headers.npos);
  std::istringstream lines{answer.body};
  std::regex comment{"# (HELP|TYPE) [a-z_]+ .+"},
      value{R"re(([a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})?) [-+0-9.eInf]+)re"};
  std::set<std::string> kinds_seen;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    INFO(line);
    auto is_comment = std::regex_match(line, comment);
    REQUIRE((is_comment || std::regex_match(line, parts, value)));
    CHECK((is_comment || kinds_seen.insert(parts[1]).second));
  }
}

TEST_CASE("metrics count steps by outcome, the bytes of links, and the elements of queues") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step waiting_graph;
  for (int i = 0; i < 3; ++i)
    s.run(waiting_graph.put);
  auto zero = waiting_graph.g.placeholder(dtype::i32);
  auto quotient = waiting_graph.g.constant(tensor::scalar(1)) / zero;
  CHECK_THROWS_AS(s.run({{zero, tensor::scalar(0)}}, {quotient}), error);
  wait_until_counted(*task, 4);
  auto text = get(*task, "/metrics").body;
  CHECK(sample(text, R"(troupe_steps_total{outcome="ok"})") == 3);
  CHECK(sample(text, R"(troupe_steps_total{outcome="invalid_argument"})") == 1);
  CHECK(sample(text, "troupe_step_seconds_count") == 4);
  CHECK(sample(text, "troupe_steps_running") == 0);
  CHECK(sample(text, R"(troupe_queue_size{container="",kind="queue",name="rows"})") == 3);
  CHECK(sample(text, R"(troupe_connections{peer="clients"})") == 1);
  CHECK(sample(text, R"(troupe_link_received_bytes_total{peer="clients"})") > 100);
  CHECK(sample(text, R"(troupe_link_sent_bytes_total{peer="clients"})") > 100);
  CHECK(sample(text, R"(troupe_device_memory_bytes{device="cpu:0",state="in_use"})"));
  CHECK(sample(text, "process_resident_memory_bytes") > 1e6);
  CHECK(sample(text, "process_open_fds") > 3);
  wait_for([&] { // a ping may be under way
    return sample(get(*task, "/metrics").body, R"(troupe_link_queued_bytes{peer="clients"})") == 0;
  });
  CHECK(sample(text, R"(troupe_link_last_heard_seconds{peer="clients"})") < 10);
  CHECK(!sample(text, R"(troupe_members{presence="here"})")); // the cluster is not a joined one
  CHECK(sample(text, "troupe_draining") == 0);
}

TEST_CASE("the bytes of a connection still count after it has ended") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  {
    auto s = session::connect(cluster);
    waiting_step waiting_graph;
    s.run(waiting_graph.put);
  }
  wait_for([&] {
    return sample(get(*task, "/metrics").body, R"(troupe_connections{peer="clients"})") == 0;
  });
  auto text = get(*task, "/metrics").body;
  CHECK(sample(text, R"(troupe_connections_opened_total{peer="clients"})") == 1);
  CHECK(sample(text, R"(troupe_link_received_bytes_total{peer="clients"})") > 100);
}

TEST_CASE("a waiting step reports for which queue it waits, in which node and for how long") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step waiting_graph;
  auto wait = s.prepare({}, {waiting_graph.taken});
  auto answer = wait.run_async();
  inspection step;
  wait_for([&] {
    for (auto& child : inspect_part(*task, "/job:worker/task:0?depth=3").children)
      if (child.kind == "step" && !child.children.empty())
        step = std::move(child);
    return !step.ref.empty();
  });
  REQUIRE(step.children.size() == 1);
  const auto& result = step.children[0];
  CHECK(text_of(result.find("for")) == "state");
  CHECK(text_of(result.find("name")) == "rows");
  CHECK(text_of(result.find("node")).starts_with("QueueDequeue 'take'"));
  CHECK(number_of(result.find("seconds")) >= 0);
  CHECK(inspect_part(*task, result.ref).ref == result.ref);
  inspection queue;
  CHECK(becomes_true([&] { // the step waits before the queue reports it
    queue = inspect_part(*task, "/job:worker/task:0/container:/queue:rows");
    return number_of(queue.find("takes_waiting")) == 1;
  }));
  CHECK(number_of(queue.find("size")) == 0);
  auto text = get(*task, "/metrics").body;
  CHECK(sample(text, R"(troupe_waits{for="state"})") == 1);
  CHECK(sample(text, "troupe_steps_running") == 1);
  s.run(waiting_graph.put);
  CHECK(answer.get()[0].values<int32_t>()[0] == 7);
}

TEST_CASE("all objects can be reached from the root, and each by its own ref") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step waiting_graph;
  waiting_graph.g.variable(tensor::scalar(1.f), "hidden/weights");
  // Programs are compiled again after a graph grows.
  auto* initializer = waiting_graph.g.initializer();
  s.run(waiting_graph.put);
  s.run(initializer);
  wait_until_counted(*task, 2);
  auto root = inspect_part(*task, "/?depth=8");
  CHECK(root.kind == "cluster");
  std::set<std::string> kinds;
  size_t count = 0;
  std::function<void(const inspection&)> visit = [&](const inspection& part) {
    ++count;
    kinds.insert(part.kind);
    INFO(part.ref);
    auto ref = inspection_ref::parse(part.ref);
    REQUIRE(ref.ok());
    auto same_part = inspect_part(*task, part.ref + "?depth=0");
    CHECK(same_part.kind == part.kind);
    for (const auto& child : part.children)
      visit(child);
  };
  visit(root);
  CHECK(kinds == std::set<std::string>{"cluster", "job", "task", "device", "link", "program",
                                       "container", "queue", "variable"});
}

TEST_CASE("silent, unreachable and gone members of a joined cluster are reported") {
  watchdog watch;
  auto ports = free_ports(2);
  auto seed = concat("127.0.0.1:", ports[0]);
  std::mutex mutex;
  std::set<std::string> logged; // "presence member"
  auto has_logged = [&](const std::string& expected_line) {
    std::lock_guard guard{mutex};
    return logged.contains(expected_line);
  };
  auto cluster = find_cluster("join:" + seed);
  REQUIRE(cluster);
  auto options = options_of_task(*cluster, {"ps", 0});
  options.listen = seed;
  options.http = "127.0.0.1:0";
  options.member_times = {
      .settle = 100ms, .unreachable_after = 100ms, .gone_after = 1s, .isolated_after = 1s};
  options.on_log = [&](const log_event& event) {
    std::lock_guard guard{mutex};
    if (event.event == "member_changed") // the first fields are the member and its presence
      logged.insert(concat(text_of(&event.fields[1].value), ' ', text_of(&event.fields[0].value)));
  };
  auto ps = start_task(std::move(options));
  task_process worker{seed, {"worker", 0}, concat("127.0.0.1:", ports[1])};
  const std::string ref = "/member:worker:0", link = "/job:ps/task:0/link:worker:0";
  const std::string last_heard = R"(troupe_link_last_heard_seconds{peer="/job:worker/task:0"})";
  auto count_of = [&](const char* state) {
    return sample(get(*ps, "/metrics").body, concat("troupe_members{presence=\"", state, "\"}"));
  };
  CHECK(becomes_true([&] { return count_of("here") == 2; }));
  CHECK(sample(get(*ps, "/metrics").body, "troupe_coordinator") == 1);
  auto root = inspect_part(*ps, "/");
  CHECK(text_of(root.find("coordinator")) == "/job:ps/task:0");
  CHECK(text_of(root.find("term")) == std::to_string(ps->incarnation()));
  auto member = inspect_part(*ps, ref);
  CHECK(member.kind == "member");
  CHECK(text_of(member.find("task")) == "/job:worker/task:0");
  CHECK(text_of(member.find("presence")) == "here");
  CHECK(text_of(member.find("address")) == concat("127.0.0.1:", ports[1]));
  CHECK(std::ranges::count(root.children, member) == 1);
  CHECK(get(*ps, "/v1/node/member:worker:1").status == 404);

  // The link has a timeout of 2 s.
  CHECK(number_of(inspect_part(*ps, link).find("last_heard_seconds")) < 1.5);
  worker.freeze();
  CHECK(becomes_true(
      [&] { return number_of(inspect_part(*ps, link).find("last_heard_seconds")) > 2.5; }));
  CHECK(sample(get(*ps, "/metrics").body, last_heard) > 2.5);
  worker.kill();
  CHECK(becomes_true([&] { return has_logged("unreachable /job:worker/task:0"); }));
  CHECK(becomes_true([&] { return has_logged("gone /job:worker/task:0"); }));
  CHECK(becomes_true([&] { return count_of("gone") == 1; }));
  CHECK(text_of(inspect_part(*ps, ref).find("presence")) == "gone");
  CHECK(!sample(get(*ps, "/metrics").body, last_heard));
}

TEST_CASE("a draining task refuses new requests, finishes running steps, and is not ready") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step waiting_graph;
  auto put_step = s.prepare({}, {}, {waiting_graph.put});
  put_step.run();
  put_step.run();
  auto wait = s.prepare({}, {waiting_graph.taken});
  CHECK(wait.run().size() == 1);
  CHECK(wait.run().size() == 1);
  auto answer = wait.run_async();
  wait_for([&] { return sample(get(*task, "/metrics").body, "troupe_steps_running") == 1; });
  // The threads may not have counted the answered steps yet.
  CHECK(becomes_true([&] { return task->drain(0ms).steps == 1; }));
  CHECK(get(*task, "/healthz").status == 200);
  auto ready = get(*task, "/readyz");
  CHECK(ready.status == 503);
  CHECK(ready.body == "/job:worker/task:0 is draining: it accepts no new requests\n");
  auto refused = [&](auto body) {
    try {
      body();
    } catch (const error& e) {
      INFO(e.what());
      CHECK(e.kind() == error_kind::unavailable);
      CHECK(std::string_view{e.what()}.find("is draining") != std::string_view::npos);
      return true;
    }
    return false;
  };
  CHECK(refused([&] { put_step.run({}, {.timeout = 5s}); }));
  CHECK(refused([&] { s.fetch(queue_size(waiting_graph.queue), {}); }));
  CHECK(answer.wait_for(0s) == std::future_status::timeout); // it still waits
  CHECK(task->drain(10ms).steps == 1);
}

TEST_CASE("a task is drained when its steps have ended and their answers are sent") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {1024, 1024, 8}, "x");
  auto y = s.prepare({x}, {x + x});
  std::vector<std::future<std::vector<tensor>>> answers;
  auto feed_value = tensor::from_values({1024, 1024, 8}, std::vector<float>(8 << 20, 1.f));
  y.run({feed_value});
  for (int i = 0; i < 4; ++i)
    answers.push_back(y.run_async({feed_value}));
  wait_for([&] {
    return sample(get(*task, "/metrics").body, R"(troupe_steps_total{outcome="ok"})") > 1;
  });
  CHECK(task->drain(30s).none());
  task = nullptr;
  size_t successes = 0;
  for (auto& answer : answers)
    try {
      successes += answer.get().size();
    } catch (const error& e) { // the step had not begun
      CHECK(e.kind() == error_kind::unavailable);
    }
  CHECK(successes >= 1);
}

TEST_CASE("HTTP is not served beyond this machine unless that is allowed") {
  auto cluster = make_cluster(1);
  auto options = options_of_task(cluster, {"worker", 0});
  options.http = "0.0.0.0:0";
  auto refused = task::start(options);
  REQUIRE(!refused.ok());
  CHECK(refused.status().kind() == error_kind::failed_precondition);
  CHECK(refused.status().message().find("--http-allow-remote") != std::string::npos);
  options.http_allow_remote = true;
  {
    auto allowed = task::start(options);
    REQUIRE(allowed.ok());
    CHECK(get(**allowed, "/healthz").status == 200);
  }
  options.http_allow_remote = false;
  options.insecure = true; // as manifests of older versions have it
  auto allowed = task::start(options);
  REQUIRE(allowed.ok());
  CHECK(get(**allowed, "/healthz").status == 200);
}

TEST_CASE("unencrypted traffic beyond this machine is a warning of the task and of a client") {
  watchdog watch;
  cluster_spec cluster;
  cluster.jobs["worker"] = {
      concat("0.0.0.0:", free_ports(1).front())}; // reaches this machine, but not by loopback
  auto options = options_of_task(cluster, {"worker", 0});
  options.http = "0.0.0.0:0";
  options.insecure = true;
  std::mutex mutex;
  std::vector<std::string> logged, task_warnings, client_warnings;
  options.on_log = [&](const log_event& log_entry) {
    std::lock_guard guard{mutex};
    if (log_entry.event == "warning")
      logged.push_back(to_line(log_entry));
  };
  options.on_warning = [&](const std::string& text) {
    std::lock_guard guard{mutex};
    task_warnings.push_back(text);
  };
  auto open = start_task(std::move(options));
  {
    std::lock_guard guard{mutex};
    REQUIRE(task_warnings.size() == 2);
    CHECK(task_warnings[0].find("/job:worker/task:0 listens at 0.0.0.0:") == 0);
    CHECK(task_warnings[1] ==
          "/job:worker/task:0 serves HTTP at 0.0.0.0:0 without encryption: all who "
          "reach it see what it runs");
    REQUIRE(logged.size() == 2);
    for (size_t i = 0; i < 2; ++i)
      CHECK(logged[i].find(task_warnings[i]) != std::string::npos);
  }
  session_options client_options{.cluster = {.insecure = true}};
  client_options.on_warning = [&](const std::string& text) {
    std::lock_guard guard{mutex};
    client_warnings.push_back(text);
  };
  const auto& address = cluster.jobs.at("worker").front();
  for (const auto& text : {to_json(cluster), "master:" + address}) {
    client_warnings.clear();
    graph_builder g;
    auto s = session::connect(text, client_options);
    CHECK(to_scalar<int>(s.fetch(neg(g.constant(1)))) == -1);
    std::lock_guard guard{mutex};
    REQUIRE(client_warnings.size() == 1);
    CHECK(client_warnings[0].find("the connection to " + address +
                                  ", another machine, is without encryption") == 0);
  }
}

} // namespace troupe::test::operator_port_test
