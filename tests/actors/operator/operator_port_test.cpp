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

http_answer get(const task& of, std::string_view target) {
  auto answer = http_client{of.http_port()}.get(target);
  if (!answer)
    throw std::runtime_error{"no answer"};
  return *answer;
}

inspection look(const task& of, const std::string& ref) {
  auto answer = get(of, "/v1/node" + ref);
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  auto read = parse_inspection(answer.body);
  REQUIRE(read.ok());
  return *std::move(read);
}

// The value of a sample, or nothing.
std::optional<double> sample(const std::string& metrics, const std::string& name) {
  auto at = metrics.find('\n' + name + ' ');
  if (at == metrics.npos)
    return std::nullopt;
  return std::stod(metrics.substr(at + name.size() + 2));
}

template <class Predicate>
void wait_for(Predicate done) {
  while (!done())
    std::this_thread::yield(); // the watchdog bounds it
}

// Of a step that was answered, the threads may not have told yet.
void wait_until_told(const task& of, int steps) {
  wait_for([&] {
    auto text = get(of, "/metrics").body;
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

TEST_CASE("a task says that it is healthy and ready, and what is not there") {
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

TEST_CASE(
    "every line of the metrics is one of Prometheus' text format, and no sample comes twice") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step of;
  s.run(of.put);
  auto answer = get(*task, "/metrics");
  CHECK(answer.headers.find("text/plain; version=0.0.4") != answer.headers.npos);
  std::istringstream lines{answer.body};
  std::regex comment{"# (HELP|TYPE) [a-z_]+ .+"},
      value{R"re(([a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})?) [-+0-9.eInf]+)re"};
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    INFO(line);
    auto is_comment = std::regex_match(line, comment);
    REQUIRE((is_comment || std::regex_match(line, parts, value)));
    CHECK((is_comment || seen.insert(parts[1]).second));
  }
}

TEST_CASE("metrics count steps by outcome, the bytes of links, and the elements of queues") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step of;
  for (int i = 0; i < 3; ++i)
    s.run(of.put);
  auto zero = of.g.placeholder(dtype::i32);
  auto bad = of.g.constant(tensor::scalar(1)) / zero;
  CHECK_THROWS_AS(s.run({{zero, tensor::scalar(0)}}, {bad}), error);
  wait_until_told(*task, 4);
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
  wait_for([&] { // a ping may be on its way
    return sample(get(*task, "/metrics").body, R"(troupe_link_queued_bytes{peer="clients"})") == 0;
  });
  CHECK(sample(text, R"(troupe_link_last_heard_seconds{peer="clients"})") < 10);
  CHECK(!sample(text, R"(troupe_members{presence="here"})")); // the cluster is not joined
  CHECK(sample(text, "troupe_draining") == 0);
}

TEST_CASE("what a connection has carried still counts when it has ended") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  {
    auto s = session::connect(cluster);
    waiting_step of;
    s.run(of.put);
  }
  wait_for([&] {
    return sample(get(*task, "/metrics").body, R"(troupe_connections{peer="clients"})") == 0;
  });
  auto text = get(*task, "/metrics").body;
  CHECK(sample(text, R"(troupe_connections_opened_total{peer="clients"})") == 1);
  CHECK(sample(text, R"(troupe_link_received_bytes_total{peer="clients"})") > 100);
}

TEST_CASE("a step that waits says for which queue, by which node and for how long") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step of;
  auto wait = s.prepare({}, {of.taken});
  auto answer = wait.run_async();
  inspection step;
  wait_for([&] {
    for (auto& one : look(*task, "/job:worker/task:0?depth=3").children)
      if (one.kind == "step" && !one.children.empty())
        step = std::move(one);
    return !step.ref.empty();
  });
  REQUIRE(step.children.size() == 1);
  const auto& found = step.children[0];
  CHECK(text_of(found.find("for")) == "state");
  CHECK(text_of(found.find("name")) == "rows");
  CHECK(text_of(found.find("node")).starts_with("QueueDequeue 'take'"));
  CHECK(number_of(found.find("seconds")) >= 0);
  CHECK(look(*task, found.ref).ref == found.ref);
  inspection queue;
  CHECK(soon([&] { // the step waits before the queue knows
    queue = look(*task, "/job:worker/task:0/container:/queue:rows");
    return number_of(queue.find("takes_waiting")) == 1;
  }));
  CHECK(number_of(queue.find("size")) == 0);
  auto text = get(*task, "/metrics").body;
  CHECK(sample(text, R"(troupe_waits{for="state"})") == 1);
  CHECK(sample(text, "troupe_steps_running") == 1);
  s.run(of.put);
  CHECK(answer.get()[0].values<int32_t>()[0] == 7);
}

