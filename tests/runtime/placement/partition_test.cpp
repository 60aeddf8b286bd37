#include "troupe/runtime/placement/partition.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/passes/extract.hpp"

#include <algorithm>
#include <random>

namespace troupe::test::partition_test {

namespace {

const device_list devices{*device_name::parse("/job:a/task:0/cpu:0"),
                          *device_name::parse("/job:b/task:0/cpu:0"),
                          *device_name::parse("/job:c/task:0/cpu:0")};

struct world {
  graph in{ops()};
  edge op(std::string op, std::string name, std::vector<edge> inputs, std::string device,
          std::vector<node*> controls = {}) {
    return add(in,
               {.op = op, .name = name, .inputs = inputs, .controls = controls, .device = device});
  }
  edge x = add(
      in, {.op = "Placeholder", .name = "x", .attrs = {{"dtype", dtype::f32}, {"shape", shape{}}}});
  edge unit = add(in, {.op = "Const",
                       .name = "one",
                       .attrs = {{"value", tensor::scalar(1.f)}, {"dtype", dtype::f32}},
                       .device = "/job:a"});

  std::vector<partition> cut(const step_signature& signature) {
    auto closed = extract(in, signature);
    if (!closed)
      FAIL(closed.status());
    auto chosen = place(*closed->nodes, devices);
    if (!chosen)
      FAIL(chosen.status());
    auto parts = troupe::cut(*closed->nodes, chosen->chosen, devices);
    if (!parts)
      FAIL(parts.status());
    return *std::move(parts);
  }
};

std::string names(const graph& nodes) {
  std::string text;
  for (const auto& node : nodes.nodes())
    text += concat(text.empty() ? "" : " ", node->name());
  return text;
}

int count(const std::vector<partition>& parts, std::string_view op) {
  int op_count = 0;
  for (const auto& part : parts)
    for (const auto& node : part.nodes->nodes())
      op_count += node->op().name == op;
  return op_count;
}

// The invariants of all partitions of a step.
void check(const std::vector<partition>& parts) {
  std::map<int64_t, std::string> sent, received;
  for (const auto& part : parts)
    for (const auto& node : part.nodes->nodes()) {
      for (const auto& input : node->inputs()) {
        REQUIRE(&input.node->graph() == part.nodes.get());
        REQUIRE(input.node->id() < node->id());
      }
      for (auto* predecessor : node->controls()) {
        REQUIRE(&predecessor->graph() == part.nodes.get());
        REQUIRE(predecessor->id() < node->id());
      }
      auto op = node->op().name;
      if (op.starts_with("_Send"))
        REQUIRE(sent.emplace(node->attr<int64_t>("key"), node->attr<std::string>("to")).second);
      if (op.starts_with("_Recv")) {
        REQUIRE(received.emplace(node->attr<int64_t>("key"), to_string(part.device)).second);
        REQUIRE(node->attr<std::string>("from") != to_string(part.device));
      }
    }
  REQUIRE(sent == received);
}

} // namespace

TEST_CASE("a step on one device is one partition with its feeds and fetches") {
  world w;
  auto sum = w.op("Add", "sum", {w.x, w.unit}, "");
  auto parts = w.cut({.feeds = {w.x}, .fetches = {sum, sum}});
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].device == devices[0]);
  CHECK(names(*parts[0].nodes) == "_feed_0/x one sum _fetch_0 _fetch_1");
  CHECK(parts[0].nodes->find("_feed_0/x")->output_shape(0) == partial_shape{shape{}});
  CHECK(parts[0].nodes->find("_fetch_1")->attr<int64_t>("index") == 1);
  CHECK(parts[0].nodes->find("sum")->description() == sum.node->description());
}

