#include "troupe/ops/index/shared/select.cpu.hpp"
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::select_cpu {
namespace {

status run(kernel_context& at) {
  const auto &condition = at.input(0), &yes = at.input(1), &no = at.input(2);
  const auto& dims = yes.dims();
  if (!(dims == no.dims()))
    return invalid("t and e must have one shape, got ", dims, " and ", no.dims());
  const auto* chosen = condition.data<bool>();
  if (condition.rank() == 0) {
    at.set_output(0, *chosen ? yes : no);
    return {};
  }
  int64_t row = 1; // how many elements each truth value decides
  if (condition.rank() == 1 && dims.rank() > 1 && condition.dims()[0] == dims[0])
    row = product(dims, 1, dims.rank());
  else if (!(condition.dims() == dims))
    return invalid("condition must be a scalar, a vector of rows, or have the shape ", dims,
                   ", got ", condition.dims());
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {1, 2}, dims));
  with_word(out->type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto *from_yes = static_cast<const T*>(yes.raw()),
               *from_no = static_cast<const T*>(no.raw());
    auto* to = static_cast<T*>(out->raw());
    at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
      if (row == 1)
        return choose(chosen + begin, from_yes + begin, 1, from_no + begin, 1, to + begin,
                      end - begin);
      for (auto i = begin; i < end; ++i)
        to[i] = chosen[i / row] ? from_yes[i] : from_no[i];
    });
  });
  return {};
}

} // namespace

extern constexpr kernel_def select_cpu{
    .op = "Select",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::select_cpu
