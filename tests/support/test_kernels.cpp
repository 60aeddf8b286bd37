#include "tests/support/test_ops.hpp"

#include <algorithm>

namespace troupe::test {
namespace {

// Integers wrap around.
template <class T>
using exact =
    std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>;
template <class T>
T plus(T x, T y) {
  using wide = typename exact<T>::type;
  return static_cast<T>(static_cast<wide>(x) + static_cast<wide>(y));
}
template <class T>
T times(T x, T y) {
  using wide = typename exact<T>::type;
  return static_cast<T>(static_cast<wide>(x) * static_cast<wide>(y));
}

template <class T, class Rule>
status element_wise(kernel_context& context, Rule rule) {
  const auto &x = context.input(0), &y = context.input(context.inputs() - 1);
  TROUPE_ASSIGN(auto dims, broadcast(x.dims(), y.dims()));
  TROUPE_ASSIGN(auto* result, context.forward_or_allocate(0, {0, 1}, dims));
  for (int64_t i = 0; i < dims.elements(); ++i)
    result->data<T>()[i] =
        rule(x.data<T>()[x.elements() == 1 ? 0 : i], y.data<T>()[y.elements() == 1 ? 0 : i]);
  return {};
}

template <class T>
status add_values(kernel_context& context) {
  return element_wise<T>(context, plus<T>);
}
template <class T>
status multiply(kernel_context& context) {
  return element_wise<T>(context, times<T>);
}
template <class T>
status negate(kernel_context& context) {
  return element_wise<T>(context, [](T x, T) { return times(x, T{-1}); });
}

template <class T>
status add_all(kernel_context& context) {
  TROUPE_ASSIGN(auto* result, context.allocate(0, context.input(0).dims()));
  for (int64_t i = 0; i < result->elements(); ++i) {
    T sum{};
    for (int k = 0; k < context.inputs(); ++k)
      sum = plus(sum, context.input(k).data<T>()[i]);
    result->data<T>()[i] = sum;
  }
  return {};
}

template <class T, int value>
status fill(kernel_context& context) {
  TROUPE_ASSIGN(auto* result, context.allocate(0, context.input(0).dims()));
  std::ranges::fill(result->values<T>(), T{value});
  return {};
}

template <class T>
status sum_and_difference(kernel_context& context) {
  const auto& x = context.input(0);
  TROUPE_ASSIGN(auto* sum, context.allocate(0, x.dims()));
  TROUPE_ASSIGN(auto* difference, context.forward_or_allocate(1, {0}, x.dims()));
  for (int64_t i = 0; i < x.elements(); ++i) {
    auto value = x.data<T>()[i];
    sum->data<T>()[i] = plus(value, T{1});
    difference->data<T>()[i] = plus(value, T{-1});
  }
  return {};
}

status hand_on(kernel_context& context) {
  for (int i = 0; i < context.inputs(); ++i)
    context.set_output(i, context.input(i));
  return {};
}

status fail(kernel_context&) { return failure(error_kind::aborted, "as it was told"); }

result<std::shared_ptr<void>> prepare_const(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<tensor>(setup.origin.attr<tensor>("value"))};
}
status give_const(kernel_context& context) {
  context.set_output(0, context.state<tensor>());
  return {};
}

status assign(kernel_context& context) { return context.variable(0).assign(context.input(1)); }

template <class T>
status assign_add(kernel_context& context) {
  return context.variable(0).update([&](tensor& value) {
    auto& number = value.data<T>()[0];
    number = plus(number, context.input(1).data<T>()[0]);
    return status{};
  });
}

status do_nothing(kernel_context&) { return {}; }

#define FOR_KINDS(f)                                                                               \
  {                                                                                                \
    {dtype::i64, f<int64_t>}, {dtype::f32, f<float>}, { dtype::f64, f<double> }                    \
  }
template <class T>
status zeros(kernel_context& context) {
  return fill<T, 0>(context);
}
template <class T>
status fill_ones(kernel_context& context) {
  return fill<T, 1>(context);
}

struct entry {
  std::string_view op;
  inplace_vector<typed_kernel, 18> run;
  decltype(kernel_def::prepare) prepare = nullptr;
};

constexpr entry table[] = {
    {"Const", {{dtype::none, give_const}}, prepare_const},
    {"Add", FOR_KINDS(add_values)},
    {"Mul", FOR_KINDS(multiply)},
    {"Neg", FOR_KINDS(negate)},
    {"AddN", FOR_KINDS(add_all)},
    {"ZerosLike", FOR_KINDS(zeros)},
    {"OnesLike", FOR_KINDS(fill_ones)},
    {"Identity", {{dtype::none, hand_on}}},
    {"Both", FOR_KINDS(sum_and_difference)},
    {"Tuple", {{dtype::none, hand_on}}},
    {"Fail", {{dtype::none, fail}}},
    {"Assign", {{dtype::none, assign}}},
    {"AssignAdd", {{dtype::i64, assign_add<int64_t>}, {dtype::f32, assign_add<float>}}},
    {"NoOp", {{dtype::none, do_nothing}}},
    {"Places", {{dtype::none, fail}}},
    {"HostOnly", {{dtype::none, hand_on}}},
    {"HostAssign", {{dtype::none, assign}}},
};

} // namespace

const std::vector<kernel_def>& kernels() {
  static const auto kernels = [] {
    std::vector<kernel_def> definitions;
    for (const auto& row : table)
      for (auto kind : {device_kind::cpu, device_kind::gpu})
        if (kind == device_kind::cpu || !row.op.starts_with("Host"))
          definitions.push_back(
              {.op = row.op, .device = kind, .run = row.run, .prepare = row.prepare});
    return definitions;
  }();
  return kernels;
}

} // namespace troupe::test
