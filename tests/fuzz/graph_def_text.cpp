// GraphDefs as text: what read_graph_def_text() takes can be written and read again.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"

namespace troupe::fuzz::graph_def_text {

FUZZ_TARGET(graph_def_text) {
  graph into{fuzz::all_ops()};
  std::string_view text{reinterpret_cast<const char*>(data), size};
  if (!read_graph_def_text(text, into, {.filled_bytes = 1 << 20}))
    return 0;
  auto again = write_graph_def(into, graph_def_format::text);
  if (again.status().message().find("by a handle, but it has none") != std::string::npos)
    return 0; // TensorFlow 1's branches and loops may change variables by reference
  fuzz::require(again.ok());
  graph copy{fuzz::all_ops()};
  fuzz::require(read_graph_def_text(*again, copy).ok());
  fuzz::require(copy.nodes().size() == into.nodes().size());
  return 0;
}

} // namespace troupe::fuzz::graph_def_text