TEST_CASE("all that there is can be reached from the root, and each part by its own ref") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step of;
  of.g.variable(tensor::scalar(1.f), "hidden/weights");
  auto* initializer = of.g.initializer(); // a graph that grows has its programs made anew
  s.run(of.put);
  s.run(initializer);
  wait_until_told(*task, 2);
  auto root = look(*task, "/?depth=8");
  CHECK(root.kind == "cluster");
  std::set<std::string> kinds;
  size_t count = 0;
  std::function<void(const inspection&)> visit = [&](const inspection& part) {
    ++count;
    kinds.insert(part.kind);
    INFO(part.ref);
    auto ref = inspection_ref::parse(part.ref);
    REQUIRE(ref.ok());
    auto again = look(*task, part.ref + "?depth=0");
    CHECK(again.kind == part.kind);
    for (const auto& child : part.children)
      visit(child);
  };
  visit(root);
  CHECK(kinds == std::set<std::string>{"cluster", "job", "task", "device", "link", "program",
                                       "container", "queue", "variable"});
}

TEST_CASE("members of a joined cluster that are silent, unreachable or gone are told") {
  watchdog watch;
  auto ports = free_ports(2);
  auto seed = concat("127.0.0.1:", ports[0]);
  std::mutex mutex;
  std::set<std::string> logged; // "presence member"
  auto has_logged = [&](const std::string& what) {
    std::lock_guard guard{mutex};
    return logged.contains(what);
  };
  auto cluster = find_cluster("join:" + seed);
  REQUIRE(cluster);
  auto options = options_of_task(*cluster, {"ps", 0});
  options.listen = seed;
  options.http = "127.0.0.1:0";
  options.member_times = {
      .settle = 100ms, .unreachable_after = 100ms, .gone_after = 1s, .alone_after = 1s};
  options.on_log = [&](const log_event& what) {
    std::lock_guard guard{mutex};
    if (what.event == "member_changed") // the first fields are the member and its presence
      logged.insert(concat(text_of(&what.fields[1].value), ' ', text_of(&what.fields[0].value)));
  };
  auto ps = start_task(std::move(options));
  task_process worker{seed, {"worker", 0}, concat("127.0.0.1:", ports[1])};
  const std::string ref = "/member:worker:0", link = "/job:ps/task:0/link:worker:0";
  const std::string heard = R"(troupe_link_last_heard_seconds{peer="/job:worker/task:0"})";
  auto counted = [&](const char* state) {
    return sample(get(*ps, "/metrics").body, concat("troupe_members{presence=\"", state, "\"}"));
  };
  CHECK(soon([&] { return counted("here") == 2; }));
  CHECK(sample(get(*ps, "/metrics").body, "troupe_coordinator") == 1);
  auto root = look(*ps, "/");
  CHECK(text_of(root.find("coordinator")) == "/job:ps/task:0");
  CHECK(text_of(root.find("term")) == std::to_string(ps->incarnation()));
  auto member = look(*ps, ref);
  CHECK(member.kind == "member");
  CHECK(text_of(member.find("task")) == "/job:worker/task:0");
  CHECK(text_of(member.find("presence")) == "here");
  CHECK(text_of(member.find("address")) == concat("127.0.0.1:", ports[1]));
  CHECK(std::ranges::count(root.children, member) == 1);
  CHECK(get(*ps, "/v1/node/member:worker:1").status == 404);

  CHECK(number_of(look(*ps, link).find("last_heard_seconds")) < 1.5); // it has a timeout of 2 s
  worker.freeze();
  CHECK(soon([&] { return number_of(look(*ps, link).find("last_heard_seconds")) > 2.5; }));
  CHECK(sample(get(*ps, "/metrics").body, heard) > 2.5);
  worker.kill();
  CHECK(soon([&] { return has_logged("unreachable /job:worker/task:0"); }));
  CHECK(soon([&] { return has_logged("gone /job:worker/task:0"); }));
  CHECK(soon([&] { return counted("gone") == 1; }));
  CHECK(text_of(look(*ps, ref).find("presence")) == "gone");
  CHECK(!sample(get(*ps, "/metrics").body, heard));
}

