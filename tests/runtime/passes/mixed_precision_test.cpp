#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <cmath>
#include <random>

namespace troupe::test::mixed_precision_test {

namespace {

std::string mixed(std::string_view source, dtype type = dtype::bf16) {
  pass_case at{source};
  mix_precision(at.closed, type);
  return at.written();
}

std::string written_before(std::string_view source) { return pass_case{source}.written(); }

} // namespace

TEST_CASE("a product takes its operands in 16 bits and returns its result in 32") {
  constexpr auto source = R"(
x = Placeholder dtype=f32 shape=[-1,2]
w = Placeholder dtype=f32 shape=[2,3]
y = MatMul(x, w)
feed x = f32[[1, 2]]
feed w = f32{2,3}[1]
fetch y
)";
  CHECK(mixed(source) == "w/bf16=Cast(_feed_1) x/bf16=Cast(_feed_0) y=MatMul(x/bf16,w/bf16) "
                         "y/f32=Cast(y) ->y/f32");
  pass_case at{source};
  mix_precision(at.closed, dtype::f16);
  CHECK(at["y"].output_type(0) == dtype::f16);
  CHECK(at["y"].output_shape(0) == partial_shape{-1, 3});
  CHECK(at["y"].attr<dtype>("T") == dtype::f16);
  CHECK(at["y/f32"].output_type(0) == dtype::f32);
}

TEST_CASE("errors and statistics name the user's nodes") {
  constexpr auto source = R"(
x = Placeholder dtype=f32 shape=[-1,2]
y = MatMul(x, f32{2,3}[1]) @"/cpu:0"
feed x = f32[[1, 2]]
fetch y
)";
  pass_case plain{source}, at{source};
  mix_precision(at.closed, dtype::bf16);
  CHECK(at["y"].description() == plain["y"].description());
  CHECK(at["y"].device() == "/cpu:0");
  CHECK(at["y/f32"].description().find("(test:3") != std::string::npos);
}

TEST_CASE("nodes that pass values on stay in 16 bits only between two products") {
  CHECK(mixed(R"(
x = Placeholder dtype=f32 shape=[2,2]
b = Placeholder dtype=f32 shape=[2]
p = MatMul(x, x)
q = BiasAdd(p, b)
r = Relu(q)
s = Transpose(r, i32[1, 0])
y = MatMul(s, x)
z = BiasAdd(y, b)
feed x = f32{2,2}[1]
feed b = f32[1, 2]
fetch z
)") == "Const=Const() x/bf16=Cast(_feed_0) b/bf16=Cast(_feed_1) p=MatMul(x/bf16,x/bf16) "
       "q=BiasAdd(p,b/bf16) r=Relu(q) s=Transpose(r,Const) y=MatMul(s,x/bf16) y/f32=Cast(y) "
       "z=BiasAdd(y/f32,_feed_1) ->z");
}

TEST_CASE("sums, exponentials and similar ops compute in 32 bits") {
  CHECK(mixed(R"(
x = Placeholder dtype=f32 shape=[2,2]
p = MatMul(x, x)
q = Softmax(p)
y = MatMul(q, x)
n = Sum(p, i32[0])
feed x = f32{2,2}[1]
fetch y
fetch n
)") == "x/bf16=Cast(_feed_0) p=MatMul(x/bf16,x/bf16) p/f32=Cast(p) q=Softmax(p/f32) "
       "q/bf16=Cast(q) y=MatMul(q/bf16,x/bf16) y/f32=Cast(y) Const=Const() n=Sum(p/f32,Const) "
       "->y/f32 ->n");
}

