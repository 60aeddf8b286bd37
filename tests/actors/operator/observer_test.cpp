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

const inspection* child(const inspection& of, std::string_view ref) {
  for (const auto& one : of.children)
    if (one.ref == ref)
      return &one;
  return nullptr;
}

inspection look(observer& at, std::string_view ref, const inspection_scope& scope) {
  auto parsed = inspection_ref::parse(ref);
  REQUIRE(parsed.ok());
  auto found = at.inspect(*parsed, scope, 5s);
  INFO(found.status());
  REQUIRE(found.ok());
  return *std::move(found);
}

std::unique_ptr<task> start(const cluster_spec& cluster, const task_name& self,
                            std::function<void()> on_drain = {}) {
  auto options = options_of_task(cluster, self);
  options.on_drain = std::move(on_drain);
  options.http = "127.0.0.1:0";
  return start_task(std::move(options));
}

} // namespace

TEST_CASE("an observer sees all tasks from the root, and says which cannot be asked") {
  watchdog watch;
  auto cluster = make_cluster(2, 1);
  auto worker = start(cluster, {"worker", 0});
  auto ps = start(cluster, {"ps", 0});
  auto eye = *observer::of(cluster);
  auto parsed = inspection_ref::parse("/");
  inspection all;
  const inspection* workers = nullptr;
  REQUIRE(soon([&] { // half a second may be too short for those that are there
    all = value_or_throw(eye->inspect(*parsed, {.depth = 3}, 500ms));
    workers = child(all, "/job:worker");
    return workers && child(*workers, "/job:worker/task:0")->find("incarnation");
  }));
  auto* lost = child(*workers, "/job:worker/task:1");
  REQUIRE(lost);
  CHECK(text_of(lost->find("error")).find(cluster.jobs.at("worker")[1]) != std::string::npos);
  auto names = look(*eye, "/", {.depth = 1});
  CHECK(child(names, "/job:ps")->children.size() == 1);
  CHECK(child(names, "/job:ps")->children[0].properties.empty());
  CHECK(look(*eye, "/job:ps/task:0/device:cpu:0", {}).kind == "device");
  CHECK(eye->inspect(*inspection_ref::parse("/job:chef"), {}, 1s).status().kind() ==
        error_kind::not_found);
  CHECK(eye->inspect(*inspection_ref::parse("/job:ps/task:0/queue:x"), {}, 1s).status().kind() ==
        error_kind::not_found);
  CHECK(eye->inspect(*inspection_ref::parse("/job:ps/task:4"), {}, 1s).status().kind() ==
        error_kind::not_found);
}

TEST_CASE("what a client waits for before its steps reach their tasks is seen by an observer") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto worker = start(cluster, {"worker", 0});
  graph_builder g;
  g.push_device("/job:worker/task:0");
  auto x = g.constant(1.f) + 1.f;
  g.push_device("/job:worker/task:1"); // which is not there
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
  auto eye = *observer::of(cluster);
  auto told = [&] {
    auto all = *eye->inspect(*inspection_ref::parse("/"), {.depth = 4, .only = kinds_of_waits}, 2s);
    std::vector<cluster_wait> found;
    for (auto& one : waits_in(all))
      if (one.what_for == "task")
        found.push_back(std::move(one));
    return found;
  };
  std::vector<cluster_wait> found;
  REQUIRE(soon([&] {
    found = told();
    return !found.empty();
  }));
  CHECK(found.front().task.starts_with("client "));
  CHECK(found.front().task.ends_with(" of /job:worker/task:0"));
  CHECK(found.front().other_task == "/job:worker/task:1");
  CHECK(found.front().steps == 1);
  CHECK(found.front().is_cause);
  auto text = print_waits(found, 10);
  INFO(text);
  CHECK(text.find(" waits for /job:worker/task:1: 1 step, the longest for ") != std::string::npos);
  CHECK(text.find("it is not connected") != std::string::npos);
  stop.request_stop();
  CHECK(waiting.get() == error_kind::cancelled);
  CHECK(soon([&] { return told().empty(); }));
}

TEST_CASE("tasks that refuse connections cost an observer no time, and silent ones its patience") {
  watchdog watch;
  auto cluster = make_cluster(3);
  auto worker = start(cluster, {"worker", 0});
  task_process frozen{cluster, {"worker", 1}};
  auto eye = *observer::of(cluster);
  auto parsed = *inspection_ref::parse("/");
  REQUIRE(soon([&] { // the process is up
    auto all = eye->inspect(parsed, {.depth = 3}, 2s);
    return all && child(*child(*all, "/job:worker"), "/job:worker/task:1")->find("incarnation");
  }));
  auto before = std::chrono::steady_clock::now();
  auto all = eye->inspect(parsed, {.depth = 3}, 60s);
  CHECK(std::chrono::steady_clock::now() - before < 30s);
  REQUIRE(all.ok());
  auto* refused = child(*child(*all, "/job:worker"), "/job:worker/task:2");
  CHECK(text_of(refused->find("error")).starts_with("cannot connect to 127.0.0.1:"));
  frozen.freeze();
  before = std::chrono::steady_clock::now();
  all = eye->inspect(parsed, {.depth = 3}, 1s);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  REQUIRE(all.ok());
  CHECK(child(*child(*all, "/job:worker"), "/job:worker/task:0")->find("incarnation"));
  CHECK(child(*child(*all, "/job:worker"), "/job:worker/task:1")->find("error"));
}

