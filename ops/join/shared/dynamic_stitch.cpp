#include "troupe/ops/join/shared/dynamic_stitch.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/copy.hpp"

#include <algorithm>

namespace troupe::ops {

result<shapes> infer_stitching(const infer_context& at) {
  auto count = at.inputs() / 2;
  auto row = partial_shape::unknown();
  int64_t largest = -1;
  for (int i = 0; i < count; ++i) {
    const auto &indices = at.input(i), &data = at.input(count + i);
    auto known_indices = at.integers(i);
    largest = !known_indices || largest == INT64_MAX ? INT64_MAX
              : known_indices->empty()
                  ? largest
                  : std::max(largest, *std::ranges::max_element(*known_indices));
    if (!indices.has_rank() || !data.has_rank())
      continue;
    auto from = data.extents().begin();
    if (indices.rank() > data.rank() ||
        !indices.compatible(partial_shape{std::vector<int64_t>(from, from + indices.rank())}))
      return at.invalid("the shape of indices ", indices, " must begin the shape of its data ",
                        data);
    auto merged = merge(
        row, partial_shape{std::vector<int64_t>(from + indices.rank(), data.extents().end())});
    if (!merged)
      return at.invalid("all data must have rows of one shape, got ", row, " and those of ", data);
    row = *std::move(merged);
  }
  if (!row.has_rank())
    return shapes{row};
  std::vector<int64_t> extents{largest == INT64_MAX ? unknown_extent : largest + 1};
  extents.insert(extents.end(), row.extents().begin(), row.extents().end());
  TROUPE_ASSIGN(auto dims, partial_shape::make(extents));
  return shapes{dims};
}

edges stitching_gradient(gradient_context& at) {
  auto count = at.inputs() / 2;
  edges parts(static_cast<size_t>(at.inputs()));
  for (int i = 0; i < count; ++i)
    parts[static_cast<size_t>(count + i)] = build("Gather", {at.output_gradient(0), at.input(i)});
  return parts;
}

result<shape> stitched_dims(const kernel_context& at, int count, int64_t rows) {
  auto row_of = [&](int i) {
    return at.input(count + i).dims().extents().subspan(static_cast<size_t>(at.input(i).rank()));
  };
  for (int i = 0; i < count; ++i) {
    const auto &indices = at.input(i), &data = at.input(count + i);
    if (indices.rank() > data.rank() ||
        !std::ranges::equal(indices.dims(),
                            data.dims().extents().first(static_cast<size_t>(indices.rank()))))
      return invalid("the shape of indices ", indices.dims(), " must begin the shape of its data ",
                     data.dims());
    if (!std::ranges::equal(row_of(0), row_of(i)))
      return invalid("all data must have rows of one shape, got ", at.input(count).dims(), " for ",
                     at.input(0).dims(), " and ", data.dims(), " for ", indices.dims());
  }
  std::vector<int64_t> extents{rows};
  extents.insert(extents.end(), row_of(0).begin(), row_of(0).end());
  return shape::make(extents);
}

status stitch(kernel_context& at) {
  auto count = at.inputs() / 2;
  int64_t rows = 0;
  for (int i = 0; i < count; ++i)
    for (auto index : at.input(i).values<int32_t>()) {
      if (index < 0)
        return invalid("indices must not be negative, got ", index);
      rows = std::max<int64_t>(rows, int64_t{index} + 1);
    }
  TROUPE_ASSIGN(auto dims, stitched_dims(at, count, rows));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  for (int i = 0; i < count; ++i)
    put_blocks(at, at.input(count + i), to_integers(at.input(i)), product(dims, 1, dims.rank()),
               *out);
  return {};
}

} // namespace troupe::ops
