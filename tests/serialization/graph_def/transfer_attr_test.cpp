// The attribute _f32_transfer in GraphDefs, in text graphs and on the wire.
#include "troupe/runtime/graph/transfer_attr.hpp"

#include "tests/serialization/small_ops.hpp"
#include "tests/support/catch.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/text/text_graph.hpp"
#include "troupe/serialization/wire/wire.hpp"

namespace troupe::test::transfer_attr_test {

TEST_CASE("a node's transfer mode is kept in each format of a graph") {
  graph in{small_registry()};
  REQUIRE(parse_text_graph("x = Placeholder dtype=f32\n"
                           "y = Add(x, x) _f32_transfer=\"truncated\"\n",
                           "test", in));
  auto is_kept = [](const graph& copied) {
    return transfer_of(*copied.find("y")) == f32_transfer::truncated &&
           !transfer_of(*copied.find("x"));
  };
  CHECK(is_kept(in));
  auto bytes = write_graph(in);
  REQUIRE(bytes);
  graph sent{small_registry()};
  REQUIRE(read_graph(std::as_bytes(bytes->values<uint8_t>()), sent));
  CHECK(is_kept(sent));
  auto file = write_graph_def(in, graph_def_format::binary);
  REQUIRE(file);
  graph read{small_registry()};
  REQUIRE(read_graph_def(std::as_bytes(std::span{*file}), read));
  CHECK(is_kept(read));
}

TEST_CASE("other transfer modes are refused") {
  graph in{small_registry()};
  auto refused =
      parse_text_graph("x = Placeholder dtype=f32 _f32_transfer=\"short\"\n", "test", in);
  REQUIRE(!refused);
  CHECK_THAT(
      refused.status().message(),
      Catch::Matchers::Contains(R"(_f32_transfer must be "exact", "truncated" or "rounded")"));
}

} // namespace troupe::test::transfer_attr_test
