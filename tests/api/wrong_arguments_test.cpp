// Arguments of public functions are checked in every build: a wrong argument is an error that names
// the expected and the given value, never a crash or an undefined value.
#include "tests/support/catch.hpp"
#include "tests/support/refuses.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

#include <array>

namespace troupe::test::wrong_arguments_test {

namespace {

tensor three_floats() { return tensor::from_values<float>({3}, {1, 2, 3}); }

} // namespace

TEST_CASE("a tensor is made of as many values as its shape has elements") {
  const std::vector<float> three_numbers(3), many_numbers(100'000);
  refuses("tensor::from_values(span)", "[2,3] has 6 elements, got 3 values", [&] {
    (void)tensor::from_values(shape{2, 3}, std::span{three_numbers});
  });
  refuses("tensor::from_values(vector)", "[2,3] has 6 elements, got 100000 values", [&] {
    (void)tensor::from_values({2, 3}, many_numbers);
  });
  refuses("tensor::from_values(list)", "[2] has 2 elements, got 1 value",
          [] { (void)tensor::from_values<int32_t>({2}, {1}); });
  refuses("tensor::from_values(list), a scalar", "[] has 1 elements, got 0 values",
          [] { (void)tensor::from_values<int32_t>({}, std::initializer_list<int32_t>{}); });
  CHECK(tensor::from_values<float>({0}, std::vector<float>{}).elements() == 0);
  refuses("tensor::make", "cannot make a tensor of type none",
          [] { (void)value_or_throw(tensor::make(dtype::none, {2})); });
  refuses("tensor::reshaped", "has 3 elements, and cannot have shape [2,2] with 4", [] {
    (void)three_floats().reshaped({2, 2});
  });
  refuses("tensor::reshaped, of nothing", "cannot have shape [2]",
          [] { (void)tensor{}.reshaped({2}); });
  refuses("tensor::from_buffer, no memory", "the memory has 0",
          [] { (void)tensor::from_buffer(nullptr, dtype::f32, {2}); });
  float numbers[4] = {};
  buffer memory{numbers, sizeof numbers, [](buffer*) {}, nullptr};
  refuses("tensor::from_buffer, too little", "f32[5] takes 20 bytes, and the memory has 16",
          [&] { (void)tensor::from_buffer(&memory, dtype::f32, {5}); });
  CHECK(tensor::from_buffer(&memory, dtype::f32, {4}).elements() == 4);
}

TEST_CASE("elements are read with their own type") {
  auto doubles = tensor::from_values<double>({2}, {3, 4});
  refuses("tensor::data", "f64[2] were requested as f32", [&] { (void)doubles.data<float>(); });
  refuses("tensor::values", "f64[2] were requested as i64",
          [&] { (void)doubles.values<int64_t>(); });
  refuses("tensor::values, strings", "f64[2] were requested as string",
          [&] { (void)doubles.values<std::string>(); });
  refuses("to_scalar", "expected one f32, got f64[2]", [&] { (void)to_scalar<float>(doubles); });
  refuses("to_scalar, of nothing", "expected one f32, got none",
          [] { (void)to_scalar<float>(tensor{}); });
  CHECK(tensor{}.data<float>() == nullptr);
  refuses("tensor::values, of nothing", "an empty tensor", [] { (void)tensor{}.values<float>(); });
  auto moved = std::move(doubles);
  refuses("tensor::values, moved away", "an empty tensor",
          [&] { (void)doubles.values<double>(); }); // NOLINT(bugprone-use-after-move)
  CHECK(moved.data<double>()[1] == 4);
  CHECK(moved.raw() == moved.data<double>());
}

TEST_CASE("axes and extents of shapes are checked") {
  refuses("shape(list), negative", "must not be negative, got -1", [] { (void)shape{2, -1}; });
  refuses("shape(list), long", "at most 8 axes, got 9",
          [] { (void)shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; });
  refuses("shape::push_back", "at most 8 axes, got 9", [] {
    shape dims{1, 1, 1, 1, 1, 1, 1, 1};
    dims.push_back(1);
  });
  const shape dims{2, 3};
  for (auto axis : {-1, 2, 8, 1'000'000})
    refuses("shape::operator[]", "there is no axis " + std::to_string(axis) + "; it has 2",
            [&] { (void)dims[axis]; });
  refuses("shape::set", "there is no axis 2", [&] { shape{dims}.set(2, 1); });
  refuses("shape::make", "must not be negative, got -2", [] {
    (void)value_or_throw(shape::make(std::array<int64_t, 2>{1, -2}));
  });
  const partial_shape open{-1, 3};
  refuses("partial_shape::operator[]", "there is no axis 2", [&] { (void)open[2]; });
  refuses("partial_shape::operator[], no rank", "there is no axis 0",
          [] { (void)partial_shape{}[0]; });
  refuses("partial_shape::set", "there is no axis -1", [&] { partial_shape{open}.set(-1, 1); });
  refuses("partial_shape::known", "[?,3] is not completely known", [&] { (void)open.known(); });
  refuses("partial_shape::of_rank", "must not be negative, got -1",
          [] { (void)partial_shape::of_rank(-1); });
  refuses("partial_shape::make", "must be -1 (unknown) or more, got -2",
          [] { (void)value_or_throw(partial_shape::make(std::array<int64_t, 1>{-2})); });
  refuses("resolve_axis", "axis 2 is outside [-2, 2)",
          [] { (void)value_or_throw(resolve_axis(2, 2)); });
  refuses("merge", "[2] and [3] differ",
          [] { (void)value_or_throw(merge(partial_shape{2}, partial_shape{3})); });
  refuses("broadcast", "cannot be broadcast",
          [] { (void)value_or_throw(broadcast(shape{2}, shape{3})); });
}

TEST_CASE("a result without a value throws its error when it is read") {
  result<int> failed_result{invalid("there is no number")};
  refuses("result::operator*", "there is no number", [&] { (void)*failed_result; });
  refuses("result::operator* &&", "there is no number", [&] { (void)*std::move(failed_result); });
  result<std::string> text{failure(error_kind::not_found, "there is no text")};
  refuses("result::operator->", "not_found: there is no text", [&] { (void)text->size(); });
  refuses("value_or_throw", "there is no text", [&] { (void)value_or_throw(text); });
  refuses("result(status)", "neither a value nor an error", [] { (void)*result<int>{status{}}; });
  CHECK(invalid(static_cast<const char*>(nullptr), "text").message() == "text");
}

TEST_CASE("attributes are read with their own type, and keep the given values") {
  const attr_map attrs{{"n", 3}, {"name", "x"}};
  refuses("attr, other kind", "'n' is a int, not a string",
          [&] { (void)attr<std::string>(attrs, "n"); });
  refuses("attr, none", "there is no attribute 'm'", [&] { (void)attr<int64_t>(attrs, "m"); });
  refuses("attr_value(integral)", "at most 2^63 - 1, got 18446744073709551615",
          [] { (void)attr_value{UINT64_MAX}; });
  graph_builder g;
  auto* node = g.placeholder(dtype::f32).node;
  refuses("node::attr", "there is no attribute 'axis'", [&] { (void)node->attr<int64_t>("axis"); });
  static_assert(!std::is_constructible_v<attr_value, void*>);
  static_assert(!std::is_constructible_v<attr_value, node_spec*>);
  static_assert(std::is_constructible_v<attr_value, const char*>);
}

TEST_CASE("nodes and edges refuse outputs and inputs that do not exist") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto y = x + 1.0f;
  for (auto i : {-1, 1, 100}) {
    refuses("node::output_type", "x: there is no output", [&] { (void)x.node->output_type(i); });
    refuses("node::output_shape", "there is no output", [&] { (void)x.node->output_shape(i); });
    refuses("node::output_is_ref", "there is no output", [&] { (void)x.node->output_is_ref(i); });
    refuses("edge::type", "there is no output", [&] { (void)x.node->output(i).type(); });
  }
  refuses("node::input_is_ref", "there is no input 2; it has 2",
          [&] { (void)y.node->input_is_ref(2); });
  refuses("node::input_port", "there is no input -1", [&] { (void)y.node->input_port(-1); });
  refuses("edge::type, of an empty edge", "an empty edge has no type", [] { (void)edge{}.type(); });
  refuses("edge::dims, of an empty edge", "an empty edge has no shape",
          [] { (void)edge{}.dims(); });
  CHECK(edge{}.name() == "nothing");
  CHECK_FALSE(edge{}.exists());
  CHECK_FALSE(x.node->output(1).exists());
  refuses("variable_handle::name", "empty variable handle", [] { (void)variable_handle{}.name(); });
  refuses("variable_handle::type", "empty edge", [] { (void)variable_handle{}.type(); });
  refuses("graph::localize", "empty edge", [&] { (void)value_or_throw(g.localize({})); });
  refuses("graph::find_edge", "no node 'z'", [&] { (void)value_or_throw(g.find_edge("z")); });
  refuses("graph::find_edge, output", "there is no 'x:7'",
          [&] { (void)value_or_throw(g.find_edge("x:7")); });
  refuses("graph::pop_scope", "no name scope is open", [&] { g.pop_scope(); });
  refuses("graph::pop_device", "no device scope is open", [&] { g.pop_device(); });
  refuses("graph::pop_controls", "no control scope is open", [&] { g.pop_controls(); });
  g.end_recompute();
  CHECK(g.recomputed_parts().empty());
  refuses("graph::add, op", "Nonesuch", [&] { (void)value_or_throw(g.add({.op = "Nonesuch"})); });
  refuses("graph::add, input", "input",
          [&] { (void)value_or_throw(g.add({.op = "Neg", .inputs = {edge{}}})); });
  refuses("graph::add, output of an input", "there is no output 'x:4'",
          [&] { (void)value_or_throw(g.add({.op = "Neg", .inputs = {x.node->output(4)}})); });
  refuses("graph::add, control", "control",
          [&] { (void)value_or_throw(g.add({.op = "NoOp", .controls = {nullptr}})); });
  graph_builder other_graph;
  refuses("graph::add_control", "one graph", [&] {
    throw_if_failed(g.add_control(*x.node, *other_graph.placeholder(dtype::f32).node));
  });
  CHECK(constant_value({}) == nullptr);
  CHECK(resource_behind({}) == nullptr);
  refuses("gradients", "all ys and xs must be edges of one graph",
          [&] { (void)g.gradients(edge{}, {x}); });
  refuses("gradients, xs", "all ys and xs must be edges of one graph",
          [&] { (void)g.gradients(y, {edge{}}); });
  refuses("gradients, stop", "", [&] { (void)g.gradients(y, {x}, {.stop_edges = {edge{}}}); });
  refuses("gradients, weights", "", [&] { (void)g.gradients(y, {x}, {.weights = {y, y}}); });
  refuses("gradient_context", "there is no", [&] {
    (void)g.gradients(y, {x}, {.of_ops = {{"Add", [](gradient_context& context) {
                                             (void)context.input(5);
                                             return edges{};
                                           }}}});
  });
}

TEST_CASE("builders refuse empty edges, edges of other graphs, and invalid names") {
  graph_builder g, other_graph;
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto v = g.variable(three_floats(), "v");
  refuses("placeholder", "none", [&] { (void)g.placeholder(dtype::none); });
  refuses("placeholder, extent", "-2", [&] { (void)g.placeholder(dtype::f32, {-2}); });
  refuses("constant, edge", "is an edge", [&] { (void)g.constant(x); });
  refuses("constant, nothing", "", [&] { (void)g.constant(tensor{}); });
  refuses("constant, name", "is no valid name", [&] { (void)g.constant(1, "a b"); });
  refuses("variable", "empty edge", [&] { (void)g.variable(edge{}); });
  refuses("variable, name", "is used already", [&] { (void)g.variable(1.0f, "v"); });
  refuses("variable, type", "none", [&] { (void)g.variable(dtype::none, {2}); });
  refuses("resource_variable", "empty edge", [&] { (void)g.resource_variable(edge{}); });
  refuses("group", "", [&] { (void)g.group({nullptr}); });
  refuses("scope", "is not a valid scope name", [&] { (void)g.scope("a/b"); });
  refuses("on", "part", [&] { (void)g.on("nonsense"); });
  refuses("on, function", "the device function is empty", [&] { (void)g.on(device_function{}); });
  refuses("colocate_with", "needs a node of this graph", [&] { (void)g.colocate_with({}); });
  refuses("after", "a node is null or of another graph", [&] { (void)g.after({nullptr}); });
  refuses("operator+", "empty edge", [&] { (void)(x + edge{}); });
  refuses("operator-", "empty edge", [&] { (void)-edge{}; });
  refuses("operator+, graphs", "another graph",
          [&] { (void)(x + other_graph.placeholder(dtype::f32, {2})); });
  refuses("operator+, no edge", "no input is an edge", [] { (void)(operand{1} + operand{2}); });
  refuses("operator%", "empty edge", [&] { (void)(edge{} % x); });
  refuses("operator==", "empty edge", [&] { (void)(x == edge{}); });
  refuses("operator<", "empty edge", [&] { (void)(edge{} < x); });
  refuses("operator&&", "must be bool", [&] { (void)(x && x); });
  refuses("operator||", "empty edge", [&] { (void)(edge{} || x); });
  refuses("operator!", "empty edge", [&] { (void)!edge{}; });
  refuses("sum", "empty edge", [] { (void)sum(edge{}); });
  refuses("mean", "an empty edge", [] { (void)mean(1.0f); });
  refuses("matmul", "", [&] { (void)matmul(x, edge{}); });
  refuses("add_n", "", [&] { (void)add_n(std::vector<edge>{}); });
  CHECK(v.initializer != nullptr);
}

TEST_CASE("branches and loops refuse empty edges and empty functions") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto is_positive = x > 0;
  const std::function<edge()> no_branch;
  auto branch = [&] { return x; };
  refuses("cond, predicate", "needs an edge that selects a branch",
          [&] { (void)cond(edge{}, branch, branch); });
  refuses("cond, branch", "a branch is an empty function",
          [&] { (void)cond(is_positive, no_branch, branch); });
  refuses("cond, other branch", "a branch is an empty function",
          [&] { (void)cond(is_positive, branch, no_branch); });
  refuses("switch_case", "needs an edge that selects a branch",
          [&] { (void)switch_case(cast(x, dtype::i32), {}); });
  refuses("switch_case, branch", "a branch is an empty function", [&] {
    (void)switch_case(cast(x, dtype::i32), {[&] { return edges{x}; }, {}});
  });
  auto is_less_than_ten = [](const std::vector<edge>& v) -> edge { return v[0] < 10; };
  auto next = [](const std::vector<edge>& v) { return std::vector<edge>{v[0] + 1}; };
  refuses("while_loop", "needs loop variables",
          [&] { (void)while_loop({}, is_less_than_ten, next); });
  refuses("while_loop, nothing", "needs loop variables",
          [&] { (void)while_loop({edge{}}, is_less_than_ten, next); });
  refuses("while_loop, condition", "the condition is an empty function",
          [&] { (void)while_loop({x}, {}, next); });
  refuses("while_loop, body", "the body is an empty function",
          [&] { (void)while_loop({x}, is_less_than_ten, {}); });
  refuses("while_loop, shapes", "got 2 shapes for 1 loop variables", [&] {
    (void)while_loop({x}, is_less_than_ten, next, {.shapes = {partial_shape{}, partial_shape{}}});
  });
  refuses("while_loop, condition's edge", "empty edge", [&] {
    (void)while_loop(
        {x}, [](const std::vector<edge>&) { return edge{}; }, next);
  });
}

