#include "troupe/ops/state/update.cpu.hpp"

namespace troupe::ops {
namespace {

struct change {
  template <class T>
  auto operator()(T value, T by, auto) const {
    return value + by;
  }
};

template <class T>
status run(kernel_context& at) {
  return update_variable<T, change>(at, {});
}

template <class... Ts>
constexpr upto<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def assign_add_cpu{
    .op = "AssignAdd",
    .device = device_kind::cpu,
    .run = table(types::numbers),
    .prepare = keep_locking,
};

} // namespace troupe::ops
