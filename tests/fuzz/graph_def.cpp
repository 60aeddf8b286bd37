// Binary GraphDefs: accepted graphs can be written and read again.
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::graph_def {

FUZZ_TARGET(graph_def) {
  graph nodes{fuzz::all_ops()};
  if (!read_graph_def(fuzz::bytes(data, size), nodes, {.filled_bytes = 1 << 20}))
    return 0;
  if (!nodes.nodes().empty()) {
    // A part of it. The file may lack the name, or have it within a loop that is then cut off.
    const auto& any_node = *nodes.nodes()[size % nodes.nodes().size()];
    graph part{fuzz::all_ops()};
    auto read = read_graph_def(fuzz::bytes(data, size), part,
                               {.filled_bytes = 1 << 20, .wanted = {any_node.name()}});
    fuzz::require(read || read.status().kind() != error_kind::internal);
  }
  auto written = write_graph_def(nodes);
  if (written.status().message().find("by a handle, but it has none") != std::string::npos)
    return 0; // TensorFlow 1's branches and loops may change variables by reference
  fuzz::require(written.ok());
  graph copy{fuzz::all_ops()};
  fuzz::require(read_graph_def(std::as_bytes(std::span{*written}), copy).ok());
  fuzz::require(describe(copy) == describe(nodes));
  return 0;
}

} // namespace troupe::fuzz::graph_def
