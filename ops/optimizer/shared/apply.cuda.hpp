// GPU kernels that apply a gradient to a variable and its slots, in one pass over their memory.
// Rates and other scalars are read on the device, where a schedule may have computed them.
#pragma once
#include "troupe/ops/kernel/gpu/ordered_scatter.cuda.hpp"
#include "troupe/ops/optimizer/shared/rules.hpp"
#include "troupe/ops/optimizer/shared/training.hpp"

#include <utility>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The addresses of a rule's scalar inputs.
template <class T>
class rule_inputs {
public:
  rule_inputs(const training_inputs& inputs, bool variant)
      : count_(static_cast<int>(inputs.size())), variant_(variant) {
    for (int i = 0; i < count_; ++i) {
      const auto& input = *inputs[static_cast<size_t>(i)];
      from_[i] = input.raw();
      is_whole_[i] = input.type() == dtype::i64;
    }
  }

  TROUPE_DEVICE scalars<compute_type<T>> operator()() const {
    scalars<compute_type<T>> parameters{{}, variant_};
    for (int i = 0; i < count_; ++i)
      parameters.values[static_cast<size_t>(i)] =
          is_whole_[i] ? static_cast<double>(*static_cast<const int64_t*>(from_[i]))
                       : static_cast<double>(load(*static_cast<const T*>(from_[i])));
    return parameters;
  }

private:
  const void* from_[8] = {};
  bool is_whole_[8] = {};
  int count_;
  bool variant_;
};

template <class T, class Rule>
struct rule_body {
  rule_inputs<T> given;
  device_errors wrong;
  const T* gradient;
  T* variables[Rule::variables];

  /// Reports an error and returns false where the rule cannot be applied.
  TROUPE_DEVICE bool allows(const Rule& rule, int64_t i) const {
    if constexpr (requires { rule.allowed(); })
      if (!rule.allowed()) {
        if (i == 0)
          wrong.add(static_cast<int64_t>(floor(static_cast<double>(rule.rate))), 0);
        return false;
      }
    return true;
  }

  template <class Gradient, class... Values>
  TROUPE_DEVICE static void step(const Rule& rule, const Gradient& packed_gradient,
                                 Values&... values) {
    const auto gradient = load(packed_gradient);
    apply_rule(rule, gradient, load(values)..., values...);
  }

private:
  using C = compute_type<T>;
  TROUPE_DEVICE static void apply_rule(const Rule& rule, C gradient, C a, T& to_a) {
    rule(a, gradient);
    to_a = store<T>(a);
  }
  TROUPE_DEVICE static void apply_rule(const Rule& rule, C gradient, C a, C b, T& to_a, T& to_b) {
    rule(a, b, gradient);
    to_a = store<T>(a), to_b = store<T>(b);
  }
  TROUPE_DEVICE static void apply_rule(const Rule& rule, C gradient, C a, C b, C c, T& to_a,
                                       T& to_b, T& to_c) {
    rule(a, b, c, gradient);
    to_a = store<T>(a), to_b = store<T>(b), to_c = store<T>(c);
  }
  TROUPE_DEVICE static void apply_rule(const Rule& rule, C gradient, C a, C b, C c, C d, T& to_a,
                                       T& to_b, T& to_c, T& to_d) {
    rule(a, b, c, d, gradient);
    to_a = store<T>(a), to_b = store<T>(b), to_c = store<T>(c), to_d = store<T>(d);
  }
};

/// Elements that move as 16 bytes.
template <class T>
struct alignas(16) element_pack {
  static constexpr int size = 16 / sizeof(T);
  T items[size];
};

// Packs come first, then the remaining elements. A thread constructs the rule once for all of its
// elements.
template <class T, class Rule, class Indices>
struct apply_body;
template <class T, class Rule, size_t... I>
struct apply_body<T, Rule, std::index_sequence<I...>> : rule_body<T, Rule> {
  int64_t packs;

  TROUPE_DEVICE void operator()(int64_t i) const {
    using pack = element_pack<T>;
    Rule rule{this->given()};
    if (!this->allows(rule, i))
      return;
    if (i >= packs) {
      auto k = packs * pack::size + (i - packs);
      this->step(rule, this->gradient[k], this->variables[I][k]...);
      return;
    }
    auto gradients = reinterpret_cast<const pack*>(this->gradient)[i];
    pack values[] = {reinterpret_cast<const pack*>(this->variables[I])[i]...};
    for (int k = 0; k < pack::size; ++k)
      this->step(rule, gradients.items[k], values[I].items[k]...);
    ((reinterpret_cast<pack*>(this->variables[I])[i] = values[I]), ...);
  }
};