TEST_CASE("a normalization keeps its statistics in 32 bits") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[1,2,2,1]
w = f32{1,1,1,1}[1]
a = Conv2D(x, w) strides=[1, 1, 1, 1] padding="SAME"
n = FusedBatchNormV3(a, f32[1], f32[0], f32[0], f32[1])
y = Conv2D(n, w) strides=[1, 1, 1, 1] padding="SAME"
feed x = f32{1,2,2,1}[1, 2, 3, 4]
fetch y
fetch n:1
)"};
  mix_precision(at.closed, dtype::f16);
  auto& n = at["n"];
  CHECK(is_same_edge(n.inputs()[0], edge{&at["a"], 0}));
  CHECK(n.output_type(0) == dtype::f16);
  CHECK(n.output_type(1) == dtype::f32);
  CHECK(n.inputs()[1].type() == dtype::f32);
  CHECK(is_same_edge(at["y"].inputs()[0], edge{&n, 0}));
  CHECK(at.written().ends_with("->y/f32 ->n:1"));
  auto values =
      run_closed(std::move(at.closed), {tensor::from_values<float>({1, 2, 2, 1}, {1, 2, 3, 4})});
  REQUIRE(values);
  CHECK((*values)[1].values<float>()[0] == 2.5f);
}

TEST_CASE("a variable is cast once, at its read") {
  CHECK(mixed(R"(
v = VariableV2 dtype=f32 shape=[2,2]
x = Placeholder dtype=f32 shape=[2,2]
a = MatMul(x, v)
b = Relu(a)
c = MatMul(b, v)
late = AssignAdd(v, c)
feed x = f32{2,2}[1]
fetch c
target late
)") == "v=VariableV2() v/bf16=Cast(v) x/bf16=Cast(_feed_0) a=MatMul(x/bf16,v/bf16) b=Relu(a) "
       "c=MatMul(b,v/bf16) c/f32=Cast(c) late=AssignAdd(v,c/f32) ->c/f32");
}

TEST_CASE("a read after an update stays after it") {
  pass_case at{R"(
v = VariableV2 dtype=f32 shape=[2,2]
x = Placeholder dtype=f32 shape=[2,2]
a = MatMul(x, v)
first = AssignAdd(v, a)
mid = Neg(x, ^first)
b = MatMul(mid, v)
c = MatMul(x, v, ^first)
feed x = f32{2,2}[1]
fetch b
fetch c
)"};
  mix_precision(at.closed, dtype::bf16);
  auto* for_a = at["a"].inputs()[1].node;
  auto* for_b = at["b"].inputs()[1].node;
  auto* for_c = at["c"].inputs()[1].node;
  CHECK(for_a->controls().empty());
  CHECK(for_b != for_a);
  CHECK(for_c != for_a);
  CHECK(for_b->controls() == std::vector{&at["mid"]});
  CHECK(std::ranges::find(for_c->controls(), &at["first"]) != for_c->controls().end());
  CHECK(at["c"].controls() == std::vector{&at["first"]});
}

TEST_CASE("updates of other variables do not affect a read") {
  // For instance, a normalization updates its averages, and other normalizations follow.
  pass_case at{R"(
v = VariableV2 dtype=f32 shape=[2,2]
mean = VariableV2 dtype=f32 shape=[2,2]
x = Placeholder dtype=f32 shape=[2,2]
a = MatMul(x, v)
moved = AssignAdd(mean, x)
b = Relu(a, ^moved)
c = MatMul(b, v)
d = MatMul(c, mean)
late = AssignAdd(v, c)
feed x = f32{2,2}[1]
fetch d
target late
)"};
  mix_precision(at.closed, dtype::bf16);
  INFO(at.written());
  CHECK(at["c"].inputs()[1].node == at["a"].inputs()[1].node);
  CHECK(at["c"].inputs()[1].node->controls().empty());
  CHECK(at["d"].inputs()[1].node->controls() == std::vector{&at["c/f32"]});
}

TEST_CASE("integers, f64, graphs of 16 bits and unprofitable nodes stay unchanged") {
  for (auto source : {R"(
x = Placeholder dtype=i32 shape=[2,2]
y = MatMul(x, x)
feed x = i32{2,2}[1]
fetch y
)",
                      R"(
x = Placeholder dtype=f64 shape=[2,2]
y = MatMul(x, x)
feed x = f64{2,2}[1]
fetch y
)",
                      R"(
x = Placeholder dtype=f16 shape=[2,2]
y = MatMul(x, x)
z = Relu(y)
feed x = f16{2,2}[1]
fetch z
)",
                      R"(