TEST_CASE("functions refuse empty builders, and arguments and results that do not exist") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto next = [](const std::vector<edge>& v) { return std::vector<edge>{v[0] + 1}; };
  refuses("define", "the builder of the function is an empty function", [&] {
    (void)define(g, "f", {dtype::f32},
                 std::function<std::vector<edge>(const std::vector<edge>&)>{});
  });
  refuses("define, gradient", "the gradient is an empty function", [&] {
    (void)define(
        g, "f", {dtype::f32}, next,
        std::function<std::vector<edge>(const std::vector<edge>&, const std::vector<edge>&)>{});
  });
  refuses("define_recursive", "is an empty function",
          [&] { (void)define_recursive(g, "f", {dtype::f32}, {dtype::f32}, {}); });
  refuses("argument", "an empty edge has no type", [] { (void)argument{edge{}}; });
  auto f = define(g, "f", {dtype::f32}, next);
  refuses("call", "", [&] { (void)call(g, f, {}); });
  refuses("call, nothing", "", [&] { (void)call(g, f, {edge{}}); });
  refuses("call, no function", "", [&] { (void)call(g, {}, {x}); });
  refuses("function::argument", "f: there is no argument 1; it has 1",
          [&] { (void)f.value.body->argument(1); });
  refuses("function::argument_is_ref", "there is no argument 9",
          [&] { (void)f.value.body->argument_is_ref(9); });
  refuses("function::result_type", "there is no result 1",
          [&] { (void)f.value.body->result_type(1); });
  refuses("function::result_dims", "there is no result 1",
          [&] { (void)f.value.body->result_dims(1); });
  refuses("function::result_is_ref", "there is no result 1",
          [&] { (void)f.value.body->result_is_ref(1); });
  refuses("function::passed_through", "there is no result 1",
          [&] { (void)f.value.body->passed_through(1); });
}