TEST_CASE("a tensor is sent once to each device that needs it") {
  world w;
  auto a = w.op("Neg", "a", {w.unit}, "/job:a");
  auto b1 = w.op("Add", "b1", {a, a}, "/job:b");
  auto b2 = w.op("Neg", "b2", {a}, "/job:b");
  auto c = w.op("Neg", "c", {a}, "/job:c");
  auto parts = w.cut({.fetches = {b1, b2, c}});
  check(parts);
  REQUIRE(parts.size() == 3);
  CHECK(count(parts, "_Send") == 2);
  CHECK(count(parts, "_Recv") == 2);
  CHECK(is_same_edge(parts[1].nodes->find("b1")->inputs()[0],
                     parts[1].nodes->find("b2")->inputs()[0]));
  CHECK(parts[1].nodes->find("_recv_0/a")->attr<std::string>("from") == to_string(devices[0]));
}

TEST_CASE("different outputs of a node are sent separately") {
  world w;
  auto both_outputs = w.op("Both", "both", {w.unit}, "/job:a");
  auto sum = w.op("Add", "sum", {both_outputs, {both_outputs.node, 1}}, "/job:b");
  auto parts = w.cut({.fetches = {sum}});
  check(parts);
  CHECK(count(parts, "_Recv") == 2);
}

TEST_CASE("a fed tensor is fed to each device that needs it, without a Recv") {
  world w;
  auto b = w.op("Neg", "b", {w.x}, "/job:b"), c = w.op("Add", "c", {w.x, w.x}, "/job:c");
  auto parts = w.cut({.feeds = {w.x}, .fetches = {b, c, w.x}});
  check(parts);
  CHECK(count(parts, "_Feed") == 3); // once per device, and on the first device for the fetch
  CHECK(count(parts, "_Recv") == 0);
  CHECK(names(*parts[0].nodes) == "_feed_0/x _fetch_2");
  auto interior = w.cut({.feeds = {b}, .fetches = {b}});
  REQUIRE(interior.size() == 1);
  CHECK(names(*interior[0].nodes) == "_feed_0/b _fetch_0");
}

TEST_CASE("a constant is copied to the devices that need it, and no others") {
  world w;
  auto b = w.op("Neg", "b", {w.unit}, "/job:b");
  auto c = w.op("Add", "c", {w.unit, w.unit}, "/job:c", {w.unit.node});
  auto parts = w.cut({.fetches = {b, c}});
  check(parts);
  REQUIRE(parts.size() == 2);
  CHECK(names(*parts[0].nodes) == "one b _fetch_0");
  CHECK(names(*parts[1].nodes) == "one c _fetch_1");
  auto waits = add(w.in, {.op = "Const",
                          .name = "waits",
                          .attrs = {{"value", tensor::scalar(1.f)}, {"dtype", dtype::f32}},
                          .controls = {b.node},
                          .device = "/job:a"});
  waits = w.op("Neg", "after", {waits}, "/job:c");
  CHECK(count(w.cut({.fetches = {waits}}), "_Recv") == 1); // a control edge is sent, too
  auto single = w.cut({.targets = {w.unit.node}});
  REQUIRE(single.size() == 1);
  CHECK(names(*single[0].nodes) == "one");
}

TEST_CASE("a control edge between devices is a message, once for all that wait on one device") {
  world w;
  auto a = w.op("Neg", "a", {w.unit}, "/job:a");
  auto b = w.op("Neg", "b", {w.x}, "/job:b", {a.node});
  auto b2 = w.op("Neg", "b2", {w.x}, "/job:b", {a.node});
  auto parts = w.cut({.feeds = {w.x}, .fetches = {b, b2}});
  check(parts);
  CHECK(count(parts, "_SendControl") == 1);
  CHECK(count(parts, "_RecvControl") == 1);
  CHECK(count(parts, "_Recv") == 0);
  auto* news = parts[1].nodes->find("b")->controls().at(0);
  CHECK(news->op().name == "_RecvControl");
  CHECK(parts[1].nodes->find("b2")->controls() == std::vector{news});
  CHECK(parts[0].nodes->find("_send_0/a")->controls() == std::vector{parts[0].nodes->find("a")});
}