x = Placeholder dtype=f32 shape=[2,2]
y = Add(x, x)
z = Relu(y)
feed x = f32{2,2}[1]
fetch z
)"})
    CHECK(mixed(source) == written_before(source));
}

TEST_CASE("a part of a graph that is already in 16 bits takes 16-bit values directly") {
  pass_case at{R"(
h = Placeholder dtype=bf16 shape=[2,2]
x = Cast(h) DstT=f32
y = MatMul(x, x)
z = Cast(y) DstT=bf16
u = Relu(z)
feed h = bf16{2,2}[1]
fetch u
)"};
  mix_precision(at.closed, dtype::bf16);
  simplify(at.closed);
  CHECK(at.written() == "y=MatMul(_feed_0,_feed_0) u=Relu(y) ->u");
}

TEST_CASE("an op that reads only a shape does not widen its input") {
  CHECK(mixed(R"(
x = Placeholder dtype=f32 shape=[-1,2]
p = MatMul(x, f32{2,2}[1])
n = Shape(p)
y = MatMul(p, f32{2,2}[1])
feed x = f32{2,2}[1]
fetch y
fetch n
)")
            .find("n=Shape(p)") != std::string::npos);
}

TEST_CASE("nodes with several outputs, and nodes with controls, are converted, too") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[2,2]
t = Neg(x)
p = MatMul(x, x, ^t)
s = Split(i32(1), p) num_split=2
y = MatMul(s, s:1, ^s) transpose_b=true
feed x = f32{2,2}[1, 2, 3, 4]
fetch y
fetch s:1
)"};
  mix_precision(at.closed, dtype::bf16);
  CHECK(at["s"].output_type(1) == dtype::bf16);
  CHECK(at["p"].controls() == std::vector{&at["t"]});
  CHECK(is_same_edge(at["y"].inputs()[1], edge{&at["s"], 1}));
  auto values =
      run_closed(std::move(at.closed), {tensor::from_values<float>({2, 2}, {1, 2, 3, 4})});
  REQUIRE(values);
  CHECK((*values)[0].values<float>()[3] == 15 * 22);
  CHECK((*values)[1].values<float>()[0] == 10);
}

TEST_CASE("a deep net with skip connections is converted as fast as any other") {
  watchdog watch{std::chrono::seconds{30}};
  std::string source = "x = Placeholder dtype=f32 shape=[2,2]\nh0 = MatMul(x, x)\n";
  for (int i = 1; i <= 60; ++i) {
    auto previous_name = concat("h", i - 1);
    source += concat("r", i, " = Relu(", previous_name, ")\nh", i, " = Add(r", i, ", ",
                     previous_name, ")\n");
  }
  source += "y = MatMul(h60, x)\nfeed x = f32[[1, 2], [3, 4]]\nfetch y";
  pass_case at{source};
  mix_precision(at.closed, dtype::bf16);
  CHECK(at["h60"].output_type(0) == dtype::bf16);
}

TEST_CASE("constants are rounded when a graph is compiled, not in each step") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[2,2]
w = f32{2,2}[1, 2, 3, 4]
a = MatMul(x, w)
y = Add(a, f32[1, 2])
z = MatMul(y, w)
feed x = f32{2,2}[1]
fetch z
)"};
  REQUIRE(optimize(at.closed, {.mixed_precision = dtype::bf16}, &host()));
  auto text = at.written();
  INFO(text);
  CHECK(text.find("/bf16=Const()") != std::string::npos);
  CHECK(text.find("y=Add(a,") != std::string::npos);
  CHECK(text.find("Cast(a)") == std::string::npos);
}

TEST_CASE("every op declared for 16 bits accepts f16, bf16 and f32") {
  size_t declared = 0;
  for (const auto* op : library().ops()) {
    if (!has(op->effects, effect::autocast_allow | effect::autocast_infer))
      continue;
    ++declared;
    INFO(op->name);
    CHECK(!has(op->effects, effect::stateful | effect::random | effect::blocking));
    auto of_data = std::ranges::find_if(op->inputs, [&](const port& input_port) {
      auto* attr = op->find_attr(input_port.type);
      return attr && attr->kind == attr_kind::type && attr->allowed.contains(dtype::f32);
    });
    REQUIRE(of_data != op->inputs.end());
    auto* attr = op->find_attr(of_data->type);
    CHECK(attr->allowed.contains(dtype::f16));
    CHECK(attr->allowed.contains(dtype::bf16));
    for (const auto& output_port : op->outputs)
      CHECK(!output_port.ref);
  }
  CHECK(declared > 40);
}

