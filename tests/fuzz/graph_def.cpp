// Binary GraphDefs: what read_graph_def() takes can be written and read again.
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::graph_def {

FUZZ_TARGET(graph_def) {
  graph into{fuzz::all_ops()};
  if (!read_graph_def(fuzz::bytes(data, size), into, {.filled_bytes = 1 << 20}))
    return 0;
  if (!into.nodes().empty()) {
    // A part of it. The file may lack the name, or have it within a loop that is then cut short.
    const auto& some = *into.nodes()[size % into.nodes().size()];
    graph part{fuzz::all_ops()};
    auto read = read_graph_def(fuzz::bytes(data, size), part,
                               {.filled_bytes = 1 << 20, .wanted = {some.name()}});
    fuzz::require(read || read.status().kind() != error_kind::internal);
  }
  auto again = write_graph_def(into);
  if (again.status().message().find("by a handle, but it has none") != std::string::npos)
    return 0; // TensorFlow 1's branches and loops may change variables by reference
  fuzz::require(again.ok());
  graph copy{fuzz::all_ops()};
  fuzz::require(read_graph_def(std::as_bytes(std::span{*again}), copy).ok());
  fuzz::require(describe(copy) == describe(into));
  return 0;
}

} // namespace troupe::fuzz::graph_def