TEST_CASE("a received tensor also implies that its node has run") {
  world w;
  auto a = w.op("Neg", "a", {w.unit}, "/job:a");
  auto b = w.op("Neg", "b", {a}, "/job:b");
  auto b2 = w.op("Add", "b2", {b, b}, "/job:b", {a.node});
  auto parts = w.cut({.fetches = {b2}});
  check(parts);
  CHECK(count(parts, "_SendControl") == 0);
  CHECK(parts[1].nodes->find("b2")->controls().at(0)->op().name == "_Recv");
}

TEST_CASE("control edges to nodes outside of the step are dropped") {
  world w;
  auto a = w.op("Neg", "a", {w.unit}, "/job:a", {w.x.node});
  auto parts = w.cut({.feeds = {w.x}, .fetches = {a}});
  check(parts);
  CHECK(parts[0].nodes->find("a")->controls().empty());
}

TEST_CASE("a variable's value is read where it lives and sent") {
  world w;
  auto v = add(
      w.in, {.op = "Variable", .name = "v", .attrs = {{"dtype", dtype::f32}}, .device = "/job:b"});
  auto c = w.op("Add", "c", {v, w.unit}, "/job:c");
  auto parts = w.cut({.fetches = {c, v}});
  check(parts);
  REQUIRE(parts.size() == 2);
  CHECK(names(*parts[0].nodes) == "v _read_0/v _send_1/v _fetch_1");
}

namespace {

struct world_with_variable : world {
  edge v = add(in, {.op = "Variable",
                    .name = "v",
                    .attrs = {{"dtype", dtype::f32}, {"shape", shape{}}},
                    .device = "/job:b"});
  edge update(std::string name, std::vector<node*> controls = {}) {
    return op("AssignAdd", name, {v, unit}, "", std::move(controls));
  }
  edge reader(std::string name, std::vector<node*> controls, std::string device = "/job:c") {
    return op("Neg", name, {v}, device, std::move(controls));
  }
};

// The producer of a node's input: the node at the other end of its Recv, or its direct input.
const node& source_of(const std::vector<partition>& parts, std::string_view reader) {
  for (const auto& part : parts)
    if (auto* at = part.nodes->find(reader)) {
      const auto* from = at->inputs()[0].node;
      if (from->op().name != "_Recv")
        return *from;
      for (const auto& sender_part : parts)
        for (const auto& node : sender_part.nodes->nodes())
          if (node->op().name == "_Send" &&
              node->attr<int64_t>("key") == from->attr<int64_t>("key"))
            return *node->inputs()[0].node;
    }
  throw std::runtime_error{"there is no such reader"};
}

bool waits_for(const node& later, const std::string& before) {
  return std::ranges::count(later.controls(), later.graph().find(before)) == 1;
}

} // namespace

TEST_CASE("a read elsewhere that comes after an update is taken after it, and one before it is "
          "taken before") {
  world_with_variable w;
  auto group = w.op("NoOp", "group", {}, "/job:a", {w.update("more").node}).node;
  auto old = w.reader("old", {}), fresh = w.reader("fresh", {group}),
       also = w.reader("also_fresh", {group});
  auto parts = w.cut({.fetches = {old, fresh, also}, .targets = {group}});
  check(parts);
  CHECK(count(parts, "_Read") == 2);
  const auto &first = source_of(parts, "old"), &second = source_of(parts, "fresh");
  CHECK(&second == &source_of(parts, "also_fresh"));
  CHECK(first.op().name == "_Read");
  CHECK(first.controls().empty());
  CHECK(first.id() < first.graph().find("more")->id());
  CHECK(waits_for(second, "more"));
}

