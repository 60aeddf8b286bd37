#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/source_line.hpp"

#include <optional>
#include <source_location>

#include <set>

#include <algorithm>

namespace troupe::test::graph_test {

namespace {

// The error of adding a node; this file's line is replaced by LINE.
std::string refused(graph& in, node_spec spec, error_kind kind = error_kind::invalid_argument) {
  auto location = concat("(", to_string(spec.where), ")");
  auto added = in.add(std::move(spec));
  REQUIRE_FALSE(added);
  CHECK(added.status().kind() == kind);
  auto text = added.status().message();
  auto at = text.find(location);
  REQUIRE(at != text.npos);
  return text.replace(at, location.size(), "(LINE)");
}

} // namespace

TEST_CASE("a node knows its op, place, types and shapes") {
  graph in{ops()};
  auto x = add(
      in,
      {.op = "Placeholder", .name = "x", .attrs = {{"dtype", dtype::f32}, {"shape", shape{2, 3}}}});
  auto y = constant(in, tensor::from_values<float>({3}, {1, 2, 3}));
  auto line = std::source_location::current().line() + 1;
  auto sum = add(in, {.op = "Add", .inputs = {x, y}, .device = "/cpu:0"});
  CHECK(sum.type() == dtype::f32);
  CHECK(sum.dims() == partial_shape{2, 3});
  CHECK(sum.node->id() == 2);
  CHECK(std::ranges::equal(sum.node->inputs(), std::vector{x, y}, is_same_edge));
  CHECK(sum.node->device() == "/cpu:0");
  CHECK(sum.node->attr<dtype>("T") == dtype::f32);
  CHECK(sum.node->description() == concat("Add 'Add' (graph_test.cpp:", line, ")"));
  in.set_origin(*sum.node, "model.py:7");
  CHECK(sum.node->description() == "Add 'Add' (model.py:7)");
  CHECK(in.nodes().size() == 3);
}

TEST_CASE("a graph has a number of its own, and another version after each change") {
  std::set<uint64_t> ids, versions;
  for (int i = 0; i < 100; ++i) {
    graph in{ops()};
    CHECK(ids.insert(in.id()).second);
    auto x = constant(in, 1.f);
    CHECK(versions.insert(in.version()).second);
    auto y = constant(in, 2.f);
    CHECK(versions.insert(in.version()).second);
    REQUIRE(in.add_control(*x.node, *y.node).ok());
    CHECK(versions.insert(in.version()).second);
    in.add_copy(*x.node, "copy", {}, {});
    CHECK(versions.insert(in.version()).second);
  }
}

TEST_CASE("edges are named after their node and output, and found by that name") {
  graph in{ops()};
  auto x = constant(in, 1.f);
  auto both_outputs = add(in, {.op = "Both", .name = "both", .inputs = {x}});
  edge less{both_outputs.node, 1};
  CHECK(both_outputs.name() == "both");
  CHECK(concat(less) == "both:1");
  CHECK(edge{}.name() == "nothing");
  CHECK(is_same_edge(*in.find_edge("both:1"), less));
  CHECK(is_same_edge(*in.find_edge("both:0"), both_outputs));
  CHECK(is_same_edge(*in.find_edge("both"), both_outputs));
  CHECK(in.find("both") == both_outputs.node);
  CHECK(in.find("other") == nullptr);
  CHECK(in.find_edge("boht").status().message() ==
        "the graph has no node 'boht', did you mean 'both'?");
  CHECK(in.find_edge("both:2").status().kind() == error_kind::not_found);
  for (auto invalid_name : {"both:", "both:x", "both:-1", "both:99999999999999999999"})
    CHECK(in.find_edge(invalid_name).status().kind() == error_kind::invalid_argument);
  CHECK_FALSE(edge{}.exists());
  CHECK_FALSE(edge{both_outputs.node, 2}.exists());
  CHECK_FALSE(edge{both_outputs.node, -1}.exists());
}

TEST_CASE(
    "a node whose location is in a header of the system is said to be after the line before") {
  struct located {
    explicit located(std::source_location at = std::source_location::current()) : where(at) {}
    std::source_location where;
  };
  std::optional<located> emplaced;
  emplaced.emplace();
  CHECK(!has_user_line(emplaced->where));
  CHECK(to_string(emplaced->where) == "line unknown");
  auto location = std::source_location::current();
  CHECK(has_user_line(location));
  CHECK(!has_user_line({}));
  graph in{ops()};
  auto value = [&](std::string name, std::source_location where) {
    return add(in, {.op = "Const",
                    .name = std::move(name),
                    .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}},
                    .where = where})
        .node->description();
  };
  CHECK(value("a", emplaced->where) == "Const 'a' (line unknown)");
  CHECK(value("b", location) == concat("Const 'b' (", to_string(location), ")"));
  CHECK(value("c", emplaced->where) == concat("Const 'c' (after ", to_string(location), ")"));
  auto failed = in.add({.op = "Cosnt", .name = "d", .where = emplaced->where});
  CHECK(failed.status().message().starts_with(
      concat("Cosnt 'd' (after ", to_string(location), "): there is no op")));
}

