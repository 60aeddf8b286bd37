#include "troupe/actors/operator/observer.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/cli/top/wait_report.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"
#include "troupe/troupe.hpp"

#include <future>

namespace troupe::test::observer_test {

using namespace std::chrono_literals;

namespace {

const inspection* child(const inspection& parent, std::string_view ref) {
  for (const auto& child : parent.children)
    if (child.ref == ref)
      return &child;
  return nullptr;
}

inspection inspect_part(observer& cluster_observer, std::string_view ref,
                        const inspection_scope& scope) {
  auto parsed = inspection_ref::parse(ref);
  REQUIRE(parsed.ok());
  auto inspected = cluster_observer.inspect(*parsed, scope, 5s);
  INFO(inspected.status());
  REQUIRE(inspected.ok());
  return *std::move(inspected);
}

std::unique_ptr<task> start(const cluster_spec& cluster, const task_name& self,
                            std::function<void()> on_drain = {}) {
  auto options = options_of_task(cluster, self);
  options.on_drain = std::move(on_drain);
  options.http = "127.0.0.1:0";
  return start_task(std::move(options));
}

} // namespace

TEST_CASE("an observer sees all tasks from the root, and reports the unreachable ones") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto worker = start(cluster, {"worker", 0});
  auto ps = start(cluster, {"ps", 0});
  auto cluster_observer = *observer::connect(cluster);
  auto parsed = inspection_ref::parse("/");
  inspection cluster_root;
  const inspection* workers = nullptr;
  REQUIRE(becomes_true([&] { // half a second may be too short for the running tasks
    cluster_root = value_or_throw(cluster_observer->inspect(*parsed, {.depth = 3}, 500ms));
    workers = child(cluster_root, "/job:worker");
    return workers && child(*workers, "/job:worker/task:0")->find("incarnation");
  }));
  auto* lost = child(*workers, "/job:worker/task:1");
  REQUIRE(lost);
  CHECK(text_of(lost->find("error")).find(cluster.jobs.at("worker")[1]) != std::string::npos);
  auto names = inspect_part(*cluster_observer, "/", {.depth = 1});
  CHECK(child(names, "/job:ps")->children.size() == 1);
  CHECK(child(names, "/job:ps")->children[0].properties.empty());
  CHECK(inspect_part(*cluster_observer, "/job:ps/task:0/device:cpu:0", {}).kind == "device");
  CHECK(cluster_observer->inspect(*inspection_ref::parse("/job:chef"), {}, 1s).status().kind() ==
        error_kind::not_found);
  CHECK(cluster_observer->inspect(*inspection_ref::parse("/job:ps/task:0/queue:x"), {}, 1s)
            .status()
            .kind() == error_kind::not_found);
  CHECK(
      cluster_observer->inspect(*inspection_ref::parse("/job:ps/task:4"), {}, 1s).status().kind() ==
      error_kind::not_found);
}

TEST_CASE("an observer sees the waits of a client before its steps reach their tasks") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto worker = start(cluster, {"worker", 0});
  graph_builder g;
  g.push_device("/job:worker/task:0");
  auto x = g.constant(1.f) + 1.f;
  g.push_device("/job:worker/task:1"); // a task that does not run
  auto y = neg(x);
  auto s = session::connect(cluster, {.passes = pass_options::none()});
  s.fetch(x);
  std::vector<std::future<std::vector<tensor>>> answers;
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    try {
      s.fetch(y, {}, {.stop = stop.get_token()});
      return error_kind::ok;
    } catch (const error& e) {
      return e.kind();
    }
  });
  auto cluster_observer = *observer::connect(cluster);
  auto report_waits = [&] {
    auto cluster_root = *cluster_observer->inspect(*inspection_ref::parse("/"),
                                                   {.depth = 4, .kinds = kinds_of_waits}, 2s);
    std::vector<cluster_wait> result;
    for (auto& wait : waits_in(cluster_root))
      if (wait.wait_kind == "task")
        result.push_back(std::move(wait));
    return result;
  };
  std::vector<cluster_wait> result;
  REQUIRE(becomes_true([&] {
    result = report_waits();
    return !result.empty();
  }));
  CHECK(result.front().task.starts_with("client "));
  CHECK(result.front().task.ends_with(" of /job:worker/task:0"));
  CHECK(result.front().other_task == "/job:worker/task:1");
  CHECK(result.front().steps == 1);
  CHECK(result.front().is_cause);
  auto text = print_waits(result, 10);
  INFO(text);
  CHECK(text.find(" waits for /job:worker/task:1: 1 step, the longest for ") != std::string::npos);
  CHECK(text.find("it is not connected") != std::string::npos);
  stop.request_stop();
  CHECK(waiting.get() == error_kind::cancelled);
  CHECK(becomes_true([&] { return report_waits().empty(); }));
}

