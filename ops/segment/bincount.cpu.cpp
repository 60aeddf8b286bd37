#include "troupe/ops/segment/bincount.hpp"

#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>
#include <functional>

namespace troupe::ops::bincount_cpu {
namespace {

// Counts one row.
template <class Index, class T>
status count_row(const kernel_context& at, std::span<const Index> numbers, const T* weights,
                 bool binary, std::span<T> bins, std::string_view name) {
  std::ranges::fill(bins, T{});
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i % 1'000'000 == 999'999 && at.stopped())
      return {};
    auto number = numbers[i];
    if (number < 0)
      return invalid(name, " must not have negative numbers, got ", number);
    if (static_cast<uint64_t>(number) >= bins.size())
      continue;
    auto& bin = bins[static_cast<size_t>(number)];
    bin = binary ? T{1} : wrapping(std::plus<>{}, bin, weights ? weights[i] : T{1});
  }
  return {};
}

template <class Index, class T>
status count(kernel_context& at, std::string_view name, bool by_rows, bool binary) {
  TROUPE_ASSIGN(auto plan, plan_bincount(at, name, by_rows));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  auto numbers = at.input(0).template values<Index>();
  const auto& weights = at.input(2);
  const T* weight = weights.elements() > 0 && !binary ? weights.template data<T>() : nullptr;
  auto columns = static_cast<size_t>(plan.columns), size = static_cast<size_t>(plan.size);
  for (size_t row = 0; row < static_cast<size_t>(plan.rows); ++row) {
    if (at.stopped())
      return {};
    TROUPE_TRY((count_row<Index, T>(at, numbers.subspan(row * columns, columns),
                                    weight ? weight + row * columns : nullptr, binary,
                                    {out->template data<T>() + row * size, size}, name)));
  }
  return {};
}

template <class T>
status run_bincount(kernel_context& at) {
  return count<int32_t, T>(at, "arr", false, false);
}

template <class T>
status run_dense_bincount(kernel_context& at) {
  auto binary = at.state<bool>();
  return at.input(0).type() == dtype::i64 ? count<int64_t, T>(at, "input", true, binary)
                                          : count<int32_t, T>(at, "input", true, binary);
}

} // namespace

extern constexpr kernel_def bincount_cpu{
    .op = "Bincount",
    .run = {{dtype::i32, run_bincount<int32_t>},
            {dtype::i64, run_bincount<int64_t>},
            {dtype::f32, run_bincount<float>},
            {dtype::f64, run_bincount<double>}},
};

extern constexpr kernel_def dense_bincount_cpu{
    .op = "DenseBincount",
    .run = {{dtype::i32, run_dense_bincount<int32_t>},
            {dtype::i64, run_dense_bincount<int64_t>},
            {dtype::f32, run_dense_bincount<float>},
            {dtype::f64, run_dense_bincount<double>}},
    .prepare = cache_attr<bool, "binary_output">,
};

} // namespace troupe::ops::bincount_cpu
