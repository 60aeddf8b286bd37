#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::matrix_band_part_gpu {
namespace {

// The widths of the kept band, which are in the device's memory.
template <class T>
struct matrix_band_body {
  gpu::divisor by_columns, by_rows;
  gpu::integers lower, upper;
  gpu::device_errors wrong;
  int64_t rows, columns;
  const T* from;
  T* to;

  TROUPE_DEVICE bool within(int64_t distance, const gpu::integers& scalar,
                            int64_t max_width) const {
    auto width = scalar[0];
    if (width > max_width)
      wrong.add(width, max_width + 1);
    return width < 0 || distance <= width;
  }
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [line, column] = by_columns(i);
    auto row = by_rows(line).rest;
    auto kept = within(row - column, lower, rows) && within(column - row, upper, columns);
    to[i] = kept ? from[i] : T{};
  }
};

status run_matrix_band(kernel_context& at) {
  const auto &x = at.input(0), &lower = at.input(1), &upper = at.input(2);
  TROUPE_ASSIGN(auto in, matrices_of(x.dims()));
  TROUPE_TRY(check_band(lower));
  TROUPE_TRY(check_band(upper));
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, x.dims()));
  auto elements = x.elements();
  return gpu::with_row_unit(static_cast<int64_t>(size_of(x.type())), {}, [&](auto unit, int64_t) {
    using T = typename decltype(unit)::type;
    return gpu::for_each(at, elements,
                         matrix_band_body<T>{{in.columns, elements},
                                             {in.rows, elements},
                                             gpu::integers{lower},
                                             gpu::integers{upper},
                                             {at, "num_lower or num_upper"},
                                             in.rows,
                                             in.columns,
                                             static_cast<const T*>(x.raw()),
                                             static_cast<T*>(out->raw())});
  });
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_band_part){
    .op = "MatrixBandPart",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_matrix_band}},
};

} // namespace troupe::ops::matrix_band_part_gpu
