// Element-wise changes of variables, on all devices.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/state/shared/use_locking.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <functional>

namespace troupe::ops {

/// Keeps for the kernel whether it locks the variable.
inline result<std::shared_ptr<void>> keep_locking(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<bool>(uses_locks(setup.origin))};
}

/// A change of an element by another element; integers wrap around.
template <class Op>
struct wrapping_change {
  template <class T>
  constexpr T operator()(const T& value, const T& change) const {
    return wrapping(Op{}, value, change);
  }
};
using adding = wrapping_change<std::plus<>>;
using subtracting = wrapping_change<std::minus<>>;
using multiplying = wrapping_change<std::multiplies<>>;

struct smaller {
  template <class T>
  constexpr T operator()(const T& value, const T& change) const {
    return change < value ? change : value;
  }
};

struct larger {
  template <class T>
  constexpr T operator()(const T& value, const T& change) const {
    return value < change ? change : value;
  }
};

/// A step against the gradient.
template <class T>
struct descend {
  constexpr T operator()(const T& value, const T& gradient) const {
    if constexpr (std::is_floating_point_v<T> || is_complex<T>)
      return value - rate * gradient;
    else
      return wrapping(std::minus<>{}, value, wrapping(std::multiplies<>{}, rate, gradient));
  }
  T rate;
};

inline status check_rate(const tensor& rate) {
  if (rate.rank() == 0)
    return {};
  return invalid("alpha must be a scalar, got shape ", rate.dims());
}

/// Fails where the change of a variable has a shape that differs from the variable's.
inline status check_change(const variable& target, const tensor& value, const tensor& change) {
  if (value.dims() == change.dims())
    return {};
  return invalid("variable '", target.name(), "' has a value of shape ", value.dims(),
                 ", the change has shape ", change.dims());
}

/// Calls the body with the value of the variable at input 0.
template <class Body>
status change_variable(kernel_context& at, bool use_locking, Body&& body) {
  auto& copies = at.device().memory(); // copies outlive the step
  auto& variable = at.variable(0);
  return use_locking ? variable.update(body, copies) : variable.update_unlocked(body, copies);
}

} // namespace troupe::ops
