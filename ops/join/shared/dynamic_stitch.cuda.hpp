// The kernels of DynamicStitch and ParallelDynamicStitch for GPUs.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/join/shared/dynamic_stitch.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// Concatenates the indices of all inputs; invalid indices become -1.
struct stitch_index_body {
  device_errors wrong;
  const int32_t* from;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    int64_t index = from[i];
    if (index < 0)
      wrong.add(index, -1);
    to[i] = index < 0 ? -1 : index;
  }
};

struct stitch_source {
  const int64_t* indices;
  TROUPE_DEVICE int64_t operator()(int64_t, int64_t i) const { return indices[i]; }
};
struct stitch_rows_sink {
  int64_t* rows;
  TROUPE_DEVICE void operator()(int64_t, int64_t greatest) const {
    *rows = greatest < 0 ? 0 : greatest + 1;
  }
};

inline constexpr auto max_stitched_rows = int64_t{1} << 31;

inline int64_t stitched_entries(const kernel_context& at, int count) {
  int64_t total = 0;
  for (int i = 0; i < count; ++i)
    total += at.input(i).elements();
  return total;
}

inline status count_stitched(kernel_context& at) {
  auto count = at.inputs() / 2;
  TROUPE_TRY(stitched_dims(at, count, 0));
  auto entries = stitched_entries(at, count);
  TROUPE_ASSIGN(auto* rows, make_counts(at, 1));
  TROUPE_ASSIGN(auto* indices, make_kept(at, shape{entries}));
  int64_t first = 0;
  for (int i = 0; i < count; ++i) {
    const auto& from = at.input(i);
    TROUPE_TRY(for_each(at, from.elements(),
                        stitch_index_body{device_errors{at, "indices must not be negative, got #"},
                                          from.data<int32_t>(), indices + first}));
    first += from.elements();
  }
  return reduce_each<largest, int64_t>(at, 1, entries, false, stitch_source{indices},
                                       stitch_rows_sink{rows});
}

// -- the second half -----------------------------------------------------------------------------

TROUPE_DEVICE inline void raise_to(int64_t* to, int64_t value) {
#ifdef __CUDA_ARCH__
  atomicMax(reinterpret_cast<long long*>(to), static_cast<long long>(value));
#else
  if (*to < value)
    *to = value;
#endif
}

struct no_winner_body {
  int64_t* winners;
  TROUPE_DEVICE void operator()(int64_t row) const { winners[row] = -1; }
};

// Of several entries for one row the last wins, independent of the order of execution.
struct stitch_winner_body {
  const int64_t* indices;
  int64_t rows;
  int64_t* winners;
  TROUPE_DEVICE void operator()(int64_t entry) const {
    if (indices[entry] >= 0 && indices[entry] < rows)
      raise_to(winners + indices[entry], entry);
  }
};

template <class T>
struct stitch_rows_body {
  const int64_t *indices, *winners;
  int64_t rows;
  int64_t first; // the first entry of this input
  divisor by_length;
  int64_t length;
  const T* from;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [row, column] = by_length(i);
    auto index = indices[first + row];
    if (index >= 0 && index < rows && winners[index] == first + row)
      to[index * length + column] = from[i];
  }
};

inline status put_stitched(kernel_context& at) {
  auto count = own_inputs(at) / 2;
  auto entries = stitched_entries(at, count);
  TROUPE_ASSIGN(auto counted, counted_before(at, 1, max_stitched_rows, entries));
  TROUPE_ASSIGN(auto dims, stitched_dims(at, count, counted.counts[0]));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  fill_zeros(at, *out);
  auto rows = dims[0], length = ops::product(dims, 1, dims.rank());
  const auto* indices = counted.kept;
  TROUPE_ASSIGN(auto winner_memory, tensor::make(dtype::i64, shape{rows}, at.memory()));
  auto* winners = winner_memory.template data<int64_t>();
  TROUPE_TRY(for_each(at, rows, no_winner_body{winners}));
  TROUPE_TRY(for_each(at, entries, stitch_winner_body{indices, rows, winners}));
  int64_t first = 0;
  for (int i = 0; i < count; ++i) {
    const auto& from = at.input(count + i);
    auto index_count = at.input(i).elements();
    auto bytes = length * static_cast<int64_t>(size_of(out->type()));
    TROUPE_TRY(with_row_unit(bytes, {from.raw(), out->raw()}, [&](auto unit, int64_t units) {
      using T = typename decltype(unit)::type;
      auto unit_count = index_count * units;
      return for_each(at, unit_count,
                      stitch_rows_body<T>{indices,
                                          winners,
                                          rows,
                                          first,
                                          {units, unit_count},
                                          units,
                                          static_cast<const T*>(from.raw()),
                                          static_cast<T*>(out->raw())});
    }));
    first += index_count;
  }
  return {};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