TEST_CASE("tasks that refuse connections cost an observer no time, and silent tasks its timeout") {
  watchdog watch;
  auto cluster = make_cluster(3);
  auto worker = start(cluster, {"worker", 0});
  task_process frozen{cluster, {"worker", 1}};
  auto cluster_observer = *observer::connect(cluster);
  auto parsed = *inspection_ref::parse("/");
  REQUIRE(becomes_true([&] { // the process has started
    auto cluster_root = cluster_observer->inspect(parsed, {.depth = 3}, 2s);
    return cluster_root &&
           child(*child(*cluster_root, "/job:worker"), "/job:worker/task:1")->find("incarnation");
  }));
  auto before = std::chrono::steady_clock::now();
  auto cluster_root = cluster_observer->inspect(parsed, {.depth = 3}, 60s);
  CHECK(std::chrono::steady_clock::now() - before < 30s);
  REQUIRE(cluster_root.ok());
  auto* refused = child(*child(*cluster_root, "/job:worker"), "/job:worker/task:2");
  CHECK(text_of(refused->find("error")).starts_with("cannot connect to 127.0.0.1:"));
  frozen.freeze();
  before = std::chrono::steady_clock::now();
  cluster_root = cluster_observer->inspect(parsed, {.depth = 3}, 1s);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  REQUIRE(cluster_root.ok());
  CHECK(child(*child(*cluster_root, "/job:worker"), "/job:worker/task:0")->find("incarnation"));
  CHECK(child(*child(*cluster_root, "/job:worker"), "/job:worker/task:1")->find("error"));
}

TEST_CASE("only the requested kinds are reported") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start(cluster, {"worker", 0});
  auto cluster_observer = *observer::connect(cluster);
  auto task =
      inspect_part(*cluster_observer, "/job:worker/task:0", {.depth = 8, .kinds = "link,device"});
  CHECK(task.children.size() == 2);
  CHECK(task.children[0].kind == "device");
  CHECK(task.children[1].kind == "link");
  CHECK(inspect_part(*cluster_observer, "/job:worker/task:0", {.depth = 8, .kinds = "step"})
            .children.empty());
}

TEST_CASE("for a step over two tasks that waits for a queue, the queue is reported as the cause") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start(cluster, {"worker", 0}), ps = start(cluster, {"ps", 0});
  graph_builder g;
  g.push_device("/job:ps/task:0");
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  auto* enqueue = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  auto dequeued = queue_dequeue(queue, {dtype::i32}, "take")[0];
  g.push_device("/job:worker/task:0");
  auto y = neg(dequeued);
  auto s = session::connect(cluster);
  auto answer = s.prepare({}, {y}).run_async();
  auto cluster_observer = *observer::connect(cluster);
  std::vector<cluster_wait> cluster_waits;
  while (cluster_waits.size() < 2) // the watchdog bounds it
    cluster_waits =
        waits_in(inspect_part(*cluster_observer, "/", {.depth = 4, .kinds = kinds_of_waits}));
  REQUIRE(cluster_waits.size() == 2);
  CHECK(cluster_waits[0].step == cluster_waits[1].step);
  CHECK(cluster_waits[0].task == "/job:ps/task:0");
  CHECK(cluster_waits[0].target == "queue 'FIFOQueue'");
  CHECK(cluster_waits[0].detail.find("1 dequeues wait") != std::string::npos);
  CHECK(cluster_waits[0].is_cause);
  CHECK(cluster_waits[1].task == "/job:worker/task:0");
  CHECK(cluster_waits[1].other_task == "/job:ps/task:0");
  CHECK(!cluster_waits[1].is_cause);
  s.run(enqueue);
  CHECK(answer.get()[0].values<int32_t>()[0] == -7);
}

TEST_CASE("waits within a loop of a step are reported as well") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start(cluster, {"worker", 0});
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  auto* enqueue = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  auto sum = while_loop(
      {g.constant(tensor::scalar(0))}, [](auto& v) { return less(v[0], 7); },
      [&](auto& v) { return edges{v[0] + queue_dequeue(queue, {dtype::i32}, "take")[0]}; })[0];
  auto s = session::connect(cluster);
  auto answer = s.prepare({}, {sum}).run_async();
  auto cluster_observer = *observer::connect(cluster);
  auto waits_for_rows = [&] {
    for (const auto& wait :
         waits_in(inspect_part(*cluster_observer, "/", {.depth = 4, .kinds = kinds_of_waits})))
      if (wait.wait_kind == "state" && wait.node.find("take") != wait.node.npos)
        return true;
    return false;
  };
  while (!waits_for_rows()) // the watchdog bounds it
    ;
  s.run(enqueue);
  CHECK(answer.get()[0].values<int32_t>()[0] == 7);
}

