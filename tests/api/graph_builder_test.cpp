#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <string>

namespace troupe::test::graph_builder_test {

namespace {

/// Runs the body, which must throw, and returns the text of its error.
template <class Body>
std::string error_of(Body&& body, error_kind kind = error_kind::invalid_argument) {
  try {
    body();
  } catch (const error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL("nothing was thrown");
  return {};
}

std::string at_line(int line) { return "(graph_builder_test.cpp:" + std::to_string(line) + ")"; }

bool contains(const std::string& text, const std::string& part) {
  INFO(text << "\nshould contain: " << part);
  auto is_contained = text.find(part) != text.npos;
  CHECK(is_contained);
  return is_contained;
}

} // namespace

TEST_CASE("a formula adds one node for each of its operations") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3}, "x");
  auto w = g.variable(tensor::from_values<float>({3, 2}, {1, 2, 3, 4, 5, 6}), "w");
  auto y = relu(matmul(x, w) + 1, "y");
  CHECK(y.name() == "y");
  CHECK(y.type() == dtype::f32);
  CHECK(y.dims() == partial_shape{-1, 2});
  auto* add = y.node->inputs()[0].node;
  CHECK(add->op().name == "Add");
  CHECK(add->inputs()[0].node->op().name == "MatMul");
  CHECK(to_scalar<float>(*constant_value(add->inputs()[1])) == 1.0f);
}

TEST_CASE("each operator adds its op, with a number on either side") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {}, "x");
  auto op = [](edge e) { return e.node->op().name; };
  CHECK(op(x + 1) == "Add");
  CHECK(op(1 - x) == "Sub");
  CHECK(op(x * 2.5f) == "Mul");
  CHECK(op(1.0 / x) == "Div");
  CHECK(op(-x) == "Neg");
  auto difference = 1 - x;
  CHECK(is_same_edge(difference.node->inputs()[1], x));
  CHECK(difference.node->inputs()[0].type() == dtype::f64);
}

TEST_CASE("a number takes the type of the other operand, unless that would change its value") {
  graph_builder g;
  auto bytes = g.placeholder(dtype::u8, {2}, "bytes");
  CHECK((bytes + 255).type() == dtype::u8);
  contains(error_of([&] { bytes + 256; }), "the literal 256 is no u8");
  contains(error_of([&] { bytes + (-1); }), "the literal -1 is no u8");
  contains(error_of([&] { bytes * 0.5; }), "the literal 0.5 is no u8");
  auto half = g.placeholder(dtype::bf16, {2}, "half");
  CHECK((half * 0.5).type() == dtype::bf16);
  CHECK((g.placeholder(dtype::c64, {}, "z") + 1).type() == dtype::c64);
}

TEST_CASE("lists become vectors: axes, shapes, permutations") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2, 3, 4}, "x");
  CHECK(sum(x, {0, 2}).dims() == partial_shape{3});
  CHECK(sum(x, {0, 2}, {.keep_dims = true}).dims() == partial_shape{1, 3, 1});
  CHECK(mean(x, 1).dims() == partial_shape{2, 4});
  CHECK(reshape(x, {-1, 8}).dims() == partial_shape{3, 8});
  CHECK(transpose(x, {2, 0, 1}).dims() == partial_shape{4, 2, 3});
  CHECK(sum(x).dims() == partial_shape(shape{}));
  CHECK(max(g.placeholder(dtype::f32)).dims() == partial_shape(shape{}));
}

TEST_CASE("optional attributes are designated, a name may follow or stand alone") {
  graph_builder g;
  auto a = g.placeholder(dtype::f32, {4, 2}, "a"), b = g.placeholder(dtype::f32, {3, 2}, "b");
  auto product = matmul(a, b, {.transpose_b = true}, "product");
  CHECK(product.dims() == partial_shape{4, 3});
  CHECK(product.name() == "product");
  CHECK(matmul(a, transpose(b, {1, 0}), "other").name() == "other");
}

TEST_CASE("ops with several outputs return them by name, without outputs the node") {
  graph_builder g;
  auto logits = g.placeholder(dtype::f32, {-1, 10}, "logits");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto [loss, backprop] = sparse_softmax_cross_entropy_with_logits(logits, labels);
  CHECK(loss.dims() == partial_shape{-1});
  CHECK(backprop.index == 1);
  CHECK(no_op(g)->op().name == "NoOp");
  auto parts = split(0, g.placeholder(dtype::f32, {6, 2}), 3);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].dims() == partial_shape{2, 2});
  CHECK(add_n({parts[0], parts[1]}).dims() == partial_shape{2, 2});
}

TEST_CASE("a scope that ends before a nested one also ends the nested one") {
  graph_builder g;
  g.push_scope("outer");
  auto outer = std::make_unique<graph_scope>(g, graph_scope::kind::name);
  g.push_scope("inner");
  auto inner = std::make_unique<graph_scope>(g, graph_scope::kind::name);
  g.push_device("/job:ps");
  auto device_scope = std::make_unique<graph_scope>(g, graph_scope::kind::device);
  CHECK(g.scope() == "outer/inner/");
  outer.reset();
  CHECK(g.scope() == "");
  inner.reset();
  CHECK(g.scope() == "");
  {
    auto scope = g.scope("again");
    CHECK(g.scope() == "again/");
  }
  device_scope.reset();
  CHECK(g.constant(1.0f).node->device() == "");
}