TEST_CASE("only the kinds that are asked for are told") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start(cluster, {"worker", 0});
  auto eye = *observer::of(cluster);
  auto task = look(*eye, "/job:worker/task:0", {.depth = 8, .only = "link,device"});
  CHECK(task.children.size() == 2);
  CHECK(task.children[0].kind == "device");
  CHECK(task.children[1].kind == "link");
  CHECK(look(*eye, "/job:worker/task:0", {.depth = 8, .only = "step"}).children.empty());
}

TEST_CASE("of a step over two tasks that waits for a queue, the queue is the cause") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start(cluster, {"worker", 0}), ps = start(cluster, {"ps", 0});
  graph_builder g;
  g.push_device("/job:ps/task:0");
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  auto* put = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  auto taken = queue_dequeue(queue, {dtype::i32}, "take")[0];
  g.push_device("/job:worker/task:0");
  auto y = neg(taken);
  auto s = session::connect(cluster);
  auto answer = s.prepare({}, {y}).run_async();
  auto eye = *observer::of(cluster);
  std::vector<cluster_wait> waits;
  while (waits.size() < 2) // the watchdog bounds it
    waits = waits_in(look(*eye, "/", {.depth = 4, .only = kinds_of_waits}));
  REQUIRE(waits.size() == 2);
  CHECK(waits[0].step == waits[1].step);
  CHECK(waits[0].task == "/job:ps/task:0");
  CHECK(waits[0].target == "queue 'FIFOQueue'");
  CHECK(waits[0].detail.find("1 dequeues wait") != std::string::npos);
  CHECK(waits[0].is_cause);
  CHECK(waits[1].task == "/job:worker/task:0");
  CHECK(waits[1].other_task == "/job:ps/task:0");
  CHECK(!waits[1].is_cause);
  s.run(put);
  CHECK(answer.get()[0].values<int32_t>()[0] == -7);
}

TEST_CASE("what waits within a loop of a step is told as well") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start(cluster, {"worker", 0});
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  auto* put = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  auto sum = while_loop(
      {g.constant(tensor::scalar(0))}, [](auto& v) { return less(v[0], 7); },
      [&](auto& v) { return edges{v[0] + queue_dequeue(queue, {dtype::i32}, "take")[0]}; })[0];
  auto s = session::connect(cluster);
  auto answer = s.prepare({}, {sum}).run_async();
  auto eye = *observer::of(cluster);
  auto waits_for_rows = [&] {
    for (const auto& one : waits_in(look(*eye, "/", {.depth = 4, .only = kinds_of_waits})))
      if (one.what_for == "state" && one.node.find("take") != one.node.npos)
        return true;
    return false;
  };
  while (!waits_for_rows()) // the watchdog bounds it
    ;
  s.run(put);
  CHECK(answer.get()[0].values<int32_t>()[0] == 7);
}

TEST_CASE("the port of one task tells of the others, too") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto one = start(cluster, {"worker", 0}), two = start(cluster, {"worker", 1});
  http_client client{one->http_port()};
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

TEST_CASE("of a cluster that tasks join, an observer learns who is there") {
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
  auto eye = *observer::of(cluster);
  auto all_are_there = [](const inspection& root) {
    if (root.children.size() != 3 || root.children[0].children.size() != 2)
      return false; // a job, and two members
    for (size_t i : {1, 2})
      if (text_of(root.children[i].find("presence")) != "here")
        return false;
    for (const auto& one : root.children[0].children)
      if (!one.find("incarnation"))
        return false;
    return true;
  };
  while (!all_are_there(look(*eye, "/", {.depth = 2}))) // the watchdog bounds it
    ;
  CHECK(look(*eye, to_string(second->self()), {}).kind == "task");
  http_client client{second->http_port()};
  for (;;) {
    auto root = parse_inspection(client.get("/v1/node/?depth=2")->body);
    REQUIRE(root.ok());
    if (all_are_there(*root))
      break;
  }
}

TEST_CASE("over TLS, an observer shows a certificate, or is told nothing") {
  watchdog watch;
  test_authority authority;
  auto cluster = make_cluster(1);
  auto options = options_of_task(cluster, {"worker", 0});
  options.tls = authority.task("worker", 0);
  auto task = start_task(std::move(options));
  auto self = *inspection_ref::parse("/job:worker/task:0");
  auto known = observer::of(cluster, {.tls = authority.client("operator")});
  REQUIRE(known.ok());
  auto seen = (*known)->inspect(self, {}, 5s);
  INFO(seen.status());
  CHECK(seen.ok());
  auto stranger = *observer::of(cluster);
  CHECK(!stranger->inspect(self, {}, 500ms).ok());
  CHECK(!stranger->drain({"worker", 0}, 500ms).ok());
  CHECK(*(*known)->inspect(self, {}, 5s)->find("draining") == property_value{false});
}

TEST_CASE("a task that an operator drains takes nothing new, and tells its host") {
  watchdog watch;
  auto cluster = make_cluster(1);
  std::promise<void> told;
  auto task = start(cluster, {"worker", 0}, [&] { told.set_value(); });
  auto eye = *observer::of(cluster);
  REQUIRE(eye->drain({"worker", 0}, 5s).ok());
  told.get_future().get();
  CHECK(http_client{task->http_port()}.get("/readyz")->status == 503);
  auto seen = look(*eye, "/job:worker/task:0", {.depth = 0});
  CHECK(seen.find("draining"));
  CHECK(*seen.find("draining") == property_value{true});
  CHECK(task->drain(5s).none());
  CHECK(eye->drain({"worker", 3}, 5s).kind() == error_kind::not_found);
  task = nullptr;
  CHECK(eye->drain({"worker", 0}, 200ms).kind() == error_kind::unavailable);
}

} // namespace troupe::test::observer_test
