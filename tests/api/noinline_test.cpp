// Calls that are not inlined: functions with _noinline.
#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::noinline_test {
namespace {

using Catch::Matchers::Contains;
using list = std::vector<edge>;

// The text of a graph after the passes that precede placement.
std::string optimized(std::string_view source) {
  pass_case graph_case{source};
  auto outcome = optimize(graph_case.closed, {}, &host());
  return outcome ? graph_case.written() : outcome.message();
}

std::string dump(bool noinline) {
  return optimized(concat(R"(
    body scale(x: f32[2], y: f32[2]) {
      z = Mul(x, y)
      w = Add(z, f32[1, 1])
      return w
    }
    x = Placeholder dtype=f32 shape=[2]
    c = PartitionedCall(x, f32[2, 3]) f=scale _noinline=)",
                          noinline ? "true" : "false", R"(
    feed x = f32[1, 1]
    fetch c
  )"));
}

// y = n * v * x, where each call increments v, and a loop counts n.
struct scaling {
  explicit scaling(bool noinline, const char* name = "scale") {
    v = g.variable(1.0f, "v");
    x = g.placeholder(dtype::f32, {2}, "x");
    f = define(g, name, {argument{dtype::f32, {2}}}, [&](auto& a) {
      auto y = a[0] * v;
      auto order = g.after({y.node});
      assign_add(v, 1.0f);
      return list{y};
    });
    f.noinline = noinline;
  }

  graph_builder g;
  variable_handle v;
  edge x;
  defined_function f;
};

std::vector<float> values(const tensor& input) {
  return {input.values<float>().begin(), input.values<float>().end()};
}

} // namespace

TEST_CASE("a noinline call stays a node when the step is optimized") {
  CHECK_THAT(dump(true), Contains("c=PartitionedCall(_feed_0,"));
  CHECK_THAT(dump(true), !Contains("Mul"));
  CHECK_THAT(dump(false), !Contains("PartitionedCall"));
  CHECK_THAT(dump(false), Contains("c/z=Mul"));
}

TEST_CASE("a noinline call gives the results of its nodes, with all effects") {
  for (auto noinline : {false, true}) {
    INFO(noinline);
    scaling model{noinline};
    auto first_call = call(model.g, model.f, {model.x})[0];
    auto second_call = call(model.g, model.f, {first_call})[0];
    auto looped = while_loop(
        {model.g.constant(0), second_call}, [](auto& v) { return less(v[0], 3); },
        [&](auto& v) {
          return edges{v[0] + 1, call(model.g, model.f, {v[1]})[0]};
        })[1];
    auto p = model.g.placeholder(dtype::boolean, {}, "p");
    auto chosen = cond(
        p, [&] { return call(model.g, model.f, {looped})[0]; }, [&] { return looped; });
    auto s = session::local();
    s.run(model.g.initializer());
    auto results =
        s.run({{model.x, {1.0f, 2.0f}}, {p, true}}, {first_call, second_call, looped, chosen});
    CHECK(values(results[0]) == std::vector{1.0f, 2.0f});
    CHECK(values(results[1]) == std::vector{2.0f, 4.0f});
    CHECK(values(results[2]) == std::vector{2.0f * 3 * 4 * 5, 4.0f * 3 * 4 * 5});
    CHECK(values(results[3]) == std::vector{2.0f * 3 * 4 * 5 * 6, 4.0f * 3 * 4 * 5 * 6});
    CHECK(to_scalar<float>(s.fetch(model.v)) == 7);
  }
}

TEST_CASE("a noinline call has the gradient of its nodes, which is a noinline call as well") {
  std::vector<float> results[2];
  for (auto noinline : {false, true}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {2}, "x");
    auto f = define(g, "f", {argument{dtype::f32, {2}}},
                    [&](auto& a) { return list{tanh(a[0] * a[0])}; });
    f.noinline = noinline;
    auto y = call(g, f, {x})[0];
    auto dx = g.gradients({y}, {x})[0];
    auto second_gradient = g.gradients({dx}, {x})[0];
    int calls = 0, noinline_calls = 0;
    for (const auto& graph_node : g.nodes())
      if (runs_functions(graph_node->op())) {
        ++calls;
        noinline_calls += graph_node->attr<bool>("_noinline");
      }
    CHECK(calls > 2);
    CHECK(noinline_calls == (noinline ? calls : 0));
    auto s = session::local();
    auto outputs = s.run({{x, {0.3f, 0.7f}}}, {y, dx, second_gradient});
    for (const auto& gradient_value : outputs)
      for (auto number : values(gradient_value))
        results[noinline].push_back(number);
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("a function with a user-defined gradient may be noinline") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto f = define(
      g, "f", {argument{dtype::f32, {2}}}, [](auto& a) { return list{a[0] * a[0]}; },
      [](auto& a, auto& dy) { return list{dy[0] * a[0] * 10.0f}; });
  f.noinline = true;
  auto dx = g.gradients({call(g, f, {x})[0]}, {x})[0];
  CHECK(dx.node->attr<bool>("_noinline"));
  auto s = session::local();
  CHECK(values(s.fetch(dx, {{x, {1.0f, 2.0f}}})) == std::vector{10.0f, 20.0f});
}

