#include "troupe/api/layers/partitioned.hpp"

#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace troupe {
namespace {

// The extents of the slices along the axis.
std::vector<int64_t> sizes_of(const partition_options& options, const shape& dims,
                              std::source_location where) {
  constexpr auto what = "partitioned_variable";
  if (options.axis < 0 || options.axis >= dims.rank())
    reject(what, where, "the shape ", dims, " has no axis ", options.axis);
  auto extent = dims[options.axis];
  auto sizes = options.sizes;
  if (sizes.empty()) {
    if (options.slices < 1 || options.slices > extent)
      reject(what, where, "axis ", options.axis, " of ", dims, " cannot be in ", options.slices,
             " slices");
    for (int64_t i = 0; i < options.slices; ++i)
      sizes.push_back(extent / options.slices + (i < extent % options.slices ? 1 : 0));
  }
  int64_t left = extent;
  for (auto size : sizes) {
    if (size < 1 || size > left)
      reject(what, where, "the sizes of the slices must be positive, and their sum the extent ",
             extent, " of axis ", options.axis);
    left -= size;
  }
  if (left != 0)
    reject(what, where, "the sizes of the slices must be positive, and their sum the extent ",
           extent, " of axis ", options.axis);
  return sizes;
}

// As checkpoints write it: the whole's extents, then where the slice begins and its extent, by
// axis.
std::string place_of(const shape& whole, int axis, int64_t first, int64_t size) {
  std::string text;
  for (auto extent : whole)
    text += concat(extent, ' ');
  for (int i = 0; i < whole.rank(); ++i)
    text += concat(i ? ":" : "", i == axis ? first : 0, ',', i == axis ? size : whole[i]);
  return text;
}

// Makes the slices; `initial` gives the value of the one that begins there.
std::vector<variable_handle>
make_slices(graph_builder& in, const shape& dims, const partition_options& options,
            std::string_view name, std::source_location where,
            const std::function<edge(int64_t first, const shape& of)>& initial) {
  auto sizes = sizes_of(options, dims, where);
  auto scope = in.scope(name, where);
  auto whole = in.graph::scope().substr(0, in.graph::scope().size() - 1);
  std::vector<variable_handle> made;
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto& all = options.devices;
    auto on = in.on(all.empty() ? "" : all[i % all.size()], where);
    auto part = dims;
    part.set(options.axis, sizes[i]);
    detail::variable_spec like{
        .by_handle = options.by_handle,
        .attrs = {{"_slice_of", whole}, {"_slice", place_of(dims, options.axis, first, sizes[i])}}};
    made.push_back(detail::add_variable(in, initial(first, part), concat("part_", i), where, like));
    first += sizes[i];
  }
  return made;
}

// Reads numbers up to one of the ends, and takes them off.
std::optional<std::vector<int64_t>> take_numbers(std::string_view& text, std::string_view between) {
  std::vector<int64_t> found;
  while (!text.empty()) {
    int64_t number = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0)
      return std::nullopt;
    found.push_back(number);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    if (!text.empty()) {
      if (between.find(text.front()) == between.npos)
        return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return found;
}

edge rows_at(const variable_handle& part, const operand& numbers, std::source_location where) {
  auto& in = part.ref.node->graph();
  in.push_device(part.ref.node->device());
  graph_scope on{in, graph_scope::kind::device};
  return detail::is_by_handle(part) ? resource_gather(part, numbers, {}, {}, where)
                                    : gather(part, numbers, {}, {}, where);
}

// Which part has each row, and at which place there.
struct row_places {
  edge owner, row;
};

row_places places_by_mod(edge numbers, size_t parts, std::source_location where) {
  auto count = static_cast<int64_t>(parts);
  return {floor_mod(numbers, count, {}, where), floor_div(numbers, count, {}, where)};
}

// Numbers before the first row go to the first part, and those behind the last to the last: both
// have no such row.
row_places places_by_div(edge numbers, const std::vector<variable_handle>& parts,
                         std::source_location where) {
  std::vector<int64_t> begins{0};
  for (const auto& part : parts) {
    if (part.dims().rank() < 1 || part.dims()[0] == unknown_extent)
      reject("embedding_lookup", where, part.ref.node->description(), " has the shape ",
             part.dims(), "; where its rows begin must be known");
    begins.push_back(begins.back() + part.dims()[0]);
  }
  begins.pop_back();
  std::vector<int64_t> later{begins.begin() + 1, begins.end()};
  auto behind =
      greater_equal(expand_dims(numbers, -1, {}, where), tensor::vector(later), {}, where);
  auto owner = sum(cast(behind, dtype::i64, {}, where), {-1}, {}, {}, where);
  return {owner, sub(numbers, gather(tensor::vector(begins), owner, {}, {}, where), {}, where)};
}

} // namespace