TEST_CASE("scans and recurrent nets refuse empty functions and inputs without slices") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto rows = g.placeholder(dtype::f32, {3, 2});
  auto iteration = [](const std::vector<edge>& carry,
                      const std::vector<edge>& slices) -> scan_iteration {
    return {carry, slices};
  };
  refuses("scan", "is an empty function", [&] { (void)scan({x}, {rows}, {}); });
  refuses("scan, xs", "needs at least one tensor", [&] { (void)scan({x}, {}, iteration); });
  refuses("scan, initial", "needs at least one tensor",
          [&] { (void)scan({edge{}}, {rows}, iteration); });
  refuses("scan, scalar", "has no slices", [&] { (void)scan({x}, {g.constant(1.0f)}, iteration); });
  refuses("map", "is an empty function", [&] { (void)map({rows}, {}); });
  refuses("fold", "is an empty function", [&] { (void)fold({x}, {rows}, {}); });
  auto time = g.placeholder(dtype::f32, {4, 3, 2});
  const recurrent_cell cell = [](edge input, const std::vector<edge>& state) -> scan_iteration {
    return {state, {input}};
  };
  refuses("dynamic_rnn", "x is an empty edge", [&] { (void)dynamic_rnn({}, {rows}, cell); });
  refuses("dynamic_rnn, cell", "the cell is an empty function",
          [&] { (void)dynamic_rnn(time, {rows}, {}); });
  refuses("bidirectional_rnn", "the cell is an empty function",
          [&] { (void)bidirectional_rnn(time, {rows}, cell, {rows}, {}); });
}

