// User-defined gradients of functions in GraphDefs.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::custom_gradient_graph_def_test {
namespace {

using Catch::Matchers::Contains;
using list = std::vector<edge>;

// A graph that was written and read that many times.
struct copy {
  copy(const graph& source, graph_def_format format, int times = 1) {
    const graph* from = &source;
    for (int i = 0; i < times; ++i) {
      auto text = value_or_throw(write_graph_def(*from, format));
      auto next = std::make_unique<graph_builder>();
      if (format == graph_def_format::text)
        value_or_throw(read_graph_def_text(text, *next));
      else
        value_or_throw(read_graph_def(std::as_bytes(std::span{text}), *next));
      g = std::move(next);
      from = g.get();
    }
  }

  edge edge_named(std::string_view name) const { return value_or_throw(g->find_edge(name)); }
  edge gradient(const list& outputs) { return g->gradients(outputs, {edge_named("x")})[0]; }
  double value_of(edge output, double x, int n = 0) {
    return to_scalar<double>(s.fetch(output, {{edge_named("x"), x}, {edge_named("n"), n}}));
  }

  std::unique_ptr<graph_builder> g;
  session s = session::local();
};

std::string function(std::string_view name, std::string_view argument_names,
                     std::string_view results_spec, std::string_view nodes) {
  std::string text = concat("function { signature { name: '", name, "' ");
  for (auto argument_name : argument_names)
    text += concat("input_arg { name: '", argument_name, "' type: DT_DOUBLE } ");
  text += concat("output_arg { name: 'r' type: DT_DOUBLE } } ", nodes, " ret { key: 'r' value: '",
                 results_spec, "' } } ");
  return text;
}

std::string node(std::string_view name, std::string_view op,
                 const std::vector<std::string>& inputs) {
  auto text = concat("node_def { name: '", name, "' op: '", op, "' ");
  for (const auto& input : inputs)
    text += concat("input: '", input, "' ");
  return text + (op == "f" ? "} " : "attr { key: 'T' value { type: DT_DOUBLE } } } ");
}

std::string with_library(std::string_view library) {
  return concat(
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_DOUBLE } } "
      "attr { key: 'shape' value { shape { } } } } "
      "node { name: 'y' op: 'f' input: 'x' } library { ",
      library, "} versions { producer: 22 }");
}

constexpr std::string_view is_gradient = "gradient { function_name: 'f' gradient_func: 'g' } ";

} // namespace

TEST_CASE("a user-defined gradient of a function is written to a GraphDef and read from it") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, shape{}, "x");
  auto n = g.placeholder(dtype::i32, shape{}, "n");
  auto f = define(
      g, "f",
      {argument{dtype::f64, shape{}}, argument{dtype::i32, shape{}}, argument{dtype::f64, shape{}}},
      [&](auto& v) {
        return list{log(exp(v[0]) + 1.0), v[1] + 1, v[0] * 7.0 + v[2]};
      },
      [&](auto& v, auto& dy) {
        return list{dy[0] * sigmoid(v[0]) + dy[1] * 1000.0, {}, {}};
      });
  auto y = call(g, f, {x, n, x * 3.0}, "y");
  auto looped = while_loop(
      {g.constant(0), x}, [&](auto& v) { return less(v[0], n); },
      [&](auto& v) {
        auto next = cond(
            greater(v[1], -1e9),
            [&] {
              return call(g, f, {v[1], n, v[1]})[2];
            },
            [&] { return v[1]; });
        return list{v[0] + 1, next};
      },
      {.name = "loop"})[1];
  auto name = looped.name();
  for (auto format : {graph_def_format::text, graph_def_format::binary})
    for (int times : {1, 3}) {
      INFO("text: " << (format == graph_def_format::text) << ", times: " << times);
      copy c{g, format, times};
      CHECK(c.value_of(c.edge_named("y:2"), 2) == 20);
      auto first_gradient = c.gradient({c.edge_named("y:0")});
      CHECK(c.value_of(first_gradient, 1000) == 1); // the gradient of its nodes is not finite
      CHECK(c.value_of(first_gradient, 0) == 0.5);
      CHECK(c.value_of(c.gradient({first_gradient}), 0) == 0.25); // the gradient of the sigmoid
      // For its third argument it has no gradient.
      CHECK(c.value_of(c.gradient({c.edge_named("y:0"), c.edge_named("y:2")}), 0) == 1000.5);
      CHECK(c.value_of(c.edge_named(name), 1, 3) == 512);
      CHECK(c.value_of(c.gradient({c.edge_named(name)}), 1, 3) == 1e9);
    }
}

TEST_CASE("gradients that were taken before a graph is written equal those of its copy") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, shape{}, "x");
  static_cast<void>(g.placeholder(dtype::i32, shape{}, "n")); // the copies feed it
  // For its first argument it has no gradient: the gradient function has one result here, and two
  // in a GraphDef.
  auto f = define(
      g, "f", {argument{dtype::f64, shape{}}, argument{dtype::f64, shape{}}},
      [&](auto& v) { return list{v[0] * v[1]}; },
      [&](auto& v, auto& dy) {
        return list{{}, dy[0] * 7.0 * v[1]};
      });
  auto y = call(g, f, {x * 2.0, x}, "y")[0];
  auto first = g.gradients({y}, {x})[0] + 0.0;
  auto second = g.gradients({first}, {x})[0] + 0.0;
  copy c{g, graph_def_format::binary, 2};
  CHECK(c.value_of(c.edge_named(first.name()), 3) == 21);
  CHECK(c.value_of(c.edge_named(second.name()), 3) == 7);
  CHECK(c.value_of(c.gradient({c.edge_named("y")}), 3) == 21);
}

