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

// Places a whole graph and prints where each node went: "x=0 y=1".
std::string placed(const graph& in, const device_list& devices, const placing& how = {}) {
  auto chosen = place(in, devices, how);
  if (!chosen)
    return chosen.status().message();
  std::string text;
  for (const auto& node : in.nodes())
    text += concat(text.empty() ? "" : " ", node->name(), '=',
                   chosen->chosen[static_cast<size_t>(node->id())]);
  for (auto* node : chosen->moved)
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
  edge one = constant(in, int64_t{1});
};

} // namespace

TEST_CASE("nodes that do not care go to the first device, others where they ask") {
  world w;
  w.named("Neg", "a", {w.one});
  w.named("Neg", "b", {w.one}, "/job:worker/cpu:0");
  w.named("Neg", "c", {w.one}, "/gpu:*");
  CHECK(placed(w.in, {ps, worker, gpu}) == "Const=0 a=0 b=1 c=2");
}

TEST_CASE("what has no state and may run elsewhere avoids tasks that are not there") {
  const auto second = *device_name::parse("/job:worker/task:1/cpu:0"),
             its_gpu = *device_name::parse("/job:worker/task:1/gpu:0");
  world w;
  auto v = w.variable("v");
  w.named("Neg", "read", {v});
  w.named("Neg", "named", {w.one}, "/job:worker/task:0");
  w.named("Neg", "job", {w.one}, "/job:worker");
  w.named("Neg", "kept", {w.one}, "/job:ps");
  auto without = [&](std::set<task_name> avoid) { return placing{.avoid = std::move(avoid)}; };
  CHECK(placed(w.in, {worker, second, ps}) == "Const=0 v=0 read=0 named=0 job=0 kept=2");
  CHECK(placed(w.in, {worker, second, ps}, without({{"worker", 0}})) ==
        "Const=1 v=0 read=1 named=0 job=1 kept=2");
  CHECK(placed(w.in, {worker, second, ps}, without({{"worker", 0}, {"ps", 0}})) ==
        "Const=1 v=0 read=1 named=0 job=1 kept=2"); // where nothing else fits, it is needed
  CHECK(placed(w.in, {worker, ps, second, its_gpu}, without({{"worker", 0}, {"ps", 0}})) ==
        "Const=3 v=0 read=3 named=0 job=3 kept=1");
}

TEST_CASE("a task's GPU comes before its processor, but not before another task") {
  world w;
  w.named("Neg", "a", {w.one});
  w.named("Neg", "b", {w.one}, "/job:worker");
  CHECK(placed(w.in, {ps, worker, gpu}) == "Const=0 a=0 b=2");
  CHECK(placed(w.in, {worker, ps, gpu}) == "Const=2 a=2 b=2");
}

TEST_CASE("feeds and fetches go where they are read and made") {
  world w;
  auto a = w.named("Neg", "a", {w.one});
  auto closed = extract(w.in, {.feeds = {w.one}, .fetches = {a}});
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
  w.named("HostOnly", "few", {w.one}, "/gpu:0"); // integers may be computed beside the GPU
  CHECK(placed(w.in, {ps, gpu, worker}) == "Const=0 real=0 host=2 few=1 moved host");
  auto text = placed(w.in, {ps, gpu});
  CHECK(text.starts_with("HostOnly 'host' (place_test.cpp:"));
  CHECK(text.ends_with("no device that matches '/device:gpu:0' has a kernel for it"));
}

TEST_CASE("what shares a variable is placed with it, whoever of them asks") {
  world w;
  auto v = w.variable("v");
  auto first = w.named("Assign", "first", {v, w.one});
  w.named("AssignAdd", "second", {first, w.one}, "/job:worker");
  auto u = w.variable("u", "/job:ps");
  w.named("AssignAdd", "third", {u, v}); // takes the value of v
  CHECK(placed(w.in, {ps, worker}) == "Const=0 v=1 first=1 second=1 u=0 third=0");
}

// What is fed goes through so many nodes, and is fetched.
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
  auto found = place(*closed->nodes, devices, {.by_cost = true, .measured = measured});
  if (!found)
    FAIL(found.status());
  std::string text;
  for (const auto& node : closed->nodes->nodes())
    if (auto where = found->chosen[static_cast<size_t>(node->id())]; where >= 0)
      text += devices[static_cast<size_t>(where)] == gpu ? 'g' : 'c';
  return text;
}

TEST_CASE("by cost, nodes run on a GPU if that is worth the way") {
  CHECK(placed_by_cost({10}, 3) == "ccc");
  CHECK(placed_by_cost({1000, 1000}, 3) == "ggg");
  CHECK(placed_by_cost({1000, 1000}, 3, "/cpu:0") == "ggc");
  CHECK(placed_by_cost({10}, 3, "/gpu:0") == "ccg");
  CHECK(placed_by_cost({unknown_extent, 1000}, 6) == "gggggg"); // it may be a batch
  CHECK(placed_by_cost(partial_shape{}, 6) == "gggggg");
}

