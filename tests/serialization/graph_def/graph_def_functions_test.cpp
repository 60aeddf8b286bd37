// Calls of functions in a GraphDef are inlined.
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

namespace troupe::test::graph_def_functions_test {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view two = R"(
  node { name: 'two' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 2 } } } })";

// double(x) = x + x; both(x) = double(x), x
constexpr std::string_view functions = R"(
  library {
    function {
      signature { name: 'double' input_arg { name: 'x' type_attr: 'T' }
                  output_arg { name: 'y' type_attr: 'T' } attr { name: 'T' type: 'type' } }
      node_def { name: 'sum' op: 'Add' input: 'x' input: 'x'
                 attr { key: 'T' value { placeholder: 'T' } } }
      ret { key: 'y' value: 'sum:z:0' }
    }
    function {
      signature { name: 'both' input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'twice' type: DT_FLOAT } output_arg { name: 'same' type: DT_FLOAT } }
      node_def { name: 'inner' op: 'double' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'copy' op: 'Identity' input: 'inner:y:0'
                 attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'twice' value: 'copy:output:0' }
      ret { key: 'same' value: 'x' }
    }
    function {
      signature { name: 'endless' input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'y' type: DT_FLOAT } }
      node_def { name: 'a' op: 'endless' input: 'x' }
      ret { key: 'y' value: 'a:y:0' }
    }
    function {
      signature { name: 'self' input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'y' type: DT_FLOAT } }
      ret { key: 'y' value: 'x' }
    }
    function {
      signature { name: 'split' input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'parts' type: DT_FLOAT number_attr: 'N' }
                  attr { name: 'N' type: 'int' default_value { i: 2 } } }
      node_def { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
                 attr { key: 'value' value { tensor { dtype: DT_INT32 } } } }
      node_def { name: 'parts' op: 'Split' input: 'axis:output:0' input: 'x'
                 attr { key: 'num_split' value { placeholder: 'N' } } }
      ret { key: 'parts' value: 'parts:output' }
    }
    function {
      signature { name: 'count' input_arg { name: 'v' type: DT_FLOAT is_ref: true }
                  input_arg { name: 'by' type: DT_FLOAT } output_arg { name: 'by' type: DT_FLOAT } }
      node_def { name: 'add' op: 'AssignAdd' input: 'v' input: 'by' }
      ret { key: 'by' value: 'by' }
      control_ret { key: 'add' value: 'add' }
    }
  })";

struct imported {
  explicit imported(std::string_view nodes)
      : g(library()), read(read_graph_def_text(concat(two, nodes, functions), g)) {}

  std::string value(std::string_view name) {
    INFO(read.status() << '\n' << describe(g));
    REQUIRE(read);
    auto from = read->find_edge(name);
    REQUIRE(from);
    auto devices = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 0}));
    test::evaluator evaluator_of_graph{g, *devices.front()};
    auto got = evaluator_of_graph.run({}, {*from});
    return got ? to_string((*got)[0]) : got.status().message();
  }

  graph g;
  result<imported_graph> read;
};

TEST_CASE("a call by the function's name returns the function's results") {
  imported call{"node { name: 'c' op: 'double' input: 'two' "
                "attr { key: 'T' value { type: DT_FLOAT } } } "
                "node { name: 'd' op: 'double' input: 'c:0' "
                "attr { key: 'T' value { type: DT_FLOAT } } }"};
  CHECK(call.value("c") == "f32[] {4}");
  CHECK(call.value("d:0") == "f32[] {8}");
  CHECK(call.g.find("d/sum") != nullptr);
  CHECK_THAT(call.read->find_edge("c:1").status().message(), Contains("the call has 1"));
  REQUIRE(call.read->find("c") != nullptr);
  CHECK(call.read->find("c")->op().name == "NoOp");
}

TEST_CASE("a PartitionedCall of a function that calls another returns all of its outputs") {
  imported call{"node { name: 'p' op: 'PartitionedCall' input: 'two' device: '/cpu:0' "
                "attr { key: 'f' value { func { name: 'both' } } } } "
                "node { name: 'z' op: 'Add' input: 'p:1' input: 'p' input: '^p' }"};
  CHECK(call.value("z") == "f32[] {6}");
  CHECK(call.g.find("p/inner/sum")->device() == "/cpu:0?");
}