TEST_CASE("collectives and device functions refuse invalid arguments") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2});
  refuses("all_reduce", "at least one edge", [] { (void)all_reduce({}); });
  refuses("all_reduce, nothing", "of one graph", [&] { (void)all_reduce({x, edge{}}); });
  refuses("all_reduce, devices", "got 2 devices for 1 edges", [&] {
    (void)all_reduce({x}, {"cpu:0", "cpu:1"});
  });
  refuses("all_gather", "at least one edge", [] { (void)all_gather({}); });
  refuses("reduce_scatter", "of one graph", [] { (void)reduce_scatter({edge{}}); });
  refuses("broadcast", "x is an empty edge", [] { (void)broadcast(edge{}, {"cpu:0"}); });
  refuses("broadcast, devices", "at least one device", [&] { (void)broadcast(x, {}); });
  refuses("replica_devices", "ps_tasks must be at least 1, got 0",
          [] { (void)replica_devices({.ps_tasks = 0}); });
  refuses("device_name::parse", "", [] { (void)value_or_throw(device_name::parse("/task:x")); });
}

TEST_CASE("dense, convolution and pooling layers refuse invalid sizes, inputs and initializers") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3}), images = g.placeholder(dtype::f32, {-1, 4, 4, 1});
  refuses("dense", "the input is an empty edge", [&] { (void)dense(g, {}, 2); });
  refuses("dense, units", "units must be at least 1, got -2", [&] { (void)dense(g, x, -2); });
  refuses("dense_layer, inputs", "inputs must be at least 0, got -3", [&] {
    (void)dense_layer{g, -3, 2};
  });
  refuses("dense_layer, weights", "initializer of the weights is an empty function",
          [&] { (void)dense(g, x, 2, {.weights = {}}); });
  refuses("dense_layer, biases", "initializer of the biases is an empty function",
          [&] { (void)dense(g, x, 2, {.biases = {}}); });
  refuses("dense_layer()", "the input is an empty edge", [&] { (void)dense_layer{g, 3, 2}({}); });
  refuses("conv2d", "the input is an empty edge", [&] { (void)conv2d(g, {}, 2, {3, 3}); });
  refuses("conv2d, filters", "filters must be at least 1, got 0", [&] {
    (void)conv2d(g, images, 0, {3, 3});
  });
  refuses("conv2d, window", "the window must be at least 1, got -1", [&] {
    (void)conv2d(g, images, 2, {3, -1});
  });
  refuses("conv2d, strides", "strides must be two numbers, for height and width, got 1", [&] {
    (void)conv2d(g, images, 2, {3, 3}, {.strides = {1}});
  });
  refuses("conv2d, dilations", "dilations must be two numbers", [&] {
    (void)conv2d(g, images, 2, {3, 3}, {.dilations = {}});
  });
  refuses("conv2d_layer()", "the input is an empty edge", [&] {
    (void)conv2d_layer{g, 1, 2, {3, 3}}({});
  });
  refuses("max_pool2d", "empty edge", [] { (void)max_pool2d({}, {2, 2}); });
  refuses("max_pool2d, window", "", [&] { (void)max_pool2d(images, {-2, 2}); });
  refuses("avg_pool2d", "", [&] { (void)avg_pool2d(images, {0, 0}); });
  refuses("flatten", "the input is an empty edge", [] { (void)flatten({}); });
}