namespace {

// A network of twenty layers on a matrix, of which the last four are fetched.
std::string random_network(std::mt19937& dice) {
  std::string text = "x = Placeholder dtype=f32 shape=[4,4]\n";
  std::vector<std::string> values{"x"};
  auto any = [&] { return values[dice() % values.size()]; };
  for (int i = 0; i < 20; ++i) {
    auto name = concat('n', i);
    auto a = any(), b = any();
    switch (dice() % 8) {
      case 0:
      case 1:
      case 2:
        text += concat("m", i, " = MatMul(", a, ", ", b, ")\n", name, " = Tanh(m", i, ")\n");
        break;
      case 3: text += concat(name, " = Relu(", a, ")\n"); break;
      case 4: text += concat(name, " = Transpose(", a, ", i32[1, 0])\n"); break;
      case 5:
        text += concat("s", i, " = Add(", a, ", ", b, ")\n", name, " = Mul(s", i, ", f32(0.5))\n");
        break;
      case 6:
        text +=
            concat("m", i, " = MatMul(", a, ", ", b, ")\n", name, " = Mul(m", i, ", f32(0.25))\n");
        break;
      default: text += concat(name, " = Softmax(", a, ")\n");
    }
    values.push_back(name);
  }
  text += "feed x = f32{4,4}[0]\n";
  for (size_t i = values.size() - 4; i < values.size(); ++i)
    text += concat("fetch ", values[i], "\n");
  return text;
}

std::vector<tensor> run_network(const std::string& text, const std::vector<float>& numbers,
                                const pass_options& passes) {
  pass_case at{text};
  REQUIRE(optimize(at.closed, passes, &host()));
  partition whole_graph{{"local", 0, "cpu", 0}, std::move(at.closed.nodes)};
  REQUIRE(optimize(whole_graph, passes));
  auto fetched =
      run_closed({std::move(whole_graph.nodes), {}}, {tensor::from_values({4, 4}, numbers)});
  INFO((fetched ? "" : fetched.status().message()));
  REQUIRE(fetched);
  return *std::move(fetched);
}

} // namespace

TEST_CASE("random networks give about the same in 16 bits") {
  auto seed = std::random_device{}();
  for (unsigned round = 0; round < 50; ++round) {
    INFO("seed " << seed + round);
    std::mt19937 dice{seed + round};
    auto text = random_network(dice);
    INFO(text);
    std::vector<float> numbers(16);
    for (auto& number : numbers)
      number = std::uniform_real_distribution<float>{-1, 1}(dice);
    auto expected = run_network(text, numbers, pass_options::none());
    for (auto type : {dtype::f16, dtype::bf16}) {
      INFO(to_string(type));
      auto actual = run_network(text, numbers, {.mixed_precision = type});
      REQUIRE(actual.size() == expected.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        REQUIRE(actual[i].type() == dtype::f32);
        auto numbers_found = actual[i].values<float>(),
             numbers_expected = expected[i].values<float>();
        for (size_t j = 0; j < numbers_found.size(); ++j)
          CHECK(std::abs(numbers_found[j] - numbers_expected[j]) < 0.5f);
      }
    }
  }
}

TEST_CASE("ops declared for 16 bits have GPU kernels for 16 bits where they have one for f32") {
  for (const auto* op : simulated_library().ops()) {
    auto* kernel = simulated_library().find_kernel(op->name, device_kind::gpu);
    if (!has(op->effects, effect::autocast_allow | effect::autocast_infer) || !kernel ||
        !kernel->find(dtype::f32))
      continue;
    INFO(op->name);
    CHECK(kernel->find(dtype::f16));
    CHECK(kernel->find(dtype::bf16));
  }
}

} // namespace troupe::test::mixed_precision_test
