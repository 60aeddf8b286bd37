// Device functions, colocation, soft and greedy placement, through the public interface.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <future>
#include <map>
#include <set>
#include <thread>

namespace troupe::test::placement_test {
namespace {

using Catch::Matchers::Contains;
using spread = replica_devices_options::spread;

std::string device_of(edge output) { return output.node->device(); }

} // namespace

TEST_CASE(
    "replica_devices spreads variables over ps tasks round robin, and their users beside them") {
  graph_builder g;
  auto placement = g.on(replica_devices(
      {.ps_tasks = 2, .worker = "/job:worker/task:1", .variables = spread::round_robin}));
  auto x = g.placeholder(dtype::f32, {3}, "x");
  auto a = g.variable({1.0f, 2.0f, 3.0f}, "a"), b = g.variable(1.0f, "b"), c = g.variable(1.0f);
  auto y = a * x + b;
  auto update = assign_add(a, y);
  CHECK(device_of(a) == "/job:ps/task:0");
  CHECK(device_of(b) == "/job:ps/task:1");
  CHECK(device_of(c) == "/job:ps/task:0");
  CHECK(a.initializer->device() == "/job:ps/task:0");
  CHECK(device_of(update) == "/job:ps/task:0");
  CHECK(device_of(y) == "/job:worker/task:1");
  CHECK(device_of(x) == "/job:worker/task:1");
}

TEST_CASE("by bytes, each variable is placed on the task with the fewest bytes") {
  graph_builder g;
  {
    auto placement = g.on(replica_devices({.ps_tasks = 3}));
    std::map<std::string, int64_t> bytes;
    for (int64_t size : {1000, 10, 10, 500, 400, 600}) {
      auto v = g.variable(dtype::f32, {size});
      bytes[device_of(v)] += size;
    }
    CHECK(bytes == std::map<std::string, int64_t>{{"/job:ps/task:0", 1000},
                                                  {"/job:ps/task:1", 510},
                                                  {"/job:ps/task:2", 1010}});
    auto handle = g.resource_variable(dtype::f32, {4});
    CHECK(device_of(handle) == "/job:ps/task:1");
    CHECK(device_of(resource_gather(handle, {0})) == "/job:ps/task:1");
  }
  CHECK(device_of(g.variable(1.0f)) == "");
}

TEST_CASE("device scopes nest: inner scopes complete or replace the outer device") {
  graph_builder g;
  int call_count = 0;
  auto outer = g.on("/job:worker/task:1");
  CHECK(device_of(g.constant(1)) == "/job:worker/task:1");
  {
    auto inner = g.on("/gpu:0");
    CHECK(device_of(g.placeholder(dtype::f32)) == "/job:worker/task:1/device:gpu:0");
    {
      auto task_scope = g.on("/task:0");
      CHECK(device_of(g.placeholder(dtype::f32)) == "/job:worker/task:0");
    }
    auto no_device = g.on("");
    CHECK(device_of(g.placeholder(dtype::f32)) == "");
  }
  {
    auto chosen = g.on([&](const node_spec& added, const op_def& op) -> std::string {
      ++call_count;
      CHECK(added.op == op.name);
      return op.name == "VariableV2" ? "/job:ps" : "";
    });
    CHECK(device_of(g.variable(dtype::f32, {})) == "/job:ps");
    CHECK(device_of(g.placeholder(dtype::f32)) == "/job:worker/task:1");
    CHECK(call_count == 2);
    auto inner = g.on("/cpu:1");
    CHECK(device_of(g.variable(dtype::f32, {})) == "/job:ps/device:cpu:1");
    CHECK(device_of(g.placeholder(dtype::f32)) == "/job:worker/task:1/device:cpu:1");
    auto last_scope = g.on([](const node_spec&, const op_def&) { return "/job:last"; });
    CHECK(device_of(g.placeholder(dtype::f32)) == "/job:last");
  }
  CHECK(device_of(g.placeholder(dtype::f32)) == "/job:worker/task:1");
}

TEST_CASE("a device function is called before each node is added, in the order of adding") {
  graph_builder g;
  // For each call: the number of nodes, and the op.
  std::vector<std::pair<size_t, std::string>> calls;
  {
    auto placement = g.on([&](const node_spec& added, const op_def&) -> std::string {
      calls.emplace_back(g.nodes().size(), added.op);
      return "";
    });
    auto w = g.variable({1.0f, 2.0f}, "w");
    sum(square(w * 3.0f));
  }
  neg(g.constant(1.0f)); // outside of the scope
  std::set<std::string> ops;
  for (size_t i = 0; i < calls.size(); ++i) {
    CHECK((i == 0 || calls[i - 1].first < calls[i].first));
    CHECK(g.nodes()[calls[i].first]->op().name == calls[i].second);
    ops.insert(calls[i].second);
  }
  for (const auto* op : {"VariableV2", "Assign", "Mul", "Square", "Sum"})
    CHECK(ops.contains(op));
  CHECK_FALSE(ops.contains("Neg"));
}

TEST_CASE("a node that runs on a processor though it names a GPU is reported on a runtime thread") {
  watchdog watch;
  graph_builder g;
  edge y;
  {
    auto placement = g.on("/gpu:0");
    y = neg(g.placeholder(dtype::f32, {2}, "x"), "y");
  }
  std::promise<std::pair<std::string, std::thread::id>> warning_promise;
  auto s = session::local({.placement = {.soft = true}, .on_warning = [&](const std::string& text) {
                             warning_promise.set_value({text, std::this_thread::get_id()});
                           }});
  s.prepare({g.find("x")->output(0)}, {y});
  auto warned = warning_promise.get_future();
  REQUIRE(warned.wait_for(std::chrono::seconds{10}) == std::future_status::ready);
  auto [text, thread] = warned.get();
  CHECK_THAT(text, Contains("'y'") && Contains("/gpu:0") && Contains("cpu:0"));
  CHECK(thread != std::this_thread::get_id());
}

TEST_CASE("the result of a device function is checked, and so are its options") {
  graph_builder g;
  {
    auto placement = g.on([](const node_spec&, const op_def&) { return "nonsense"; });
    CHECK_THROWS_WITH(g.placeholder(dtype::f32), Contains("a device function, for Placeholder ("));
  }
  CHECK_THROWS_WITH(replica_devices({.ps_tasks = 0}), Contains("ps_tasks must be at least 1"));
  CHECK_THROWS_WITH(replica_devices({.worker = "w"}), Contains("worker: "));
  CHECK_THROWS_WITH(g.on(device_function{}), Contains("the device function is empty"));
}

TEST_CASE("optimizers place their slots beside the variable, whatever a device function returns") {
  graph_builder g;
  auto placement = g.on(replica_devices({.ps_tasks = 2, .worker = "/job:worker/task:0"}));
  auto x = g.placeholder(dtype::f32, {4}, "x");
  auto a = g.variable({1.0f, 2.0f, 3.0f, 4.0f}, "a"), b = g.variable(1.0f, "b");
  momentum{0.1f, 0.9f}.minimize(mean(square(a * x + b)));
  for (const auto& graph_node : g.nodes())
    for (int i = 0; i < static_cast<int>(graph_node->inputs().size()); ++i)
      if (graph_node->input_is_ref(i)) {
        INFO(graph_node->description());
        CHECK(graph_node->device() == graph_node->inputs()[static_cast<size_t>(i)].node->device());
      }
}

TEST_CASE("colocated nodes get the device of the other node, and stay with it where it has none") {
  graph_builder g;
  variable_handle v;
  {
    auto placement = g.on("/job:ps/task:1");
    v = g.variable(1.0f, "v");
  }
  auto w = g.variable(1.0f, "w");
  edge beside_v, beside_w;
  {
    auto worker_scope = g.on("/job:worker");
    auto colocation = g.colocate_with(v);
    beside_v = v + 1.0f;
    auto next = g.colocate_with(w);
    beside_w = w + 1.0f;
  }
  CHECK(device_of(beside_v) == "/job:ps/task:1");
  CHECK(beside_v.node->attr<std::vector<std::string>>("_class") ==
        std::vector<std::string>{"loc:@v"});
  CHECK(device_of(beside_w) == "");
  CHECK(beside_w.node->attr<std::vector<std::string>>("_class") ==
        std::vector<std::string>{"loc:@w"});
  graph_builder other_graph;
  CHECK_THROWS_WITH(other_graph.colocate_with(v), Contains("needs a node of this graph"));
}

namespace {

// Two long branches and their sum, over weights on a parameter server.
struct branches {
  graph_builder g;
  edge x, left_branch, right_branch, sum;
  node* init = nullptr;

