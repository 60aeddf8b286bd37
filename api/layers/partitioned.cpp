#include "troupe/api/layers/partitioned.hpp"
// Adds partitioned variables and lookups of their rows.

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace troupe {
namespace {

// Returns the extents of the slices along the axis.
std::vector<int64_t> sizes_of(const partition_options& options, const shape& dims,
                              std::source_location where) {
  constexpr auto function = "partitioned_variable";
  if (options.axis < 0 || options.axis >= dims.rank())
    reject(function, where, "the shape ", dims, " has no axis ", options.axis);
  auto extent = dims[options.axis];
  auto sizes = options.sizes;
  if (sizes.empty()) {
    if (options.slices < 1 || options.slices > extent)
      reject(function, where, "slices must be 1 to ", extent, ", the extent of axis ", options.axis,
             " of ", dims, ", got ", options.slices);
    for (int64_t i = 0; i < options.slices; ++i)
      sizes.push_back(extent / options.slices + (i < extent % options.slices ? 1 : 0));
  }
  int64_t remaining = extent;
  for (auto size : sizes) {
    if (size < 1 || size > remaining)
      reject(function, where, "the sizes of the slices must be positive, and their sum the extent ",
             extent, " of axis ", options.axis);
    remaining -= size;
  }
  if (remaining != 0)
    reject(function, where, "the sizes of the slices must be positive, and their sum the extent ",
           extent, " of axis ", options.axis);
  return sizes;
}

// Formats a slice as in checkpoints: the extents of the whole variable, then the start and the
// extent of the slice for each axis.
std::string slice_text(const shape& whole, int axis, int64_t first, int64_t size) {
  std::string text;
  for (auto extent : whole)
    text += concat(extent, ' ');
  for (int i = 0; i < whole.rank(); ++i)
    text += concat(i ? ":" : "", i == axis ? first : 0, ',', i == axis ? size : whole[i]);
  return text;
}

// Adds the slices. `initial` returns the initial value of the slice that begins at `first`.
std::vector<variable_handle>
make_slices(graph_builder& in, const shape& dims, const partition_options& options,
            std::string_view name, std::source_location where,
            const std::function<edge(int64_t first, const shape& slice_dims)>& initial) {
  auto sizes = sizes_of(options, dims, where);
  auto scope = in.scope(name, where);
  auto whole_name = in.graph::scope().substr(0, in.graph::scope().size() - 1);
  std::vector<variable_handle> slices;
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& devices = options.devices;
    auto on = in.on(devices.empty() ? "" : devices[i % devices.size()], where);
    auto slice_dims = dims;
    slice_dims.set(options.axis, sizes[i]);
    detail::variable_spec spec{
        .use_resource = options.use_resource,
        .attrs = {{"_slice_of", whole_name},
                  {"_slice", slice_text(dims, options.axis, first, sizes[i])}}};
    slices.push_back(
        detail::add_variable(in, initial(first, slice_dims), concat("part_", i), where, spec));
    first += sizes[i];
  }
  return slices;
}

// Parses numbers that end with one of the characters in `between`, and removes them from the text.
std::optional<std::vector<int64_t>> take_numbers(std::string_view& text, std::string_view between) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    int64_t number = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0)
      return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    if (!text.empty()) {
      if (between.find(text.front()) == between.npos)
        return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return numbers;
}

edge rows_at(const variable_handle& part, const operand& numbers, std::source_location where) {
  auto& in = part.ref.node->graph();
  in.push_device(part.ref.node->device());
  graph_scope on{in, graph_scope::kind::device};
  return detail::is_resource_variable(part) ? resource_gather(part, numbers, {}, {}, where)
                                            : gather(part, numbers, {}, {}, where);
}

// For each looked-up row, the index of its part and its index in that part.
struct row_places {
  edge owner, row;
};

row_places places_by_mod(edge numbers, size_t parts, std::source_location where) {
  auto count = static_cast<int64_t>(parts);
  return {floor_mod(numbers, count, {}, where), floor_div(numbers, count, {}, where)};
}

// Numbers before the first row are assigned to the first part, and those after the last row to the
// last part. Neither part has such a row, so the lookup fails.
row_places places_by_div(edge numbers, const std::vector<variable_handle>& parts,
                         std::source_location where) {
  std::vector<int64_t> begins{0};
  for (const auto& part : parts) {
    if (part.dims().rank() < 1 || part.dims()[0] == unknown_extent)
      reject("embedding_lookup", where, part.ref.node->description(), " has the shape ",
             part.dims(), "; its first extent must be known");
    begins.push_back(begins.back() + part.dims()[0]);
  }
  begins.pop_back();
  std::vector<int64_t> later_begins{begins.begin() + 1, begins.end()};
  auto is_in_later_part =
      greater_equal(expand_dims(numbers, -1, {}, where), tensor::vector(later_begins), {}, where);
  auto owner = sum(cast(is_in_later_part, dtype::i64, {}, where), {-1}, {}, {}, where);
  return {owner, sub(numbers, gather(tensor::vector(begins), owner, {}, {}, where), {}, where)};
}

} // namespace

