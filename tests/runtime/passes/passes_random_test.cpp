// Random graphs of pure ops give the same results with and without passes.
#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <random>

namespace troupe::test::passes_random_test {

namespace {

// Values are floats, of shape [4,6], [6], [4,1] or [], which broadcast with each other.
class random_graph {
public:
  explicit random_graph(unsigned seed) : dice_(seed) {
    for (auto dims : {partial_shape{4, 6}, partial_shape{-1, 6}, partial_shape{6},
                      partial_shape{4, 1}, partial_shape{}}) {
      auto at = add("Placeholder", {}, {{"dtype", dtype::f32}, {"shape", dims}});
      values_.push_back(at);
      feeds.push_back(at);
    }
    for (float value : {0.f, 1.f, 2.f})
      values_.push_back(constant(tensor::scalar(value)));
    for (int i = 0; i < 60; ++i)
      values_.push_back(any_op());
    for (int i = 0; i < 5; ++i)
      fetches.push_back(values_[values_.size() - 1 - dice_() % 30]);
  }

  std::vector<tensor> fed_values() {
    std::vector<tensor> tensors;
    for (auto dims : {shape{4, 6}, shape{4, 6}, shape{6}, shape{4, 1}, shape{}}) {
      std::vector<float> values(static_cast<size_t>(dims.elements()));
      for (auto& value : values)
        value = std::uniform_real_distribution<float>{-2, 2}(dice_);
      tensors.push_back(tensor::from_values(dims, values));
    }
    return tensors;
  }

  graph nodes{library()};
  std::vector<edge> feeds, fetches;

private:
  edge add(std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    auto pure_node =
        nodes.add({.op = std::move(op), .inputs = std::move(inputs), .attrs = std::move(attrs)});
    INFO((pure_node ? "" : pure_node.status().message()));
    REQUIRE(pure_node);
    return (*pure_node)->output(0);
  }
  edge constant(tensor value) {
    auto type = value.type();
    return add("Const", {}, {{"value", std::move(value)}, {"dtype", type}});
  }
  edge any() { return values_[dice_() % values_.size()]; }
  // Keeps values small, so that rounding errors stay small.
  edge bounded(edge x) { return dice_() % 2 ? add("Tanh", {x}) : add("Sigmoid", {x}); }

  edge any_op() {
    auto x = any(), y = any();
    switch (dice_() % 12) {
      case 0: return add("Neg", {x});
      case 1: return bounded(add("Add", {x, y}));
      case 2: return bounded(add("Mul", {x, y}));
      case 3: return bounded(add("Sub", {x, y}));
      case 4: return add("Maximum", {x, y});
      case 5: return add("Identity", {x});
      case 6: return bounded(add("Square", {x}));
      case 7: return add("Relu", {x});
      case 8: return add("Cast", {add("Greater", {x, y})}, {{"DstT", dtype::f32}});
      case 9: return add("Reshape", {x, add("Shape", {x})});
      case 10: return add("ZerosLike", {x});
      default:
        return bounded(
            add("Div", {x, add("Add", {add("Abs", {y}), constant(tensor::scalar(1.f))})}));
    }
  }

  std::mt19937 dice_;
  std::vector<edge> values_;
};

} // namespace

TEST_CASE("random graphs give the same results with and without passes") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 200; ++round) {
    INFO("seed " << base + round);
    random_graph at{base + round};
    auto values = at.fed_values();
    auto run = [&](const pass_options& passes) {
      auto closed = extract(at.nodes, {.feeds = at.feeds, .fetches = at.fetches, .targets = {}});
      INFO((closed ? "" : closed.status().message()));
      REQUIRE(closed);
      REQUIRE(optimize(*closed, passes, &host()));
      partition whole_graph{{"local", 0, "cpu", 0}, std::move(closed->nodes)};
      REQUIRE(optimize(whole_graph, passes));
      INFO(describe(*whole_graph.nodes));
      auto fetched = run_closed({std::move(whole_graph.nodes), {}}, values);
      INFO((fetched ? "" : fetched.status().message()));
      REQUIRE(fetched);
      return *std::move(fetched);
    };
    auto expected = run(pass_options::none()), actual = run({});
    REQUIRE(expected.size() == actual.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      std::string reason;
      INFO("fetch " << i << ", " << at.fetches[i]);
      CHECK(close_to(actual[i], expected[i], 1e-5, &reason));
      CHECK(reason == "");
    }
  }
}

