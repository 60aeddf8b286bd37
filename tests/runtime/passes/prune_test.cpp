#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/passes/prune.hpp"

namespace troupe::test::prune_test {

namespace {

struct world {
  graph in{ops()};
  edge x = add(
      in,
      {.op = "Placeholder", .name = "x", .attrs = {{"dtype", dtype::f32}, {"shape", shape{2}}}});
  edge unit = constant(in, 1.f);
  edge sum = add(in, {.op = "Add", .name = "sum", .inputs = {x, unit}});
  edge unused = add(in, {.op = "Neg", .name = "unused", .inputs = {sum}});
  edge v = add(in, {.op = "Variable", .name = "v", .attrs = {{"dtype", dtype::f32}}});
  edge queue = add(in, {.op = "Queue", .name = "q"});

  std::string pruned(step_signature signature) {
    auto nodes = prune(in, signature);
    if (!nodes)
      return nodes.status().message();
    std::string names;
    for (auto* node : *nodes)
      names += concat(names.empty() ? "" : " ", node->name());
    return names;
  }
};

} // namespace

TEST_CASE("a step runs only the nodes that its fetches and targets need, in order") {
  world w;
  CHECK(w.pruned({.feeds = {w.x}, .fetches = {w.sum}}) == "Const sum");
  CHECK(w.pruned({.feeds = {w.x}, .targets = {w.unused.node}}) == "Const sum unused");
  CHECK(w.pruned({.fetches = {w.unit, w.unit}}) == "Const");
  CHECK(w.pruned({.fetches = {w.v}}) == "v");
}

TEST_CASE("a feed removes the nodes that would have computed it") {
  world w;
  CHECK(w.pruned({.feeds = {w.sum}, .fetches = {w.unused}}) == "unused");
  CHECK(w.pruned({.feeds = {w.sum}, .fetches = {w.sum}}) == "");
  CHECK(w.pruned({.feeds = {w.x, w.unit}, .fetches = {w.sum}}) == "sum");
  auto both_outputs = add(w.in, {.op = "Both", .name = "both", .inputs = {w.x}});
  auto joint =
      add(w.in, {.op = "Add", .name = "joint", .inputs = {both_outputs, {both_outputs.node, 1}}});
  CHECK(w.pruned({.feeds = {both_outputs, w.x}, .fetches = {joint}}) ==
        "both joint"); // its other output is needed
}

TEST_CASE("a variable that is fed gives that value, and is updated only in other steps") {
  world w;
  auto read = add(w.in, {.op = "Neg", .name = "read", .inputs = {w.v}});
  CHECK(w.pruned({.feeds = {w.v}, .fetches = {read}}) == "read");
  CHECK(w.pruned({.feeds = {w.v}, .fetches = {w.v}}) == "");
  auto assign = add(w.in, {.op = "Assign", .name = "assign", .inputs = {w.v, w.unit}});
  CHECK(w.pruned({.feeds = {assign}, .fetches = {assign}}) == ""); // any tensor may be fed
  CHECK(w.pruned({.feeds = {w.v}, .fetches = {read}, .targets = {assign.node}})
            .find("takes the variable 'v' itself, and not its value, which is fed") !=
        std::string::npos);
}

TEST_CASE("control inputs run, except for placeholders that are fed") {
  world w;
  auto late = add(
      w.in, {.op = "Neg", .name = "late", .inputs = {w.unit}, .controls = {w.x.node, w.sum.node}});
  CHECK(w.pruned({.feeds = {w.x}, .fetches = {late}}) == "Const sum late");
  CHECK(w.pruned({.feeds = {w.x, w.sum}, .fetches = {late}}) == "Const sum late");
}

TEST_CASE("a missing feed is an error that names the placeholder with its type and shape") {
  world w;
  auto text = w.pruned({.fetches = {w.unused}});
  CHECK(text.starts_with("Placeholder 'x' (prune_test.cpp:"));
  CHECK(text.ends_with("): must be fed with f32[2], and is not"));
  CHECK(w.pruned({.feeds = {w.sum}, .fetches = {w.x}})
            .ends_with("must be fed with f32[2], and is not"));
}

TEST_CASE("meaningless signatures are refused") {
  world w;
  graph other_graph{ops()};
  auto foreign = constant(other_graph, 1.f);
  CHECK(w.pruned({}) == "a step needs at least one fetch or target");
  CHECK(w.pruned({.feeds = {w.x}}) == "a step needs at least one fetch or target");
  CHECK(w.pruned({.fetches = {w.unit, edge{}}}) ==
        "fetch 1 is an empty edge or belongs to another graph");
  CHECK(w.pruned({.fetches = {foreign}}) == "fetch 0 is an empty edge or belongs to another graph");
  CHECK(w.pruned({.fetches = {{w.unit.node, 1}}}) ==
        "fetch 0 is an empty edge or belongs to another graph");
  CHECK(w.pruned({.feeds = {edge{}}, .fetches = {w.unit}}) ==
        "feed 0 is an empty edge or belongs to another graph");
  CHECK(w.pruned({.feeds = {foreign}, .fetches = {w.unit}}) ==
        "feed 0 is an empty edge or belongs to another graph");
  CHECK(w.pruned({.feeds = {w.x, w.x}, .fetches = {w.sum}}) == "'x' is fed twice");
  CHECK(w.pruned({.targets = {nullptr}}) == "target 0 is not a node of this graph");
  CHECK(w.pruned({.targets = {foreign.node}}) == "target 0 is not a node of this graph");
  CHECK(w.pruned({.feeds = {w.queue}, .fetches = {w.unit}})
            .ends_with("is a queue, which cannot be fed"));
  CHECK(w.pruned({.fetches = {w.queue}}).ends_with("is a queue, which has no value"));
}

TEST_CASE("a cycle is an error, even one made later by controls") {
  world w;
  CHECK(w.in.add_control(*w.unused.node, *w.sum.node).ok());
  CHECK(w.pruned({.feeds = {w.x}, .fetches = {w.sum}}).find("a cycle") != std::string::npos);
}

} // namespace troupe::test::prune_test
