#include "tests/serialization/small_ops.hpp"
#include "tests/support/catch.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <cmath>
#include <limits>

namespace troupe::test::text_graph_test {
namespace {

using Catch::Matchers::Contains;

struct parsed {
  explicit parsed(std::string_view text) : nodes(test::small_registry()) {
    auto outcome = parse_text_graph(text, "case.txt", nodes);
    if (outcome)
      graph_text = *std::move(outcome);
    else
      error = outcome.status();
  }
  graph nodes;
  text_graph graph_text;
  status error;
};

std::string error_of(std::string_view text) { return parsed{text}.error.message(); }

tensor literal(std::string text) {
  parsed text_parsed{"x = " + std::move(text)};
  INFO(text_parsed.error);
  REQUIRE(text_parsed.error.ok());
  return text_parsed.nodes.find("x")->attr<tensor>("value");
}

TEST_CASE("a text graph becomes nodes, and runs with feeds, fetches and targets") {
  parsed text_parsed{R"(
    # a comment
    x = Placeholder dtype=f32 shape=[-1,2]
    y = Add(x, f32[1, 2]) @"/cpu:0"   # a literal as an input
    t = Two(y, ^x)
    last = NoOp(^t)
    feed x = f32[[1, 2]]
    fetch t:1 = f32[[2, 4]]
    fetch y ~ 0.5 = f32[[2, 4]]
    run
    feed x = f32[[3, 4]]
    fetch t
    target last
    error invalid_argument "not \"this\""
  )"};
  REQUIRE(text_parsed.error.ok());
  const auto* y = text_parsed.nodes.find("y");
  REQUIRE(y);
  CHECK(y->device() == "/cpu:0");
  CHECK(y->inputs()[0].name() == "x");
  CHECK(y->inputs()[1].node->op().name == "Const");
  CHECK(text_parsed.nodes.find("t")->controls().front()->name() == "x");

  const auto& runs = text_parsed.graph_text.runs;
  REQUIRE(runs.size() == 2);
  REQUIRE(runs[0].feeds.size() == 1);
  CHECK(runs[0].feeds[0].fed_edge.name() == "x");
  CHECK(identical(runs[0].feeds[0].value, tensor::from_values<float>({1, 2}, {1, 2})));
  REQUIRE(runs[0].fetches.size() == 2);
  CHECK(runs[0].fetches[0].fetched_edge.name() == "t:1");
  CHECK(runs[0].fetches[0].tolerance == 1e-5);
  CHECK(runs[0].fetches[1].tolerance == 0.5);
  CHECK(runs[0].fetches[1].line == 9);
  CHECK_FALSE(runs[0].error);
  CHECK_FALSE(runs[1].fetches[0].expected);
  CHECK(runs[1].targets[0]->name() == "last");
  REQUIRE(runs[1].error);
  CHECK(runs[1].error->kind == error_kind::invalid_argument);
  CHECK(runs[1].error->part == "not \"this\"");
}

TEST_CASE("a literal gives type, shape and values") {
  CHECK(identical(literal("f32[[1, 0], [0, -1]]"),
                  tensor::from_values<float>({2, 2}, {1, 0, 0, -1})));
  CHECK(identical(literal("f32(2.5)"), tensor::scalar(2.5f)));
  CHECK(identical(literal("f32{2,3}[7]"), tensor::from_values<float>({2, 3}, {7, 7, 7, 7, 7, 7})));
  CHECK(identical(literal("i32{2,2}[1, 2, 3, 4]"), tensor::from_values<int>({2, 2}, {1, 2, 3, 4})));
  CHECK(identical(literal("i32{}[5]"), tensor::scalar(5)));
  CHECK(identical(literal("f32{0,3}[]"), tensor::from_values<float>({0, 3}, {})));
  CHECK(identical(literal("f32[]"), tensor::from_values<float>({0}, {})));
  CHECK(identical(literal("f32[[], []]"), tensor::from_values<float>({2, 0}, {})));
  CHECK(identical(literal("bool[true, false]"), tensor::from_values<bool>({2}, {true, false})));
  CHECK(identical(literal("u64[18446744073709551615]"), tensor::vector<uint64_t>({UINT64_MAX})));
  CHECK(identical(literal("i8[-128]"), tensor::vector<int8_t>({-128})));
  CHECK(identical(literal(R"(string["a", "\x00\n\"\\"])"),
                  tensor::vector<std::string>({"a", std::string("\0\n\"\\", 4)})));
  CHECK(identical(literal("c64[[1, -2], [3, 4]]"),
                  tensor::vector<std::complex<float>>({{1, -2}, {3, 4}})));
  CHECK(identical(literal("c128([1, 2])"), tensor::scalar(std::complex<double>{1, 2})));
  CHECK(identical(literal("c64[[[1, 2]], [[3, 4]]]"),
                  tensor::from_values<std::complex<float>>({2, 1}, {{1, 2}, {3, 4}})));
  CHECK(identical(literal("f16[0.5]"), tensor::vector<float16>({float16{0.5f}})));
  CHECK(identical(literal("f64[1e-3, 1e+3, -inf]"),
                  tensor::vector<double>({1e-3, 1e3, -std::numeric_limits<double>::infinity()})));
  CHECK(std::isnan(literal("f32(nan)").data<float>()[0]));
  CHECK(identical(literal("i32[1,\n # why not\n 2]"), tensor::vector<int>({1, 2})));
}

TEST_CASE("an attribute is parsed according to its op's declaration") {
  parsed text_parsed{R"(k = Kinds boolean=true integer=-3 real=1 text="a b" type=i64 shape=[2,-1]
    j = Kinds integers=[1, 2] reals=[1, 0.5, inf] texts=["x", ""] types=[f32, string] shapes=[[1], ?]
    s = Kinds shape=?)"};
  INFO(text_parsed.error);
  REQUIRE(text_parsed.error.ok());
  const auto* k = text_parsed.nodes.find("k");
  CHECK(k->attr<bool>("boolean"));
  CHECK(k->attr<int64_t>("integer") == -3);
  CHECK(k->attr<double>("real") == 1);
  CHECK(k->attr<std::string>("text") == "a b");
  CHECK(k->attr<dtype>("type") == dtype::i64);
  CHECK(k->attr<partial_shape>("shape") == partial_shape{2, -1});
  const auto* j = text_parsed.nodes.find("j");
  CHECK(j->attr<std::vector<int64_t>>("integers") == std::vector<int64_t>{1, 2});
  CHECK(j->attr<std::vector<double>>("reals")[2] == std::numeric_limits<double>::infinity());
  CHECK(j->attr<std::vector<std::string>>("texts") == std::vector<std::string>{"x", ""});
  CHECK(j->attr<std::vector<dtype>>("types") == std::vector{dtype::f32, dtype::string});
  CHECK(j->attr<std::vector<partial_shape>>("shapes")[1] == partial_shape::unknown());
  CHECK_FALSE(text_parsed.nodes.find("s")->attr<partial_shape>("shape").has_rank());
}

TEST_CASE("a syntax error names file, line and column, the expected and the actual text") {
  CHECK(error_of("x = f32[1, a]") == "case.txt:1:12: expected a number, got 'a'");
  CHECK(error_of("\n x = f32[1") == "case.txt:2:11: expected ',' or ']', got the end of the text");
  CHECK(error_of("x == 3") == "case.txt:1:4: expected an op or a literal, got '='");
  CHECK(error_of("x = f32[1] 2") == "case.txt:1:12: expected the end of the line, got '2'");
  CHECK(error_of("x = i32[1.5]") == "case.txt:1:9: expected an integer for i32, got '1.5'");
  CHECK(error_of("x = i8[128]") == "case.txt:1:8: expected a number that fits i8, got '128'");
  CHECK(error_of("x = f32[1e39]") == "case.txt:1:9: 1e+39 does not fit f32");
  CHECK(error_of("x = f32[[1], [1, 2]]") ==
        "case.txt:1:14: this list has 2 items, those before have 1");
  CHECK_THAT(error_of("x = f32[[1], 2]"), Contains("expected a list, as those before"));
  CHECK_THAT(error_of("x = f32[1, [2]]"), Contains("expected a value, as in the lists before"));
  CHECK_THAT(error_of("x = f32[[[[[[[[[1]]]]]]]]]"), Contains("at most 8 axes"));
  CHECK_THAT(error_of("x = f32{2}[1, 2, 3]"), Contains("takes 2 values or one for all, got 3"));
  CHECK_THAT(error_of("x = f32{1000000,1000000}[0]"), Contains("too large"));
  CHECK_THAT(error_of("x = f32{-1}[0]"), Contains("must not be negative"));
  CHECK_THAT(error_of("x = string[\"a]"), Contains("has no end on its line"));
  CHECK_THAT(error_of("x = string[\"\\q\"]"), Contains("\\xHH"));
  CHECK_THAT(error_of("feed x = f32[1]"), Contains("no node 'x'"));
  CHECK_THAT(error_of("run"), Contains("nothing to run"));
  CHECK_THAT(error_of("error sorry \"\""), Contains("'sorry' is not a kind of error"));
  CHECK_THAT(error_of("error intrenal \"\""), Contains("did you mean 'internal'"));
  CHECK_THAT(error_of("x = f32[1]\nfetch x ~ -1 = f32[1]"), Contains("at least 0"));
  CHECK_THAT(error_of("x = NoOp @\"/cpu:0\" @\"/cpu:0\""), Contains("has a device already"));
  CHECK_THAT(error_of("x = Kinds integer=1 integer=2"), Contains("is given twice"));
  CHECK_THAT(error_of("\x01"), Contains("got byte 1"));
  CHECK_THAT(error_of("x = f32[1]\nfeed x = f32[1]\nfeed x = f32[1]"), Contains("fed already"));
}

TEST_CASE("a node that the graph refuses is named with its line in the text") {
  parsed text_parsed{"x = f32[1]\ny = Add(x, i32[1])"};
  CHECK(text_parsed.error.kind() == error_kind::invalid_argument);
  CHECK_THAT(text_parsed.error.message(), Contains("case.txt:2:1: Add 'y' (case.txt:2): "));
  CHECK_THAT(error_of("x = Addd(=)"), Contains("expected an input"));
  CHECK_THAT(error_of("x = Addd()"), Contains("case.txt:1:5: there is no op 'Addd', did you mean"));
  CHECK_THAT(error_of("x = Kinds integr=1"), Contains("Kinds has no attribute 'integr', did you"));
}

TEST_CASE("an error statement declares that the graph cannot be built") {
  parsed text_parsed{"x = f32[1]\ny = Add(x, i32[1])\nfetch y\nerror invalid_argument \"y\""};
  INFO(text_parsed.error);
  REQUIRE(text_parsed.error.ok());
  REQUIRE(text_parsed.graph_text.build_error);
  CHECK(text_parsed.graph_text.build_error->line == 4);
  CHECK(text_parsed.graph_text.runs.empty());

  CHECK_THAT(error_of("y = Addd()\nerror invalid_argument \"y\""),
             Contains("case.txt:2:1: expected the error invalid_argument \"y\", got not_found"));
  // A syntax error never counts as the declared error.
  CHECK_THAT(error_of("y = f32[\nerror invalid_argument \"\""), Contains("expected a number"));
}

TEST_CASE("a name may be a keyword of a statement") {
  parsed text_parsed{"feed = f32[1]\nrun = NoOp\ntarget run\nfetch feed"};
  INFO(text_parsed.error);
  CHECK(text_parsed.error.ok());
}

} // namespace
} // namespace troupe::test::text_graph_test