TEST_CASE("by cost, what was measured counts more than what is estimated") {
  node_times measured;
  for (int i = 0; i < 3; ++i)
    measured.add({.node = concat("n", i), .device = to_string(worker), .runs = 3, .mean_ns = 100});
  CHECK(placed_by_cost({1000, 1000}, 3, {}, &measured) == "ccc");
  measured.add({.node = "n1", .device = to_string(worker), .runs = 100, .mean_ns = 1e9});
  CHECK(placed_by_cost({1000, 1000}, 3, {}, &measured) == "cgc");
}

TEST_CASE("by cost, variables stay on the GPU, and what uses them mostly with them") {
  world w;
  auto v = w.variable("v");
  auto next = w.named("Neg", "next", {v});
  w.named("AssignAdd", "update", {v, next});
  auto found = place(w.in, {worker, gpu}, {.by_cost = true});
  REQUIRE(found);
  CHECK(std::vector(found->chosen.begin() + 1, found->chosen.end()) == std::vector{1, 1, 1});
}

TEST_CASE("a group goes to a device that can run all of it") {
  world w;
  auto v = w.variable("v");
  w.named("AssignAdd", "update", {v, w.one});
  CHECK(placed(w.in, {gpu, worker}) == "Const=0 v=0 update=0");
  w.named("HostAssign", "look", {v, w.one});
  CHECK(placed(w.in, {gpu, worker}) == "Const=0 v=1 update=1 look=1");
}

TEST_CASE("queues and what waits for them stay on the host") {
  world w;
  auto q = w.named("Queue", "q", {});
  w.named("Ask", "ask", {q, w.one});
  CHECK(placed(w.in, {gpu, worker}) == "Const=0 q=1 ask=1");
}

TEST_CASE("constraints that contradict each other name the node and both devices") {
  world w;
  auto v = w.variable("v", "/job:ps");
  w.named("AssignAdd", "update", {v, w.one}, "/job:worker");
  auto text = placed(w.in, {ps, worker});
  CHECK(text.starts_with("AssignAdd 'update' (place_test.cpp:"));
  CHECK(text.find("must be placed with Variable 'v' (place_test.cpp:") != std::string::npos);
  CHECK(text.ends_with("but asks for '/job:worker', and that one for '/job:ps': the devices "
                       "contradict each other; 'update' uses the state of 'v'"));
}

// -- colocation ----------------------------------------------------------------------------------

attr_map with(const std::vector<std::string>& names) {
  attr_map attrs;
  add_colocation(attrs, names);
  return attrs;
}

TEST_CASE("colocated nodes share a device, also where what the group is named after is not there") {
  world w;
  add(w.in, {.op = "Neg", .name = "a", .inputs = {w.one}, .attrs = with({"b"})});
  w.named("Neg", "b", {w.one}, "/job:worker");
  add(w.in, {.op = "Neg", .name = "c", .inputs = {w.one}, .attrs = with({"gone"})});
  add(w.in, {.op = "Neg",
             .name = "d",
             .inputs = {w.one},
             .attrs = with({"gone"}),
             .device = "/job:worker"});
  CHECK(placed(w.in, {ps, worker}) == "Const=0 a=1 b=1 c=1 d=1");
}

TEST_CASE("groups join sets of variables, and the error of a contradiction tells the whole chain") {
  world w;
  auto v = w.variable("v", "/job:ps");
  auto u = w.variable("u");
  w.named("AssignAdd", "update", {u, w.one});
  add(w.in, {.op = "AssignAdd", .name = "both", .inputs = {v, w.one}, .attrs = with({"u"})});
  CHECK(placed(w.in, {worker, ps}) == "Const=0 v=1 u=1 update=1 both=1");
  add(w.in, {.op = "Neg",
             .name = "other",
             .inputs = {w.one},
             .attrs = with({"update"}),
             .device = "/job:worker/cpu:0"});
  auto text = placed(w.in, {worker, ps});
  CHECK(text.starts_with("Neg 'other' (place_test.cpp:"));
  CHECK(text.find("must be placed with Variable 'v' (place_test.cpp:") != std::string::npos);
  CHECK(text.ends_with("but asks for '/job:worker/cpu:0', and that one for '/job:ps': the devices "
                       "contradict each other; 'other' is colocated with 'update', 'update' uses "
                       "the state of 'u', 'both' is colocated with 'u', 'both' uses the state of "
                       "'v'"));
}

TEST_CASE("a group that is no list of loc:@name is refused when the node is added") {
  world w;
  CHECK_THROWS_WITH(
      add(w.in, {.op = "Neg", .inputs = {w.one}, .attrs = {{"_class", std::string{"loc:@a"}}}}),
      Catch::Matchers::Contains("attribute _class must list texts such as \"loc:@v\""));
  CHECK_THROWS_WITH(
      add(w.in,
          {.op = "Neg", .inputs = {w.one}, .attrs = {{"_class", std::vector<std::string>{"a"}}}}),
      Catch::Matchers::Contains("got \"a\""));
}

