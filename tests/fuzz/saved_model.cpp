// SavedModels of any bytes, with and without a checkpoint. Listed models are read; models that can
// be read can be written.
#include "troupe/serialization/graph_def/saved_model.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"

namespace troupe::fuzz::saved_model {

FUZZ_TARGET(saved_model) {
  test::simulated_disk disk{1};
  disk.put("m/saved_model.pb", std::string_view{reinterpret_cast<const char*>(data), size});
  if (size % 2 != 0)
    disk.put("m/variables/variables.index", "");
  auto listed = list_saved_model(disk, "m");
  graph nodes{all_ops()};
  auto read = read_saved_model(disk, "m", nodes, {.filled_bytes = size_t{1} << 20});
  fuzz::require(!read || listed);
  if (!read)
    return 0;
  saved_model_contents contents;
  for (const auto& [name, signature] : read->info.signatures)
    for (const auto& [key, output] : signature.outputs)
      contents.signatures[name].outputs[key] = *read->graph.find_edge(output.tensor);
  (void)write_saved_model(nodes, contents);
  return 0;
}

} // namespace troupe::fuzz::saved_model
