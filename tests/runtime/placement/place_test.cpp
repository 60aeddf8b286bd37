#include "troupe/runtime/placement/place.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/passes/extract.hpp"

namespace troupe::test::place_test {

using Catch::Matchers::Contains;

namespace {

const auto ps = *device_name::parse("/job:ps/task:0/cpu:0");
const auto worker = *device_name::parse("/job:worker/task:0/cpu:0");
const auto gpu = *device_name::parse("/job:worker/task:0/gpu:0");

// Places a graph and prints the device of each node: "x=0 y=1".
std::string placed(const graph& in, const device_list& devices, const place_options& options = {}) {
  auto chosen = place(in, devices, options);
  if (!chosen)
    return chosen.status().message();
  std::string text;
  for (const auto& node : in.nodes())
    text += concat(text.empty() ? "" : " ", node->name(), '=',
                   chosen->chosen[static_cast<size_t>(node->id())]);
  for (auto* node : chosen->moved_to_host)
    text += concat(" moved ", node->name());
  return text;
}

struct world {
  graph in{ops()};
  edge named(std::string op, std::string name, std::vector<edge> inputs, std::string device = {}) {
    return add(in, {.op = op, .name = name, .inputs = inputs, .device = device});
  }
  edge variable(std::string name, std::string device = {}) {
    return add(
        in, {.op = "Variable", .name = name, .attrs = {{"dtype", dtype::i64}}, .device = device});
  }
  edge unit = constant(in, int64_t{1});
};

} // namespace

TEST_CASE("unconstrained nodes go to the first device, others to their requested device") {
  world w;
  w.named("Neg", "a", {w.unit});
  w.named("Neg", "b", {w.unit}, "/job:worker/cpu:0");
  w.named("Neg", "c", {w.unit}, "/gpu:*");
  CHECK(placed(w.in, {ps, worker, gpu}) == "Const=0 a=0 b=1 c=2");
}

TEST_CASE("stateless nodes that may run elsewhere avoid absent tasks") {
  const auto second = *device_name::parse("/job:worker/task:1/cpu:0"),
             its_gpu = *device_name::parse("/job:worker/task:1/gpu:0");
  world w;
  auto v = w.variable("v");
  w.named("Neg", "read", {v});
  w.named("Neg", "named", {w.unit}, "/job:worker/task:0");
  w.named("Neg", "job", {w.unit}, "/job:worker");
  w.named("Neg", "kept", {w.unit}, "/job:ps");
  auto without = [&](std::set<task_name> avoid) {
    return place_options{.avoid = std::move(avoid)};
  };
  CHECK(placed(w.in, {worker, second, ps}) == "Const=0 v=0 read=0 named=0 job=0 kept=2");
  CHECK(placed(w.in, {worker, second, ps}, without({{"worker", 0}})) ==
        "Const=1 v=0 read=1 named=0 job=1 kept=2");
  CHECK(placed(w.in, {worker, second, ps}, without({{"worker", 0}, {"ps", 0}})) ==
        "Const=1 v=0 read=1 named=0 job=1 kept=2"); // no other device fits
  CHECK(placed(w.in, {worker, ps, second, its_gpu}, without({{"worker", 0}, {"ps", 0}})) ==
        "Const=3 v=0 read=3 named=0 job=3 kept=1");
}

TEST_CASE("a task's GPU comes before its processor, but not before another task") {
  world w;
  w.named("Neg", "a", {w.unit});
  w.named("Neg", "b", {w.unit}, "/job:worker");
  CHECK(placed(w.in, {ps, worker, gpu}) == "Const=0 a=0 b=2");
  CHECK(placed(w.in, {worker, ps, gpu}) == "Const=2 a=2 b=2");
}

TEST_CASE("feeds go to their readers' device, fetches to their producers' device") {
  world w;
  auto a = w.named("Neg", "a", {w.unit});
  auto closed = extract(w.in, {.feeds = {w.unit}, .fetches = {a}});
  REQUIRE(closed);
  CHECK(place(*closed->nodes, {ps})->chosen == std::vector{-1, 0, -1});
}

TEST_CASE("a node without a kernel on the first device that fits goes to the next") {
  world w;
  auto real = add(w.in, {.op = "Const",
                         .name = "real",
                         .attrs = {{"value", tensor::scalar(0.5)}, {"dtype", dtype::f64}}});
  w.named("HostOnly", "host", {real}, "/job:worker");
  CHECK(placed(w.in, {gpu, ps, worker}) == "Const=0 real=0 host=2");
  CHECK(placed(w.in, {gpu}).ends_with("no device that matches '/job:worker' has a kernel for it"));
}

TEST_CASE("a node that asks for a GPU without a kernel for it runs on the task's processor") {
  world w;
  auto real = add(w.in, {.op = "Const",
                         .name = "real",
                         .attrs = {{"value", tensor::scalar(0.5)}, {"dtype", dtype::f64}}});
  w.named("HostOnly", "host", {real}, "/gpu:0");
  w.named("HostOnly", "few", {w.unit}, "/gpu:0"); // integers may be computed on the host
  CHECK(placed(w.in, {ps, gpu, worker}) == "Const=0 real=0 host=2 few=1 moved host");
  auto text = placed(w.in, {ps, gpu});
  CHECK(text.starts_with("HostOnly 'host' (place_test.cpp:"));
  CHECK(text.ends_with("no device that matches '/device:gpu:0' has a kernel for it"));
}

TEST_CASE("nodes that share a variable are placed with it, whichever of them has a device") {
  world w;
  auto v = w.variable("v");
  auto first = w.named("Assign", "first", {v, w.unit});
  w.named("AssignAdd", "second", {first, w.unit}, "/job:worker");
  auto u = w.variable("u", "/job:ps");
  w.named("AssignAdd", "third", {u, v}); // reads the value of v
  CHECK(placed(w.in, {ps, worker}) == "Const=0 v=1 first=1 second=1 u=0 third=0");
}

// A feed passes through this many nodes, and is fetched.
std::string placed_by_cost(const partial_shape& dims, int nodes, const std::string& last = {},
                           const node_times* measured = nullptr) {
  graph in{ops()};
  auto x = add(
      in, {.op = "Placeholder", .name = "x", .attrs = {{"dtype", dtype::f32}, {"shape", dims}}});
  auto y = x;
  for (int i = 0; i < nodes; ++i)
    y = add(
        in,
        {.op = "Neg", .name = concat("n", i), .inputs = {y}, .device = i == nodes - 1 ? last : ""});
  auto closed = extract(in, {.feeds = {x}, .fetches = {y}});
  REQUIRE(closed);
  const device_list devices{worker, gpu};
  auto placement = place(*closed->nodes, devices, {.by_cost = true, .measured = measured});
  if (!placement)
    FAIL(placement.status());
  std::string text;
  for (const auto& node : closed->nodes->nodes())
    if (auto where = placement->chosen[static_cast<size_t>(node->id())]; where >= 0)
      text += devices[static_cast<size_t>(where)] == gpu ? 'g' : 'c';
  return text;
}

TEST_CASE("by cost, nodes run on a GPU if that is worth the transfer") {
  CHECK(placed_by_cost({10}, 3) == "ccc");
  CHECK(placed_by_cost({1000, 1000}, 3) == "ggg");
  CHECK(placed_by_cost({1000, 1000}, 3, "/cpu:0") == "ggc");
  CHECK(placed_by_cost({10}, 3, "/gpu:0") == "ccg");
  CHECK(placed_by_cost({unknown_extent, 1000}, 6) == "gggggg"); // the unknown extent may be a batch
  CHECK(placed_by_cost(partial_shape{}, 6) == "gggggg");
}

TEST_CASE("by cost, measurements take precedence over estimates") {
  node_times measured;
  for (int i = 0; i < 3; ++i)
    measured.add({.node = concat("n", i), .device = to_string(worker), .runs = 3, .mean_ns = 100});
  CHECK(placed_by_cost({1000, 1000}, 3, {}, &measured) == "ccc");
  measured.add({.node = "n1", .device = to_string(worker), .runs = 100, .mean_ns = 1e9});
  CHECK(placed_by_cost({1000, 1000}, 3, {}, &measured) == "cgc");
}

TEST_CASE("by cost, variables stay on the GPU, mostly with their users") {
  world w;
  auto v = w.variable("v");
  auto next = w.named("Neg", "next", {v});
  w.named("AssignAdd", "update", {v, next});
  auto placement = place(w.in, {worker, gpu}, {.by_cost = true});
  REQUIRE(placement);
  CHECK(std::vector(placement->chosen.begin() + 1, placement->chosen.end()) ==
        std::vector{1, 1, 1});
}

TEST_CASE("a group goes to a device that can run all of it") {
  world w;
  auto v = w.variable("v");
  w.named("AssignAdd", "update", {v, w.unit});
  CHECK(placed(w.in, {gpu, worker}) == "Const=0 v=0 update=0");
  w.named("HostAssign", "look", {v, w.unit});
  CHECK(placed(w.in, {gpu, worker}) == "Const=0 v=1 update=1 look=1");
}

TEST_CASE("queues and the nodes that wait for them stay on the host") {
  world w;
  auto q = w.named("Queue", "q", {});
  w.named("Ask", "ask", {q, w.unit});
  CHECK(placed(w.in, {gpu, worker}) == "Const=0 q=1 ask=1");
}

TEST_CASE("the error of contradictory constraints names the node and the two devices") {
  world w;
  auto v = w.variable("v", "/job:ps");
  w.named("AssignAdd", "update", {v, w.unit}, "/job:worker");
  auto text = placed(w.in, {ps, worker});
  CHECK(text.starts_with("AssignAdd 'update' (place_test.cpp:"));
  CHECK(text.find("must be placed with Variable 'v' (place_test.cpp:") != std::string::npos);
  CHECK(text.ends_with("but asks for '/job:worker', and that one for '/job:ps': the devices "
                       "contradict each other; 'update' uses the state of 'v'"));
}

// -- colocation ----------------------------------------------------------------------------------

attr_map colocated_with(const std::vector<std::string>& names) {
  attr_map attrs;
  add_colocation(attrs, names);
  return attrs;
}

TEST_CASE("colocated nodes share a device, even if the group's namesake is absent") {
  world w;
  add(w.in, {.op = "Neg", .name = "a", .inputs = {w.unit}, .attrs = colocated_with({"b"})});
  w.named("Neg", "b", {w.unit}, "/job:worker");
  add(w.in, {.op = "Neg", .name = "c", .inputs = {w.unit}, .attrs = colocated_with({"gone"})});
  add(w.in, {.op = "Neg",
             .name = "d",
             .inputs = {w.unit},
             .attrs = colocated_with({"gone"}),
             .device = "/job:worker"});
  CHECK(placed(w.in, {ps, worker}) == "Const=0 a=1 b=1 c=1 d=1");
}

TEST_CASE("groups join sets of variables, and the error of a contradiction lists the whole chain") {
  world w;
  auto v = w.variable("v", "/job:ps");
  auto u = w.variable("u");
  w.named("AssignAdd", "update", {u, w.unit});
  add(w.in,
      {.op = "AssignAdd", .name = "both", .inputs = {v, w.unit}, .attrs = colocated_with({"u"})});
  CHECK(placed(w.in, {worker, ps}) == "Const=0 v=1 u=1 update=1 both=1");
  add(w.in, {.op = "Neg",
             .name = "other",
             .inputs = {w.unit},
             .attrs = colocated_with({"update"}),
             .device = "/job:worker/cpu:0"});
  auto text = placed(w.in, {worker, ps});
  CHECK(text.starts_with("Neg 'other' (place_test.cpp:"));
  CHECK(text.find("must be placed with Variable 'v' (place_test.cpp:") != std::string::npos);
  CHECK(text.ends_with("but asks for '/job:worker/cpu:0', and that one for '/job:ps': the devices "
                       "contradict each other; 'other' is colocated with 'update', 'update' uses "
                       "the state of 'u', 'both' is colocated with 'u', 'both' uses the state of "
                       "'v'"));
}

TEST_CASE("an attribute that is not a list of loc:@name is refused when the node is added") {
  world w;
  CHECK_THROWS_WITH(
      add(w.in, {.op = "Neg", .inputs = {w.unit}, .attrs = {{"_class", std::string{"loc:@a"}}}}),
      Catch::Matchers::Contains("attribute _class must list texts such as \"loc:@v\""));
  CHECK_THROWS_WITH(
      add(w.in,
          {.op = "Neg", .inputs = {w.unit}, .attrs = {{"_class", std::vector<std::string>{"a"}}}}),
      Catch::Matchers::Contains("got \"a\""));
}

// -- soft placement ------------------------------------------------------------------------------

std::string soft_placement_of(const std::string& device, const device_list& devices) {
  world w;
  w.named("Neg", "a", {w.unit}, device);
  auto placement = place(w.in, devices, {.soft = true});
  if (!placement)
    return placement.status().message();
  return concat(devices[static_cast<size_t>(placement->chosen[1])],
                placement->replaced_requests.empty() ? "" : " instead");
}

TEST_CASE("with soft placement, a node with an absent device goes to the nearest present one") {
  const auto second = *device_name::parse("/job:ps/task:1/cpu:0");
  const device_list devices{worker, gpu, ps, second};
  CHECK(soft_placement_of("/job:ps/task:1", devices) == to_string(second));
  CHECK(soft_placement_of("/job:ps/task:1/gpu:0", devices) == to_string(second) + " instead");
  CHECK(soft_placement_of("/job:ps/task:3", devices) ==
        to_string(second) + " instead"); // spread nevertheless
  CHECK(soft_placement_of("/job:ps/task:4", devices) == to_string(ps) + " instead");
  CHECK(soft_placement_of("/gpu:7", devices) == to_string(gpu) + " instead");
  CHECK(soft_placement_of("/gpu:0", {ps, worker}) == to_string(ps) + " instead");
  CHECK(soft_placement_of("/job:nowhere/task:1", {worker}) == to_string(worker) + " instead");
}

TEST_CASE("with soft placement, a node that no device can run is still an error") {
  world w;
  auto q = w.named("Queue", "q", {});
  w.named("Ask", "ask", {q, w.unit});
  CHECK(placed(w.in, {gpu}).find("has a kernel for it") != std::string::npos);
  auto placement = place(w.in, {gpu}, {.soft = true});
  REQUIRE(!placement);
  CHECK(placement.status().kind() == error_kind::unimplemented);
}

// -- preferred devices ---------------------------------------------------------------------------

// The device of a node, and whether it is marked as not the preferred one; or the error.
std::string where(const std::string& device, const device_list& devices) {
  world w;
  w.named("Neg", "a", {w.unit}, device);
  auto placement = place(w.in, devices);
  if (!placement)
    return placement.status().message();
  return concat(devices[static_cast<size_t>(placement->chosen[1])],
                placement->replaced_requests.empty() ? "" : " instead");
}

TEST_CASE("an absent preferred device is replaced, in a cluster only within its task") {
  const auto local = *device_name::parse("/job:local/task:0/cpu:0"),
             local_gpu = *device_name::parse("/job:local/task:0/gpu:0");
  CHECK(where("/device:GPU:0?", {local}) == to_string(local) + " instead");
  CHECK(where("/device:GPU:0?", {local, local_gpu}) == to_string(local_gpu));
  CHECK(where("/device:GPU:3?", {local, local_gpu}) == to_string(local_gpu) + " instead");
  CHECK(where("/device:TPU:0?", {local}) == to_string(local));
  CHECK(where("/job:ps?/task:1?/cpu:0?", {local}) == to_string(local) + " instead");
  CHECK(where("/job:worker?/gpu:1?", {ps, worker, gpu}) == to_string(gpu) + " instead");
  CHECK(where("/job:worker?/gpu:0?", {ps, worker}) == to_string(worker) + " instead");
  CHECK_THAT(where("/job:ps?/task:7?", {ps, worker}), Contains("there is no device"));
  CHECK_THAT(where("/job:pss?", {ps, worker}), Contains("there is no device '/job:pss'"));
  // A part without the mark is mandatory.
  CHECK_THAT(where("/job:ps/task:1/gpu:0?", {local}), Contains("there is no device"));
  CHECK_THAT(where("/job:local/gpu:0", {local}), Contains("there is no device"));
}

TEST_CASE("contradictory preferred devices are no error, contradictory required ones are") {
  const auto local = *device_name::parse("/job:local/task:0/cpu:0"),
             local_gpu = *device_name::parse("/job:local/task:0/gpu:0");
  auto placed_with = [&](const std::string& first, const std::string& second) {
    world w;
    auto v = w.variable("v", first);
    w.named("AssignAdd", "add", {v, w.unit}, second);
    return placed(w.in, {local, local_gpu});
  };
  CHECK(placed_with("/cpu:0?", "/gpu:0?") == "Const=1 v=0 add=0");
  CHECK(placed_with("/gpu:0?", "/cpu:0") == "Const=1 v=0 add=0");
  CHECK(placed_with("/cpu:0", "/gpu:0?") == "Const=1 v=0 add=0");
  CHECK_THAT(placed_with("/cpu:0", "/gpu:0"), Contains("the devices contradict each other"));
}

TEST_CASE("TensorFlow's name of the local process is the task of a local session") {
  const auto local = *device_name::parse("/job:local/task:0/cpu:0"),
             named = *device_name::parse("/job:localhost/task:0/cpu:0");
  for (const auto* name : {"/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost"}) {
    CHECK(where(name, {local}) == to_string(local));
    CHECK(where(name, {ps, named}) == to_string(named)); // a job may have this name
    CHECK_THAT(where(name, {ps}), Contains("there is no device '/job:localhost"));
  }
  CHECK_THAT(where("/job:localhost/task:1", {local}), Contains("there is no device"));
}

TEST_CASE("an unknown or misspelt device is an error that lists the existing devices") {
  world w;
  w.named("Neg", "a", {w.unit}, "/job:pss");
  CHECK(placed(w.in, {ps, gpu})
            .ends_with("there is no device '/job:pss', did you mean 'ps'? There are "
                       "/job:ps/task:0/device:cpu:0, /job:worker/task:0/device:gpu:0; with soft "
                       "placement (placement.soft of session_options, --soft-placement) it runs "
                       "on the nearest of them"));
  world other_world;
  other_world.named("Neg", "a", {other_world.unit}, "ps");
  auto text = placed(other_world.in, {ps});
  CHECK(text.starts_with("Neg 'a' (place_test.cpp:"));
  CHECK(text.find("device 'ps' must consist of parts") != std::string::npos);
  CHECK(placed(other_world.in, {}) == "there is no device to place nodes on");
}

} // namespace troupe::test::place_test
