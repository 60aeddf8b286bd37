// Loops and branches that a text graph writes in place: the nodes that they become, and the errors
// of wrong ones. tests/graphs/blocks.txt runs them.
#include "tests/support/catch.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/text/text_graph.hpp"

namespace troupe::test::text_blocks_test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

status parse(std::string_view text, graph& parsed_graph) {
  return parse_text_graph(text, "model.txt", parsed_graph).status();
}

std::string error_of(std::string_view text) {
  graph parsed_graph{library()};
  return parse(text, parsed_graph).message();
}

// A loop over i with these parts.
std::string loop_with(std::string_view variables, std::string_view condition,
                      std::string_view turn) {
  return concat("x = f32[1, 2]\nw = while (", variables, ") {\n", condition, "\n} do {\n", turn,
                "\n}\n");
}

constexpr std::string_view less = "  m = Less(i, i32(3))\n  return m";

} // namespace

TEST_CASE("a loop in place becomes one node, whose inputs are the outer edges that it uses") {
  graph parsed_graph{library()};
  auto parsed = parse(R"(
    n = Placeholder dtype=i32 shape=[]
    w = while (i = i32(0)) {
      more = Less(i, n)
      return more
    } do {
      i = Add(i, i32(1))
      return i
    } parallel_iterations=2
  )",
                      parsed_graph);
  INFO(parsed);
  REQUIRE(parsed.ok());
  const auto* loop = parsed_graph.find("w");
  REQUIRE(loop);
  CHECK(loop->op().name == "StatelessWhile");
  REQUIRE(loop->inputs().size() == 2);
  CHECK(loop->inputs()[1].name() == "n");
  CHECK(loop->attr<int64_t>("parallel_iterations") == 2);
  CHECK_THAT(loop->description(), Contains("(model.txt:3)"));
  const auto& body = *loop->attr<function_value>("body").body;
  CHECK(body.passed_through(1) == 1);
  REQUIRE(body.body().find("i"));
  CHECK_THAT(body.body().find("i")->description(), Contains("(model.txt:7)"));
  CHECK_FALSE(parsed_graph.find("i"));
}

TEST_CASE("small outer constants are copied into blocks, so that shapes are known there") {
  graph parsed_graph{library()};
  auto parsed = parse(R"(
    axis = i32(0)
    large = f32{300}[1]
    x = Placeholder dtype=f32 shape=[300]
    y = if (bool(true)) {
      a = ConcatV2(x, large, axis)
      return a
    } else {
      a = ConcatV2(large, large, i32(0))
      return a
    }
  )",
                      parsed_graph);
  INFO(parsed);
  REQUIRE(parsed.ok());
  CHECK(parsed_graph.find("y")->output_shape(0) == partial_shape{600});
  std::vector<std::string> inputs;
  for (const auto& input : parsed_graph.find("y")->inputs())
    inputs.push_back(input.name());
  CHECK(inputs == std::vector<std::string>{"Const", "x", "large"});
}

TEST_CASE("a loop or branch in place with effects becomes the stateful op") {
  graph parsed_graph{library()};
  auto parsed = parse(R"(
    v = VariableV2 dtype=f32 shape=[]
    w = while (i = i32(0)) {
      more = Less(i, i32(3))
      return more
    } do {
      i = Add(i, i32(1))
      e = if (bool(true)) {
        a = AssignAdd(v, f32(1))
      }
      return i
    }
  )",
                      parsed_graph);
  INFO(parsed);
  REQUIRE(parsed.ok());
  CHECK(parsed_graph.find("w")->op().name == "While");
  const auto& body = parsed_graph.find("w")->attr<function_value>("body").body->body();
  CHECK(body.find("e")->op().name == "If");
}

TEST_CASE("errors in a loop in place name line and column") {
  CHECK_THAT(error_of("w = while (i) {\n}"),
             StartsWith("model.txt:1:13: expected '=' and the first value"));
  CHECK_THAT(error_of(loop_with("i = i32(0), i = i32(1)", less, "  return i")),
             StartsWith("model.txt:2:24: there is a loop variable 'i' already"));
  CHECK_THAT(error_of("w = while (i = i32(0)) {\n  return i\n}\ny = f32[1]"),
             StartsWith("model.txt:3:2: expected 'do' and the body of the loop"));
  CHECK_THAT(
      error_of(loop_with("i = i32(0), y = x", less, "  return i")),
      StartsWith("model.txt:5:6: the body returns new values of all loop variables: expected "
                 "2, got 1"));
  CHECK_THAT(error_of(loop_with("i = i32(0)", less, "  j = Add(k, i)\n  return j")),
             StartsWith("model.txt:6:11: there is no node 'k'"));
  CHECK_THAT(error_of(loop_with("i = i32(0)", "  return i, i", "  return i")),
             StartsWith("model.txt:2:1: "));
  CHECK_THAT(
      error_of(loop_with("i = i32(0), y = x", less, "  z = ConcatV2(y, y, i32(0))\n  return i, z")),
      Contains("loop variable 1 has shape [2], and the body gives [4]"));
  CHECK_THAT(
      error_of(loop_with("i: f32[] = i32(0)", "  m = Less(i, f32(3))\n  return m", "  return i")),
      Contains("takes f32 as argument 0, got i32"));
  CHECK_THAT(error_of("w = while (i = i32(0)) {\n  m = Less(i, i32(3))"),
             Contains("expected '}', got the end of the text"));
  CHECK_THAT(error_of(loop_with("i = i32(0)", less, "  return i") + "y = Neg(m)"),
             Contains("there is no node 'm'"));
}

TEST_CASE("errors in a branch in place name line and column") {
  CHECK_THAT(error_of("y = if (bool(true)) {\n  a = f32[1]\n  return a\n}\n"),
             StartsWith("model.txt:4:2: expected 'else' and the other branch"));
  CHECK_THAT(error_of("y = if (bool(true)) {\n  a = f32[1]\n  return a\n} else {\n}\n"),
             StartsWith("model.txt:1:1: branches return 1 and 0 values"));
  CHECK_THAT(error_of("y = if (bool(true), x) {\n}\n"), StartsWith("model.txt:1:19: expected ')'"));
  CHECK_THAT(error_of("y = if (bool(true)) {\n  body f() {\n}\n}\n"),
             StartsWith("model.txt:2:3: a function within a function"));
}

TEST_CASE("outer names are known in blocks, and not in functions") {
  CHECK_THAT(error_of("near = f32[1]\nbody f() {\n  y = Neg(near)\n  return y\n}\n"),
             StartsWith("model.txt:3:11: there is no node 'near'"));
  CHECK_THAT(error_of("near = f32[1]\ny = if (bool(true)) {\n  a = Neg(neer)\n  return a\n}\n"),
             Contains("did you mean 'near'"));
}

TEST_CASE("blocks may be nested a hundred deep, and no deeper") {
  auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i)
      text += "e = if (bool(true)) {\n";
    for (int i = 0; i < depth; ++i)
      text += "}\n";
    return text;
  };
  CHECK(error_of(nested(100)) == "");
  CHECK_THAT(error_of(nested(101)), StartsWith("model.txt:101:21: expected no more than 100"));
}

} // namespace troupe::test::text_blocks_test
