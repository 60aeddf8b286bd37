#include "troupe/ops/state/update.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct descend {
  T operator()(const T& value, const T& gradient) const {
    return wrapping([this](auto v, auto g) { return v - static_cast<decltype(v)>(rate) * g; },
                    value, gradient);
  }
  T rate;
};

template <class T>
status run(kernel_context& at) {
  const auto& rate = at.input(1);
  if (rate.rank() != 0)
    return invalid("alpha must be a scalar, got shape ", rate.dims());
  return update_variable<T>(at, descend<compute_type<T>>{widen(*rate.data<T>())});
}

template <class... Ts>
constexpr upto<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def apply_gradient_descent_cpu{
    .op = "ApplyGradientDescent",
    .device = device_kind::cpu,
    .run = table(types::numbers),
    .prepare = keep_locking,
};

} // namespace troupe::ops
