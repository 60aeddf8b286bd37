#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_with_argmax_cpu {
namespace {

template <class T>
status run_max_pool_grad_with_argmax(kernel_context& at) {
  TROUPE_ASSIGN(auto checked, take_places(at, at.input(2)));
  const auto& geometry = checked.of;
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.input));
  const auto* place = checked.places.template data<int64_t>();
  const auto* dy = at.input(1).data<T>();
  auto* dx = out->template data<T>();
  auto image = geometry.inputs() * geometry.channels,
       windows = geometry.outputs() * geometry.channels;
  auto plus = [](auto a, auto b) { return static_cast<T>(widen(a) + widen(b)); };
  at.parallel_for(geometry.images, static_cast<double>(image + 3 * windows),
                  [&](int64_t begin, int64_t end) {
                    std::fill(dx + begin * image, dx + end * image, T{});
                    for (auto i = begin * windows; i < end * windows; ++i)
                      dx[place[i]] = wrapping(plus, dx[place[i]], dy[i]);
                  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_max_pool_grad_with_argmax<Ts>}...};
}

status run_max_pool_grad_grad_with_argmax(kernel_context& at) {
  TROUPE_ASSIGN(auto checked, take_places(at, at.input(2)));
  TROUPE_TRY(expect_dims(at.input(1), checked.of.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, checked.of.output));
  const auto* place = checked.places.data<int64_t>();
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

extern constexpr kernel_def max_pool_with_argmax_cpu{
    .op = "MaxPoolWithArgmax",
    .run = {{dtype::none, max_pool_with_places}},
    .prepare = prepare_pool<argmax_pool>,
};

extern constexpr kernel_def max_pool_grad_with_argmax_cpu{
    .op = "MaxPoolGradWithArgmax",
    .run = kernels(types::real_numbers),
    .prepare = prepare_pool<argmax_pool>,
};

extern constexpr kernel_def max_pool_grad_grad_with_argmax_cpu{
    .op = "MaxPoolGradGradWithArgmax",
    .run = {{dtype::none, run_max_pool_grad_grad_with_argmax}},
    .prepare = prepare_pool<argmax_pool>,
};

} // namespace troupe::ops::max_pool_with_argmax_cpu