TEST_CASE("normalization and dropout refuse invalid inputs and rates") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3});
  refuses("batch_norm", "the input is an empty edge", [&] { (void)batch_norm(g, {}, true); });
  refuses("batch_norm_layer", "channels must be at least 0, got -1", [&] {
    (void)batch_norm_layer{g, -1};
  });
  refuses("batch_norm_layer()", "the input is an empty edge", [&] {
    (void)batch_norm_layer{g, 3}({}, true);
  });
  refuses("dropout", "the input is an empty edge", [] { (void)dropout({}, 0.5f); });
  refuses("dropout, rate", "rate must be in [0, 1), got 2", [&] { (void)dropout(x, 2.0); });
  refuses("dropout, rates", "rate must be a number", [&] { (void)dropout(x, {0.1, 0.2}); });
}

TEST_CASE("an activation without a function still returns an edge") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3});
  CHECK_FALSE(
      activation{std::function<edge(edge)>{}}(x, std::source_location::current()).is_empty());
  CHECK_FALSE(activation{static_cast<edge (*)(operand, std::string_view, std::source_location)>(
      nullptr)}(x, std::source_location::current())
                  .is_empty());
}

TEST_CASE("embeddings and partitioned variables refuse invalid sizes, parts and initializers") {
  graph_builder g;
  refuses("embedding_table", "rows must be at least 1, one for each part", [&] {
    (void)embedding_table{g, -1, 4};
  });
  refuses("embedding_table, values", "the initializer is an empty function", [&] {
    (void)embedding_table{g, 4, 4, {.values = {}}};
  });
  refuses("embedding_table()", "empty edge", [&] { (void)embedding_table{g, 4, 4}(edge{}); });
  refuses("embedding_lookup", "at least one part", [] { (void)embedding_lookup({}, 1); });
  refuses("embedding_lookup, part", "a part is an empty edge", [] {
    (void)embedding_lookup({variable_handle{}, variable_handle{}}, 1);
  });
  refuses("partitioned_variable", "must be known", [&] {
    (void)partitioned_variable{g, edge{}, "p", {}};
  });
  refuses("partitioned_variable, axis", "has no axis 4", [&] {
    (void)partitioned_variable{g, three_floats(), "p", {.axis = 4}};
  });
  refuses("partitioned_variable, slices", "slices must be 1 to ", [&] {
    (void)partitioned_variable{g, three_floats(), "p", {.slices = 0}};
  });
  refuses("partitioned_variable, values", "the initializer is an empty function", [&] {
    (void)partitioned_variable{g, shape{3}, initializer{}, "p", {}};
  });
  CHECK_FALSE(slice_of({}).has_value());
}

