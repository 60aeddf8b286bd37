#include "troupe/ops/sparse/shared/sparse.hpp"

#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::ops {

result<partial_sparse> infer_sparse(const infer_context& at, sparse_inputs inputs) {
  TROUPE_ASSIGN(auto indices, at.of_rank(inputs.indices, 2));
  TROUPE_ASSIGN(auto values, at.of_rank(inputs.values, 1));
  TROUPE_ASSIGN(auto dims, listed_extents(at, inputs.dims));
  partial_sparse inferred{std::max(indices[0], values[0]), dims};
  if (std::min(indices[0], values[0]) != unknown_extent && indices[0] != values[0])
    return at.invalid("there must be a value for each index, got indices ", indices, " and values ",
                      values);
  if (!dims.has_rank() && indices[1] != unknown_extent && indices[1] <= max_rank)
    inferred.dims = partial_shape::of_rank(static_cast<int>(indices[1]));
  if (indices[1] != unknown_extent && inferred.dims.rank() != indices[1])
    return at.invalid("indices ", indices, " have ", indices[1],
                      " coordinates each, the dense shape lists ", inferred.dims.rank(),
                      " extents");
  return inferred;
}

result<shape> dense_shape(const tensor& indices, const tensor& dims) {
  if (indices.rank() != 2)
    return invalid("indices must have 2 axes, got shape ", indices.dims());
  if (dims.rank() != 1)
    return invalid("the dense shape must be a vector, got shape ", dims.dims());
  if (indices.dims()[1] != dims.elements())
    return invalid("indices have ", indices.dims()[1],
                   " coordinates each, but the dense shape lists ", dims.elements(), " extents");
  return shape::make(to_integers(dims));
}

result<sparse_view> sparse_view::make(const tensor& indices, const tensor& dims) {
  sparse_view view;
  TROUPE_ASSIGN(view.dims_, dense_shape(indices, dims));
  auto coordinates = to_integers(indices);
  view.indices_.assign(coordinates.begin(), coordinates.end());
  auto count = indices.dims()[0];
  view.positions_.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int axis = 0; axis < view.rank(); ++axis) {
      auto extent = view.dims_[axis], coordinate = view.index(i)[static_cast<size_t>(axis)];
      if (coordinate < 0 || coordinate >= extent)
        return invalid("index ", i, " has the coordinate ", coordinate, " for axis ", axis,
                       ", but the dense shape is ", view.dims_);
      position = position * extent + coordinate;
    }
    view.positions_[static_cast<size_t>(i)] = position;
  }
  return view;
}

result<sparse_view> sparse_view::read(const kernel_context& at, sparse_inputs inputs) {
  const auto &indices = at.input(inputs.indices), &values = at.input(inputs.values);
  if (values.rank() != 1)
    return invalid("values must be a vector, got shape ", values.dims());
  TROUPE_ASSIGN(auto view, make(indices, at.input(inputs.dims)));
  if (values.elements() != view.count())
    return invalid("there must be a value for each index, got ", values.elements(), " values for ",
                   view.count(), " indices");
  view.values_ = values;
  return view;
}

status sparse_view::in_order() const {
  for (size_t i = 1; i < positions_.size(); ++i)
    if (positions_[i] <= positions_[i - 1])
      return invalid("indices must be in lexicographic order, each once: index ", i,
                     positions_[i] == positions_[i - 1] ? " is there twice"
                                                        : " must come earlier; see SparseReorder");
  return {};
}

std::vector<int64_t> sparse_view::sorted() const {
  std::vector<int64_t> order(positions_.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!std::ranges::is_sorted(positions_))
    std::ranges::stable_sort(order, {},
                             [this](int64_t i) { return positions_[static_cast<size_t>(i)]; });
  return order;
}

std::vector<int64_t> sparse_view::positions_in(const shape& other) const {
  auto strides = strides_of(other);
  auto missing = static_cast<size_t>(rank() - other.rank());
  std::vector<int64_t> dense_positions(positions_.size());
  for (int64_t i = 0; i < count(); ++i)
    for (size_t axis = missing; axis < static_cast<size_t>(rank()); ++axis)
      if (other[static_cast<int>(axis - missing)] != 1)
        dense_positions[static_cast<size_t>(i)] += index(i)[axis] * strides[axis - missing];
  return dense_positions;
}

