#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/sets/shared/equal_rows.cuda.hpp"

namespace troupe::ops::list_diff_gpu {
namespace {

// The elements of y come before those of x, so the first element of a run shows whether y contains
// it.
struct list_diff_body {
  gpu::row_runs rows;
  int64_t without; // the number of elements of y
  uint8_t* is_left;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto element = rows.order[i];
    if (element >= without)
      is_left[element - without] = rows.first_at(i) >= without;
  }
};

template <class T>
status list_diff_count(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  if (x.rank() != 1 || y.rank() != 1)
    return invalid("x and y must be vectors, got shapes ", x.dims(), " and ", y.dims());
  auto x_count = x.elements(), y_count = y.elements(), total = x_count + y_count;
  TROUPE_ASSIGN(auto joined, gpu::room_for(at, total, x.type()));
  copy_elements({y}, {joined}, y_count);
  copy_elements({x}, {joined, y_count}, x_count);
  TROUPE_ASSIGN(auto equal, gpu::find_equal_rows<T>(at, joined, total, 1));
  TROUPE_ASSIGN(auto is_left, gpu::room_for(at, x_count, dtype::u8));
  TROUPE_TRY(gpu::for_each(
      at, total, list_diff_body{equal.seen(), y_count, is_left.template data<uint8_t>()}));
  TROUPE_ASSIGN(auto selected, gpu::select_flagged(at, is_left));
  at.set_output(0, selected.count.reshaped(shape{1}));
  at.set_output(1, selected.places);
  return {};
}

struct list_diff_place {
  const int64_t* places;
  int64_t limit;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return places[i] < limit ? places[i] : -1; }
};

status list_diff_take(kernel_context& at) {
  auto elements = at.input(0).elements();
  TROUPE_ASSIGN(auto counted, gpu::counted_before(at, 1, elements, elements));
  auto count = counted.counts[0];
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count}));
  TROUPE_TRY(gpu::take_blocks(at, at.input(0), 1, *out, list_diff_place{counted.kept, elements}));
  return gpu::put_integers(at, 1, counted.kept, count);
}

template <class T>
struct list_diff_of {
  static constexpr kernel_fn run = gpu::in_halves<list_diff_count<T>, list_diff_take>;
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(list_diff){
    .op = "ListDiff",
    .device = device_kind::gpu,
    .run = gpu::compared_kernels<list_diff_of>(),
};

} // namespace troupe::ops::list_diff_gpu
