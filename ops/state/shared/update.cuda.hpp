// GPU kernels that change a variable in place.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"
#include "troupe/ops/state/shared/scatter.hpp"
#include "troupe/ops/state/shared/update_functions.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Variables of other types, and all ops on them, stay on processors: integers count steps and
/// control graphs.
inline constexpr auto variable_types = types::floating;

/// variable = fn(variable, last input) for each element; requires keep_locking.
template <class T, class Fn>
status update_variable(kernel_context& at, Fn fn) {
  const auto& change = at.input(at.inputs() - 1);
  return change_variable(at, at.state<bool>(), [&](tensor& value) -> status {
    TROUPE_TRY(check_change(at.variable(0), value, change));
    auto* to = value.data<T>();
    return map(at, value.elements(), fn, to, static_cast<const T*>(to), change.data<T>());
  });
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> update_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, [](kernel_context& at) { return update_variable<Ts>(at, Fn{}); }}...};
}

/// Calls change(sorted, length, value, updates) with the parts of the variable that the updates
/// address.
template <bool Elements, class Change>
status scatter(kernel_context& at, Change change) {
  const auto &indices = at.input(1), &updates = at.input(2);
  const auto& state = at.state<scatter_state>();
  return change_variable(at, state.use_locking, [&](tensor& value) -> status {
    int depth = 1;
    if constexpr (Elements) {
      TROUPE_ASSIGN(depth, check_scatter_nd(at, value));
    } else {
      TROUPE_TRY(check_rows(indices, value, updates));
    }
    auto count = ops::product(indices.dims(), 0, indices.rank() - (Elements ? 1 : 0));
    TROUPE_ASSIGN(auto sorted,
                  sort_updates(at, indices, count, depth, value.dims(), state.ignores_bad_indices));
    TROUPE_ASSIGN(auto apart, copy_if_overlapping(at, updates, value));
    return change(sorted, ops::product(value.dims(), depth, value.rank()), value, apart);
  });
}

/// element = fn(element, update)
template <class T, class Fn, bool Elements>
status scatter_change(kernel_context& at) {
  return scatter<Elements>(
      at, [&](const sorted_updates& sorted, int64_t length, tensor& value, const tensor& updates) {
        return change_parts(at, sorted, length, value.data<T>(), updates.data<T>(),
                            updates.rank() == 0 && !Elements, Fn{});
      });
}

template <class Fn, bool Elements, class... Ts>
constexpr inplace_vector<typed_kernel, 18> scatter_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, scatter_change<Ts, Fn, Elements>}...};
}

/// element = update, for any type
template <bool Elements>
status scatter_over(kernel_context& at) {
  return scatter<Elements>(
      at, [&](const sorted_updates& sorted, int64_t length, tensor& value, const tensor& updates) {
        return put_parts(at, sorted, length, value, updates);
      });
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
