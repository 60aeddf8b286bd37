#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_grad_grad_with_argmax_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto given, take_places(at, at.input(2)));
  TROUPE_TRY(expect_dims(at.input(1), given.of.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, given.of.output));
  const auto* place = given.places.data<int64_t>();
  with_word(out->type(), [&]<class Word>(std::type_identity<Word>) {
    const auto* x = static_cast<const Word*>(at.input(1).raw());
    auto* y = static_cast<Word*>(out->raw());
    at.parallel_for(out->elements(), 1, [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i)
        y[i] = x[place[i]];
    });
  });
  return {};
}

} // namespace

extern constexpr kernel_def max_pool_grad_grad_with_argmax_cpu{
    .op = "MaxPoolGradGradWithArgmax",
    .run = {{dtype::none, run}},
    .prepare = prepare_pool<argmax_pool>,
};

} // namespace troupe::ops::max_pool_grad_grad_with_argmax_cpu
