#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"
#include "troupe/ops/sets/shared/equal_rows.cuda.hpp"

namespace troupe::ops::list_diff_gpu {
namespace {

// The elements of y come before those of x: whether y has one of a run, the first tells.
struct list_diff_body {
  gpu::row_runs rows;
  int64_t without; // elements of y
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
  auto left = x.elements(), without = y.elements(), all = left + without;
  TROUPE_ASSIGN(auto both, gpu::room_for(at, all, x.type()));
  copy_elements({y}, {both}, without);
  copy_elements({x}, {both, without}, left);
  TROUPE_ASSIGN(auto equal, gpu::find_equal_rows<T>(at, both, all, 1));
  TROUPE_ASSIGN(auto is_left, gpu::room_for(at, left, dtype::u8));
  TROUPE_TRY(gpu::for_each(
      at, all, list_diff_body{equal.seen(), without, is_left.template data<uint8_t>()}));
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
  auto all = at.input(0).elements();
  TROUPE_ASSIGN(auto before, gpu::counted_before(at, 1, all, all));
  auto count = before.counts[0];
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count}));
  TROUPE_TRY(gpu::take_blocks(at, at.input(0), 1, *out, list_diff_place{before.kept, all}));
  return gpu::put_integers(at, 1, before.kept, count);
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
