#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/permute/shared/reverse_sequence.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reverse_cpu {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  const auto& axes = at.state<sequence_axes>();
  TROUPE_TRY(check_sequences(at, axes));
  auto sequence = static_cast<int>(axes.along), row = static_cast<int>(axes.batch);
  auto lengths = to_integers(at.input(1));
  for (auto length : lengths)
    if (length < 0 || length > dims[sequence])
      return invalid("seq_lengths has ", length, ", but axis ", sequence, " of ", dims,
                     " has extent ", dims[sequence]);
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (x.elements() == 0)
    return {};
  // The axes after the last reversed one move in blocks.
  auto block = product(dims, std::max(sequence, row) + 1, dims.rank());
  auto strides = strides_of(dims);
  auto step = strides[static_cast<size_t>(sequence)] / block;
  auto row_step = strides[static_cast<size_t>(row)] / block;
  std::vector<int64_t> places(static_cast<size_t>(x.elements() / block));
  for (size_t i = 0; i < places.size(); ++i) {
    auto place = static_cast<int64_t>(i);
    auto time = place / step % dims[sequence], entry = place / row_step % dims[row];
    auto length = lengths[static_cast<size_t>(entry)];
    places[i] = time < length ? place + (length - 1 - 2 * time) * step : place;
  }
  take_blocks(at, x, places, block, *out);
  return {};
}

} // namespace

extern constexpr kernel_def reverse_sequence_cpu{
    .op = "ReverseSequence",
    .run = {{dtype::none, run}},
    .prepare = keep_sequence_axes,
};

} // namespace troupe::ops::reverse_cpu