TEST_CASE("an error within a noinline call names the call") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, {}, "x");
  auto f = define(g, "f", {argument{dtype::i32, {}}},
                  [&](auto& a) { return list{floor_div(g.constant(1), a[0], "d")}; });
  f.noinline = true;
  auto y = call(g, f, {x}, "c")[0];
  auto s = session::local();
  CHECK_THAT(error_text_of([&] {
               (void)s.fetch(y, {{x, 0}});
             }),
             Contains("[PartitionedCall 'c' ("));
}

TEST_CASE("a noinline call may wait") {
  graph_builder g;
  auto q = fifo_queue(g, {dtype::f32}, {.shapes = {{}}}, "q");
  auto enqueue = queue_enqueue(q, {g.constant(3.0f)});
  auto f = define(g, "f", {argument{dtype::f32, {}}},
                  [&](auto& a) { return list{queue_dequeue(q, {dtype::f32})[0] * a[0]}; });
  f.noinline = true;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = call(g, f, {x})[0];
  auto s = session::local();
  s.run(enqueue);
  CHECK(to_scalar<float>(s.fetch(y, {{x, 2.0f}})) == 6);
}

TEST_CASE("a noinline call of a stateless op may have no effects") {
  CHECK_THROWS_WITH(pass_case{R"(
      body count(v: variable f32[]) {
        more = AssignAdd(v, f32(1))
        return more
      }
      v = VariableV2 dtype=f32 shape=[]
      y = PartitionedCall(v) f=count _noinline=true
      fetch y
    )"},
                    Contains("has effects, which a node without state may not"));
}

TEST_CASE("a GraphDef records that a function is noinline") {
  for (auto noinline : {false, true}) {
    INFO(noinline);
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {2}, "x");
    auto f =
        define(g, "twice", {argument{dtype::f32, {2}}}, [](auto& a) { return list{a[0] * 2.0f}; });
    f.noinline = noinline;
    auto y = call(g, f, {x}, "y")[0];
    f.noinline = false;
    call(g, f, {y}, "z");
    auto text = value_or_throw(write_graph_def(g, graph_def_format::text));
    // The function that TensorFlow must not inline differs from the one that it may inline.
    auto library = text.substr(text.find("library"));
    CHECK((library.find("_noinline") != library.npos) == noinline);
    CHECK((library.find("\"twice_1\"") != library.npos) == noinline);
    graph_builder read;
    auto imported = value_or_throw(read_graph_def_text(text, read));
    auto* copied_call = read.find("y");
    CHECK((copied_call && runs_functions(copied_call->op())) == noinline);
    CHECK_FALSE((read.find("z") && runs_functions(read.find("z")->op())));
    auto s = session::local();
    auto from = value_or_throw(imported.find_edge("z"));
    CHECK(values(s.fetch(from, {{value_or_throw(imported.find_edge("x")), {1.0f, 2.0f}}})) ==
          std::vector{4.0f, 8.0f});
  }
}

TEST_CASE("calls in a GraphDef stay calls where TensorFlow does not inline them") {
  // f(x) = 2x, called by its name; g(x) = f(f(x)), called by a PartitionedCall, which may be
  // inlined.
  auto source = [](std::string_view f, std::string_view node) {
    return concat(R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
      node { name: 'y' op: 'f' input: 'x' )",
                  node, R"(}
      node { name: 'z' op: 'PartitionedCall' input: 'x'
             attr { key: 'Tin' value { list { type: DT_FLOAT } } }
             attr { key: 'Tout' value { list { type: DT_FLOAT } } }
             attr { key: 'f' value { func { name: 'g' } } } }
      library {
        function {
          signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT }
                      output_arg { name: 'r' type: DT_FLOAT } } )",
                  f, R"(
          node_def { name: 'sum' op: 'Add' input: 'x' input: 'x'
                     attr { key: 'T' value { type: DT_FLOAT } } }
          ret { key: 'r' value: 'sum:z:0' }
        }
        function {
          signature { name: 'g' input_arg { name: 'x' type: DT_FLOAT }
                      output_arg { name: 'r' type: DT_FLOAT } }
          node_def { name: 'a' op: 'f' input: 'x' }
          node_def { name: 'b' op: 'f' input: 'a:r:0' }
          ret { key: 'r' value: 'b:r:0' }
        }
      })");
  };
  constexpr std::string_view noinline = "attr { key: '_noinline' value { b: true } } ";
  auto calls = [&](std::string_view f, std::string_view node) {
    graph_builder g;
    auto read = value_or_throw(read_graph_def_text(source(f, node), g));
    auto s = session::local();
    auto results =
        s.run({{value_or_throw(read.find_edge("x")), 3.0f}},
              {value_or_throw(read.find_edge("y")), value_or_throw(read.find_edge("z"))});
    CHECK(to_scalar<float>(results[0]) == 6);
    CHECK(to_scalar<float>(results[1]) == 12);
    std::string names;
    for (const auto& graph_node : g.nodes())
      if (runs_functions(graph_node->op()))
        names += concat(graph_node->name(), ' ');
    return names;
  };
  CHECK(calls("", "") == "");
  CHECK(calls(noinline, "") == "y z/a z/b ");
  CHECK(calls("", noinline) == "y ");
  CHECK(calls(noinline, "attr { key: '_noinline' value { b: false } }") == "z/a z/b ");
}

