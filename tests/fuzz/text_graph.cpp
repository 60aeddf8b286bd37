// Text graphs: any text is a graph over all ops, or an error with its position.
#include "troupe/serialization/text/text_graph.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::text_graph {

FUZZ_TARGET(text_graph) {
  graph nodes{fuzz::all_ops()};
  std::string_view text{reinterpret_cast<const char*>(data), size};
  auto parsed = parse_text_graph(text, "fuzz", nodes, {.literal_bytes = 1 << 20});
  fuzz::require(parsed.ok() || parsed.status().message().starts_with("fuzz:"));
  return 0;
}

} // namespace troupe::fuzz::text_graph
