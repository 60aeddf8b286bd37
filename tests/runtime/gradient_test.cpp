#include "troupe/runtime/gradient.hpp"
#include "troupe/tests/support/catch.hpp"
#include "troupe/tests/support/test_ops.hpp"

#include <random>

using namespace troupe;
using namespace troupe::test;

namespace {

// Computes an edge of a graph of scalars by its definition.
double value_of(edge what, std::map<std::pair<const node*, int>, double>& known) {
  if (auto it = known.find({what.node, what.index}); it != known.end())
    return it->second;
  const auto& at = *what.node;
  const auto& op = at.op().name;
  auto in = [&](size_t i) { return value_of(at.inputs()[i], known); };
  double value = 0;
  if (op == "Const")
    value = at.attr<tensor>("value").data<double>()[0];
  else if (op == "Add")
    value = in(0) + in(1);
  else if (op == "Mul")
    value = in(0) * in(1);
  else if (op == "Neg")
    value = -in(0);
  else if (op == "Identity")
    value = in(0);
  else if (op == "Both")
    value = in(0) + (what.index == 0 ? 1 : -1);
  else if (op == "OnesLike")
    value = 1;
  else if (op == "AddN")
    for (size_t i = 0; i < at.inputs().size(); ++i)
      value += in(i);
  else if (op != "ZerosLike")
    FAIL("no rule for " << op);
  return known[{what.node, what.index}] = value;
}

double value_of(edge what) {
  std::map<std::pair<const node*, int>, double> known;
  return value_of(what, known);
}

struct world {
  graph in{ops()};
  edge x = constant(in, 3.0), y = constant(in, 5.0);
  edge op(std::string name, std::vector<edge> inputs) {
    return add(in, {.op = std::move(name), .inputs = std::move(inputs)});
  }
};

std::string refused(std::vector<edge> ys, std::vector<edge> xs, std::vector<edge> weights = {},
                    error_kind kind = error_kind::invalid_argument) {
  auto found = gradients(std::move(ys), std::move(xs), std::move(weights));
  REQUIRE_FALSE(found);
  CHECK(found.status().kind() == kind);
  auto text = found.status().message();
  CHECK(text.starts_with("gradients (gradient_test.cpp:"));
  return text.substr(text.find("): ") + 3);
}

} // namespace

TEST_CASE("gradients follow the chain rule and sum over paths") {
  world w;
  auto square = w.op("Mul", {w.x, w.x}); // x * x + x * y
  auto z = w.op("Add", {square, w.op("Mul", {w.x, w.y})});
  auto found = *gradients({z}, {w.x, w.y, square});
  CHECK(value_of(found[0]) == 2 * 3 + 5);
  CHECK(value_of(found[1]) == 3);
  CHECK(value_of(found[2]) == 1);
}

TEST_CASE("the gradient of an x with respect to itself is one, weighed if asked") {
  world w;
  CHECK(value_of((*gradients({w.x}, {w.x}))[0]) == 1);
  CHECK(value_of((*gradients({w.x, w.x}, {w.x}))[0]) == 2);
  auto z = w.op("Mul", {w.x, w.y});
  CHECK(value_of((*gradients({z}, {w.x}, {constant(w.in, 10.0)}))[0]) == 50);
}

TEST_CASE("an x on which nothing depends gets no gradient") {
  world w;
  auto z = w.op("Neg", {w.x});
  auto found = *gradients({z}, {w.x, w.y});
  CHECK(value_of(found[0]) == -1);
  CHECK_FALSE(found[1]);
}

TEST_CASE("an output that nobody uses counts as zero") {
  world w;
  auto both = w.op("Both", {w.x});
  CHECK(value_of((*gradients({edge{both.node, 1}}, {w.x}))[0]) == 1);
  CHECK(value_of((*gradients({both, edge{both.node, 1}}, {w.x}))[0]) == 2);
}

TEST_CASE("gradients of gradients are gradients") {
  world w;
  auto cube = w.op("Mul", {w.x, w.op("Mul", {w.x, w.x})});
  auto first = (*gradients({cube}, {w.x}))[0];
  auto second = (*gradients({first}, {w.x}))[0];
  auto third = (*gradients({second}, {w.x}))[0];
  CHECK(value_of(first) == 27);
  CHECK(value_of(second) == 18);
  CHECK(value_of(third) == 6);
}

