#include "troupe/ops/optimizer/shared/training.hpp"

#include "troupe/ops/define/scalar.hpp"
#include "troupe/ops/kernel/rows.hpp"

#include <algorithm>

namespace troupe::ops {

result<shapes> infer_training(const infer_context& at, training_roles roles) {
  auto joint = at.input(0);
  for (int i = 1; i < roles.variables; ++i) {
    auto merged = merge(joint, at.input(i));
    if (!merged)
      return at.invalid("the variable has shape ", joint, ", what goes with it (input ", i, ") ",
                        at.input(i));
    joint = *std::move(merged);
  }
  for (int i = roles.variables; i < at.inputs(); ++i)
    if (i != roles.gradient && i != roles.indices)
      TROUPE_TRY(at.of_rank(i, 0));
  if (roles.indices >= 0) {
    TROUPE_TRY(infer_rows(at, joint, roles.indices, roles.gradient, 1));
    return shapes{joint};
  }
  auto merged = merge(joint, at.input(roles.gradient));
  if (!merged)
    return at.invalid("the variable has shape ", joint, ", the gradient ",
                      at.input(roles.gradient));
  return shapes{*std::move(merged)};
}

result<std::shared_ptr<void>> keep_training(const kernel_setup& setup) {
  auto state = std::make_shared<training_state>();
  state->roles = roles_of(setup.origin.op().inputs);
  for (const auto& attr : setup.origin.op().attrs)
    if (attr.kind == attr_kind::boolean)
      (attr.name == "use_locking" ? state->use_locking : state->variant) =
          setup.origin.attr<bool>(attr.name);
  return std::shared_ptr<void>{std::move(state)};
}

result<training_inputs> scalar_inputs(const kernel_context& at) {
  const auto& roles = at.state<training_state>().roles;
  training_inputs parameters;
  for (int i = roles.variables; i < at.inputs(); ++i) {
    if (i == roles.gradient || i == roles.indices)
      continue;
    const auto& scalar = at.input(i);
    if (scalar.rank() != 0)
      return invalid(at.origin().op().inputs[static_cast<size_t>(i)].name,
                     " must be a scalar, got shape ", scalar.dims());
    parameters.push_back(&scalar);
  }
  return parameters;
}

result<std::array<double, 8>> training_scalars(const kernel_context& at) {
  TROUPE_ASSIGN(auto inputs, scalar_inputs(at));
  std::array<double, 8> values{};
  std::ranges::transform(inputs, values.begin(),
                         [](const tensor* parameter) { return to_double(*parameter); });
  return values;
}

status update_variables(kernel_context& at, int count, bool use_locking, const values_body& body) {
  constexpr size_t max_variables = 4;
  std::array<tensor*, max_variables> values{};
  std::array<int, max_variables> order{};
  auto size = static_cast<size_t>(count);
  for (size_t i = 0; i < size; ++i)
    order[i] = static_cast<int>(i);
  // All updates lock in the same order, so that two of them cannot deadlock.
  auto address = [&](int i) { return &at.variable(i); };
  std::sort(order.begin(), order.begin() + count,
            [&](int a, int b) { return std::less<>{}(address(a), address(b)); });
  for (size_t i = 1; i < size; ++i)
    if (address(order[i - 1]) == address(order[i]))
      return invalid("inputs ", std::min(order[i - 1], order[i]), " and ",
                     std::max(order[i - 1], order[i]), " are one variable, '",
                     at.variable(order[i]).name(), "'");
  auto& copies = at.device().memory(); // copies outlive the step
  auto from = [&](auto& self, size_t next) -> status {
    if (next == size)
      return body({values.data(), size});
    auto input = order[next];
    auto with_one_more = [&](tensor& value) {
      values[static_cast<size_t>(input)] = &value;
      return self(self, next + 1);
    };
    return use_locking ? at.variable(input).update(with_one_more, copies)
                       : at.variable(input).update_unlocked(with_one_more, copies);
  };
  return from(from, 0);
}

status check_training(const kernel_context& at, std::span<tensor* const> values) {
  const auto& roles = at.state<training_state>().roles;
  const auto& dims = values[0]->dims();
  for (size_t i = 1; i < values.size(); ++i)
    if (!(values[i]->dims() == dims))
      return invalid("variable '", at.variable(0).name(), "' has a value of shape ", dims, ", '",
                     at.variable(static_cast<int>(i)).name(), "' goes with it and has ",
                     values[i]->dims());
  const auto& gradient = at.input(roles.gradient);
  if (roles.indices < 0 && !(gradient.dims() == dims))
    return invalid("variable '", at.variable(0).name(), "' has a value of shape ", dims,
                   ", the gradient has shape ", gradient.dims());
  return {};
}

} // namespace troupe::ops