status make_indices(kernel_context& at, int i, std::span<const int64_t> positions,
                    const shape& dims) {
  auto count = static_cast<int64_t>(positions.size());
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{count, dims.rank()}));
  auto* to = out->data<int64_t>();
  for (auto position : positions) {
    for (int axis = dims.rank() - 1; axis >= 0; --axis) {
      to[axis] = position % dims[axis];
      position /= dims[axis];
    }
    to += dims.rank();
  }
  return {};
}

status make_values(kernel_context& at, int i, const tensor& from,
                   std::span<const int64_t> element_numbers) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{static_cast<int64_t>(element_numbers.size())}));
  with_word(from.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto* values = static_cast<const T*>(from.raw());
    std::ranges::transform(element_numbers, static_cast<T*>(out->raw()),
                           [values](int64_t k) { return values[k]; });
  });
  return {};
}

status make_dims(kernel_context& at, int i, const shape& dims) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, shape{dims.rank()}));
  std::ranges::copy(dims, out->data<int64_t>());
  return {};
}

std::optional<int64_t> sparse_block::position_of(std::span<const int64_t> index) const {
  int64_t position = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    auto extent = dims[static_cast<int>(axis)], inside = index[axis] - start[axis];
    if (inside < 0 || inside >= extent)
      return std::nullopt;
    position = position * extent + inside;
  }
  return position;
}

result<sparse_block> read_block(const tensor& start, const tensor& size, const shape& within) {
  if (start.rank() != 1 || start.elements() != within.rank() || size.rank() != 1 ||
      size.elements() != within.rank())
    return invalid("start and size must be vectors of ", within.rank(), " numbers, got shapes ",
                   start.dims(), " and ", size.dims());
  auto first = to_integers(start), extents = to_integers(size);
  sparse_block block{within, {}};
  for (int axis = 0; axis < within.rank(); ++axis) {
    auto begin = first[static_cast<size_t>(axis)], extent = extents[static_cast<size_t>(axis)];
    if (begin < 0 || extent < 0)
      return invalid("start and size must not be negative, got ", begin, " and ", extent,
                     " for axis ", axis);
    block.start[static_cast<size_t>(axis)] = begin;
    block.dims.set(axis, std::clamp<int64_t>(within[axis] - begin, 0, extent));
  }
  return block;
}

std::vector<sparse_pair> pair_up(const sparse_view& a, const sparse_view& b) {
  std::vector<sparse_pair> pairs;
  pairs.reserve(static_cast<size_t>(std::max(a.count(), b.count())));
  int64_t i = 0, k = 0;
  while (i < a.count() || k < b.count()) {
    auto in_a = i < a.count() ? a.positions()[static_cast<size_t>(i)] : INT64_MAX;
    auto in_b = k < b.count() ? b.positions()[static_cast<size_t>(k)] : INT64_MAX;
    pairs.push_back({in_a <= in_b ? i++ : -1, in_b <= in_a ? k++ : -1});
  }
  return pairs;
}

edge dense_at(edge indices, edge shape_source, edge dims, edge dense) {
  return build("SparseDenseCwiseMul", {indices, build("OnesLike", {shape_source}), dims, dense});
}

edge numbers_of(edge list) {
  return build("Range", {constant_like(list, tensor::scalar(int64_t{0})),
                         build("Size", {list}, {{"out_type", dtype::i64}}),
                         constant_like(list, tensor::scalar(int64_t{1}))});
}

edge put_back(edge reordered, edge came_from) {
  return build("Gather", {reordered, build("InvertPermutation", {came_from})});
}

edge gathered_in(edge shape_source, edge values, edge numbers) {
  auto count = build("Size", {shape_source}, {{"out_type", dtype::i64}});
  return build("UnsortedSegmentSum", {values, numbers, count});
}

} // namespace troupe::ops
