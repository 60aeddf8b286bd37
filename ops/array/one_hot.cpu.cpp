#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/axes.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

template <class TI>
status run(kernel_context& at) {
  const auto& indices = at.input(0);
  for (int i = 1; i < 4; ++i)
    if (at.input(i).elements() != 1)
      return invalid("depth, on_value and off_value must be scalars, got shape ",
                     at.input(i).dims());
  auto depth = to_integers(at.input(1))[0];
  TROUPE_ASSIGN(auto axis, resolve_axis(at.state<int64_t>(), indices.rank() + 1));
  std::vector<int64_t> extents{indices.dims().begin(), indices.dims().end()};
  extents.insert(extents.begin() + axis, depth);
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(at.input(3), {*out, begin}, end - begin);
  });
  auto inner = product(indices.dims(), axis, indices.rank());
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
    .prepare = keep_attr<int64_t, "axis">,
};

} // namespace troupe::ops