TEST_CASE(
    "scopes prefix names and end with their block, and so do devices and control dependences") {
  graph_builder g;
  auto* first = no_op(g, "first");
  edge inner, placed;
  {
    auto scope = g.scope("layer");
    inner = g.placeholder(dtype::f32, {}, "x");
    auto placement = g.on("/job:ps/task:0");
    auto order = g.after({first});
    placed = inner + 1;
  }
  CHECK(inner.name() == "layer/x");
  CHECK(inner.node->device().empty());
  CHECK(placed.node->device() == "/job:ps/task:0");
  CHECK(placed.node->controls() == std::vector<node*>{first});
  CHECK(g.placeholder(dtype::f32, {}, "x").name() == "x");
  {
    auto scope = g.scope("layer");
    CHECK(g.scope() == "layer_1/");
  }
}

TEST_CASE("variables bring their initializers; one node runs them all") {
  graph_builder g;
  variable_handle w, b;
  {
    auto scope = g.scope("net");
    w = g.variable(truncated_normal(g, {3, 2}, dtype::f32, {.seed = 1}) * 0.1, "w");
    b = g.variable({0.0f, 0.0f}, "b");
  }
  CHECK(w.name() == "net/w");
  CHECK(w.dims() == partial_shape{3, 2});
  CHECK(b.initializer->name() == "net/b/init");
  auto bare = g.variable(dtype::i64, {}, "step");
  CHECK(bare.initializer == nullptr);
  auto* initializer = g.initializer();
  CHECK(initializer->controls() == std::vector<node*>{w.initializer, b.initializer});
  CHECK(g.initializer() == initializer);
  g.variable(1, "more");
  CHECK(g.initializer()->controls().size() == 3);
}

TEST_CASE(
    "gradients are edges of the same graph; without a dependence the gradient is an empty edge") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x"), y = g.placeholder(dtype::f32, {2}, "y");
  auto gradients = g.gradients(sum(square(x)), {x, y});
  REQUIRE(gradients.size() == 2);
  CHECK(gradients[0].dims() == partial_shape{2});
  CHECK(gradients[1].is_empty());
}

TEST_CASE("an error names its node and the line that builds it") {
  graph_builder g;
  auto a = g.placeholder(dtype::f32, {2, 3}, "a");
  auto b = g.placeholder(dtype::i32, {2, 3}, "b");
  int line = 0;
  auto text = error_of([&] {
    line = __LINE__ + 1;
    matmul(a, a, "product");
  });
  contains(text, "MatMul 'product' " + at_line(line));
  contains(text, "[2,3]");
  text = error_of([&] {
    line = __LINE__ + 1;
    a + b;
  });
  contains(text, at_line(line));
  contains(text, "i32");
  text = error_of([&] {
    line = __LINE__ + 1;
    relu(edge{});
  });
  contains(text, "Relu " + at_line(line));
  contains(text, "empty edge");
  text = error_of([&] {
    line = __LINE__ + 1;
    relu(2.0f);
  });
  contains(text, at_line(line));
  contains(text, "no input is an edge");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        g.placeholder(dtype::f32, {}, "a");
      },
      error_kind::already_exists);
  contains(text, at_line(line));
  contains(text, "used already by Placeholder 'a'");
  text = error_of([&] {
    line = __LINE__ + 1;
    auto placement = g.on("/job:");
  });
  contains(text, at_line(line));
  text = error_of([&] {
    line = __LINE__ + 1;
    auto scope = g.scope("no name");
  });
  contains(text, at_line(line));
  graph_builder other_graph;
  auto c = other_graph.placeholder(dtype::f32, {2, 3}, "c");
  text = error_of([&] {
    line = __LINE__ + 1;
    a + c;
  });
  contains(text, at_line(line));
  contains(text, "another graph");
}

TEST_CASE("an optimizer finds the variables that the loss depends on") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto w = g.variable({1.0f, 2.0f}, "w");
  auto unused = g.variable(1.0f, "unused");
  auto count = g.variable(0, "count");
  auto loss = mean(square(x * w) * cast(count, dtype::f32));
  auto pairs = gradient_descent{0.1f}.compute_gradients(loss);
  REQUIRE(pairs.size() == 1);
  CHECK(is_same_edge(pairs[0].variable, w.ref));
  auto* train = gradient_descent{0.1f}.minimize(loss);
  REQUIRE(train->controls().size() == 1);
  CHECK(train->controls()[0]->op().name == "ApplyGradientDescent");

  int line = 0;
  auto text = error_of([&] {
    line = __LINE__ + 1;
    gradient_descent{0.1f}.minimize(loss, {unused});
  });
  contains(text, at_line(line));
  contains(text, "does not depend on VariableV2 'unused'");
  text = error_of([&] { gradient_descent{0.1f}.minimize(mean(x)); });
  contains(text, "depends on no variable");
}

} // namespace troupe::test::graph_builder_test
