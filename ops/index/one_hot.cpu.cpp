#include "troupe/ops/index/one_hot.hpp"
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::one_hot_cpu {
namespace {

template <class TI>
status run(kernel_context& at) {
  const auto& indices = at.input(0);
  TROUPE_ASSIGN(auto layout, one_hot_layout_of(at, at.state<int64_t>()));
  auto depth = layout.depth;
  TROUPE_ASSIGN(auto* out, at.allocate(0, layout.dims));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(at.input(3), {*out, begin}, end - begin);
  });
  auto inner = product(indices.dims(), layout.axis, indices.rank());
  const auto* index = indices.data<TI>();
  at.parallel_for(indices.elements(), 5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      if (auto place = static_cast<int64_t>(index[i]); place >= 0 && place < depth)
        copy_elements({at.input(2)}, {*out, (i / inner * depth + place) * inner + i % inner}, 1);
  });
  return {};
}

} // namespace

extern constexpr kernel_def one_hot_cpu{
    .op = "OneHot",
    .run = {{dtype::u8, run<uint8_t>}, {dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "TI",
    .prepare = cache_attr<int64_t, "axis">,
};

} // namespace troupe::ops::one_hot_cpu