TEST_CASE("a draining task refuses what is new, finishes what has begun, and is not ready") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  waiting_step of;
  auto put = s.prepare({}, {}, {of.put});
  put.run();
  put.run();
  auto wait = s.prepare({}, {of.taken});
  CHECK(wait.run().size() == 1);
  CHECK(wait.run().size() == 1);
  auto answer = wait.run_async();
  wait_for([&] { return sample(get(*task, "/metrics").body, "troupe_steps_running") == 1; });
  // Of steps that were answered, the threads may not have told yet.
  CHECK(soon([&] { return task->drain(0ms).steps == 1; }));
  CHECK(get(*task, "/healthz").status == 200);
  auto ready = get(*task, "/readyz");
  CHECK(ready.status == 503);
  CHECK(ready.body == "/job:worker/task:0 is draining: it takes nothing new\n");
  auto refused = [&](auto act) {
    try {
      act();
    } catch (const error& e) {
      INFO(e.what());
      CHECK(e.kind() == error_kind::unavailable);
      CHECK(std::string_view{e.what()}.find("is draining") != std::string_view::npos);
      return true;
    }
    return false;
  };
  CHECK(refused([&] { put.run({}, {.timeout = 5s}); }));
  CHECK(refused([&] { s.fetch(queue_size(of.queue), {}); }));
  CHECK(answer.wait_for(0s) == std::future_status::timeout); // it waits still
  CHECK(task->drain(10ms).steps == 1);
}

TEST_CASE("a task drains when its steps end, and their answers have left") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto task = start_with_port(cluster, {"worker", 0});
  auto s = session::connect(cluster);
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {1024, 1024, 8}, "x");
  auto y = s.prepare({x}, {x + x});
  std::vector<std::future<std::vector<tensor>>> answers;
  auto given = tensor::of({1024, 1024, 8}, std::vector<float>(8 << 20, 1.f));
  y.run({given});
  for (int i = 0; i < 4; ++i)
    answers.push_back(y.run_async({given}));
  wait_for([&] {
    return sample(get(*task, "/metrics").body, R"(troupe_steps_total{outcome="ok"})") > 1;
  });
  CHECK(task->drain(30s).none());
  task = nullptr;
  size_t well = 0;
  for (auto& one : answers)
    try {
      well += one.get().size();
    } catch (const error& e) { // it had not begun
      CHECK(e.kind() == error_kind::unavailable);
    }
  CHECK(well >= 1);
}

TEST_CASE("HTTP is not served beyond this machine unless that is allowed") {
  auto cluster = make_cluster(1);
  auto options = options_of_task(cluster, {"worker", 0});
  options.http = "0.0.0.0:0";
  auto refused = task::start(options);
  REQUIRE(!refused.ok());
  CHECK(refused.status().kind() == error_kind::failed_precondition);
  CHECK(refused.status().message().find("--http-anywhere") != std::string::npos);
  options.http_anywhere = true;
  {
    auto allowed = task::start(options);
    REQUIRE(allowed.ok());
    CHECK(get(**allowed, "/healthz").status == 200);
  }
  options.http_anywhere = false;
  options.insecure = true; // as manifests of older versions say
  auto allowed = task::start(options);
  REQUIRE(allowed.ok());
  CHECK(get(**allowed, "/healthz").status == 200);
}

TEST_CASE("what is not encrypted beyond this machine is a warning of the task and of a client") {
  watchdog watch;
  cluster_spec cluster;
  cluster.jobs["worker"] = {
      concat("0.0.0.0:", free_ports(1).front())}; // leads here, by no loopback
  auto options = options_of_task(cluster, {"worker", 0});
  options.http = "0.0.0.0:0";
  options.insecure = true;
  std::mutex mutex;
  std::vector<std::string> logged, said, heard;
  options.on_log = [&](const log_event& one) {
    std::lock_guard guard{mutex};
    if (one.event == "warning")
      logged.push_back(to_line(one));
  };
  options.on_warning = [&](const std::string& text) {
    std::lock_guard guard{mutex};
    said.push_back(text);
  };
  auto open = start_task(std::move(options));
  {
    std::lock_guard guard{mutex};
    REQUIRE(said.size() == 2);
    CHECK(said[0].find("/job:worker/task:0 listens at 0.0.0.0:") == 0);
    CHECK(said[1] == "/job:worker/task:0 serves HTTP at 0.0.0.0:0 without encryption: all who "
                     "reach it see what it runs");
    REQUIRE(logged.size() == 2);
    for (size_t i = 0; i < 2; ++i)
      CHECK(logged[i].find(said[i]) != std::string::npos);
  }
  session_options how{.cluster = {.insecure = true}};
  how.on_warning = [&](const std::string& text) {
    std::lock_guard guard{mutex};
    heard.push_back(text);
  };
  const auto& address = cluster.jobs.at("worker").front();
  for (const auto& text : {to_json(cluster), "master:" + address}) {
    heard.clear();
    graph_builder g;
    auto s = session::connect(text, how);
    CHECK(to_scalar<int>(s.fetch(neg(g.constant(1)))) == -1);
    std::lock_guard guard{mutex};
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].find("the connection to " + address +
                        ", another machine, is without encryption") == 0);
  }
}

} // namespace troupe::test::operator_port_test
