#include "troupe/api/layers/embedding.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>

namespace troupe {

embedding_table::embedding_table(graph_builder& in, int64_t rows, int64_t width,
                                 embedding_options options, dtype type, location where)
    : rows_(rows), width_(width) {
  auto parts = std::max<int64_t>(1, static_cast<int64_t>(options.devices.size()));
  if (rows < parts || width < 1)
    throw error{invalid("embedding_table (", to_string(where), "): a table of ", rows, " by ",
                        width, " cannot be in ", parts, " parts")};
  auto scope = in.scope(options.name, where);
  for (int64_t i = 0; i < parts; ++i) {
    auto on = in.on(options.devices.empty() ? "" : options.devices[static_cast<size_t>(i)], where);
    auto here = (rows - i + parts - 1) / parts;
    parts_.push_back(in.variable(options.values(in, {here, width}, type, where),
                                 parts == 1 ? "table" : concat("part_", i), where));
  }
}

edge embedding_table::operator()(operand numbers, location where) const {
  if (parts_.size() == 1)
    return gather(parts_.front(), numbers, {}, {}, where);
  auto count = static_cast<int32_t>(parts_.size());
  auto all = cast(numbers, dtype::i32, {}, where);
  auto flat = reshape(all, {-1}, {}, where);
  auto places = range(flat.node->graph(), 0, size_of(flat, {}, {}, where), 1, {}, where);
  auto owner = floor_mod(flat, count, {}, where); // of a negative number, one of them, too
  auto places_of = dynamic_partition(places, owner, count, {}, where);
  auto rows_of = dynamic_partition(floor_div(flat, count, {}, where), owner, count, {}, where);
  std::vector<edge> found;
  for (size_t i = 0; i < parts_.size(); ++i) {
    auto& in = parts_[i].ref.node->graph();
    in.push_device(parts_[i].ref.node->device());
    graph_scope on{in, graph_scope::kind::device};
    found.push_back(gather(parts_[i], rows_of[i], {}, {}, where));
  }
  auto rows = dynamic_stitch(places_of, found, {}, where);
  auto width = fill(flat.node->graph(), {1}, static_cast<int32_t>(width_), {}, where);
  auto dims = concatenate({shape_of(all, {}, {}, where), width}, 0, {}, where);
  return reshape(rows, dims, {}, where);
}

} // namespace troupe
