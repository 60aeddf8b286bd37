// Nodes whose output size depends on elements are split into two on a GPU.
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/partition.hpp"

namespace troupe::test::two_phase_op_test {

namespace {

const auto processor = *device_name::parse("/job:a/task:0/cpu:0");
const auto gpu = *device_name::parse("/job:a/task:0/gpu:0");
const device_list devices{processor, gpu};

struct world {
  graph in{ops()};
  edge placeholder(std::string name) {
    return add(in, {.op = "Placeholder", .name = name, .attrs = {{"dtype", dtype::f32}}});
  }
  edge op(std::string op, std::string name, std::vector<edge> inputs, std::string device = "",
          std::vector<node*> controls = {}) {
    return add(in,
               {.op = op, .name = name, .inputs = inputs, .controls = controls, .device = device});
  }

  // The graph that the GPU runs.
  std::unique_ptr<graph> on_gpu(const step_signature& signature) {
    auto closed = extract(in, signature);
    REQUIRE(closed);
    auto chosen = place(*closed->nodes, devices);
    REQUIRE(chosen);
    auto parts = cut(*closed->nodes, chosen->chosen, devices);
    REQUIRE(parts);
    for (auto& part : *parts)
      if (part.device == gpu)
        return std::move(part.nodes);
    return nullptr;
  }
};

std::string ops_of(const graph& nodes) {
  std::string text;
  for (const auto& node : nodes.nodes())
    text += concat(text.empty() ? "" : " ", node->op().name);
  return text;
}

} // namespace

TEST_CASE(
    "a node sized by elements counts on a GPU, and is launched when the host knows the count") {
  world w;
  auto x = w.placeholder("x");
  auto y = w.op("Places", "y", {x}, "/gpu:0");
  auto z = w.op("Neg", "z", {y}, "/gpu:0");
  auto nodes = w.on_gpu({.feeds = {x}, .fetches = {z}});
  REQUIRE(nodes);
  CHECK(ops_of(*nodes) == "_Feed Identity _SizePlaces _Send _Recv _EmitPlaces Neg _Fetch");
  auto *first = nodes->find("_count_/y"), *second = nodes->find("y");
  REQUIRE(first);
  REQUIRE(second);
  const std::vector<edge> expected{
      first->inputs()[0], {first, 1}, {nodes->find("_recv_1/_count_/y"), 0}};
  CHECK(std::ranges::equal(second->inputs(), expected, is_same_edge));
  CHECK(is_same_edge(nodes->find("_send_1/_count_/y")->inputs()[0], edge{first, 0}));
  CHECK(second->output_shape(0) == y.node->output_shape(0));
  CHECK(second->input_port(2).on_host);
  CHECK(is_same_edge(nodes->find("z")->inputs()[0], edge{second, 0}));
  for (auto* half : {first, second})
    CHECK(half->description().find(y.node->description()) != std::string::npos);
  CHECK(original_op_name(first->op().name) == "Places");
  CHECK(original_op_name(second->op().name) == "Places");
}

TEST_CASE("a node sized by elements is not split on a processor") {
  world w;
  auto x = w.placeholder("x");
  auto y = w.op("Places", "y", {x}, "/cpu:0");
  CHECK(w.on_gpu({.feeds = {x}, .fetches = {y}}) == nullptr);
}

TEST_CASE("counts known from the graph are not waited for") {
  world w;
  std::vector<int64_t> values(300, 1); // fewer elements would be handled on the host
  values[7] = 0;
  auto x = constant(w.in, tensor::vector(values));
  auto y = w.op("Places", "y", {x}, "/gpu:0");
  auto nodes = w.on_gpu({.fetches = {y}});
  REQUIRE(nodes);
  CHECK(ops_of(*nodes) == "Const _SizePlaces Const _EmitPlaces _Fetch");
  auto* counts = nodes->find("y")->inputs()[2].node;
  CHECK(counts->attr<tensor>("value").values<int64_t>()[0] == 299);
  CHECK(nodes->find("y")->output_shape(0) == partial_shape{299});
}

TEST_CASE("the two halves see the same value of a variable") {
  world w;
  auto v = add(
      w.in, {.op = "Variable", .name = "v", .attrs = {{"dtype", dtype::f32}}, .device = "/gpu:0"});
  auto y = w.op("Places", "y", {v}, "/gpu:0");
  auto nodes = w.on_gpu({.fetches = {y}});
  REQUIRE(nodes);
  CHECK(ops_of(*nodes) == "Variable Identity _SizePlaces _Send _Recv _EmitPlaces _Fetch");
  auto* read = nodes->nodes()[1].get();
  CHECK(is_same_edge(nodes->find("_count_/y")->inputs()[0], edge{read, 0}));
  CHECK(is_same_edge(nodes->find("y")->inputs()[0], edge{read, 0}));
}

TEST_CASE("a node that waits for a split node waits for the two halves") {
  world w;
  auto x = w.placeholder("x");
  auto earlier = w.op("Neg", "before", {x}, "/gpu:0");
  auto y = w.op("Places", "y", {x}, "/gpu:0", {earlier.node});
  auto later_node = w.op("Neg", "after", {x}, "/gpu:0", {y.node});
  auto nodes = w.on_gpu({.feeds = {x}, .fetches = {later_node}});
  REQUIRE(nodes);
  CHECK(nodes->find("_count_/y")->controls() == std::vector{nodes->find("before")});
  CHECK(nodes->find("after")->controls() == std::vector{nodes->find("y")});
}

TEST_CASE("a node of several that are sized by elements is counted by itself") {
  world w;
  auto x = w.placeholder("x");
  auto y = w.op("Places", "y", {x}, "/gpu:0"), z = w.op("Places", "z", {x}, "/gpu:0");
  auto nodes = w.on_gpu({.feeds = {x}, .fetches = {y, z}});
  REQUIRE(nodes);
  CHECK(nodes->find("y")->inputs()[2].node != nodes->find("z")->inputs()[2].node);
}

TEST_CASE("the halves of an op are a registry's own") {
  auto first = ops().find_op("_SizePlaces"), second = ops().find_op("_EmitPlaces");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(is_first_phase(**first));
  CHECK_FALSE(is_first_phase(**second));
  CHECK(!has((*second)->effects, effect::data_dependent_shape));
  for (auto name : {"_SizePlaces", "_EmitPlaces"}) {
    CHECK(ops().find_kernel(name, device_kind::gpu) ==
          ops().find_kernel("Places", device_kind::gpu));
    CHECK(ops().find_kernel(name, device_kind::cpu) == nullptr);
  }
  auto copied = ops(); // the definitions are shared
  CHECK(*copied.find_op("_SizePlaces") == *first);
}

TEST_CASE("effects that are declared separately have distinct bits") {
  unsigned seen_bits = 0;
  for (auto declared : {effect::stateful, effect::random, effect::blocking, effect::forwardable,
                        effect::must_be_fed, effect::commutative, effect::elementwise,
                        effect::broadcasting, effect::reads_shapes_only, effect::autocast_allow,
                        effect::autocast_infer, effect::is_product, effect::adds, effect::rectifies,
                        effect::is_convolution, effect::data_dependent_shape}) {
    CHECK((seen_bits & static_cast<unsigned>(declared)) == 0);
    seen_bits |= static_cast<unsigned>(declared);
  }
}

} // namespace troupe::test::two_phase_op_test