TEST_CASE("nodes on the variable's device read it directly") {
  world_with_variable w;
  auto update = w.update("more");
  auto old = w.reader("old", {}, "/job:b"), fresh = w.reader("fresh", {update.node}, "/job:b");
  auto parts = w.cut({.fetches = {old, fresh}, .targets = {update.node}});
  check(parts);
  CHECK(count(parts, "_Read") == 0);
}

TEST_CASE("a read that does not depend on an earlier update is moved before it") {
  for (auto device : {"/job:b", "/job:c"}) {
    INFO(device);
    world_with_variable w;
    auto other_variable = add(w.in, {.op = "Variable",
                                     .name = "other",
                                     .attrs = {{"dtype", dtype::f32}, {"shape", shape{}}},
                                     .device = "/job:b"});
    // The two updates come late, in this order.
    auto update = w.update("more");
    auto second = w.op("AssignAdd", "second", {other_variable, w.unit}, "");
    auto old = w.reader("old", {second.node}, device);
    auto parts = w.cut({.fetches = {old}, .targets = {update.node}});
    check(parts);
    const auto& read = source_of(parts, "old");
    CHECK(read.op().name == "_Read");
    CHECK(read.id() < read.graph().find("more")->id());
  }
}

TEST_CASE("a read elsewhere waits for the effects that its reader waits for") {
  world_with_variable w;
  auto requested_effect = w.op("AssignAdd", "effect",
                               {add(w.in, {.op = "Variable",
                                           .name = "other",
                                           .attrs = {{"dtype", dtype::f32}, {"shape", shape{}}},
                                           .device = "/job:c"}),
                                w.unit},
                               "");
  auto pure = w.op("Neg", "pure", {w.unit}, "/job:c");
  auto y = w.reader("y", {requested_effect.node, pure.node});
  auto parts = w.cut({.fetches = {y}});
  check(parts);
  CHECK(count(parts, "_SendControl") == 1);
  REQUIRE(source_of(parts, "y").controls().size() == 1);
  CHECK(source_of(parts, "y").controls()[0]->op().name == "_RecvControl");
}

TEST_CASE("names of users and of the runtime do not collide") {
  world w;
  auto a = w.op("Neg", "recv_0", {w.unit}, "/job:b");
  auto b = w.op("Neg", "feed_0", {w.x}, "/job:b");
  check(w.cut({.feeds = {w.x}, .fetches = {a, b}}));
}

TEST_CASE("random graphs are cut into consistent partitions") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 100; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    world w;
    std::vector<edge> values{w.x, w.unit};
    auto v = add(w.in, {.op = "Variable",
                        .name = "v",
                        .attrs = {{"dtype", dtype::f32}, {"shape", shape{}}},
                        .device = "/job:b"});
    auto any = [&] { return values[dice() % values.size()]; };
    const char* jobs[] = {"", "/job:a", "/job:b", "/job:c"};
    for (int i = 0; i < 40; ++i) {
      std::vector<node*> controls;
      if (dice() % 2)
        controls.push_back(any().node);
      if (dice() % 4 == 0) {
        auto update = w.op("AssignAdd", concat("u", i), {v, any()}, "", controls);
        controls.assign(1, update.node);
      }
      auto x = dice() % 4 ? any() : v;
      values.push_back(w.op("Both", concat("n", i), {x}, jobs[dice() % 4], controls));
      values.push_back({values.back().node, 1});
    }
    for (int i = 0; i < 5; ++i) // controls that were added after the nodes that wait for them
      if (auto earlier = any(), later = any(); later.node != w.x.node)
        CHECK(w.in.add_control(*earlier.node, *later.node).ok());
    if (!topological_order(w.in))
      continue; // a cycle: prune() refuses it
    step_signature signature{.feeds = {w.x}, .fetches = {any(), any(), any()}};
    auto parts = w.cut(signature);
    check(parts);
    CHECK(count(parts, "_Fetch") == 3);
  }
}

} // namespace troupe::test::partition_test
