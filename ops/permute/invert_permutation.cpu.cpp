#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops::invert_permutation_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& x = at.input(0);
  if (x.rank() != 1)
    return invalid("x must be a vector, got shape ", x.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  auto from = x.values<T>(), to = out->template values<T>();
  std::ranges::fill(to, T{-1});
  for (size_t i = 0; i < from.size(); ++i) {
    auto place = static_cast<size_t>(from[i]);
    if (i % 100'000 == 99'999 && at.stopped())
      return {};
    if (from[i] < 0 || place >= from.size() || to[place] != -1)
      return invalid(x, " is no permutation of 0 to ", from.size(), " - 1");
    to[place] = static_cast<T>(i);
  }
  return {};
}

} // namespace

extern constexpr kernel_def invert_permutation_cpu{
    .op = "InvertPermutation",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
};

} // namespace troupe::ops::invert_permutation_cpu