// -- soft placement ------------------------------------------------------------------------------

std::string softly(const std::string& device, const device_list& devices) {
  world w;
  w.named("Neg", "a", {w.one}, device);
  auto found = place(w.in, devices, {.soft = true});
  if (!found)
    return found.status().message();
  return concat(devices[static_cast<size_t>(found->chosen[1])],
                found->softened.empty() ? "" : " instead");
}

TEST_CASE("softly, what asks for a device that is not there goes to the nearest that is") {
  const auto second = *device_name::parse("/job:ps/task:1/cpu:0");
  const device_list devices{worker, gpu, ps, second};
  CHECK(softly("/job:ps/task:1", devices) == to_string(second));
  CHECK(softly("/job:ps/task:1/gpu:0", devices) == to_string(second) + " instead");
  CHECK(softly("/job:ps/task:3", devices) == to_string(second) + " instead"); // spread all the same
  CHECK(softly("/job:ps/task:4", devices) == to_string(ps) + " instead");
  CHECK(softly("/gpu:7", devices) == to_string(gpu) + " instead");
  CHECK(softly("/gpu:0", {ps, worker}) == to_string(ps) + " instead");
  CHECK(softly("/job:nowhere/task:1", {worker}) == to_string(worker) + " instead");
}

TEST_CASE("softly, what no device can run is an error all the same") {
  world w;
  auto q = w.named("Queue", "q", {});
  w.named("Ask", "ask", {q, w.one});
  CHECK(placed(w.in, {gpu}).find("has a kernel for it") != std::string::npos);
  auto found = place(w.in, {gpu}, {.soft = true});
  REQUIRE(!found);
  CHECK(found.status().kind() == error_kind::unimplemented);
}

// -- preferred devices ---------------------------------------------------------------------------

// Where a node goes, and whether it is told that it is not where it asked to be; or the error.
std::string where(const std::string& device, const device_list& devices) {
  world w;
  w.named("Neg", "a", {w.one}, device);
  auto found = place(w.in, devices);
  if (!found)
    return found.status().message();
  return concat(devices[static_cast<size_t>(found->chosen[1])],
                found->softened.empty() ? "" : " instead");
}

TEST_CASE("a preferred device that is not there gives way, in a cluster only within its task") {
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
  // A part without the mark must be fulfilled.
  CHECK_THAT(where("/job:ps/task:1/gpu:0?", {local}), Contains("there is no device"));
  CHECK_THAT(where("/job:local/gpu:0", {local}), Contains("there is no device"));
}

TEST_CASE("preferred devices that contradict each other are no error, required ones are") {
  const auto local = *device_name::parse("/job:local/task:0/cpu:0"),
             local_gpu = *device_name::parse("/job:local/task:0/gpu:0");
  auto placed_with = [&](const std::string& first, const std::string& second) {
    world w;
    auto v = w.variable("v", first);
    w.named("AssignAdd", "add", {v, w.one}, second);
    return placed(w.in, {local, local_gpu});
  };
  CHECK(placed_with("/cpu:0?", "/gpu:0?") == "Const=1 v=0 add=0");
  CHECK(placed_with("/gpu:0?", "/cpu:0") == "Const=1 v=0 add=0");
  CHECK(placed_with("/cpu:0", "/gpu:0?") == "Const=1 v=0 add=0");
  CHECK_THAT(placed_with("/cpu:0", "/gpu:0"), Contains("the devices contradict each other"));
}

TEST_CASE("TensorFlow's name of the process at hand is the task of a local session") {
  const auto local = *device_name::parse("/job:local/task:0/cpu:0"),
             named = *device_name::parse("/job:localhost/task:0/cpu:0");
  for (const auto* name : {"/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost"}) {
    CHECK(where(name, {local}) == to_string(local));
    CHECK(where(name, {ps, named}) == to_string(named)); // a job may be called so
    CHECK_THAT(where(name, {ps}), Contains("there is no device '/job:localhost"));
  }
  CHECK_THAT(where("/job:localhost/task:1", {local}), Contains("there is no device"));
}

TEST_CASE("an unknown or misspelt device is an error that lists the devices there are") {
  world w;
  w.named("Neg", "a", {w.one}, "/job:pss");
  CHECK(placed(w.in, {ps, gpu})
            .ends_with("there is no device '/job:pss', did you mean 'ps'? There are "
                       "/job:ps/task:0/device:cpu:0, /job:worker/task:0/device:gpu:0; with soft "
                       "placement (placement.soft of session_options, --soft-placement) it runs "
                       "on the nearest of them"));
  world other;
  other.named("Neg", "a", {other.one}, "ps");
  auto text = placed(other.in, {ps});
  CHECK(text.starts_with("Neg 'a' (place_test.cpp:"));
  CHECK(text.find("device 'ps' must consist of parts") != std::string::npos);
  CHECK(placed(other.in, {}) == "there is no device to place nodes on");
}

} // namespace troupe::test::place_test
