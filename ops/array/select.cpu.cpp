#include "troupe/ops/axes.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {
namespace {

template <class T>
void choose(const bool* chosen, const T* yes, const T* no, T* to, int64_t count) {
  if constexpr (!std::is_same_v<T, std::string> && sizeof(T) <= sizeof(uint64_t)) {
    // With masks instead of choices the loop becomes vector code.
    using word = std::remove_cvref_t<decltype(to->words[0])>;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) {
      auto mask = static_cast<word>(0 - static_cast<word>(chosen[i]));
      to[i].words[0] = static_cast<word>((yes[i].words[0] & mask) | (no[i].words[0] & ~mask));
    }
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i] = chosen[i] ? yes[i] : no[i];
  }
}

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
  with_unit(out->type(), [&](auto unit_type) {
    using T = typename decltype(unit_type)::type;
    const auto *from_yes = static_cast<const T*>(yes.raw()),
               *from_no = static_cast<const T*>(no.raw());
    auto* to = static_cast<T*>(out->raw());
    at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
      if (row == 1)
        return choose(chosen + begin, from_yes + begin, from_no + begin, to + begin, end - begin);
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

} // namespace troupe::ops
