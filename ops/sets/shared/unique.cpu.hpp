// Shared by the kernels of Unique, UniqueV2 and UniqueWithCounts.
#pragma once
#include "troupe/ops/sets/shared/unique.hpp"
#include "troupe/ops/sets/shared/unique_shapes.hpp"

#include <limits>

namespace troupe::ops {

/// The first row of each kind of equal rows, and the kind of each row.
struct kinds {
  std::vector<int64_t> first;
  std::vector<int64_t> of_row;
};

inline kinds kinds_of(kernel_context& at, const tensor& x, int64_t rows, int64_t length) {
  kinds kinds_found;
  distinct_rows different{x.type(), length};
  for (int64_t i = 0; i < rows && !(i % 10'000 == 9'999 && at.stopped()); ++i) {
    kinds_found.of_row.push_back(different.number_of(element_at(x, i * length)));
    if (kinds_found.of_row.back() == static_cast<int64_t>(kinds_found.first.size()))
      kinds_found.first.push_back(i);
  }
  return kinds_found;
}

/// Writes these numbers to output i as an index vector.
inline status put_integers(kernel_context& at, int i, const std::vector<int64_t>& values) {
  TROUPE_ASSIGN(auto* out, at.allocate(i, {static_cast<int64_t>(values.size())}));
  if (out->type() == dtype::i32 && out->elements() > int64_t{std::numeric_limits<int32_t>::max()})
    return invalid("more places than an i32 can name");
  for (size_t k = 0; k < values.size(); ++k)
    set_integer(*out, static_cast<int64_t>(k), values[k]);
  return {};
}

/// Writes the number of rows of each kind to output 2.
inline status put_counts(kernel_context& at, const kinds& row_kinds) {
  std::vector<int64_t> counts(row_kinds.first.size());
  for (auto kind : row_kinds.of_row)
    ++counts[static_cast<size_t>(kind)];
  return put_integers(at, 2, counts);
}

/// Computes outputs 0 and 1 from the slices of input 0.
inline result<kinds> unique_slices(kernel_context& at, const tensor_slices& slices) {
  const auto& x = at.input(0);
  TROUPE_TRY(at.allocate(1, {slices.count})); // checks the size before the loop
  TROUPE_ASSIGN(auto rows, slices_as_rows(at, slices));
  auto row_kinds = kinds_of(at, rows, slices.count, slices.length());
  auto dims = x.dims();
  dims.set(slices.axis, static_cast<int64_t>(row_kinds.first.size()));
  TROUPE_ASSIGN(auto* y, at.allocate(0, dims));
  if (y->elements() > 0) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < slices.outer; ++i)
      for (auto slice : row_kinds.first)
        places.push_back(i * slices.count + slice);
    take_blocks(at, x, places, slices.inner, *y);
  }
  TROUPE_TRY(put_integers(at, 1, row_kinds.of_row));
  return row_kinds;
}

/// The same for a vector, and for the slices along the axis in input 1.
inline result<kinds> unique_elements(kernel_context& at) {
  TROUPE_ASSIGN(auto slices, vector_slices(at));
  return unique_slices(at, slices);
}
inline result<kinds> unique_slices(kernel_context& at) {
  TROUPE_ASSIGN(auto slices, axis_slices(at));
  return unique_slices(at, slices);
}

} // namespace troupe::ops