std::optional<variable_slice> slice_of(const variable_handle& variable) {
  const auto* resource_node = resource_behind(variable);
  auto text_of = [&](std::string_view name) {
    auto attr_entry =
        resource_node ? resource_node->attrs().find(name) : attr_map::const_iterator{};
    return resource_node && attr_entry != resource_node->attrs().end()
               ? *attr_entry->second.get_if<std::string>()
               : std::string{};
  };
  auto whole_name = text_of("_slice_of"), slice_attr = text_of("_slice");
  std::string_view remaining = slice_attr;
  auto split = std::min(remaining.rfind(' '), remaining.size());
  auto extents = remaining.substr(0, split);
  remaining.remove_prefix(std::min(split + 1, remaining.size()));
  auto full = take_numbers(extents, " "), parts = take_numbers(remaining, ",:");
  if (whole_name.empty() || !full || !parts || parts->size() != 2 * full->size())
    return std::nullopt;
  std::vector<int64_t> first, dims;
  for (size_t i = 0; i < full->size(); ++i) {
    first.push_back((*parts)[2 * i]);
    dims.push_back((*parts)[2 * i + 1]);
  }
  auto as_shape = [](const std::vector<int64_t>& values) { return shape::make(values); };
  auto full_shape = as_shape(*full), first_shape = as_shape(first), slice_shape = as_shape(dims);
  if (!full_shape || !first_shape || !slice_shape)
    return std::nullopt;
  return variable_slice{std::move(whole_name), *full_shape, *first_shape, *slice_shape};
}

partitioned_variable::partitioned_variable(graph_builder& in, operand initial,
                                           std::string_view name, partition_options options,
                                           location where)
    : axis_(options.axis) {
  auto whole_value = initial.is_edge() ? initial.source() : in.constant(initial, {}, where);
  if (whole_value.is_empty() || !whole_value.dims().fully_known())
    reject("partitioned_variable", where, "the shape of the initial value of '", name,
           "' must be known");
  dims_ = whole_value.dims().known();
  slices_ =
      make_slices(in, dims_, options, name, where, [&](int64_t first, const shape& slice_dims) {
        std::vector<int64_t> begin(static_cast<size_t>(dims_.rank()), 0);
        begin[static_cast<size_t>(axis_)] = first;
        return slice(whole_value, tensor::vector(begin),
                     tensor::vector(std::vector<int64_t>{slice_dims.begin(), slice_dims.end()}), {},
                     where);
      });
}

partitioned_variable::partitioned_variable(graph_builder& in, const shape& dims,
                                           const initializer& values, std::string_view name,
                                           partition_options options, dtype type, location where)
    : dims_(dims), axis_(options.axis) {
  need_function("partitioned_variable", where, values, "the initializer");
  slices_ = make_slices(in, dims, options, name, where, [&](int64_t, const shape& slice_dims) {
    return values(in, slice_dims, type, where);
  });
}

edge partitioned_variable::value(location where) const {
  std::vector<edge> values;
  for (const auto& part : slices_)
    values.push_back(detail::is_resource_variable(part) ? read_variable_op(part, {}, where)
                                                        : part.ref);
  return values.size() == 1 ? identity(values[0], {}, where)
                            : concatenate(values, axis_, {}, where);
}

edge embedding_lookup(const std::vector<variable_handle>& parts, operand numbers,
                      partition_strategy strategy, std::source_location where) {
  if (parts.empty())
    reject("embedding_lookup", where, "needs at least one part");
  for (const auto& part : parts)
    need_edge("embedding_lookup", where, part, "a part");
  if (parts.size() == 1)
    return rows_at(parts[0], numbers, where);
  auto count = static_cast<int64_t>(parts.size());
  auto row_numbers = cast(numbers, dtype::i64, {}, where);
  auto flat = reshape(row_numbers, {-1}, {}, where);
  auto positions = range(flat.node->graph(), 0, size_of(flat, {}, {}, where), 1, {}, where);
  auto [owner, row] = strategy == partition_strategy::mod ? places_by_mod(flat, parts.size(), where)
                                                          : places_by_div(flat, parts, where);
  auto part_index = cast(owner, dtype::i32, {}, where);
  auto positions_by_part = dynamic_partition(positions, part_index, count, {}, where);
  auto rows_by_part = dynamic_partition(row, part_index, count, {}, where);
  std::vector<edge> gathered;
  for (size_t i = 0; i < parts.size(); ++i)
    gathered.push_back(rows_at(parts[i], rows_by_part[i], where));
  auto rows = dynamic_stitch(positions_by_part, gathered, {}, where);
  auto batch_shape = shape_of(row_numbers, {}, {}, where);
  // The shape of a row comes from a part, because an empty stitch does not know it.
  auto part_shape = shape_of(gathered[0], {}, {}, where);
  auto row_shape = slice(part_shape, {1}, {-1}, {}, where);
  return reshape(rows, concatenate({batch_shape, row_shape}, 0, {}, where), {}, where);
}

} // namespace troupe
