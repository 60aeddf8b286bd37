#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::reduce_join_cpu {
namespace {

struct joining {
  bool keep_dims;
  std::string separator;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<joining>(
      joining{setup.of.attr<bool>("keep_dims"), setup.of.attr<std::string>("separator")})};
}

status run(kernel_context& at) {
  const auto& input = at.input(0);
  const auto& dims = input.dims();
  const auto& how = at.state<joining>();
  auto listed = to_integers(at.input(1));
  TROUPE_ASSIGN(auto gone, axes_of(listed, dims.rank()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, without(dims, gone, how.keep_dims)));
  auto strides = strides_of(dims);
  strided_iterator kept, joined;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (!gone[static_cast<size_t>(axis)])
      kept.push_back(dims[axis], {strides[static_cast<size_t>(axis)], 0});
  for (auto i = listed.size(); i-- > 0;) { // the first runs fastest: inside of the others
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
                        to[i] += how.separator;
                      to[i] += base[where[0] + j * joined.step(0)];
                    }
                  });
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def reduce_join_cpu{
    .op = "ReduceJoin",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::reduce_join_cpu