std::optional<variable_slice> slice_of(const variable_handle& variable) {
  const auto* node = resource_behind(variable);
  auto text_of = [&](std::string_view name) {
    auto it = node ? node->attrs().find(name) : attr_map::const_iterator{};
    return node && it != node->attrs().end() ? *it->second.get_if<std::string>() : std::string{};
  };
  auto whole = text_of("_slice_of"), place = text_of("_slice");
  std::string_view rest = place;
  auto split = std::min(rest.rfind(' '), rest.size());
  auto extents = rest.substr(0, split);
  rest.remove_prefix(std::min(split + 1, rest.size()));
  auto full = take_numbers(extents, " "), parts = take_numbers(rest, ",:");
  if (whole.empty() || !full || !parts || parts->size() != 2 * full->size())
    return std::nullopt;
  std::vector<int64_t> first, dims;
  for (size_t i = 0; i < full->size(); ++i) {
    first.push_back((*parts)[2 * i]);
    dims.push_back((*parts)[2 * i + 1]);
  }
  auto known = [](const std::vector<int64_t>& values) { return shape::make(values); };
  auto a = known(*full), b = known(first), c = known(dims);
  if (!a || !b || !c)
    return std::nullopt;
  return variable_slice{std::move(whole), *a, *b, *c};
}

partitioned_variable::partitioned_variable(graph_builder& in, operand initial,
                                           std::string_view name, partition_options options,
                                           location where)
    : axis_(options.axis) {
  auto whole = initial.is_edge() ? initial.from() : in.constant(initial, {}, where);
  if (whole.is_nothing() || !whole.dims().fully_known())
    reject("partitioned_variable", where, "the shape of the initial value of '", name,
           "' must be known");
  dims_ = whole.dims().known();
  slices_ = make_slices(in, dims_, options, name, where, [&](int64_t first, const shape& part) {
    std::vector<int64_t> begin(static_cast<size_t>(dims_.rank()), 0);
    begin[static_cast<size_t>(axis_)] = first;
    return slice(whole, tensor::vector(begin),
                 tensor::vector(std::vector<int64_t>{part.begin(), part.end()}), {}, where);
  });
}

partitioned_variable::partitioned_variable(graph_builder& in, const shape& dims,
                                           const initializer& values, std::string_view name,
                                           partition_options options, dtype type, location where)
    : dims_(dims), axis_(options.axis) {
  need_function("partitioned_variable", where, values, "the initializer");
  slices_ = make_slices(in, dims, options, name, where,
                        [&](int64_t, const shape& part) { return values(in, part, type, where); });
}

edge partitioned_variable::value(location where) const {
  std::vector<edge> all;
  for (const auto& one : slices_)
    all.push_back(detail::is_by_handle(one) ? read_variable_op(one, {}, where) : one.ref);
  return all.size() == 1 ? identity(all[0], {}, where) : concatenate(all, axis_, {}, where);
}

edge embedding_lookup(const std::vector<variable_handle>& parts, operand numbers,
                      partition_strategy strategy, std::source_location where) {
  if (parts.empty())
    reject("embedding_lookup", where, "a table has at least one part");
  for (const auto& part : parts)
    need_edge("embedding_lookup", where, part, "a part");
  if (parts.size() == 1)
    return rows_at(parts[0], numbers, where);
  auto count = static_cast<int64_t>(parts.size());
  auto all = cast(numbers, dtype::i64, {}, where);
  auto flat = reshape(all, {-1}, {}, where);
  auto places = range(flat.node->graph(), 0, size_of(flat, {}, {}, where), 1, {}, where);
  auto [owner, row] = strategy == partition_strategy::mod ? places_by_mod(flat, parts.size(), where)
                                                          : places_by_div(flat, parts, where);
  auto which = cast(owner, dtype::i32, {}, where);
  auto places_of = dynamic_partition(places, which, count, {}, where);
  auto rows_of = dynamic_partition(row, which, count, {}, where);
  std::vector<edge> found;
  for (size_t i = 0; i < parts.size(); ++i)
    found.push_back(rows_at(parts[i], rows_of[i], where));
  auto rows = dynamic_stitch(places_of, found, {}, where);
  auto of_all = shape_of(all, {}, {}, where);
  // A stitch of nothing does not know how long a row is; a part does.
  auto of_part = shape_of(found[0], {}, {}, where);
  auto of_row = slice(of_part, {1}, {-1}, {}, where);
  return reshape(rows, concatenate({of_all, of_row}, 0, {}, where), {}, where);
}

} // namespace troupe
