#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/sets/shared/unique_shapes.hpp"

#include <algorithm>
#include <limits>

namespace troupe::ops::edit_distance_cpu {
namespace {

// The sequences of a sparse tensor: the positions of each sequence's elements, by the number of the
// sequence in the output.
class sequences {
public:
  static result<sequences> of(const tensor& indices, const tensor& values, const shape& own_shape,
                              const shape& out) {
    auto rank = static_cast<size_t>(own_shape.rank());
    if (!(indices.dims() == shape{values.elements(), own_shape.rank()}) || values.rank() != 1)
      return invalid("indices must have ", own_shape.rank(),
                     " coordinates for each value, got shapes ", indices.dims(), " and ",
                     values.dims());
    sequences grouped;
    auto strides = strides_of(out);
    const auto* at = indices.data<int64_t>();
    for (int64_t row = 0; row < values.elements(); ++row, at += rank) {
      int64_t number = 0;
      for (size_t i = 0; i < rank; ++i) {
        if (at[i] < 0 || at[i] >= own_shape[static_cast<int>(i)])
          return invalid("indices has the coordinate ", at[i], ", which is outside of axis ", i,
                         " of ", own_shape);
        number += i + 1 < rank ? at[i] * strides[i] : 0;
      }
      grouped.elements_.emplace_back(number, row);
    }
    std::ranges::stable_sort(grouped.elements_, {}, &element::first);
    return grouped;
  }

  using element = std::pair<int64_t, int64_t>; // sequence, index of the value
  std::span<const element> operator[](int64_t number) const {
    auto elements = std::ranges::equal_range(elements_, number, {}, &element::first);
    return {elements.begin(), elements.end()};
  }

private:
  std::vector<element> elements_;
};

// By the algorithm of Wagner and Fischer, keeping one row of its table.
template <class Equal>
int64_t distance(int64_t from, int64_t to, int64_t* row, Equal&& equal, kernel_context& at) {
  for (int64_t j = 0; j <= to; ++j)
    row[j] = j;
  for (int64_t i = 0; i < from && !at.stopped(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (int64_t j = 0; j < to; ++j) {
      auto replaced = diagonal + (equal(i, j) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row[to];
}

result<shape> extents_of(const tensor& listed) {
  if (listed.rank() != 1 || listed.elements() == 0)
    return invalid("a sparse tensor's shape must list its extents, got shape ", listed.dims());
  return shape::make(listed.values<int64_t>());
}

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto from_dims, extents_of(at.input(2)));
  TROUPE_ASSIGN(auto to_dims, extents_of(at.input(5)));
  if (from_dims.rank() != to_dims.rank())
    return invalid("hypothesis and truth must have as many axes, got ", from_dims, " and ",
                   to_dims);
  std::vector<int64_t> extents;
  for (int axis = 0; axis + 1 < from_dims.rank(); ++axis)
    extents.push_back(std::max(from_dims[axis], to_dims[axis]));
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  const auto &from_values = at.input(1), &to_values = at.input(4);
  TROUPE_ASSIGN(auto from, sequences::of(at.input(0), from_values, from_dims, dims));
  TROUPE_ASSIGN(auto to, sequences::of(at.input(3), to_values, to_dims, dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto normalize = at.state<bool>();
  row_identity same{from_values.type(), 1};
  std::vector<int64_t> row(static_cast<size_t>(to_values.elements()) + 1);
  auto* results = out->data<float>();
  for (int64_t i = 0; i < out->elements() && !at.stopped(); ++i) {
    auto a = from[i], b = to[i];
    auto equal = [&](int64_t k, int64_t l) {
      return same.equal(element_at(from_values, a[static_cast<size_t>(k)].second),
                        element_at(to_values, b[static_cast<size_t>(l)].second), 1);
    };
    auto length = static_cast<int64_t>(b.size());
    auto changes =
        static_cast<float>(distance(static_cast<int64_t>(a.size()), length, row.data(), equal, at));
    if (normalize && changes > 0)
      changes = length > 0 ? changes / static_cast<float>(length)
                           : std::numeric_limits<float>::infinity();
    results[i] = changes;
  }
  return {};
}

} // namespace

extern constexpr kernel_def edit_distance_cpu{
    .op = "EditDistance",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<bool, "normalize">,
};

} // namespace troupe::ops::edit_distance_cpu