TEST_CASE("a GraphDef's gradients of gradients of gradients end at a limit") {
  auto named = [](int i) { return i == 0 ? std::string{"f"} : concat("f", i); };
  std::string library;
  for (int i = 0; i < 200; ++i)
    library +=
        concat("function { signature { name: '", named(i), "' } } ", "gradient { function_name: '",
               named(i), "' gradient_func: '", named(i + 1), "' } ");
  library += concat("function { signature { name: '", named(200), "' } }");
  graph_builder g;
  auto read = read_graph_def_text(
      concat("node { name: 'y' op: 'f' } library { ", library, " } versions { producer: 22 }"), g);
  CHECK_THAT(read.status().message(), Contains("more than 64 orders deep"));
}

TEST_CASE("a GraphDef's calls by function name have the gradient that the library declares") {
  // f(x) = x + x, and its gradient is 5 dy; the gradient of that has 5 for dy and 7 for x.
  auto five = [](double value) {
    return concat(
        "node_def { name: 'k' op: 'Const' attr { key: 'dtype' value { type: DT_DOUBLE } } "
        "attr { key: 'value' value { tensor { dtype: DT_DOUBLE double_val: ",
        value, " } } } } ");
  };
  auto f = function("f", "x", "s:z:0", node("s", "Add", {"x", "x"}));
  auto gradient = function("g", "xd", "m:z:0", five(5) + node("m", "Mul", {"d", "k:output:0"}));
  graph_builder g;
  REQUIRE(read_graph_def_text(with_library(concat(f, gradient, is_gradient)), g).status().ok());
  auto s = session::local();
  auto x = *g.find_edge("x"), y = *g.find_edge("y");
  CHECK(to_scalar<double>(s.fetch(y, {{x, 4.0}})) == 8);
  CHECK(to_scalar<double>(s.fetch(g.gradients(y, {x})[0], {{x, 4.0}})) == 5);
}

TEST_CASE("a function may be called by its own gradient, in a GraphDef") {
  // f(x) = x + x, and its gradient is f(x) dy.
  auto f = function("f", "x", "s:z:0", node("s", "Add", {"x", "x"}));
  auto gradient = function("g", "xd", "m:z:0",
                           node("again", "f", {"x"}) + node("m", "Mul", {"again:r:0", "d"}));
  graph_builder g;
  REQUIRE(read_graph_def_text(with_library(concat(f, gradient, is_gradient)), g).status().ok());
  auto s = session::local();
  auto x = *g.find_edge("x");
  list orders{*g.find_edge("y")};
  for (int i = 0; i < 3; ++i)
    orders.push_back(g.gradients(orders.back(), {x})[0]);
  // y = f, y' = f, y'' = f f' = f^1 as f' is f(x): each is the gradient of the previous one.
  std::vector<double> values_found;
  for (auto order : orders)
    values_found.push_back(to_scalar<double>(s.fetch(order, {{x, 3.0}})));
  CHECK(values_found == std::vector<double>{6, 6, 6, 6});
  CHECK_THAT(error_text_of([&] { g.gradients(orders.back(), {x}); }),
             Contains("of an order that was not loaded"));
  CHECK_THAT(write_graph_def(g, graph_def_format::binary).status().message(),
             Contains("was not read, and cannot be written"));
}

TEST_CASE("invalid gradients in a GraphDef are refused") {
  auto f = function("f", "x", "s:z:0", node("s", "Add", {"x", "x"}));
  auto fails = [&](const std::string& library) {
    graph_builder g;
    return read_graph_def_text(with_library(library), g).status().message();
  };
  CHECK_THAT(fails(concat(f, is_gradient)),
             Contains("there is no function 'g', the declared gradient of 'f'"));
  auto narrow = function("g", "x", "x", "");
  CHECK_THAT(fails(concat(f, narrow, is_gradient)), Contains("gradient of function 'f'"));
  auto missing_gradient =
      concat("function { signature { name: 'g' input_arg { name: 'x' type: DT_DOUBLE } "
             "input_arg { name: 'd' type: DT_DOUBLE } } } ");
  CHECK_THAT(fails(concat(f, missing_gradient, is_gradient)),
             Contains("gives 0 results for 1 arguments"));
  auto complete_text =
      concat("function { signature { name: 'g' input_arg { name: 'x' type: DT_DOUBLE } "
             "input_arg { name: 'd' type: DT_DOUBLE } "
             "output_arg { name: 'r' type: DT_INT32 } } "
             "node_def { name: 'c' op: 'Cast' input: 'd' "
             "attr { key: 'SrcT' value { type: DT_DOUBLE } } "
             "attr { key: 'DstT' value { type: DT_INT32 } } } "
             "ret { key: 'r' value: 'c:y:0' } } ");
  CHECK_THAT(fails(concat(f, complete_text, is_gradient)),
             Contains("for argument 0 is i32, and the argument is f64"));
}

} // namespace troupe::test::custom_gradient_graph_def_test