TEST_CASE("generated names are made unique") {
  graph in{ops()};
  auto named = [&](std::string name = {}) {
    return add(in, {.op = "Const",
                    .name = name,
                    .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}})
        .node->name();
  };
  CHECK(named() == "Const");
  CHECK(named("Const_1") == "Const_1");
  CHECK(named() == "Const_2");
  in.push_scope("layer");
  CHECK(in.scope() == "layer/");
  CHECK(named() == "layer/Const");
  CHECK(named("w") == "layer/w");
  in.push_scope("inner");
  CHECK(named("w") == "layer/inner/w");
  in.pop_scope();
  in.pop_scope();
  in.push_scope("layer");
  CHECK(named("w") == "layer_1/w");
  in.pop_scope();
  CHECK(named("w") == "w");
  CHECK(in.scope() == "");
}

TEST_CASE("every mistake names the node and the line that made it") {
  graph in{ops()}, other{ops()};
  auto x = constant(in, 1.f), y = constant(in, tensor::from_values<float>({2}, {1, 2})),
       d = constant(in, 1.0);
  auto z = add(in, {.op = "Placeholder", .attrs = {{"dtype", dtype::f32}, {"shape", shape{3}}}});
  in.push_scope("net");
  CHECK(refused(in, {.op = "Plaecholder"}, error_kind::not_found) ==
        "Plaecholder 'net/Plaecholder' (LINE): there is no op 'Plaecholder', did you mean "
        "'Placeholder'?");
  CHECK(refused(in, {.op = "Add", .name = "sum", .inputs = {x, d}}) ==
        "Add 'net/sum' (LINE): input y must be f32 like input x, got f64 from 'Const_2'");
  CHECK(refused(in, {.op = "Add", .inputs = {y, z}}) ==
        "Add 'net/Add' (LINE): shapes [2] and [3] cannot be broadcast: 2 against 3 on axis 0");
  CHECK(refused(in, {.op = "Add", .inputs = {x}}) ==
        "Add 'net/Add' (LINE): takes the inputs (x, y), got 1");
  CHECK(refused(in, {.op = "Neg", .inputs = {edge{}}}) ==
        "Neg 'net/Neg' (LINE): input x is an empty edge");
  CHECK(refused(in, {.op = "Neg", .inputs = {constant(other, 1.f)}}) ==
        "Neg 'net/Neg' (LINE): input 'Const' belongs to another graph");
  CHECK(
      refused(in, {.op = "Neg", .inputs = {edge{x.node, 1}}})
          .starts_with(
              "Neg 'net/Neg' (LINE): there is no output 'Const:1', Const 'Const' (test_ops.cpp:"));
  CHECK(refused(in, {.op = "Neg", .inputs = {x}, .controls = {constant(other, 1.f).node}}) ==
        "Neg 'net/Neg' (LINE): a control input belongs to another graph");
  CHECK(refused(in, {.op = "Neg", .inputs = {x}, .attrs = {{"axis", 1}}}) ==
        "Neg 'net/Neg' (LINE): there is no attribute 'axis'");
  CHECK(refused(in, {.op = "Placeholder"}) ==
        "Placeholder 'net/Placeholder' (LINE): attribute dtype "
        "(type) is missing");
  CHECK(refused(in, {.op = "Miscounts", .inputs = {x}}, error_kind::internal) ==
        "Miscounts 'net/Miscounts' (LINE): its shape function returned 0 shapes for 1 outputs");
  for (std::string name : {"a b", "-a", "/a", "_a", "a:1", "ä"}) {
    in.pop_scope();
    CHECK(refused(in, {.op = "Neg", .name = name, .inputs = {x}}).find("is no valid name") !=
          std::string::npos);
    in.push_scope("net");
  }
  CHECK(in.nodes().size() == 4); // no node was added
}

TEST_CASE("a shape that no tensor can have is refused where the node is made") {
  graph in{ops()};
  auto fed = [&](const partial_shape& dims) {
    return add(in, {.op = "Placeholder", .attrs = {{"dtype", dtype::f32}, {"shape", dims}}});
  };
  auto wide = fed({int64_t{1} << 40, 1}), high = fed({1, int64_t{1} << 40});
  CHECK(refused(in, {.op = "Add", .name = "sum", .inputs = {wide, high}}) ==
        "Add 'sum' (LINE): output 0 would have shape [1099511627776,1099511627776]: a tensor has "
        "at most 2^62 elements");
}