// Rows that are named several times are updated several times, in order.
template <class T, class Rule, class Indices>
struct apply_rows_body;
template <class T, class Rule, size_t... I>
struct apply_rows_body<T, Rule, std::index_sequence<I...>> : rule_body<T, Rule> {
  update_runs updates;
  divisor by_length;
  int64_t length;

  TROUPE_DEVICE void operator()(int64_t i) const {
    Rule rule{this->given()};
    if (!this->allows(rule, i))
      return;
    auto [first, column] = by_length(i);
    if (!updates.begins(first))
      return;
    auto row = updates.parts[first], place = row * length + column;
    T values[] = {this->variables[I][place]...};
    for (auto k = first; k < updates.count && updates.parts[k] == row; ++k)
      this->step(rule, this->gradient[updates.numbers[k] * length + column], values[I]...);
    ((this->variables[I][place] = values[I]), ...);
  }
};

template <class T, class Rule>
status apply(kernel_context& at) {
  const auto& state = at.state<training_state>();
  TROUPE_ASSIGN(auto inputs, scalar_inputs(at));
  using variable_indices = std::make_index_sequence<Rule::variables>;
  return update_variables(
      at, Rule::variables, state.use_locking, [&](std::span<tensor* const> values) -> status {
        TROUPE_TRY(check_training(at, values));
        const auto& gradient = at.input(state.roles.gradient);
        rule_body<T, Rule> body{{inputs, state.variant},
                                {at, "lr, l1, l2, l2_shrinkage or -lr_power (the first is given)"},
                                gradient.template data<T>(),
                                {}};
        auto places = reinterpret_cast<uintptr_t>(body.gradient);
        for (size_t i = 0; i < Rule::variables; ++i) {
          body.variables[i] = values[i]->template data<T>();
          places |= reinterpret_cast<uintptr_t>(body.variables[i]);
        }
        if (state.roles.indices < 0) {
          auto count = gradient.elements(), each = int64_t{element_pack<T>::size};
          auto packs = places % 16 == 0 ? count / each : 0;
          return for_each(at, packs + (count - packs * each),
                          apply_body<T, Rule, variable_indices>{body, packs});
        }
        const auto& indices = at.input(state.roles.indices);
        TROUPE_TRY(check_rows(indices, *values[0], gradient, 1));
        auto count = indices.elements();
        TROUPE_ASSIGN(auto sorted, sort_updates(at, indices, count, 1, values[0]->dims(), false));
        tensor apart = gradient;
        for (const auto* value : values) {
          TROUPE_ASSIGN(apart, copy_if_overlapping(at, apart, *value));
        }
        body.gradient = apart.template data<T>();
        auto length = gradient.elements() / std::max<int64_t>(count, 1);
        return for_each(at, count * length,
                        apply_rows_body<T, Rule, variable_indices>{
                            body, update_runs{sorted}, {length, count * length}, length});
      });
}

template <template <class> class Rule>
constexpr inplace_vector<typed_kernel, 18> apply_kernels() {
  return {{dtype::f16, apply<float16, Rule<float>>},
          {dtype::bf16, apply<bfloat16, Rule<float>>},
          {dtype::f32, apply<float, Rule<float>>},
          {dtype::f64, apply<double, Rule<double>>}};
}

/// FTRL with a power that is known only on the device.
template <class T, bool Shrinkage>
struct any_ftrl {
  static constexpr int variables = 3;
  TROUPE_DEVICE explicit any_ftrl(const scalars<T>& parameters)
      : roots(parameters), powers(parameters), rate(parameters[0]),
        usual(parameters[Shrinkage ? 4 : 3] == T(-0.5)) {}
  TROUPE_DEVICE bool allowed() const { return powers.allowed(); }
  TROUPE_DEVICE void operator()(T& value, T& squares, T& linear, T gradient) const {
    if (usual)
      roots(value, squares, linear, gradient);
    else
      powers(value, squares, linear, gradient);
  }

  ftrl<T, true, Shrinkage> roots;
  ftrl<T, false, Shrinkage> powers;
  T rate;
  bool usual;
};
template <class T>
using plain_ftrl = any_ftrl<T, false>;
template <class T>
using shrinking_ftrl = any_ftrl<T, true>;

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
