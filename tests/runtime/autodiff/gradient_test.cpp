#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"

#include <random>

namespace troupe::test::gradient_test {

namespace {

// Computes an edge of a graph of scalars from the definitions of its ops.
double value_of(edge target, std::map<std::pair<const node*, int>, double>& known_values) {
  if (auto known_value = known_values.find({target.node, target.index});
      known_value != known_values.end())
    return known_value->second;
  const auto& at = *target.node;
  const auto& op = at.op().name;
  auto in = [&](size_t i) { return value_of(at.inputs()[i], known_values); };
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
    value = in(0) + (target.index == 0 ? 1 : -1);
  else if (op == "OnesLike")
    value = 1;
  else if (op == "AddN")
    for (size_t i = 0; i < at.inputs().size(); ++i)
      value += in(i);
  else if (op != "ZerosLike")
    FAIL("no rule for " << op);
  return known_values[{target.node, target.index}] = value;
}

double value_of(edge target) {
  std::map<std::pair<const node*, int>, double> known_values;
  return value_of(target, known_values);
}

struct world {
  graph in{ops()};
  edge x = constant(in, 3.0), y = constant(in, 5.0);
  edge op(std::string name, std::vector<edge> inputs) {
    return add(in, {.op = std::move(name), .inputs = std::move(inputs)});
  }
};

std::string refused(std::vector<edge> ys, std::vector<edge> xs, const gradient_options& options,
                    error_kind kind = error_kind::invalid_argument) {
  auto computed = gradients(std::move(ys), std::move(xs), options);
  REQUIRE_FALSE(computed);
  CHECK(computed.status().kind() == kind);
  auto text = computed.status().message();
  CHECK(text.starts_with("gradients (gradient_test.cpp:"));
  return text.substr(text.find("): ") + 3);
}

std::string refused(std::vector<edge> ys, std::vector<edge> xs, std::vector<edge> weights = {},
                    error_kind kind = error_kind::invalid_argument) {
  return refused(std::move(ys), std::move(xs), gradient_options{.weights = std::move(weights)},
                 kind);
}

edges passes_on(gradient_context& at) { return {at.output_gradient(0)}; }

} // namespace

TEST_CASE("gradients follow the chain rule and sum over paths") {
  world w;
  auto square = w.op("Mul", {w.x, w.x}); // x * x + x * y
  auto z = w.op("Add", {square, w.op("Mul", {w.x, w.y})});
  auto slopes = *gradients({z}, {w.x, w.y, square});
  CHECK(value_of(slopes[0]) == 2 * 3 + 5);
  CHECK(value_of(slopes[1]) == 3);
  CHECK(value_of(slopes[2]) == 1);
}

TEST_CASE("the gradient of an x with respect to itself is one, times the given weight") {
  world w;
  CHECK(value_of((*gradients({w.x}, {w.x}))[0]) == 1);
  CHECK(value_of((*gradients({w.x, w.x}, {w.x}))[0]) == 2);
  auto z = w.op("Mul", {w.x, w.y});
  CHECK(value_of((*gradients({z}, {w.x}, {constant(w.in, 10.0)}))[0]) == 50);
}

TEST_CASE("an x that does not affect the output gets no gradient") {
  world w;
  auto z = w.op("Neg", {w.x});
  auto slopes = *gradients({z}, {w.x, w.y});
  CHECK(value_of(slopes[0]) == -1);
  CHECK_FALSE(slopes[1]);
}

TEST_CASE("an unused output counts as zero") {
  world w;
  auto both_outputs = w.op("Both", {w.x});
  CHECK(value_of((*gradients({edge{both_outputs.node, 1}}, {w.x}))[0]) == 1);
  CHECK(value_of((*gradients({both_outputs, edge{both_outputs.node, 1}}, {w.x}))[0]) == 2);
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
  auto slopes = *gradients({z}, {w.x});
  CHECK(slopes[0].node->name() == "gradients/product_grad/Mul");
  CHECK(slopes[0].node->device() == "/job:ps");
  CHECK(w.in.scope() == "");
  CHECK((*gradients({z}, {w.x}))[0].node->name() == "gradients_1/product_grad/Mul");
}

TEST_CASE("a gradient that does not exist is an error that names the node and the reason") {
  world w;
  auto z = w.op("Neg", {w.op("Fail", {w.x})});
  CHECK(refused({z}, {w.x}, gradient_options{}, error_kind::unimplemented)
            .find("Fail 'Fail' (gradient_test.cpp:") == 0);
  CHECK(refused({z}, {w.x}, gradient_options{}, error_kind::unimplemented)
            .ends_with("no gradient is defined: it never ends well"));
  CHECK(w.in.scope() == "");
  CHECK(gradients({z}, {w.y}).ok()); // not on the path to y
  auto given_up = w.op("GivesUp", {w.x});
  CHECK(refused({given_up}, {w.x}, gradient_options{}, error_kind::unimplemented)
            .starts_with("gradient of GivesUp 'GivesUp' (gradient_test.cpp:"));
  CHECK(w.in.take_error().ok());
  auto forgotten = w.op("Forgets", {w.x});
  CHECK(refused({forgotten}, {w.x}, gradient_options{}, error_kind::internal)
            .ends_with("its gradient function returned 0 gradients for 1 inputs"));
}

TEST_CASE("a missing gradient is refused before any node is added") {
  world w;
  graph other_graph{ops()};
  auto z = w.op("Mul", {w.x, w.y});
  auto nodes = w.in.nodes().size();
  CHECK(refused({}, {w.x}) == "needs at least one y and one x");
  CHECK(refused({z}, {}) == "needs at least one y and one x");
  CHECK(refused({z}, {edge{}}) == "all ys and xs must be edges of one graph");
  CHECK(refused({z}, {constant(other_graph, 1.0)}) == "all ys and xs must be edges of one graph");
  CHECK(refused({z}, {w.x}, {w.x, w.x}) == "got 2 weights for 1 ys");
  CHECK(refused({z}, {w.x}, {edge{}}) == "weight 0 is not an edge of the graph of the ys");
  CHECK(w.in.nodes().size() == nodes);
  CHECK(refused({z}, {w.x}, {constant(w.in, 1.f)}) ==
        "weight 'Const_2' is f32[], but 'Mul' is f64[]");
  CHECK(refused({z}, {constant(w.in, 1)}) ==
        "'Const_3' is i32; gradients exist for floating and complex types");
}

TEST_CASE("no gradient passes an edge where gradients stop") {
  world w;
  auto square = w.op("Mul", {w.x, w.x});
  auto z = w.op("Add", {w.op("Mul", {square, square}), w.op("Mul", {w.x, w.y})});
  CHECK(value_of((*gradients({z}, {w.x}, gradient_options{.stop_edges = {square}}))[0]) == 5);
  CHECK_FALSE((*gradients({z}, {w.x}, gradient_options{.stop_edges = {z}}))[0]);
  auto both_outputs = w.op("Both", {w.x});
  auto sum = w.op("Add", {both_outputs, {both_outputs.node, 1}});
  CHECK(value_of((*gradients({sum}, {w.x},
                             gradient_options{.stop_edges = {{both_outputs.node, 1}}}))[0]) == 1);
  // xs that depend on each other: each gradient treats the other as constant.
  auto partial = *gradients({z}, {square, w.x}, gradient_options{.stop_edges = {square, w.x}});
  CHECK(value_of(partial[0]) == 18);
  CHECK(value_of(partial[1]) == 5);
}

TEST_CASE("a node that leads only to edges where gradients stop needs no gradient") {
  world w;
  auto square = w.op("Mul", {w.x, w.x});
  auto z = w.op("Add", {w.op("Fail", {square}), w.x});
  CHECK_FALSE(gradients({z}, {w.x}));
  auto nodes = w.in.nodes().size();
  CHECK(value_of((*gradients({z}, {w.x}, gradient_options{.stop_edges = {square}}))[0]) == 1);
  CHECK(w.in.nodes().size() == nodes + 1); // the node of OnesLike
}

TEST_CASE("a function given for an op or a node replaces its gradient") {
  world w;
  auto inner = w.op("Fail", {w.x});
  auto z = w.op("Mul", {w.op("Neg", {w.op("Neg", {inner})}), w.y});
  auto twice = [](gradient_context& at) {
    return edges{at.op("Add", {at.output_gradient(0), at.output_gradient(0)})};
  };
  CHECK(value_of((*gradients({z}, {w.x}, gradient_options{.of_ops = {{"Fail", passes_on}}}))[0]) ==
        5);
  auto replacements = gradient_options{.of_nodes = {{inner.node, twice}},
                                       .of_ops = {{"Fail", passes_on}, {"Neg", twice}}};
  auto slope = (*gradients({z}, {w.x}, replacements))[0];
  CHECK(value_of(slope) == 5 * 2 * 2 * 2);
  CHECK(slope.node->name() == "gradients_1/Fail_grad/Add");
  auto nothing = [](gradient_context&) { return edges{{}}; };
  CHECK_FALSE((*gradients({z}, {w.x}, gradient_options{.of_nodes = {{inner.node, nothing}}}))[0]);
}

TEST_CASE("a function that gives no gradients is an error that names the node") {
  world w;
  graph other_graph{ops()};
  auto z = w.op("Neg", {w.x});
  auto options_for = [&](edges returned_edges) {
    return refused(
        {z}, {w.x},
        gradient_options{.of_ops = {{"Neg", [=](gradient_context&) { return returned_edges; }}}});
  };
  CHECK(options_for({}).starts_with("Neg 'Neg' (gradient_test.cpp:"));
  CHECK(options_for({w.x, w.x})
            .ends_with(": the gradient function given for it returned 2 gradients for 1 inputs"));
  CHECK(options_for({constant(other_graph, 1.0)})
            .ends_with(": gradient 0 of the function given for it is not an edge of the graph"));
  CHECK(options_for({constant(w.in, 1)})
            .ends_with("given for it is i32[], but the input 'Const' is f64[]"));
  CHECK(refused({z}, {w.x},
                {.of_ops = {{"Neg",
                             [](gradient_context& at) {
                               return edges{at.op("Nag", {at.output_gradient(0)})};
                             }}}},
                error_kind::not_found)
            .starts_with("gradient of Neg 'Neg' (gradient_test.cpp:"));
  auto throws = [](gradient_context& at) -> edges {
    at.op("Nag", {at.output_gradient(0)});
    throw std::runtime_error{"no"};
  };
  CHECK_THROWS_AS(gradients({z}, {w.x}, gradient_options{.of_ops = {{"Neg", throws}}}),
                  std::runtime_error);
  CHECK(gradients({z}, {w.x}).ok());
  CHECK(w.in.scope() == "");
}

TEST_CASE("meaningless options are refused") {
  world w;
  graph other_graph{ops()};
  auto z = w.op("Neg", {w.x});
  auto stranger = constant(other_graph, 1.0);
  CHECK(refused({z}, {w.x}, gradient_options{.stop_edges = {stranger}}) ==
        "a stop edge is not an edge of the graph of the ys");
  CHECK(refused({z}, {w.x}, gradient_options{.stop_edges = {{}}}) ==
        "a stop edge is not an edge of the graph of the ys");
  auto text = "of_nodes must map nodes of the graph of the ys to functions";
  CHECK(refused({z}, {w.x}, gradient_options{.of_nodes = {{stranger.node, passes_on}}}) == text);
  CHECK(refused({z}, {w.x}, gradient_options{.of_nodes = {{nullptr, passes_on}}}) == text);
  CHECK(refused({z}, {w.x}, gradient_options{.of_nodes = {{z.node, nullptr}}}) == text);
  CHECK(refused({z}, {w.x}, gradient_options{.of_ops = {{"Neg", nullptr}}}) ==
        "the gradient function for Neg is empty");
  CHECK(refused({z}, {w.x}, gradient_options{.of_ops = {{"Nag", passes_on}}}, error_kind::not_found)
            .find("'Nag'") != std::string::npos);
}

TEST_CASE("a Hessian times a vector is the gradient of a gradient times the vector") {
  world w;
  auto square = w.op("Mul", {w.x, w.x}); // x * x * y + y * y, whose gradient is of degree 2
  auto z = w.op("Add", {w.op("Mul", {square, w.y}), w.op("Mul", {w.y, w.y})});
  auto first = *gradients({z}, {w.x, w.y});
  double along[] = {0.5, -2};
  auto product =
      *gradients(first, {w.x, w.y},
                 gradient_options{.weights = {constant(w.in, along[0]), constant(w.in, along[1])}});
  for (size_t i = 0; i < 2; ++i) {
    auto at = [&](double step) {
      std::map<std::pair<const node*, int>, double> known_values{
          {{w.x.node, 0}, 3 + step * along[0]}, {{w.y.node, 0}, 5 + step * along[1]}};
      return value_of(first[i], known_values);
    };
    CHECK(value_of(product[i]) == Approx(at(0.5) - at(-0.5)));
  }
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
        default: // multiplies by a constant: low degrees keep differences precise
          values.push_back(w.op("Mul", {constant(w.in, 0.5), any()}));
          break;
      }
    auto product = w.op("Mul", {values[values.size() - 1], values[values.size() - 2]});
    auto slopes = *gradients({product}, {w.x, w.y});
    for (size_t i = 0; i < 2; ++i) {
      auto at = [&](double step) {
        auto moved = i == 0 ? w.x : w.y;
        std::map<std::pair<const node*, int>, double> known_values{
            {{moved.node, 0}, value_of(moved) + step}};
        return value_of(product, known_values);
      };
      auto slope = (at(0.5) - at(-0.5)) / 1.0; // exact for a polynomial of degree 2
      CHECK((slopes[i] ? value_of(slopes[i]) : 0) == Approx(slope).margin(1e-9));
    }
  }
}

} // namespace troupe::test::gradient_test