TEST_CASE("gradient nodes are named after the node they belong to and share its device") {
  world w;
  w.in.push_scope("net");
  auto z = add(w.in, {.op = "Mul", .name = "product", .inputs = {w.x, w.y}, .device = "/job:ps"});
  w.in.pop_scope();
  auto found = *gradients({z}, {w.x});
  CHECK(found[0].node->name() == "gradients/product_grad/Mul");
  CHECK(found[0].node->device() == "/job:ps");
  CHECK(w.in.scope() == "");
  CHECK((*gradients({z}, {w.x}))[0].node->name() == "gradients_1/product_grad/Mul");
}

TEST_CASE("a gradient that does not exist is an error that names the node and says why") {
  world w;
  auto z = w.op("Neg", {w.op("Fail", {w.x})});
  CHECK(
      refused({z}, {w.x}, {}, error_kind::unimplemented).find("Fail 'Fail' (gradient_test.cpp:") ==
      0);
  CHECK(refused({z}, {w.x}, {}, error_kind::unimplemented)
            .ends_with("no gradient is defined: it never ends well"));
  CHECK(w.in.scope() == "");
  CHECK(gradients({z}, {w.y}).ok()); // not on the way
  auto given_up = w.op("GivesUp", {w.x});
  CHECK(refused({given_up}, {w.x}, {}, error_kind::unimplemented)
            .starts_with("gradient of GivesUp 'GivesUp' (gradient_test.cpp:"));
  CHECK(w.in.take_note().ok());
  auto forgotten = w.op("Forgets", {w.x});
  CHECK(refused({forgotten}, {w.x}, {}, error_kind::internal)
            .ends_with("its gradient function gave 0 gradients for 1 inputs"));
}

TEST_CASE("what has no gradient is refused before anything is built") {
  world w;
  graph other{ops()};
  auto z = w.op("Mul", {w.x, w.y});
  auto nodes = w.in.nodes().size();
  CHECK(refused({}, {w.x}) == "needs at least one y and one x");
  CHECK(refused({z}, {}) == "needs at least one y and one x");
  CHECK(refused({z}, {edge{}}) == "all ys and xs must be edges of one graph");
  CHECK(refused({z}, {constant(other, 1.0)}) == "all ys and xs must be edges of one graph");
  CHECK(refused({z}, {w.x}, {w.x, w.x}) == "got 2 weights for 1 ys");
  CHECK(refused({z}, {w.x}, {edge{}}) == "weight 0 is not an edge of the graph of the ys");
  CHECK(w.in.nodes().size() == nodes);
  CHECK(refused({z}, {w.x}, {constant(w.in, 1.f)}) ==
        "weight 'Const_2' is f32[], but 'Mul' is f64[]");
  CHECK(refused({z}, {constant(w.in, 1)}) ==
        "'Const_3' is i32; gradients exist for floating and complex types");
}

TEST_CASE("gradients of random formulas agree with the differences of their values") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 40; ++round) {
    auto seed = base + round;
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    world w;
    std::vector<edge> values{w.x, w.y};
    auto any = [&] { return values[dice() % values.size()]; };
    for (int i = 0; i < 12; ++i)
      switch (dice() % 5) {
        case 0: values.push_back(w.op("Add", {any(), any()})); break;
        case 1: values.push_back(w.op("Neg", {any()})); break;
        case 2: values.push_back(w.op("AddN", {any(), any(), any()})); break;
        case 3:
          values.push_back(w.op("Both", {any()}));
          values.push_back({values.back().node, 1});
          break;
        default: // by a constant: degrees stay low, and differences exact enough
          values.push_back(w.op("Mul", {constant(w.in, 0.5), any()}));
          break;
      }
    auto product = w.op("Mul", {values[values.size() - 1], values[values.size() - 2]});
    auto found = *gradients({product}, {w.x, w.y});
    for (size_t i = 0; i < 2; ++i) {
      auto at = [&](double step) {
        auto moved = i == 0 ? w.x : w.y;
        std::map<std::pair<const node*, int>, double> known{
            {{moved.node, 0}, value_of(moved) + step}};
        return value_of(product, known);
      };
      auto slope = (at(0.5) - at(-0.5)) / 1.0; // exact for a polynomial of degree 2
      CHECK((found[i] ? value_of(found[i]) : 0) == Approx(slope).margin(1e-9));
    }
  }
}
