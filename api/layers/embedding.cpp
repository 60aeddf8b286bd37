#include "troupe/api/layers/embedding.hpp"
// Adds embedding tables as partitioned variables.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/partitioned.hpp"

#include <algorithm>

namespace troupe {

embedding_table::embedding_table(graph_builder& in, int64_t rows, int64_t width,
                                 embedding_options options, dtype type, location where)
    : rows_(rows), width_(width) {
  auto parts = std::max<int64_t>(1, static_cast<int64_t>(options.devices.size()));
  if (rows < parts || width < 1)
    throw error{invalid("embedding_table (", to_string(where), "): rows must be at least ", parts,
                        ", one for each part, and width at least 1, got ", rows, " and ", width)};
  need_function("embedding_table", where, options.values, "the initializer");
  auto scope = in.scope(options.name, where);
  for (int64_t i = 0; i < parts; ++i) {
    auto on = in.on(options.devices.empty() ? "" : options.devices[static_cast<size_t>(i)], where);
    auto part_rows = (rows - i + parts - 1) / parts;
    parts_.push_back(in.variable(options.values(in, {part_rows, width}, type, where),
                                 parts == 1 ? "table" : concat("part_", i), where));
  }
}

edge embedding_table::operator()(operand row_numbers, location where) const {
  return embedding_lookup(parts_, row_numbers, partition_strategy::mod, where);
}

} // namespace troupe
