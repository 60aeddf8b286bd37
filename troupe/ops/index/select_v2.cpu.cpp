#include "troupe/ops/index/shared/select.cpu.hpp"

namespace troupe::ops::select_v2_cpu {
namespace {

// The tensor stretched to the shape; as it is where it has the shape or may be a single value.
result<tensor> stretched(kernel_context& at, const tensor& x, const shape& dims, bool may_be_one) {
  if (x.dims() == dims || (may_be_one && x.elements() == 1))
    return x;
  TROUPE_ASSIGN(auto out, tensor::make(x.type(), dims, at.memory()));
  copy_strided(at, strided_iterator::broadcast(dims, x.dims()), {x}, out);
  return out;
}

status run(kernel_context& at) {
  const auto &condition = at.input(0), &t = at.input(1), &e = at.input(2);
  TROUPE_ASSIGN(auto values, broadcast(t.dims(), e.dims()));
  TROUPE_ASSIGN(auto dims, broadcast(condition.dims(), values));
  if (condition.elements() == 1 && dims.elements() > 0) {
    TROUPE_ASSIGN(auto out, stretched(at, *condition.data<bool>() ? t : e, dims, false));
    at.set_output(0, std::move(out));
    return {};
  }
  TROUPE_ASSIGN(auto chosen, stretched(at, condition, dims, false));
  TROUPE_ASSIGN(auto yes, stretched(at, t, dims, true));
  TROUPE_ASSIGN(auto no, stretched(at, e, dims, true));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  int64_t step_yes = yes.elements() == 1 ? 0 : 1, step_no = no.elements() == 1 ? 0 : 1;
  with_word(out->type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto *from_yes = static_cast<const T*>(yes.raw()),
               *from_no = static_cast<const T*>(no.raw());
    auto* to = static_cast<T*>(out->raw());
    at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
      choose(chosen.data<bool>() + begin, from_yes + begin * step_yes, step_yes,
             from_no + begin * step_no, step_no, to + begin, end - begin);
    });
  });
  return {};
}

} // namespace

extern constexpr kernel_def select_v2_cpu{
    .op = "SelectV2",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::select_v2_cpu
