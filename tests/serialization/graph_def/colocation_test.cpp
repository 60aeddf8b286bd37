// The attribute _class in GraphDefs and text graphs.
#include "tests/serialization/small_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/text/text_graph.hpp"
#include "troupe/serialization/wire/wire.hpp"

namespace troupe::test::colocation_test {
namespace {

using names = std::vector<std::string_view>;

constexpr const char* file = R"(
  node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: '_class' value { list { s: 'loc:@x' } } } }
  node { name: 'y' op: 'Add' input: 'x' input: 'x'
         attr { key: 'T' value { type: DT_FLOAT } }
         attr { key: '_class' value { list { s: 'loc:@x' s: 'other' s: 'loc:@z' s: 'loc:@x' } } } }
  node { name: 'z' op: 'Add' input: 'x' input: 'x'
         attr { key: 'T' value { type: DT_FLOAT } }
         attr { key: '_class' value { list { s: 'loc:@gone' } } } }
)";

} // namespace

TEST_CASE("colocation groups of GraphDefs are read and written; a node's own group is omitted") {
  graph in{small_registry()};
  auto read = read_graph_def_text(file, in);
  INFO(read.status());
  REQUIRE(read);
  CHECK(colocated_with(*in.find("x")).empty());
  CHECK(colocated_with(*in.find("y")) == names{"x", "z"});
  CHECK(colocated_with(*in.find("z")) == names{"gone"});
  for (auto format : {graph_def_format::text, graph_def_format::binary}) {
    auto written = write_graph_def(in, format);
    REQUIRE(written);
    graph reread{small_registry()};
    auto bytes = std::as_bytes(std::span{*written});
    REQUIRE((format == graph_def_format::text ? read_graph_def_text(*written, reread)
                                              : read_graph_def(bytes, reread)));
    CHECK(colocated_with(*reread.find("y")) == names{"x", "z"});
    CHECK(colocated_with(*reread.find("z")).empty()); // TensorFlow refuses absent names
  }
}

TEST_CASE("names of groups are in the scope that a GraphDef is read into") {
  graph in{small_registry()};
  in.push_scope("copy");
  REQUIRE(read_graph_def_text(file, in));
  in.pop_scope();
  CHECK(colocated_with(*in.find("copy/y")) == names{"copy/x", "copy/z"});
}

TEST_CASE("text graphs and the wire have colocation groups, too") {
  graph in{small_registry()};
  REQUIRE(parse_text_graph("x = Placeholder dtype=f32\n"
                           "y = Add(x, x) _class=[\"loc:@x\"] @\"/cpu:0\"\n",
                           "test", in));
  CHECK(colocated_with(*in.find("y")) == names{"x"});
  auto bytes = write_graph(in);
  REQUIRE(bytes);
  graph copied{small_registry()};
  REQUIRE(read_graph(std::as_bytes(bytes->values<uint8_t>()), copied));
  CHECK(colocated_with(*copied.find("y")) == names{"x"});

  graph bad{small_registry()};
  auto refused = parse_text_graph("x = Placeholder dtype=f32 _class=[\"x\"]\n", "test", bad);
  REQUIRE(!refused);
  CHECK_THAT(refused.status().message(), Catch::Matchers::Contains("must list texts such as"));
}

TEST_CASE("groups in a function's body are those of the inlined nodes") {
  pass_case at{R"(
    body f(x: f32[2]) {
      a = Exp(x)
      b = Log(a) _class=["loc:@a", "loc:@elsewhere"]
      return b
    }
    x = Placeholder dtype=f32 shape=[2]
    c = PartitionedCall(x) f=f
    feed x = f32[1, 2]
    fetch c
  )"};
  REQUIRE(optimize(at.closed, {.fuse = false}, &host()).ok());
  CHECK(colocated_with(at["c/b"]) == names{"c/a", "elsewhere"});
}

} // namespace troupe::test::colocation_test
