#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/sets/shared/equal_rows.cuda.hpp"
#include "troupe/ops/sets/shared/unique.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct mark_firsts_body {
  row_runs rows;
  uint8_t* is_first;
  TROUPE_DEVICE void operator()(int64_t i) const { is_first[rows.order[i]] = rows.begins(i); }
};

// Kinds are numbered in the order of their first occurrence.
struct number_kinds_body {
  row_runs rows;
  const int64_t* firsts_before; // per row
  int64_t* kind_of;             // per row
  int64_t* first_of;            // per kind
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row = rows.order[i], kind = firsts_before[rows.first_at(i)];
    kind_of[row] = kind;
    if (rows.begins(i))
      first_of[kind] = row;
  }
};

struct copy_number_body {
  const int64_t* from;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = from[i]; }
};

// The first half: counts the kinds, and keeps the kind of each row, then the first row of each
// kind. `T` is the type of the comparisons.
template <class T, result<tensor_slices> (*Slices)(const kernel_context&)>
status count_kinds(kernel_context& at) {
  TROUPE_ASSIGN(auto slices, Slices(at));
  auto rows = slices.count;
  TROUPE_ASSIGN(auto* count, make_counts(at, 1));
  TROUPE_ASSIGN(auto* kept_numbers, make_kept(at, shape{2 * rows}));
  TROUPE_ASSIGN(auto elements, slices_as_rows(at, slices));
  TROUPE_ASSIGN(auto equal, find_equal_rows<T>(at, elements, rows, slices.length()));
  TROUPE_ASSIGN(auto is_first, room_for(at, rows, dtype::u8));
  TROUPE_TRY(for_each(at, rows, mark_firsts_body{equal.seen(), is_first.template data<uint8_t>()}));
  TROUPE_ASSIGN(auto firsts_before, partial_sums(at, is_first));
  const auto* firsts = firsts_before.template data<int64_t>();
  TROUPE_TRY(for_each(at, rows,
                      number_kinds_body{equal.seen(), firsts, kept_numbers, kept_numbers + rows}));
  return for_each(at, 1, copy_number_body{firsts + rows, count});
}

// Copies the blocks of the kinds from each outer piece.
struct kind_block {
  divisor by_kinds;
  const int64_t* first_of;
  int64_t count;
  TROUPE_DEVICE int64_t operator()(int64_t block) const {
    auto [outer, kind] = by_kinds(block);
    auto first = first_of[kind];
    return first >= 0 && first < count ? outer * count + first : -1;
  }
};

template <class Number>
struct count_kind_body {
  const int64_t* kind_of;
  int64_t kinds;
  Number* counts;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (auto kind = kind_of[i]; kind >= 0 && kind < kinds)
      atomic_add(counts + kind, Number{1});
  }
};

inline status put_counts(kernel_context& at, const int64_t* kind_of, int64_t rows, int64_t kinds) {
  TROUPE_ASSIGN(auto* out, at.allocate(2, shape{kinds}));
  fill_zeros(at, *out);
  if (out->type() == dtype::i32)
    return for_each(at, rows,
                    count_kind_body<int32_t>{kind_of, kinds, out->template data<int32_t>()});
  return for_each(at, rows,
                  count_kind_body<int64_t>{kind_of, kinds, out->template data<int64_t>()});
}

// The second half, for ops with two outputs or with three.
template <result<tensor_slices> (*Slices)(const kernel_context&)>
status take_kinds(kernel_context& at) {
  TROUPE_ASSIGN(auto slices, Slices(at));
  auto rows = slices.count;
  TROUPE_ASSIGN(auto counted, counted_before(at, 1, rows, 2 * rows));
  auto kinds = counted.counts[0];
  const auto& x = at.input(0);
  auto dims = x.dims();
  dims.set(slices.axis, kinds);
  TROUPE_ASSIGN(auto* y, at.allocate(0, dims));
  const auto* kind_of = counted.kept;
  if (y->elements() > 0)
    TROUPE_TRY(take_blocks(at, x, slices.inner, *y,
                           kind_block{{kinds, slices.outer * kinds}, kind_of + rows, rows}));
  TROUPE_TRY(put_integers(at, 1, kind_of, rows));
  return at.outputs() > 2 ? put_counts(at, kind_of, rows, kinds) : status{};
}

template <class T>
struct unique_of_vector {
  static constexpr kernel_fn run =
      in_halves<count_kinds<T, vector_slices>, take_kinds<vector_slices>>;
};
template <class T>
struct unique_along_axis {
  static constexpr kernel_fn run = in_halves<count_kinds<T, axis_slices>, take_kinds<axis_slices>>;
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::unique_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(unique){
    .op = "Unique",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<gpu::unique_of_vector>(),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(unique_v2){
    .op = "UniqueV2",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<gpu::unique_along_axis>(),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(unique_with_counts){
    .op = "UniqueWithCounts",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<gpu::unique_of_vector>(),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(unique_with_counts_v2){
    .op = "UniqueWithCountsV2",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<gpu::unique_along_axis>(),
};

} // namespace troupe::ops::unique_gpu
