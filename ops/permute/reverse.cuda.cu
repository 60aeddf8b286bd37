#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/permute/shared/reverse_sequence.hpp"

namespace troupe::ops::reverse_gpu {
namespace {

struct reversed_place {
  gpu::integers lengths;
  gpu::device_errors wrong;
  gpu::divisor by_step, by_extent, by_row_step, by_rows;
  int64_t step, extent;

  TROUPE_DEVICE int64_t operator()(int64_t place) const {
    auto time = by_extent(by_step(place).quotient).rest;
    auto length = lengths[by_rows(by_row_step(place).quotient).rest];
    if (length < 0 || length > extent) {
      wrong.add(length, extent + 1);
      return -1;
    }
    return time < length ? place + (length - 1 - 2 * time) * step : place;
  }
};

status run_reverse_sequence(kernel_context& at) {
  const auto &x = at.input(0), &lengths = at.input(1);
  const auto& dims = x.dims();
  const auto& axes = at.state<sequence_axes>();
  TROUPE_TRY(check_sequences(at, axes));
  auto sequence = static_cast<int>(axes.along), row = static_cast<int>(axes.batch);
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (x.elements() == 0)
    return {};
  // The axes after the last reversed one move in blocks.
  auto block = product(dims, std::max(sequence, row) + 1, dims.rank());
  auto strides = strides_of(dims);
  auto step = strides[static_cast<size_t>(sequence)] / block;
  auto row_step = strides[static_cast<size_t>(row)] / block;
  auto elements = x.elements();
  return gpu::take_blocks(at, x, block, *out,
                          reversed_place{gpu::integers{lengths},
                                         {at, "seq_lengths"},
                                         {step, elements},
                                         {dims[sequence], elements},
                                         {row_step, elements},
                                         {dims[row], elements},
                                         step,
                                         dims[sequence]});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(reverse_sequence){
    .op = "ReverseSequence",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_reverse_sequence}},
    .prepare = keep_sequence_axes,
};

} // namespace troupe::ops::reverse_gpu