TEST_CASE("noinline functions of GraphDefs may have TensorFlow's names") {
  graph_builder g;
  auto read = value_or_throw(read_graph_def_text(R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
      node { name: 'y' op: '__inference_twice_7' input: 'x' }
      library { function {
        signature { name: '__inference_twice_7' input_arg { name: 'x' type: DT_FLOAT }
                    output_arg { name: 'r' type: DT_FLOAT } }
        attr { key: '_noinline' value { b: true } }
        node_def { name: 'sum' op: 'Add' input: 'x' input: 'x'
                   attr { key: 'T' value { type: DT_FLOAT } } }
        ret { key: 'r' value: 'sum:z:0' } } })",
                                                 g));
  auto y = value_or_throw(read.find_edge("y"));
  REQUIRE(runs_functions(y.node->op()));
  CHECK(y.node->attr<function_value>("f").name == "__inference_twice_7");
  auto s = session::local();
  CHECK(to_scalar<float>(s.fetch(y, {{value_or_throw(read.find_edge("x")), 3.0f}})) == 6);
}

TEST_CASE("a call is inlined where its function creates a resource that outlives it") {
  graph_builder g;
  auto read = value_or_throw(read_graph_def_text(R"(
      node { name: 'y' op: 'outer' }
      library {
        function {
          signature { name: 'outer' output_arg { name: 'r' type: DT_FLOAT } }
          attr { key: '_noinline' value { b: true } }
          node_def { name: 'in' op: 'made' }
          ret { key: 'r' value: 'in:r:0' }
        }
        function {
          signature { name: 'made' output_arg { name: 'r' type: DT_FLOAT } }
          attr { key: '_noinline' value { b: true } }
          node_def { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } }
                     attr { key: 'shape' value { shape { } } } }
          node_def { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
                     attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { }
                                                          float_val: 5 } } } }
          node_def { name: 'set' op: 'Assign' input: 'v:ref:0' input: 'one:output:0'
                     attr { key: 'T' value { type: DT_FLOAT } } }
          node_def { name: 'get' op: 'Identity' input: 'set:output_ref:0'
                     attr { key: 'T' value { type: DT_FLOAT } } }
          ret { key: 'r' value: 'get:output:0' }
        }
      })",
                                                 g));
  auto s = session::local();
  CHECK(to_scalar<float>(s.fetch(value_or_throw(read.find_edge("y")))) == 5);
}

TEST_CASE("calls of one function in a GraphDef share it") {
  std::string text = R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
      node { name: 'r' op: 'draw' }
      node { name: 's' op: 'draw' }
      library {
        function {
          signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT }
                      output_arg { name: 'r' type: DT_FLOAT } }
          attr { key: '_noinline' value { b: true } }
          node_def { name: 'half' op: 'Mul' input: 'x' input: 'x'
                     attr { key: 'T' value { type: DT_FLOAT } } }
          ret { key: 'r' value: 'half:z:0' }
        }
        function {
          signature { name: 'draw' output_arg { name: 'r' type: DT_FLOAT } }
          attr { key: '_noinline' value { b: true } }
          node_def { name: 'shape' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
                     attr { key: 'value' value { tensor { dtype: DT_INT32
                                                          tensor_shape { dim { size: 0 } } } } } }
          node_def { name: 'u' op: 'RandomUniform' input: 'shape:output:0'
                     attr { key: 'T' value { type: DT_INT32 } }
                     attr { key: 'dtype' value { type: DT_FLOAT } } }
          ret { key: 'r' value: 'u:output:0' }
        }
      })";
  constexpr int count = 10'100; // more than a graph may have functions
  for (int i = 0; i < count; ++i)
    text += concat("node { name: 'y", i, "' op: 'f' input: 'x' }\n");
  graph_builder g;
  g.set_random_seed(7);
  auto read = value_or_throw(read_graph_def_text(text, g));
  auto body = [&](std::string_view name) {
    return value_or_throw(read.find_edge(name)).node->attr<function_value>("f").body;
  };
  CHECK(body("y0") == body(concat("y", count - 1)));
  CHECK(body("r") != body("s")); // each call draws its own numbers
}

} // namespace troupe::test::noinline_test
