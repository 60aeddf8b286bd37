#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::sparse_add_grad_cpu {
namespace {

// A list of indices, of as many coordinates each.
struct index_list {
  integer_list coordinates;
  int64_t count, rank;
  std::span<const int64_t> operator[](int64_t i) const {
    return {coordinates.data() + i * rank, static_cast<size_t>(rank)};
  }
};

status hand_back(kernel_context& at, int to, const index_list& sum) {
  const auto& gradient = at.input(0);
  const auto& given = at.input(1 + to);
  if (given.rank() != 2 || given.dims()[1] != sum.rank)
    return invalid("indices must have the shape [count,", sum.rank, "], as those of the sum, got ",
                   given.dims());
  index_list own{to_integers(given), given.dims()[0], sum.rank};
  TROUPE_ASSIGN(auto* out, at.allocate(to, shape{own.count}));
  std::memset(out->raw(), 0, out->bytes());
  int64_t next = 0;
  for (int64_t i = 0; i < own.count; ++i) {
    while (next < sum.count && std::ranges::lexicographical_compare(sum[next], own[i]))
      ++next;
    if (next < sum.count && std::ranges::equal(sum[next], own[i]))
      copy_elements({gradient, next}, {*out, i}, 1);
  }
  return {};
}

status run(kernel_context& at) {
  const auto &gradient = at.input(0), &summed = at.input(3);
  if (gradient.rank() != 1 || summed.rank() != 2 || summed.dims()[0] != gradient.elements())
    return invalid("there must be a gradient for each index of the sum, got shapes ",
                   gradient.dims(), " and ", summed.dims());
  index_list sum{to_integers(summed), summed.dims()[0], summed.dims()[1]};
  TROUPE_TRY(hand_back(at, 0, sum));
  return hand_back(at, 1, sum);
}

} // namespace

extern constexpr kernel_def sparse_add_grad_cpu{
    .op = "SparseAddGrad",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::sparse_add_grad_cpu
