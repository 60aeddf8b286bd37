#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::string_join_cpu {
namespace {

status run_string_join(kernel_context& at) {
  shape dims;
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& next = at.input(i).dims();
    if (next.rank() > 0 && dims.rank() > 0 && !(next == dims))
      return invalid("all inputs must have one shape or be scalars, got ", dims, " and ", next);
    if (next.rank() > 0)
      dims = next;
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = out->data<std::string>();
  const auto& separator = at.state<std::string>();
  at.parallel_for(out->elements(), 40.0 * at.inputs(), [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      for (int k = 0; k < at.inputs(); ++k) {
        if (k > 0)
          to[i] += separator;
        to[i] += at.input(k).data<std::string>()[at.input(k).rank() > 0 ? i : 0];
      }
  });
  return {};
}

struct joining {
  bool keep_dims;
  std::string separator;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<joining>(
      joining{setup.origin.attr<bool>("keep_dims"), setup.origin.attr<std::string>("separator")})};
}

status run_reduce_join(kernel_context& at) {
  const auto& input = at.input(0);
  const auto& dims = input.dims();
  const auto& settings = at.state<joining>();
  auto listed = to_integers(at.input(1));
  TROUPE_ASSIGN(auto reduced_axes, axes_of(listed, dims.rank()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, without(dims, reduced_axes, settings.keep_dims)));
  auto strides = strides_of(dims);
  strided_iterator kept, joined;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!reduced_axes[static_cast<size_t>(axis)])
      kept.push_back(dims[axis], {strides[static_cast<size_t>(axis)], 0});
  for (auto i = listed.size(); i-- > 0;) { // the first axis varies fastest
    TROUPE_ASSIGN(auto axis, resolve_axis(listed[i], dims.rank()));
    joined.push_back(dims[axis], {strides[static_cast<size_t>(axis)], 0});
  }
  const auto* from = input.data<std::string>();
  auto* to = out->data<std::string>();
  auto cost = 40 * static_cast<double>(std::max<int64_t>(joined.elements(), 1));
  at.parallel_for(out->elements(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto* base = from + kept.at(i)[0];
      joined.runs(0, joined.elements(),
                  [&](int64_t k, const strided_iterator::offsets& where, int64_t count) {
                    for (int64_t j = 0; j < count; ++j) {
                      if (k + j > 0)
                        to[i] += settings.separator;
                      to[i] += base[where[0] + j * joined.step(0)];
                    }
                  });
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def string_join_cpu{
    .op = "StringJoin",
    .run = {{dtype::none, run_string_join}},
    .prepare = cache_attr<std::string, "separator">,
};

extern constexpr kernel_def reduce_join_cpu{
    .op = "ReduceJoin",
    .run = {{dtype::none, run_reduce_join}},
    .prepare = prepare,
};

} // namespace troupe::ops::string_join_cpu