TEST_CASE("recurrent layers refuse invalid sizes, sequences and initializers") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 3}), sequence = g.placeholder(dtype::f32, {4, 2, 3});
  refuses("lstm_layer", "units must be at least 1", [&] { (void)lstm_layer{g, 3, 0}; });
  refuses("lstm_layer, weights", "weights is an empty function", [&] {
    (void)lstm_layer{g, 3, 2, {.weights = {}}};
  });
  lstm_layer lstm{g, 3, 2};
  refuses("lstm_layer()", "a sequence is [time, batch, inputs]", [&] { (void)lstm({}); });
  refuses("lstm_layer::step", "empty edge", [&] { (void)lstm.step(x, {}); });
  refuses("lstm_layer::zeros", "x is an empty edge", [&] { (void)lstm.zeros({}); });
  refuses("gru_layer", "inputs not negative", [&] { (void)gru_layer{g, -3, 2}; });
  gru_layer gru{g, 3, 2};
  refuses("gru_layer()", "a sequence is [time, batch, inputs]", [&] { (void)gru({}); });
  refuses("gru_layer::step", "empty edge", [&] { (void)gru.step(x, {}); });
  refuses("gru_layer::zeros", "x is an empty edge", [&] { (void)gru.zeros({}); });
  CHECK_FALSE(lstm(sequence).outputs.is_empty());
}

TEST_CASE("initializers refuse shapes and types that they cannot fill") {
  graph_builder g;
  refuses("initializers::identity", "needs at least two axes, got [3]", [&] {
    (void)initializers::identity()(g, {3}, dtype::f32, std::source_location::current());
  });
  refuses("initializers::orthogonal", "needs at least two axes", [&] {
    (void)initializers::orthogonal()(g, {}, dtype::f32, std::source_location::current());
  });
  refuses("initializers::constant", "is no i32", [&] {
    (void)initializers::constant(0.5)(g, {3}, dtype::i32, std::source_location::current());
  });
}

TEST_CASE("losses and metrics refuse empty edges and invalid counts") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {2, 3}), row = g.placeholder(dtype::f32, {2});
  edge empty_edge;
  refuses("weighted_mean", "empty edge", [&] { (void)weighted_mean(empty_edge); });
  refuses("weighted_mean, weights", "empty edge",
          [&] { (void)weighted_mean(x, {.weights = operand{empty_edge}}); });
  refuses("softmax_loss", "empty edge", [&] { (void)softmax_loss(empty_edge, {0, 1}); });
  refuses("softmax_loss, labels", "empty edge", [&] { (void)softmax_loss(x, empty_edge); });
  refuses("softmax_loss, floating labels", "f32", [&] { (void)softmax_loss(x, row); });
  refuses("sigmoid_cross_entropy", "empty edge",
          [&] { (void)sigmoid_cross_entropy(empty_edge, x); });
  refuses("sigmoid_loss", "empty edge", [&] { (void)sigmoid_loss(x, empty_edge); });
  refuses("mean_squared_error", "empty edge", [&] { (void)mean_squared_error(empty_edge, x); });
  refuses("mean_absolute_error", "empty edge", [&] { (void)mean_absolute_error(x, empty_edge); });
  refuses("huber_loss", "empty edge", [&] { (void)huber_loss(empty_edge, x); });
  refuses("hinge_loss", "empty edge", [&] { (void)hinge_loss(empty_edge, x); });
  refuses("kl_divergence_loss", "empty edge", [&] { (void)kl_divergence_loss(empty_edge, x); });
  refuses("l2_penalty", "there are no variables", [] { (void)l2_penalty({}, 1); });
  refuses("l2_penalty, nothing", "empty edge", [&] { (void)l2_penalty({empty_edge}, 1); });
  embedding_table table{g, 20, 3};
  auto biases = g.variable(tensor::from_values({20}, std::vector<float>(20)));
  refuses("nce_loss", "biases is an empty edge", [&] {
    (void)nce_loss(table, empty_edge, x, {0, 1});
  });
  refuses("nce_loss, inputs", "inputs is an empty edge", [&] {
    (void)nce_loss(table, biases, empty_edge, {0, 1});
  });
  refuses("sampled_softmax_loss", "",
          [&] { (void)sampled_softmax_loss(table, biases, x, empty_edge); });
  refuses("metrics::mean", "empty edge", [&] { (void)metrics::mean(g, empty_edge); });
  refuses("metrics::accuracy", "empty edge", [&] { (void)metrics::accuracy(g, empty_edge, {0}); });
  refuses("metrics::accuracy, labels", "empty edge",
          [&] { (void)metrics::accuracy(g, x, empty_edge); });
  refuses("metrics::top_k_accuracy", "k must be 1 or more, got 0", [&] {
    (void)metrics::top_k_accuracy(g, x, {0, 1}, 0);
  });
  refuses("metrics::top_k_accuracy, predictions", "empty edge", [&] {
    (void)metrics::top_k_accuracy(g, empty_edge, {0, 1}, 1);
  });
  refuses("metrics::precision", "empty edge",
          [&] { (void)metrics::precision(g, empty_edge, {true}); });
  refuses("metrics::recall", "empty edge", [&] { (void)metrics::recall(g, empty_edge, {true}); });
  refuses("metrics::mean_squared_error", "empty edge",
          [&] { (void)metrics::mean_squared_error(g, empty_edge, x); });
  refuses("metrics::auc", "needs 2 thresholds or more, got 1", [&] {
    (void)metrics::auc(g, row, {true, false}, 1);
  });
  refuses("metrics::auc, scores", "empty edge", [&] {
    (void)metrics::auc(g, empty_edge, {true, false});
  });
  refuses("metrics::confusion_matrix", "needs at least one class, got 0",
          [&] { (void)metrics::confusion_matrix(g, row, row, 0); });
  refuses("metrics::confusion_matrix, labels", "empty edge",
          [&] { (void)metrics::confusion_matrix(g, row, empty_edge, 3); });
}