TEST_CASE("the port of one task reports the others as well") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first_task = start(cluster, {"worker", 0}), two = start(cluster, {"worker", 1});
  http_client client{first_task->http_port()};
  auto answer = client.get("/v1/node/job:worker/task:1/device:cpu:0");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  auto device = parse_inspection(answer->body);
  REQUIRE(device.ok());
  CHECK(device->find("bytes_in_use"));
  auto root = parse_inspection(client.get("/v1/node/?depth=3&only=device")->body);
  REQUIRE(root.ok());
  for (const auto& task : root->children[0].children)
    CHECK(task.children.size() == 1);
  two = nullptr;
  CHECK(client.get("/v1/node/job:worker/task:1")->status == 503);
}

TEST_CASE("an observer of a joined cluster learns its current members") {
  watchdog watch;
  cluster_access cluster;
  cluster.seeds = {concat("127.0.0.1:", free_ports(1)[0])};
  auto join = [&](int number, const std::string& listen) {
    auto options = options_of_task(cluster, {"worker", number});
    options.listen = listen;
    options.http = "127.0.0.1:0";
    return start_task(std::move(options));
  };
  auto first = join(0, cluster.seeds[0]), second = join(-1, "127.0.0.1:0");
  auto cluster_observer = *observer::connect(cluster);
  auto all_are_there = [](const inspection& root) {
    // A job and two members.
    if (root.children.size() != 3 || root.children[0].children.size() != 2)
      return false;
    for (size_t i : {1, 2})
      if (text_of(root.children[i].find("presence")) != "here")
        return false;
    for (const auto& child : root.children[0].children)
      if (!child.find("incarnation"))
        return false;
    return true;
  };
  while (
      !all_are_there(inspect_part(*cluster_observer, "/", {.depth = 2}))) // the watchdog bounds it
    ;
  CHECK(inspect_part(*cluster_observer, to_string(second->self()), {}).kind == "task");
  http_client client{second->http_port()};
  for (;;) {
    auto root = parse_inspection(client.get("/v1/node/?depth=2")->body);
    REQUIRE(root.ok());
    if (all_are_there(*root))
      break;
  }
}

TEST_CASE("over TLS, an observer presents a certificate, or is refused") {
  watchdog watch;
  test_authority authority;
  auto cluster = make_cluster(1);
  auto options = options_of_task(cluster, {"worker", 0});
  options.tls = authority.task("worker", 0);
  auto task = start_task(std::move(options));
  auto self = *inspection_ref::parse("/job:worker/task:0");
  auto known = observer::connect(cluster, {.tls = authority.client("operator")});
  REQUIRE(known.ok());
  auto inspected = (*known)->inspect(self, {}, 5s);
  INFO(inspected.status());
  CHECK(inspected.ok());
  auto stranger = *observer::connect(cluster);
  CHECK(!stranger->inspect(self, {}, 500ms).ok());
  CHECK(!stranger->drain({"worker", 0}, 500ms).ok());
  CHECK(*(*known)->inspect(self, {}, 5s)->find("draining") == property_value{false});
}

TEST_CASE("a task that an operator drains accepts no new steps, and notifies its host program") {
  watchdog watch;
  auto cluster = make_cluster(1);
  std::promise<void> reported;
  auto task = start(cluster, {"worker", 0}, [&] { reported.set_value(); });
  auto cluster_observer = *observer::connect(cluster);
  REQUIRE(cluster_observer->drain({"worker", 0}, 5s).ok());
  reported.get_future().get();
  CHECK(http_client{task->http_port()}.get("/readyz")->status == 503);
  auto inspected = inspect_part(*cluster_observer, "/job:worker/task:0", {.depth = 0});
  CHECK(inspected.find("draining"));
  CHECK(*inspected.find("draining") == property_value{true});
  CHECK(task->drain(5s).none());
  CHECK(cluster_observer->drain({"worker", 3}, 5s).kind() == error_kind::not_found);
  task = nullptr;
  CHECK(cluster_observer->drain({"worker", 0}, 200ms).kind() == error_kind::unavailable);
}

} // namespace troupe::test::observer_test
