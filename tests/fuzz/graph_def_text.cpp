// GraphDefs as text: accepted graphs can be written and read again.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

namespace troupe::fuzz::graph_def_text {

FUZZ_TARGET(graph_def_text) {
  graph nodes{fuzz::all_ops()};
  std::string_view text{reinterpret_cast<const char*>(data), size};
  if (!read_graph_def_text(text, nodes, {.filled_bytes = 1 << 20}))
    return 0;
  auto written = write_graph_def(nodes, graph_def_format::text);
  if (written.status().message().find("by a handle, but it has none") != std::string::npos)
    return 0; // TensorFlow 1's branches and loops may change variables by reference
  fuzz::require(written.ok());
  graph copy{fuzz::all_ops()};
  fuzz::require(read_graph_def_text(*written, copy).ok());
  fuzz::require(copy.nodes().size() == nodes.nodes().size());
  return 0;
}

} // namespace troupe::fuzz::graph_def_text