TEST_CASE("readers and writers of other formats refuse missing files and damaged bytes") {
  temporary_folder folder;
  graph_builder g;
  refuses("load_npy", "none.npy", [&] { (void)load_npy(folder.path() + "/none.npy"); });
  refuses("save_npy", "", [&] { save_npy(folder.path() + "/none.npy", tensor{}); });
  refuses("import_graph_def", "none.pb",
          [&] { (void)import_graph_def(g, folder.path() + "/none.pb"); });
  refuses("import_graph_def, bytes", "", [&] {
    (void)import_graph_def(g, std::as_bytes(std::span{"damaged", 7}));
  });
  refuses("graph_import::operator[]", "no node 'z'",
          [&] { (void)import_graph_def(g, std::span<const std::byte>{})["z"]; });
  refuses("graph_import::target", "no node 'z'",
          [&] { (void)import_graph_def(g, std::span<const std::byte>{}).target("z"); });
}

TEST_CASE("saved models refuse missing folders, missing signatures and empty edges") {
  temporary_folder folder;
  graph_builder g;
  g.variable(three_floats(), "v");
  auto x = g.placeholder(dtype::f32, {3}), element = g.constant(1.0f);
  auto s = session::local();
  const edge empty_edge;
  refuses("load_saved_model", "", [&] { (void)load_saved_model(g, folder.path() + "/none"); });
  refuses("save_saved_model", "there are no signatures",
          [&] { save_saved_model(s, g, folder.path() + "/m", {}); });
  refuses("save_saved_model, output", "is an empty edge", [&] {
    save_saved_model(s, g, folder.path() + "/m",
                     {.signatures = {{"f", {.outputs = {{"y", empty_edge}}}}}});
  });
  refuses("save_saved_model, input", "is an empty edge", [&] {
    save_saved_model(
        s, g, folder.path() + "/m",
        {.signatures = {{"f", {.inputs = {{"x", empty_edge}}, .outputs = {{"y", x}}}}}});
  });
  refuses("save_saved_model, asset", "is an empty edge", [&] {
    save_saved_model(
        s, g, folder.path() + "/m",
        {.signatures = {{"f", {.outputs = {{"y", element}}}}}, .assets = {{empty_edge, "file"}}});
  });
}

TEST_CASE("sessions and steps refuse invalid feeds, fetches and targets") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {3}, "x"), y = x * 2;
  auto s = session::local();
  refuses("session::run, nothing", "nothing to fetch and no target to run",
          [&] { (void)s.run({}, {}); });
  refuses("session::run, fetch", "fetch 0 is an empty edge", [&] { (void)s.run({}, {edge{}}); });
  refuses("session::run, target", "target 0 is null",
          [&] { (void)s.run({}, {}, {static_cast<node*>(nullptr)}); });
  refuses("session::run, feed", "feed 0 is an empty edge", [&] {
    (void)s.run({{edge{}, 1.0f}}, {y});
  });
  refuses("session::run, feed of nothing",
          "the value of a feed must be a number, a list or a tensor", [&] {
            (void)s.run({{x, tensor{}}}, {y});
          });
  refuses("session::run, feed's type", "must be fed with f32[3], got f64[3]", [&] {
    (void)s.run({{x, tensor::from_values<double>({3}, {1, 2, 3})}}, {y});
  });
  refuses("session::run, output", "", [&] { (void)s.run({}, {x.node->output(3)}); });
  refuses("session::fetch", "fetch 0 is an empty edge", [&] { (void)s.fetch({}); });
  refuses("session::run(node)", "target 0 is null", [&] { s.run(static_cast<node*>(nullptr)); });
  refuses("session::prepare", "fetch 0 is an empty edge", [&] { (void)s.prepare({x}, {edge{}}); });
  refuses("session::prepare, feed", "feed 0 is an empty edge",
          [&] { (void)s.prepare({edge{}}, {y}); });
  refuses("session::explain_placement", "target 0 is null",
          [&] { (void)s.explain_placement({}, {}, {static_cast<node*>(nullptr)}); });
  refuses("session::initialize_tasks", "the callback is an empty function",
          [&] { s.initialize_tasks({}); });
  refuses("session::state_of", "", [&] { (void)s.state_of("/job:none/task:0"); });
  refuses("session::connect", "", [] { (void)session::connect("{"); });
  auto same_step = s.prepare({x}, {y});
  refuses("step::run, count", "the step has 1 feeds, got 0", [&] { (void)same_step.run(); });
  refuses("step::run, type", "must be fed with f32[3], got f64",
          [&] { (void)same_step.run({tensor::scalar(1.0)}); });
  refuses("step::run, name", "the step has no feed 'z'", [&] {
    (void)same_step.run({{"z", three_floats()}});
  });
  std::array<tensor, 2> places;
  refuses("step::run_into", "", [&] { same_step.run_into(std::array{three_floats()}, places); });
  refuses("step::run_async, callback", "the callback is an empty function",
          [&] { same_step.run_async({three_floats()}, step::on_done{}); });
  refuses("step::run_async, future", "", [&] { (void)same_step.run_async({}).get(); });
}