TEST_CASE("lists of results have the length that attributes give") {
  constexpr std::string_view pair =
      "node { name: 'v' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
      "'value' value { tensor { dtype: DT_FLOAT float_val: [1, 2] "
      "tensor_shape { dim { size: 2 } } } } } } ";
  imported call{concat(pair, "node { name: 's' op: 'split' input: 'v' }")};
  CHECK(call.value("s:1") == "f32[1] {2}");
  imported imported_graph{concat(pair, "node { name: 's' op: 'split' input: 'v' "
                                       "attr { key: 'N' value { i: 1 } } }")};
  CHECK(imported_graph.value("s") == "f32[2] {1, 2}");
}

TEST_CASE(
    "outputs of a call wait for the function's effects, and those for what the call waits for") {
  imported call{"node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } } "
                "attr { key: 'shape' value { shape { } } } } "
                "node { name: 'init' op: 'Assign' input: 'v' input: 'two' } "
                "node { name: 'c' op: 'count' input: 'v' input: 'two' input: '^init' } "
                "node { name: 'now' op: 'Identity' input: 'v' input: '^c' } "};
  CHECK(call.value("now") == "f32[] {4}");
  auto output = call.read->find_edge("c");
  REQUIRE(output);
  CHECK(output->node->controls().size() == 1);
  CHECK(output->node->controls()[0]->name() == "c/add");
  CHECK(call.g.find("c/add")->controls()[0]->name() == "c/_begin");
}

TEST_CASE("invalid calls are reported") {
  auto refusal = [](std::string_view nodes) { return imported{nodes}.read.status().message(); };
  CHECK_THAT(refusal("node { name: 'e' op: 'endless' input: 'two' }"),
             Contains("'e/a': the function endless calls itself"));
  CHECK_THAT(refusal("node { name: 'e' op: 'self' input: 'e' }"), Contains("its own input"));
  CHECK_THAT(refusal("node { name: 'e' op: 'self' }"), Contains("takes more than 0 inputs"));
  CHECK_THAT(refusal("node { name: 'e' op: 'self' input: 'two' input: 'two' }"),
             Contains("takes 1 inputs, got 2"));
  CHECK_THAT(refusal("node { name: 'e' op: 'double' input: 'two' }"),
             Contains("attribute T is missing"));
  CHECK_THAT(refusal("node { name: 'e' op: 'PartitionedCall' "
                     "attr { key: 'f' value { func { name: 'nothing' } } } }"),
             Contains("there is no function 'nothing'"));
}

TEST_CASE("functions that each call two others are read in bounded time") {
  std::string functions_of_it = "library {";
  for (int i = 0; i < 40; ++i) {
    auto next = concat("f", i + 1);
    auto twice = [&](const char* node) {
      return concat("node_def { name: '", node, "' op: 'If' input: 'p' input: 'p' ",
                    "attr { key: 'then_branch' value { func { name: '", next, "' } } } ",
                    "attr { key: 'else_branch' value { func { name: '", next, "' } } } } ");
    };
    functions_of_it +=
        concat("function { signature { name: 'f", i, "' input_arg { name: 'p' type: DT_BOOL } } ",
               twice("a"), twice("b"), "} ");
  }
  functions_of_it +=
      "function { signature { name: 'f40' input_arg { name: 'p' type: DT_BOOL } } } }";
  graph g{library()};
  auto read = read_graph_def_text(
      concat("node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } } ",
             "node { name: 'x' op: 'f0' input: 'p' } ", functions_of_it),
      g);
  REQUIRE_FALSE(read);
  CHECK(read.status().kind() == error_kind::resource_exhausted);
}

TEST_CASE("ops that are missing in functions count only if the functions are called") {
  constexpr std::string_view library =
      "library { function { signature { name: 'f' } node_def { name: 'a' op: 'Foo' } } "
      "function { signature { name: 'g' } node_def { name: 'b' op: 'f' } } }";
  graph g{troupe::library()};
  CHECK(read_graph_def_text(concat(library, "node { name: 'c' op: 'NoOp' }"), g).ok());
  auto refused = read_graph_def_text(concat(library, "node { name: 'd' op: 'g' }"), g).status();
  CHECK(refused.message() == "GraphDef: no such op: Foo ('a')");
}

TEST_CASE("the depth of nested calls is limited") {
  std::string library = "library { function { signature { name: 'f40' } } ";
  for (int i = 0; i < 40; ++i) // each calls the next one twice
    library += concat("function { signature { name: 'f", i, "' } node_def { name: 'a' op: 'f",
                      i + 1, "' } node_def { name: 'b' op: 'f", i + 1, "' } } ");
  graph g{troupe::library()};
  auto outcome = read_graph_def_text(concat(library, "} node { name: 'c' op: 'f0' }"), g).status();
  CHECK(outcome.kind() == error_kind::resource_exhausted);
}

} // namespace
} // namespace troupe::test::graph_def_functions_test