  explicit branches(int64_t size = 256) {
    x = g.placeholder(dtype::f32, {size, size}, "x");
    variable_handle w;
    {
      auto placement = g.on("/job:ps/task:0");
      w = g.variable(fill(g, {size, size}, 0.01f), "w");
    }
    init = g.initializer();
    left_branch = right_branch = x;
    for (int i = 0; i < 4; ++i) {
      left_branch = matmul(left_branch, w);
      right_branch = matmul(w, right_branch);
    }
    sum = troupe::sum(left_branch + right_branch);
  }
};

struct cluster {
  watchdog watch;
  cluster_spec spec = make_cluster(2, 1);
  std::unique_ptr<task> ps = start_task(spec, {"ps", 0}), first = start_task(spec, {"worker", 0}),
                        second = start_task(spec, {"worker", 1});
};

} // namespace

TEST_CASE_METHOD(cluster, "greedy placement spreads a step over tasks, and computes the same") {
  branches model;
  std::vector<float> elements(256 * 256);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<float>(i % 7) / 7;
  auto value = tensor::vector(elements).reshaped({256, 256});
  auto lone_session = session::connect(spec);
  lone_session.run(model.init);
  auto expected = to_scalar<float>(lone_session.fetch(model.sum, {{model.x, value}}));
  auto report = lone_session.explain_placement({model.x}, {model.sum});
  for (const auto& placed : report.nodes)
    CHECK(placed.device.find("task:1") == std::string::npos);

  auto s = session::connect(spec, {.insight = {.sample_every = 1},
                                   .placement = {.strategy = placement_strategy::greedy}});
  auto spread_out = s.explain_placement({model.x}, {model.sum});
  size_t on_second = 0, on_ps = 0;
  for (const auto& placed : spread_out.nodes) {
    on_second += placed.device == "/job:worker/task:1/device:cpu:0";
    on_ps += placed.device == "/job:ps/task:0/device:cpu:0";
    if (placed.op == "MatMul")
      CHECK(placed.reason.starts_with("cheapest: done after "));
  }
  INFO(to_string(spread_out));
  CHECK(on_second + on_ps > 1);
  CHECK(spread_out.total_ns <= spread_out.first_worker_ns);
  CHECK(!spread_out.links.empty());
  CHECK(to_scalar<float>(s.fetch(model.sum, {{model.x, value}})) == Approx(expected));
  // Measured times, and the bytes of each link.
  CHECK(!s.link_times().empty());
  for (const auto& link : s.link_times())
    CHECK(link.from != link.to);
  auto second_report = s.explain_placement({model.x}, {model.sum});
  CHECK(second_report.nodes.size() == spread_out.nodes.size());
  CHECK(to_scalar<float>(s.run({{model.x, value}}, {model.sum, model.left_branch})[0]) ==
        Approx(expected));
}

TEST_CASE_METHOD(cluster,
                 "with soft placement, missing tasks are replaced, with one warning each") {
  graph_builder g;
  edge sum;
  {
    auto placement = g.on("/job:worker/task:7");
    auto x = g.placeholder(dtype::f32, {2}, "x");
    sum = x + g.constant({1.0f, 2.0f});
  }
  auto hard_session = session::connect(spec);
  CHECK_THROWS_WITH(hard_session.fetch(sum, {{g.find("x")->output(0), {1.0f, 1.0f}}}),
                    Contains("there is no device '/job:worker/task:7'"));
  std::mutex mutex;
  std::vector<std::string> warnings;
  auto s = session::connect(
      spec, {.placement = {.soft = true}, .on_warning = [&](const std::string& text) {
               std::lock_guard guard{mutex};
               warnings.push_back(text);
             }});
  for (int i = 0; i < 2; ++i) {
    auto sums = s.prepare({g.find("x")->output(0)}, {sum}).run({tensor::vector<float>({1, 1})});
    CHECK(sums[0].values<float>()[1] == 3);
  }
  std::lock_guard guard{mutex};
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Contains("asks for '/job:worker/task:7'") &&
                              Contains("it runs on /job:worker/task:1/device:cpu:0"));
}