TEST_CASE("the error of a moved-from session or step says so") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {3}, "x"), y = x * 2;
  auto s = session::local();
  auto prepared = s.prepare({x}, {y});
  auto moved_session = std::move(s);
  auto other_step = std::move(prepared);
  const std::string moved_prefix = "failed_precondition: ";
  refuses("session::run, moved away", moved_prefix, [&] { (void)s.run({}, {y}); });
  refuses("session::fetch, moved away", "the session was moved away", [&] { (void)s.fetch(y); });
  refuses("session::prepare, moved away", moved_prefix, [&] { (void)s.prepare({x}, {y}); });
  refuses("session::node_times, moved away", moved_prefix, [&] { (void)s.node_times(); });
  refuses("session::link_times, moved away", moved_prefix, [&] { (void)s.link_times(); });
  refuses("session::explain_placement, moved away", moved_prefix,
          [&] { (void)s.explain_placement({x}, {y}); });
  refuses("session::devices, moved away", moved_prefix, [&] { (void)s.devices(); });
  refuses("session::tasks, moved away", moved_prefix, [&] { (void)s.tasks(); });
  refuses("session::state_of, moved away", moved_prefix, [&] { (void)s.state_of(); });
  refuses("session::random_state, moved away", moved_prefix, [&] { (void)s.random_state(); });
  refuses("session::restore_random_state, moved away", moved_prefix,
          [&] { s.restore_random_state({}); });
  refuses("session::initialize_tasks, moved away", moved_prefix,
          [&] { s.initialize_tasks([](session&) {}); });
  refuses("session::reset, moved away", moved_prefix, [&] { s.reset(); });
  refuses("session::reset(container), moved away", moved_prefix, [&] { s.reset("c"); });
  CHECK_FALSE(s.is_initializing());
  refuses("step::run, moved away", "the step was moved away",
          [&] { (void)prepared.run({three_floats()}); });
  refuses("step::run(names), moved away", moved_prefix, [&] {
    (void)prepared.run({{"x", three_floats()}});
  });
  refuses("step::run_async, moved away", moved_prefix,
          [&] { (void)prepared.run_async({three_floats()}); });
  std::array<tensor, 1> results;
  refuses("step::run_into, moved away", moved_prefix,
          [&] { prepared.run_into(std::array{three_floats()}, results); });
  auto& alias = moved_session;
  moved_session = std::move(alias);
  CHECK(to_scalar<float>(tensor::from_values<float>(
            {1}, {other_step.run({three_floats()})[0].values<float>()[2]})) == 6);

  auto running_server = server::start(R"({"worker": ["127.0.0.1:9"]})", {.listen = "127.0.0.1:0"});
  auto moved_server = std::move(running_server);
  refuses("server::self, moved away", "the server was moved away",
          [&] { (void)running_server.self(); });
  refuses("server::drain, moved away", "the server was moved away",
          [&] { (void)running_server.drain(std::chrono::seconds{1}); });
  CHECK(running_server.port() == 0);
  CHECK(running_server.http_port() == 0);
  CHECK(running_server.incarnation() == 0);
  refuses("server::start", "", [] { (void)server::start("{"); });
}

TEST_CASE("invalid reports and clusters are refused") {
  task_statistics statistics{.task = "/job:worker/task:0"};
  refuses("task_statistics::subject_of", "there is no subject 3",
          [&] { (void)statistics.subject_of({.subject = 3}); });
  refuses("trace_json", "there is no subject 3", [&] {
    statistics.spans = {{.subject = 3}};
    (void)trace_json(std::array{step_statistics{.tasks = {statistics}}});
  });
  refuses("parse_cluster", "", [] { (void)value_or_throw(parse_cluster("[]")); });
  refuses("address_of", "", [] {
    (void)value_or_throw(address_of(cluster_spec{}, {"worker", 0}));
  });
  refuses("read_cluster_file", "",
          [] { (void)value_or_throw(read_cluster_file("/nowhere/at/all")); });
  refuses("parse_node_times", "", [] { (void)value_or_throw(parse_node_times("{")); });
  CHECK(describe_input({}).size() > 0);
}

} // namespace troupe::test::wrong_arguments_test
