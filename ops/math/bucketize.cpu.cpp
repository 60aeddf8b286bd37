#include "troupe/ops/element_types.hpp"
#include "troupe/runtime/graph.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

using boundaries = std::vector<float>;

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  auto made = std::make_shared<boundaries>();
  for (auto boundary : setup.of.attr<std::vector<double>>("boundaries"))
    made->push_back(static_cast<float>(boundary));
  if (!std::ranges::is_sorted(*made))
    return invalid("boundaries must not decrease");
  return std::shared_ptr<void>{made};
}

template <class T>
status run(kernel_context& at) {
  const auto& in = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, in.dims()));
  const auto& sorted = at.state<boundaries>();
  const auto* x = in.data<T>();
  auto* to = out->template data<int32_t>();
  at.parallel_for(in.elements(), 10, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = static_cast<int32_t>(std::ranges::upper_bound(sorted, x[i]) - sorted.begin());
  });
  return {};
}

} // namespace

extern constexpr kernel_def bucketize_cpu{
    .op = "Bucketize",
    .run = {{dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = prepare,
};

} // namespace troupe::ops