TEST_CASE_METHOD(cluster,
                 "large tensors that are fetched late give the same results, step after step") {
  constexpr int layers = 6;
  constexpr int64_t size = 200;
  graph_builder g;
  std::vector<variable_handle> weights;
  auto x = g.placeholder(dtype::f32, {size, size}, "x");
  edge y = x;
  std::vector<target> updates;
  for (int i = 0; i < layers; ++i) {
    auto placement = g.on("/job:ps/task:0");
    weights.push_back(g.variable(fill(g, {size, size}, 1.0f / size), concat("w", i)));
  }
  auto* init = g.initializer();
  for (auto& w : weights)
    y = matmul(y, w) + 0.5f;
  for (auto& w : weights)
    updates.emplace_back(assign_add(w, fill(g, {size, size}, 0.0f)).node);
  auto value = tensor::vector(std::vector<float>(size * size, 1)).reshaped({size, size});
  for (auto receives : {recv_schedule::eager, recv_schedule::late}) {
    auto s = session::connect(spec, {.placement = {.receives = receives}});
    s.run(init);
    auto step = s.prepare({x}, {y}, updates);
    for (int i = 0; i < 20; ++i) {
      auto results = step.run({value});
      CHECK(results[0].values<float>()[0] == Approx(1 + layers * 0.5f));
    }
  }
}

} // namespace troupe::test::placement_test