TEST_CASE("a name that is used already names its first user") {
  graph in{ops()};
  auto line = std::source_location::current().line() + 1;
  auto x = add(
      in,
      {.op = "Const", .name = "x", .attrs = {{"value", tensor::scalar(1)}, {"dtype", dtype::i32}}});
  CHECK(refused(in, {.op = "Identity", .name = "x", .inputs = {x}}, error_kind::already_exists) ==
        concat("Identity 'x' (LINE): the name 'x' is used already by Const 'x' (graph_test.cpp:",
               line, ")"));
}

TEST_CASE("devices and control inputs come from the enclosing scopes") {
  graph in{ops()};
  auto first = constant(in, 1.f), second = constant(in, 2.f);
  in.push_device("/job:ps");
  in.push_controls({second.node, first.node});
  in.push_controls({first.node});
  auto x = add(in, {.op = "Neg", .inputs = {first}, .controls = {second.node}});
  CHECK(x.node->device() == "/job:ps");
  CHECK(x.node->controls() == std::vector{first.node, second.node}); // without duplicates
  CHECK(add(in, {.op = "Neg", .inputs = {first}, .device = "/gpu:0"}).node->device() == "/gpu:0");
  in.pop_controls();
  in.pop_controls();
  in.pop_device();
  auto y = add(in, {.op = "Neg", .inputs = {first}});
  CHECK(y.node->device() == "");
  CHECK(y.node->controls().empty());
  auto version = in.version();
  CHECK(in.add_control(*second.node, *y.node).ok());
  CHECK(in.add_control(*second.node, *y.node).ok());
  CHECK(in.version() == version + 1);
  graph other_graph{ops()};
  CHECK_FALSE(in.add_control(*constant(other_graph, 1).node, *y.node));
}

TEST_CASE("nodes are ordered by their inputs and controls, and a cycle is named") {
  graph in{ops()};
  auto a = add(in, {.op = "Neg", .name = "a", .inputs = {constant(in, 1.f)}});
  auto b = add(in, {.op = "Neg", .name = "b", .inputs = {a}});
  auto c = add(in, {.op = "Neg", .name = "c", .inputs = {b}});
  auto late = constant(in, 2.f);
  CHECK(in.add_control(*late.node, *a.node).ok());
  auto order = topological_order(in);
  REQUIRE(order);
  auto place = [&](node* target) { return std::ranges::find(*order, target) - order->begin(); };
  CHECK(place(late.node) < place(a.node));
  CHECK(place(a.node) < place(b.node));
  CHECK(order->size() == 5);
  CHECK(in.add_control(*c.node, *a.node).ok());
  auto cycle = topological_order(in).status();
  CHECK(cycle.kind() == error_kind::invalid_argument);
  CHECK(cycle.message().ends_with("a cycle without a loop: 'b' -> 'c' -> 'a' -> 'b'"));
}

TEST_CASE("a chain of many thousand nodes is ordered without deep recursion") {
  graph in{ops()};
  auto x = constant(in, 1.f);
  for (int i = 0; i < 50'000; ++i)
    x = add(in, {.op = "Neg", .inputs = {x}});
  CHECK(topological_order(in)->back() == x.node);
}

TEST_CASE("code that builds many nodes records its first error and continues with empty edges") {
  graph in{ops()};
  auto x = constant(in, 1.f);
  auto broken = in.add_or_record_error({.op = "Nug", .inputs = {x}});
  CHECK_FALSE(broken);
  CHECK_FALSE(in.add_or_record_error({.op = "Neg", .inputs = {broken}}));
  in.record_error(invalid("later"));
  CHECK(in.take_error().kind() == error_kind::not_found);
  CHECK(in.take_error().ok());
}

TEST_CASE("a constant's value is known, and the node that made a ref is found") {
  graph in{ops()};
  auto x = constant(in, 5);
  CHECK(constant_value(x)->data<int>()[0] == 5);
  CHECK(constant_value(add(in, {.op = "Identity", .inputs = {x}})) == nullptr);
  CHECK(constant_value({}) == nullptr);
  auto v = add(in, {.op = "Variable", .attrs = {{"dtype", dtype::i32}}});
  auto assigned =
      add(in, {.op = "Assign", .inputs = {add(in, {.op = "Assign", .inputs = {v, x}}), x}});
  CHECK(resource_behind(assigned) == v.node);
  CHECK(resource_behind(x) == nullptr);
  CHECK(resource_behind({}) == nullptr);
}

} // namespace troupe::test::graph_test
