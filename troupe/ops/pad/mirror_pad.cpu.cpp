#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_cpu {
namespace {

// For each axis, where in the input the elements of the output come from.
using sources = std::array<std::vector<int64_t>, max_rank>;

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto plan, plan_mirror_pad(at, at.state<std::string>()));
  const auto& [offset, frames, dims] = plan;
  if (x.rank() == 0) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  auto strides = strides_of(x.dims());
  sources from;
  for (size_t axis = 0; axis < frames.size(); ++axis) {
    from[axis].resize(static_cast<size_t>(dims[static_cast<int>(axis)]));
    for (size_t i = 0; i < from[axis].size(); ++i)
      from[axis][i] =
          strides[axis] * mirrored(static_cast<int64_t>(i), x.dims()[static_cast<int>(axis)],
                                   frames[axis].before, offset);
  }
  auto last = frames.size() - 1;
  auto columns = dims[static_cast<int>(last)];
  with_word(x.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto* source = static_cast<const T*>(x.raw());
    auto* target = static_cast<T*>(out->raw());
    at.parallel_for(out->elements() / columns, 0.7 * static_cast<double>(columns) + 5,
                    [&](int64_t begin, int64_t end) {
                      for (auto row = begin; row < end; ++row) {
                        int64_t first = 0;
                        auto rest = row;
                        for (auto axis = last; axis-- > 0;) {
                          auto extent = static_cast<int64_t>(from[axis].size());
                          first += from[axis][static_cast<size_t>(rest % extent)];
                          rest /= extent;
                        }
                        auto* to = target + row * columns;
                        for (auto place : from[last])
                          *to++ = source[first + place];
                      }
                    });
  });
  return {};
}

} // namespace

extern constexpr kernel_def mirror_pad_cpu{
    .op = "MirrorPad",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "mode">,
};

} // namespace troupe::ops::mirror_pad_cpu
