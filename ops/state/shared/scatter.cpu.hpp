// Kernels that change the elements of a variable at indices.
#pragma once
#include "troupe/ops/elementwise/shared/division.cpu.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/copy_if_overlapping.hpp"
#include "troupe/ops/state/shared/scatter.hpp"
#include "troupe/ops/state/shared/update.cpu.hpp"

namespace troupe::ops {

/// The types with an order for which TensorFlow has kernels.
inline constexpr type_list<float16, bfloat16, float, double, int32_t, int64_t> scatter_order;

using scatter_planner = result<scatter_plan> (*)(const kernel_context& at, const tensor& value);

namespace detail {

// Calls change(to, from, count) for each part of the variable and its update.
template <class T, class Change>
status scatter(kernel_context& at, scatter_planner planner, Change change) {
  auto body = [&](tensor& value) -> status {
    TROUPE_ASSIGN(auto plan, planner(at, value));
    TROUPE_ASSIGN(auto updates, copy_if_overlapping(at, at.input(2), value));
    const auto* from = static_cast<const T*>(updates.raw());
    auto step = plan.length;
    std::vector<T> row;
    if (updates.rank() == 0) { // a single value for all elements
      row.assign(static_cast<size_t>(plan.length), *from);
      from = row.data();
      step = 0;
    }
    auto* to = static_cast<T*>(value.raw());
    for_rows(at.device(), plan.parts, 5 + 0.4 * static_cast<double>(plan.length),
             [&](int64_t i, int64_t part) {
               if (part >= 0)
                 change(to + part * plan.length, from + i * step, plan.length);
             });
    return {};
  };
  return change_variable(at, at.state<scatter_state>().use_locking, body);
}

} // namespace detail

/// element = fn(element, update)
template <class T, class Fn, scatter_planner Planner>
status scatter(kernel_context& at) {
  if constexpr (std::is_integral_v<T> && std::is_same_v<Fn, divides>)
    if (std::ranges::count(at.input(2).values<T>(), T{0}) > 0)
      return invalid("cannot divide a whole number by zero");
  return detail::scatter<T>(at, Planner, [](T* to, const T* from, int64_t count) {
    change_elements(Fn{}, to, from, count);
  });
}

/// element = update, for any type
template <scatter_planner Planner>
status scatter_over(kernel_context& at) {
  return with_word(at.input(2).type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    return detail::scatter<T>(
        at, Planner, [](T* to, const T* from, int64_t count) { std::copy_n(from, count, to); });
  });
}

template <class Fn, scatter_planner Planner, class... Ts>
constexpr inplace_vector<typed_kernel, 18> scatter_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, scatter<Ts, Fn, Planner>}...};
}

} // namespace troupe::ops