TEST_CASE("fused expressions of any length give the results of their separate ops") {
  // Pieces end within rows, at rows and at the end; the inputs include a scalar, a short row and a
  // long row.
  for (auto [rows, columns] : {std::pair{1, 1},
                               {1, 7},
                               {3, 5},
                               {1000, 10},
                               {7, 255},
                               {5, 256},
                               {3, 4099},
                               {100'000, 1},
                               {0, 4}}) {
    INFO(rows << " x " << columns);
    auto text = concat(R"(
x = Placeholder dtype=f32 shape=[-1,-1]
b = Placeholder dtype=f32 shape=[-1]
a = Mul(x, f32(0.5))
c = Add(a, b)
d = Sigmoid(c)
e = Mul(d, c)
f = Greater(e, x)
g = LogicalNot(f)
h = Sub(e, x)
feed x = f32{0,0}[]
feed b = f32{0}[]
fetch g
fetch h
)");
    pass_case plain{text}, fused{text};
    fuse_elementwise(fused.closed, device_kind::cpu);
    REQUIRE(fused.written().find("_Fused") != std::string::npos);
    std::vector<float> xs(static_cast<size_t>(rows * columns)), bs(static_cast<size_t>(columns));
    for (size_t i = 0; i < xs.size(); ++i)
      xs[i] = static_cast<float>(i % 37) / 8 - 2;
    for (size_t i = 0; i < bs.size(); ++i)
      bs[i] = static_cast<float>(i % 11) / 4 - 1;
    std::vector<tensor> feeds{tensor::from_values({rows, columns}, xs), tensor::vector(bs)};
    auto expected = run_closed(std::move(plain.closed), feeds),
         actual = run_closed(std::move(fused.closed), feeds);
    REQUIRE(expected);
    REQUIRE(actual);
    CHECK(identical((*actual)[0], (*expected)[0]));
    std::string reason;
    CHECK(close_to((*actual)[1], (*expected)[1], 1e-6, &reason));
    CHECK(reason == "");
  }
}

TEST_CASE("operands with irregular broadcasting are fused correctly, too") {
  for (auto shapes : {std::pair{shape{2, 1}, shape{2, 3}},
                      {shape{1, 3}, shape{2, 3}},
                      {shape{2, 3}, shape{2, 3}},
                      {shape{2, 3}, shape{1, 1}},
                      {shape{1, 3}, shape{2, 1}}}) {
    INFO(shapes.first << " and " << shapes.second);
    constexpr auto program_text = R"(
x = Placeholder dtype=f32 shape=[-1,-1]
y = Placeholder dtype=f32 shape=[-1,-1]
a = Sub(x, y)
b = Tanh(a)
c = Mul(b, y)
feed x = f32{0,0}[]
feed y = f32{0,0}[]
fetch c
)";
    pass_case plain{program_text}, fused{program_text};
    fuse_elementwise(fused.closed, device_kind::cpu);
    CHECK(fused.written() == "c=_Fused(_feed_0,_feed_1) ->c");
    auto filled = [](const shape& dims) {
      std::vector<float> values(static_cast<size_t>(dims.elements()));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i) / 4;
      return tensor::from_values(dims, values);
    };
    std::vector<tensor> feeds{filled(shapes.first), filled(shapes.second)};
    auto expected = run_closed(std::move(plain.closed), feeds),
         actual = run_closed(std::move(fused.closed), feeds);
    REQUIRE(expected);
    REQUIRE(actual);
    std::string reason;
    CHECK(close_to((*actual)[0], (*expected)[0], 1e-6, &reason));
    CHECK(reason == "");
  }
}

TEST_CASE("mismatched shapes are an error that names the user's node") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[-1]
y = Placeholder dtype=f32 shape=[-1]
sum = Add(x, y)
z = Neg(sum)
feed x = f32[1, 2]
feed y = f32[1, 2, 3]
fetch z
)"};
  fuse_elementwise(at.closed, device_kind::cpu);
  REQUIRE(at.written() == "z=_Fused(_feed_0,_feed_1) ->z");
  auto failure_of_run = run_closed(std::move(at.closed), {tensor::vector<float>({1, 2}),
                                                          tensor::vector<float>({1, 2, 3})})
                            .status();
  CHECK(failure_of_run.kind() == error_kind::invalid_argument);
  CHECK(failure_of_run.message().find("Add 'sum' (test:") != std::string::npos);
  CHECK(failure_of_run.message().find("[2]") != std::string::npos);
}

TEST_CASE("a graph of a hundred thousand nodes passes through all passes") {
  graph in{library()};
  auto add = [&](std::string op, std::vector<edge> inputs, attr_map attrs = {}) {
    return (*in.add({.op = std::move(op), .inputs = std::move(inputs), .attrs = std::move(attrs)}))
        ->output(0);
  };
  auto x = add("Placeholder", {}, {{"dtype", dtype::f32}, {"shape", shape{4}}});
  std::vector<edge> last{x, add("Tanh", {x}), add("Exp", {x})};
  for (size_t i = 3; i < 100'000; ++i)
    last.push_back(add(i % 2 ? "Maximum" : "Minimum", {last[i - 1 - i % 2], last[i - 3]}));
  auto closed = extract(in, {.feeds = {x}, .fetches = {last.back()}, .targets = {}});
  REQUIRE(closed);
  REQUIRE(optimize(*closed, {}, &host()));
  partition whole_graph{{"local", 0, "cpu", 0}, std::move(closed->nodes)};
  REQUIRE(optimize(whole_graph, {}));
  CHECK(whole_graph.nodes->nodes().size() > 1000);
}

} // namespace troupe::test::passes_random_test
