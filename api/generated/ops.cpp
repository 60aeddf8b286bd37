// Generated from the op definitions.
#include "troupe/api/generated/ops.hpp"

namespace troupe {

node* abort_(graph& in, const abort__options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "Abort", {},
      {{"error_msg", options.error_msg}, {"exit_without_error", options.exit_without_error}}, name, where);
  return &added_node;
}

edge abs(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Abs", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge accumulate_nv2(const std::vector<edge>& inputs, const troupe::partial_shape& shape,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AccumulateNV2", {detail::list(inputs, where)},
      {{"shape", shape}}, name, where);
  return added_node.output(0);
}

node* accumulator_apply_gradient(operand handle, operand local_step, operand gradient,
    const accumulator_apply_gradient_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AccumulatorApplyGradient", {{handle}, {local_step}, {gradient}},
      {{"contributor", options.contributor}}, name, where);
  return &added_node;
}

node* accumulator_clear(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AccumulatorClear", {{handle}},
      {}, name, where);
  return &added_node;
}

edge accumulator_num_accumulated(operand handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AccumulatorNumAccumulated", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

node* accumulator_set_global_step(operand handle, operand new_global_step, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AccumulatorSetGlobalStep", {{handle}, {new_global_step}},
      {}, name, where);
  return &added_node;
}

edge accumulator_take_gradient(operand handle, operand num_required, troupe::dtype dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AccumulatorTakeGradient", {{handle}, {num_required}},
      {{"dtype", dtype}}, name, where);
  return added_node.output(0);
}

edge acos(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Acos", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge acosh(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Acosh", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge add(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Add", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge add_n(const std::vector<edge>& inputs, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AddN", {detail::list(inputs, where)},
      {}, name, where);
  return added_node.output(0);
}

edge add_v2(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AddV2", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge adjust_contrastv2(operand images, operand contrast_factor, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AdjustContrastv2", {{images}, {contrast_factor}},
      {}, name, where);
  return added_node.output(0);
}

edge adjust_hue(operand images, operand delta, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AdjustHue", {{images}, {delta}},
      {}, name, where);
  return added_node.output(0);
}

edge adjust_saturation(operand images, operand scale, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AdjustSaturation", {{images}, {scale}},
      {}, name, where);
  return added_node.output(0);
}

edge all(operand input, operand reduction_indices, const all_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "All", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

all_candidate_sampler_outputs all_candidate_sampler(operand true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, const all_candidate_sampler_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AllCandidateSampler", {{true_classes}},
      {{"num_true", num_true}, {"num_sampled", num_sampled}, {"unique", unique}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge angle(operand input, const angle_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Angle", {{input}},
      {{"Tout", options.tout}}, name, where);
  return added_node.output(0);
}

edge any(operand input, operand reduction_indices, const any_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Any", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

edge apply_ada_max(operand var, operand m, operand v, operand beta1_power, operand lr,
    operand beta1, operand beta2, operand epsilon, operand grad,
    const apply_ada_max_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAdaMax", {{var}, {m}, {v}, {beta1_power}, {lr}, {beta1}, {beta2}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_adadelta(operand var, operand accum, operand accum_update, operand lr, operand rho,
    operand epsilon, operand grad, const apply_adadelta_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAdadelta", {{var}, {accum}, {accum_update}, {lr}, {rho}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_adagrad(operand var, operand accum, operand lr, operand grad,
    const apply_adagrad_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAdagrad", {{var}, {accum}, {lr}, {grad}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return added_node.output(0);
}

edge apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand lr, operand l1, operand l2,
    operand global_step, const apply_adagrad_da_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAdagradDA", {{var}, {gradient_accumulator}, {gradient_squared_accumulator}, {grad}, {lr}, {l1}, {l2}, {global_step}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon, operand grad,
    const apply_adagrad_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAdagradV2", {{var}, {accum}, {lr}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return added_node.output(0);
}

edge apply_adam(operand var, operand m, operand v, operand beta1_power, operand beta2_power,
    operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    const apply_adam_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAdam", {{var}, {m}, {v}, {beta1_power}, {beta2_power}, {lr}, {beta1}, {beta2}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return added_node.output(0);
}

edge apply_add_sign(operand var, operand m, operand lr, operand alpha, operand sign_decay,
    operand beta, operand grad, const apply_add_sign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyAddSign", {{var}, {m}, {lr}, {alpha}, {sign_decay}, {beta}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad,
    const apply_centered_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyCenteredRMSProp", {{var}, {mg}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_ftrl(operand var, operand accum, operand linear, operand grad, operand lr, operand l1,
    operand l2, operand lr_power, const apply_ftrl_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyFtrl", {{var}, {accum}, {linear}, {grad}, {lr}, {l1}, {l2}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return added_node.output(0);
}

edge apply_ftrl_v2(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const apply_ftrl_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyFtrlV2", {{var}, {accum}, {linear}, {grad}, {lr}, {l1}, {l2}, {l2_shrinkage}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return added_node.output(0);
}

edge apply_gradient_descent(operand var, operand alpha, operand delta,
    const apply_gradient_descent_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyGradientDescent", {{var}, {alpha}, {delta}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_momentum(operand var, operand accum, operand lr, operand grad, operand momentum,
    const apply_momentum_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyMomentum", {{var}, {accum}, {lr}, {grad}, {momentum}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return added_node.output(0);
}

edge apply_power_sign(operand var, operand m, operand lr, operand logbase, operand sign_decay,
    operand beta, operand grad, const apply_power_sign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyPowerSign", {{var}, {m}, {lr}, {logbase}, {sign_decay}, {beta}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1, operand l2,
    operand grad, const apply_proximal_adagrad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyProximalAdagrad", {{var}, {accum}, {lr}, {l1}, {l2}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand delta, const apply_proximal_gradient_descent_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyProximalGradientDescent", {{var}, {alpha}, {l1}, {l2}, {delta}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad, const apply_rms_prop_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApplyRMSProp", {{var}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge approximate_equal(operand x, operand y, const approximate_equal_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ApproximateEqual", {{x}, {y}},
      {{"tolerance", options.tolerance}}, name, where);
  return added_node.output(0);
}

edge arg_max(operand input, operand dimension, const arg_max_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ArgMax", {{input}, {dimension}},
      {{"output_type", options.output_type}}, name, where);
  return added_node.output(0);
}

edge arg_min(operand input, operand dimension, const arg_min_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ArgMin", {{input}, {dimension}},
      {{"output_type", options.output_type}}, name, where);
  return added_node.output(0);
}

edge as_string(operand input, const as_string_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AsString", {{input}},
      {{"precision", options.precision}, {"scientific", options.scientific}, {"shortest", options.shortest}, {"width", options.width}, {"fill", options.fill}}, name, where);
  return added_node.output(0);
}

edge asin(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Asin", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge asinh(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Asinh", {{x}},
      {}, name, where);
  return added_node.output(0);
}

node* assert_(operand condition, const std::vector<edge>& data, const assert__options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Assert", {{condition}, detail::list(data, where)},
      {{"summarize", options.summarize}}, name, where);
  return &added_node;
}

edge assign(operand ref, operand value, const assign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Assign", {{ref}, {value}},
      {{"validate_shape", options.validate_shape}, {"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge assign_add(operand ref, operand value, const assign_add_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AssignAdd", {{ref}, {value}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

node* assign_add_variable_op(operand resource, operand value, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AssignAddVariableOp", {{resource}, {value}},
      {}, name, where);
  return &added_node;
}

edge assign_sub(operand ref, operand value, const assign_sub_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AssignSub", {{ref}, {value}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

node* assign_sub_variable_op(operand resource, operand value, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AssignSubVariableOp", {{resource}, {value}},
      {}, name, where);
  return &added_node;
}

node* assign_variable_op(operand resource, operand value,
    const assign_variable_op_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AssignVariableOp", {{resource}, {value}},
      {{"validate_shape", options.validate_shape}}, name, where);
  return &added_node;
}

edge atan(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Atan", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge atan2(operand y, operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Atan2", {{y}, {x}},
      {}, name, where);
  return added_node.output(0);
}

edge atanh(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Atanh", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge audio_summary(operand tag, operand tensor, double sample_rate,
    const audio_summary_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AudioSummary", {{tag}, {tensor}},
      {{"sample_rate", sample_rate}, {"max_outputs", options.max_outputs}}, name, where);
  return added_node.output(0);
}

edge audio_summary_v2(operand tag, operand tensor, operand sample_rate,
    const audio_summary_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AudioSummaryV2", {{tag}, {tensor}, {sample_rate}},
      {{"max_outputs", options.max_outputs}}, name, where);
  return added_node.output(0);
}

edge avg_pool(operand value, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AvgPool", {{value}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge avg_pool3d(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool3d_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AvgPool3D", {{input}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge avg_pool3d_grad(operand orig_input_shape, operand grad, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool3d_grad_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AvgPool3DGrad", {{orig_input_shape}, {grad}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge avg_pool_grad(operand orig_input_shape, operand grad, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool_grad_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "AvgPoolGrad", {{orig_input_shape}, {grad}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge barrier(graph& in, const std::vector<troupe::dtype>& component_types,
    const barrier_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "Barrier", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

node* barrier_close(operand handle, const barrier_close_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BarrierClose", {{handle}},
      {{"cancel_pending_enqueues", options.cancel_pending_enqueues}}, name, where);
  return &added_node;
}

edge barrier_incomplete_size(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BarrierIncompleteSize", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

node* barrier_insert_many(operand handle, operand keys, operand values, int64_t component_index,
    const barrier_insert_many_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BarrierInsertMany", {{handle}, {keys}, {values}},
      {{"component_index", component_index}, {"timeout_ms", options.timeout_ms}}, name, where);
  return &added_node;
}

edge barrier_ready_size(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BarrierReadySize", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

barrier_take_many_outputs barrier_take_many(operand handle, operand num_elements,
    const std::vector<troupe::dtype>& component_types, const barrier_take_many_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BarrierTakeMany", {{handle}, {num_elements}},
      {{"component_types", component_types}, {"allow_small_batch", options.allow_small_batch}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return {added_node.output(0), added_node.output(1), detail::outputs(added_node, 2, 0)};
}

edge batch_matmul(operand x, operand y, const batch_matmul_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BatchMatMul", {{x}, {y}},
      {{"adj_x", options.adj_x}, {"adj_y", options.adj_y}}, name, where);
  return added_node.output(0);
}

edge batch_mat_mul_v2(operand x, operand y, const batch_mat_mul_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BatchMatMulV2", {{x}, {y}},
      {{"adj_x", options.adj_x}, {"adj_y", options.adj_y}}, name, where);
  return added_node.output(0);
}

edge batch_to_space(operand input, operand crops, int64_t block_size, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BatchToSpace", {{input}, {crops}},
      {{"block_size", block_size}}, name, where);
  return added_node.output(0);
}

edge batch_to_space_nd(operand input, operand block_shape, operand crops, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BatchToSpaceND", {{input}, {block_shape}, {crops}},
      {}, name, where);
  return added_node.output(0);
}

edge betainc(operand a, operand b, operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Betainc", {{a}, {b}, {x}},
      {}, name, where);
  return added_node.output(0);
}

edge bias_add(operand value, operand bias, const bias_add_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BiasAdd", {{value}, {bias}},
      {{"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge bias_add_grad(operand out_backprop, const bias_add_grad_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BiasAddGrad", {{out_backprop}},
      {{"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge bincount(operand arr, operand size, operand weights, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Bincount", {{arr}, {size}, {weights}},
      {}, name, where);
  return added_node.output(0);
}

edge bitcast(operand input, troupe::dtype type, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Bitcast", {{input}},
      {{"type", type}}, name, where);
  return added_node.output(0);
}

edge bitwise_and(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BitwiseAnd", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge bitwise_or(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BitwiseOr", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge bitwise_xor(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BitwiseXor", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

block_lstm_outputs block_lstm(operand seq_len_max, operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b,
    const block_lstm_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BlockLSTM", {{seq_len_max}, {x}, {cs_prev}, {h_prev}, {w}, {wci}, {wcf}, {wco}, {b}},
      {{"forget_bias", options.forget_bias}, {"cell_clip", options.cell_clip}, {"use_peephole", options.use_peephole}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5), added_node.output(6)};
}

block_lstm_grad_outputs block_lstm_grad(operand seq_len_max, operand x, operand cs_prev,
    operand h_prev, operand w, operand wci, operand wcf, operand wco, operand b, operand i,
    operand cs, operand f, operand o, operand ci, operand co, operand h, operand cs_grad,
    operand h_grad, bool use_peephole, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BlockLSTMGrad", {{seq_len_max}, {x}, {cs_prev}, {h_prev}, {w}, {wci}, {wcf}, {wco}, {b}, {i}, {cs}, {f}, {o}, {ci}, {co}, {h}, {cs_grad}, {h_grad}},
      {{"use_peephole", use_peephole}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5), added_node.output(6), added_node.output(7)};
}

block_lstm_grad_v2_outputs block_lstm_grad_v2(operand seq_len_max, operand x, operand cs_prev,
    operand h_prev, operand w, operand wci, operand wcf, operand wco, operand b, operand i,
    operand cs, operand f, operand o, operand ci, operand co, operand h, operand cs_grad,
    operand h_grad, bool use_peephole, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BlockLSTMGradV2", {{seq_len_max}, {x}, {cs_prev}, {h_prev}, {w}, {wci}, {wcf}, {wco}, {b}, {i}, {cs}, {f}, {o}, {ci}, {co}, {h}, {cs_grad}, {h_grad}},
      {{"use_peephole", use_peephole}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5), added_node.output(6), added_node.output(7)};
}

block_lstmv2_outputs block_lstmv2(operand seq_len_max, operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b,
    const block_lstmv2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BlockLSTMV2", {{seq_len_max}, {x}, {cs_prev}, {h_prev}, {w}, {wci}, {wcf}, {wco}, {b}},
      {{"cell_clip", options.cell_clip}, {"use_peephole", options.use_peephole}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5), added_node.output(6)};
}

edge broadcast_args(operand s0, operand s1, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BroadcastArgs", {{s0}, {s1}},
      {}, name, where);
  return added_node.output(0);
}

broadcast_gradient_args_outputs broadcast_gradient_args(operand s0, operand s1,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BroadcastGradientArgs", {{s0}, {s1}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge broadcast_to(operand input, operand shape, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "BroadcastTo", {{input}, {shape}},
      {}, name, where);
  return added_node.output(0);
}

edge bucketize(operand input, const std::vector<double>& boundaries, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Bucketize", {{input}},
      {{"boundaries", boundaries}}, name, where);
  return added_node.output(0);
}

ctc_beam_search_decoder_outputs ctc_beam_search_decoder(operand inputs, operand sequence_length,
    int64_t beam_width, int64_t top_paths, const ctc_beam_search_decoder_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CTCBeamSearchDecoder", {{inputs}, {sequence_length}},
      {{"beam_width", beam_width}, {"top_paths", top_paths}, {"merge_repeated", options.merge_repeated}}, name, where);
  int next = 0;
  return {detail::next_outputs(added_node, next, added_node.attr<int64_t>("top_paths")),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("top_paths")),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("top_paths")),
          added_node.output(next++)};
}

ctc_greedy_decoder_outputs ctc_greedy_decoder(operand inputs, operand sequence_length,
    const ctc_greedy_decoder_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CTCGreedyDecoder", {{inputs}, {sequence_length}},
      {{"merge_repeated", options.merge_repeated}, {"blank_index", options.blank_index}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3)};
}

ctc_loss_outputs ctc_loss(operand inputs, operand labels_indices, operand labels_values,
    operand sequence_length, const ctc_loss_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CTCLoss", {{inputs}, {labels_indices}, {labels_values}, {sequence_length}},
      {{"preprocess_collapse_repeated", options.preprocess_collapse_repeated}, {"ctc_merge_repeated", options.ctc_merge_repeated}, {"ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

ctc_loss_v2_outputs ctc_loss_v2(operand inputs, operand labels_indices, operand labels_values,
    operand sequence_length, const ctc_loss_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CTCLossV2", {{inputs}, {labels_indices}, {labels_values}, {sequence_length}},
      {{"preprocess_collapse_repeated", options.preprocess_collapse_repeated}, {"ctc_merge_repeated", options.ctc_merge_repeated}, {"ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge cast(operand x, troupe::dtype dst_t, const cast_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cast", {{x}},
      {{"DstT", dst_t}, {"Truncate", options.truncate}}, name, where);
  return added_node.output(0);
}

edge ceil(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Ceil", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge check_numerics(operand tensor, std::string_view message, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CheckNumerics", {{tensor}},
      {{"message", message}}, name, where);
  return added_node.output(0);
}

edge cholesky(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cholesky", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge clip_by_value(operand t, operand clip_value_min, operand clip_value_max,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ClipByValue", {{t}, {clip_value_min}, {clip_value_max}},
      {}, name, where);
  return added_node.output(0);
}

edge collective_bcast_recv(graph& in, troupe::dtype t, int64_t group_size, int64_t group_key,
    int64_t instance_key, const collective_bcast_recv_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "CollectiveBcastRecv", {},
      {{"T", t}, {"group_size", group_size}, {"group_key", group_key}, {"instance_key", instance_key}, {"shape", options.shape}, {"communication_hint", options.communication_hint}, {"timeout_seconds", options.timeout_seconds}}, name, where);
  return added_node.output(0);
}

edge collective_bcast_send(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, const collective_bcast_send_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CollectiveBcastSend", {{input}},
      {{"group_size", group_size}, {"group_key", group_key}, {"instance_key", instance_key}, {"shape", options.shape}, {"communication_hint", options.communication_hint}, {"timeout_seconds", options.timeout_seconds}}, name, where);
  return added_node.output(0);
}

edge collective_gather(operand input, int64_t group_size, int64_t group_key, int64_t instance_key,
    const collective_gather_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CollectiveGather", {{input}},
      {{"group_size", group_size}, {"group_key", group_key}, {"instance_key", instance_key}, {"shape", options.shape}, {"communication_hint", options.communication_hint}, {"timeout_seconds", options.timeout_seconds}}, name, where);
  return added_node.output(0);
}

edge collective_reduce(operand input, int64_t group_size, int64_t group_key, int64_t instance_key,
    std::string_view merge_op, std::string_view final_op,
    const collective_reduce_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CollectiveReduce", {{input}},
      {{"group_size", group_size}, {"group_key", group_key}, {"instance_key", instance_key}, {"merge_op", merge_op}, {"final_op", final_op}, {"subdiv_offsets", options.subdiv_offsets}, {"wait_for", options.wait_for}, {"communication_hint", options.communication_hint}, {"timeout_seconds", options.timeout_seconds}}, name, where);
  return added_node.output(0);
}

edge collective_reduce_scatter(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, std::string_view merge_op, std::string_view final_op,
    const collective_reduce_scatter_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CollectiveReduceScatter", {{input}},
      {{"group_size", group_size}, {"group_key", group_key}, {"instance_key", instance_key}, {"merge_op", merge_op}, {"final_op", final_op}, {"wait_for", options.wait_for}, {"communication_hint", options.communication_hint}, {"timeout_seconds", options.timeout_seconds}}, name, where);
  return added_node.output(0);
}

edge complex(operand real, operand imag, const complex_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Complex", {{real}, {imag}},
      {{"Tout", options.tout}}, name, where);
  return added_node.output(0);
}

edge complex_abs(operand x, const complex_abs_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ComplexAbs", {{x}},
      {{"Tout", options.tout}}, name, where);
  return added_node.output(0);
}

compute_accidental_hits_outputs compute_accidental_hits(operand true_classes,
    operand sampled_candidates, int64_t num_true, const compute_accidental_hits_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ComputeAccidentalHits", {{true_classes}, {sampled_candidates}},
      {{"num_true", num_true}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

std::vector<edge> concat_offset(operand concat_dim, const std::vector<edge>& shape,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ConcatOffset", {{concat_dim}, detail::list(shape, where)},
      {}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge concatenate(const std::vector<edge>& values, operand axis, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ConcatV2", {detail::list(values, where), {axis}},
      {}, name, where);
  return added_node.output(0);
}

edge conditional_accumulator(graph& in, troupe::dtype dtype,
    const conditional_accumulator_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "ConditionalAccumulator", {},
      {{"dtype", dtype}, {"shape", options.shape}, {"container", options.container}, {"shared_name", options.shared_name}, {"reduction_type", options.reduction_type}}, name, where);
  return added_node.output(0);
}

edge conj(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conj", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge conjugate_transpose(operand x, operand perm, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ConjugateTranspose", {{x}, {perm}},
      {}, name, where);
  return added_node.output(0);
}

node* consume_mutex_lock(operand mutex_lock, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ConsumeMutexLock", {{mutex_lock}},
      {}, name, where);
  return &added_node;
}

edge conv2d(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, const conv2d_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conv2D", {{input}, {filter}},
      {{"strides", strides}, {"padding", padding}, {"use_cudnn_on_gpu", options.use_cudnn_on_gpu}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge conv2d_backprop_filter(operand input, operand filter_sizes, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv2d_backprop_filter_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conv2DBackpropFilter", {{input}, {filter_sizes}, {out_backprop}},
      {{"strides", strides}, {"padding", padding}, {"use_cudnn_on_gpu", options.use_cudnn_on_gpu}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge conv2d_backprop_input(operand input_sizes, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv2d_backprop_input_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conv2DBackpropInput", {{input_sizes}, {filter}, {out_backprop}},
      {{"strides", strides}, {"padding", padding}, {"use_cudnn_on_gpu", options.use_cudnn_on_gpu}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge conv3d(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, const conv3d_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conv3D", {{input}, {filter}},
      {{"strides", strides}, {"padding", padding}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge conv3d_backprop_filter_v2(operand input, operand filter_sizes, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv3d_backprop_filter_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conv3DBackpropFilterV2", {{input}, {filter_sizes}, {out_backprop}},
      {{"strides", strides}, {"padding", padding}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge conv3d_backprop_input_v2(operand input_sizes, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv3d_backprop_input_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Conv3DBackpropInputV2", {{input_sizes}, {filter}, {out_backprop}},
      {{"strides", strides}, {"padding", padding}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge cos(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cos", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge cosh(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cosh", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge count_up_to(operand ref, int64_t limit, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CountUpTo", {{ref}},
      {{"limit", limit}}, name, where);
  return added_node.output(0);
}

edge crop_and_resize(operand image, operand boxes, operand box_ind, operand crop_size,
    const crop_and_resize_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CropAndResize", {{image}, {boxes}, {box_ind}, {crop_size}},
      {{"method", options.method}, {"extrapolation_value", options.extrapolation_value}}, name, where);
  return added_node.output(0);
}

edge crop_and_resize_grad_boxes(operand grads, operand image, operand boxes, operand box_ind,
    const crop_and_resize_grad_boxes_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CropAndResizeGradBoxes", {{grads}, {image}, {boxes}, {box_ind}},
      {{"method", options.method}}, name, where);
  return added_node.output(0);
}

edge crop_and_resize_grad_image(operand grads, operand boxes, operand box_ind, operand image_size,
    troupe::dtype t, const crop_and_resize_grad_image_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "CropAndResizeGradImage", {{grads}, {boxes}, {box_ind}, {image_size}},
      {{"T", t}, {"method", options.method}}, name, where);
  return added_node.output(0);
}

edge cross(operand a, operand b, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cross", {{a}, {b}},
      {}, name, where);
  return added_node.output(0);
}

edge cumprod(operand x, operand axis, const cumprod_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cumprod", {{x}, {axis}},
      {{"exclusive", options.exclusive}, {"reverse", options.reverse}}, name, where);
  return added_node.output(0);
}

edge cumsum(operand x, operand axis, const cumsum_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Cumsum", {{x}, {axis}},
      {{"exclusive", options.exclusive}, {"reverse", options.reverse}}, name, where);
  return added_node.output(0);
}

edge decode_base64(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeBase64", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge decode_bmp(operand contents, const decode_bmp_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeBmp", {{contents}},
      {{"channels", options.channels}}, name, where);
  return added_node.output(0);
}

std::vector<edge> decode_csv(operand records, const std::vector<edge>& record_defaults,
    const decode_csv_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeCSV", {{records}, detail::list(record_defaults, where)},
      {{"field_delim", options.field_delim}, {"use_quote_delim", options.use_quote_delim}, {"na_value", options.na_value}, {"select_cols", options.select_cols}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge decode_gif(operand contents, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeGif", {{contents}},
      {}, name, where);
  return added_node.output(0);
}

edge decode_image(operand contents, const decode_image_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeImage", {{contents}},
      {{"channels", options.channels}, {"dtype", options.dtype}, {"expand_animations", options.expand_animations}}, name, where);
  return added_node.output(0);
}

edge decode_jpeg(operand contents, const decode_jpeg_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeJpeg", {{contents}},
      {{"channels", options.channels}, {"ratio", options.ratio}, {"fancy_upscaling", options.fancy_upscaling}, {"try_recover_truncated", options.try_recover_truncated}, {"acceptable_fraction", options.acceptable_fraction}, {"dct_method", options.dct_method}}, name, where);
  return added_node.output(0);
}

edge decode_png(operand contents, const decode_png_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodePng", {{contents}},
      {{"channels", options.channels}, {"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge decode_raw(operand bytes, troupe::dtype out_type, const decode_raw_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DecodeRaw", {{bytes}},
      {{"out_type", out_type}, {"little_endian", options.little_endian}}, name, where);
  return added_node.output(0);
}

edge dense_bincount(operand input, operand size, operand weights,
    const dense_bincount_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DenseBincount", {{input}, {size}, {weights}},
      {{"binary_output", options.binary_output}}, name, where);
  return added_node.output(0);
}

edge densify_top_k(operand values, operand positions, operand shape, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DensifyTopK", {{values}, {positions}, {shape}},
      {}, name, where);
  return added_node.output(0);
}

edge depth_to_space(operand input, int64_t block_size, const depth_to_space_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DepthToSpace", {{input}},
      {{"block_size", block_size}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge depthwise_conv2d_native(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, const depthwise_conv2d_native_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DepthwiseConv2dNative", {{input}, {filter}},
      {{"strides", strides}, {"padding", padding}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge depthwise_conv2d_native_backprop_filter(operand input, operand filter_sizes,
    operand out_backprop, const std::vector<int64_t>& strides, std::string_view padding,
    const depthwise_conv2d_native_backprop_filter_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DepthwiseConv2dNativeBackpropFilter", {{input}, {filter_sizes}, {out_backprop}},
      {{"strides", strides}, {"padding", padding}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge depthwise_conv2d_native_backprop_input(operand input_sizes, operand filter,
    operand out_backprop, const std::vector<int64_t>& strides, std::string_view padding,
    const depthwise_conv2d_native_backprop_input_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DepthwiseConv2dNativeBackpropInput", {{input_sizes}, {filter}, {out_backprop}},
      {{"strides", strides}, {"padding", padding}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}, {"dilations", options.dilations}}, name, where);
  return added_node.output(0);
}

edge dequantize(operand input, operand min_range, operand max_range,
    const dequantize_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Dequantize", {{input}, {min_range}, {max_range}},
      {{"mode", options.mode}, {"narrow_range", options.narrow_range}, {"axis", options.axis}, {"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

node* destroy_resource_op(operand resource, const destroy_resource_op_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DestroyResourceOp", {{resource}},
      {{"ignore_lookup_error", options.ignore_lookup_error}}, name, where);
  return &added_node;
}

edge destroy_temporary_variable(operand ref, std::string_view var_name, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DestroyTemporaryVariable", {{ref}},
      {{"var_name", var_name}}, name, where);
  return added_node.output(0);
}

edge diag(operand diagonal, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Diag", {{diagonal}},
      {}, name, where);
  return added_node.output(0);
}

edge diag_part(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DiagPart", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge digamma(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Digamma", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge dilation2d(operand input, operand filter, const std::vector<int64_t>& strides,
    const std::vector<int64_t>& rates, std::string_view padding, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Dilation2D", {{input}, {filter}},
      {{"strides", strides}, {"rates", rates}, {"padding", padding}}, name, where);
  return added_node.output(0);
}

edge dilation2d_backprop_filter(operand input, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
    std::string_view padding, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Dilation2DBackpropFilter", {{input}, {filter}, {out_backprop}},
      {{"strides", strides}, {"rates", rates}, {"padding", padding}}, name, where);
  return added_node.output(0);
}

edge dilation2d_backprop_input(operand input, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
    std::string_view padding, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Dilation2DBackpropInput", {{input}, {filter}, {out_backprop}},
      {{"strides", strides}, {"rates", rates}, {"padding", padding}}, name, where);
  return added_node.output(0);
}

node* disable_copy_on_read(operand resource, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DisableCopyOnRead", {{resource}},
      {}, name, where);
  return &added_node;
}

edge div(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Div", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge div_no_nan(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DivNoNan", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge draw_bounding_boxes(operand images, operand boxes, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DrawBoundingBoxes", {{images}, {boxes}},
      {}, name, where);
  return added_node.output(0);
}

std::vector<edge> dynamic_partition(operand data, operand partitions, int64_t num_partitions,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DynamicPartition", {{data}, {partitions}},
      {{"num_partitions", num_partitions}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge dynamic_stitch(const std::vector<edge>& indices, const std::vector<edge>& data,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "DynamicStitch", {detail::list(indices, where), detail::list(data, where)},
      {{"N", std::ssize(indices)}, {"N", std::ssize(data)}}, name, where);
  return added_node.output(0);
}

edge edit_distance(operand hypothesis_indices, operand hypothesis_values,
    operand hypothesis_shape, operand truth_indices, operand truth_values, operand truth_shape,
    const edit_distance_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EditDistance", {{hypothesis_indices}, {hypothesis_values}, {hypothesis_shape}, {truth_indices}, {truth_values}, {truth_shape}},
      {{"normalize", options.normalize}}, name, where);
  return added_node.output(0);
}

edge elu(operand features, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Elu", {{features}},
      {}, name, where);
  return added_node.output(0);
}

edge elu_grad(operand gradients, operand outputs, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EluGrad", {{gradients}, {outputs}},
      {}, name, where);
  return added_node.output(0);
}

edge empty(operand shape, troupe::dtype dtype, const empty_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Empty", {{shape}},
      {{"dtype", dtype}, {"init", options.init}}, name, where);
  return added_node.output(0);
}

edge empty_tensor_list(operand element_shape, operand max_num_elements,
    troupe::dtype element_dtype, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EmptyTensorList", {{element_shape}, {max_num_elements}},
      {{"element_dtype", element_dtype}}, name, where);
  return added_node.output(0);
}

edge encode_base64(operand input, const encode_base64_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EncodeBase64", {{input}},
      {{"pad", options.pad}}, name, where);
  return added_node.output(0);
}

edge encode_jpeg(operand image, const encode_jpeg_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EncodeJpeg", {{image}},
      {{"format", options.format}, {"quality", options.quality}, {"progressive", options.progressive}, {"optimize_size", options.optimize_size}, {"chroma_downsampling", options.chroma_downsampling}, {"density_unit", options.density_unit}, {"x_density", options.x_density}, {"y_density", options.y_density}, {"xmp_metadata", options.xmp_metadata}}, name, where);
  return added_node.output(0);
}

edge encode_png(operand image, const encode_png_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EncodePng", {{image}},
      {{"compression", options.compression}}, name, where);
  return added_node.output(0);
}

edge ensure_shape(operand input, const troupe::partial_shape& shape, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EnsureShape", {{input}},
      {{"shape", shape}}, name, where);
  return added_node.output(0);
}

edge equal(operand x, operand y, const equal_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Equal", {{x}, {y}},
      {{"incompatible_shape_error", options.incompatible_shape_error}}, name, where);
  return added_node.output(0);
}

edge erf(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Erf", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge erfc(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Erfc", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge euclidean_norm(operand input, operand reduction_indices,
    const euclidean_norm_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "EuclideanNorm", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

edge exp(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Exp", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge expand_dims(operand input, operand dim, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ExpandDims", {{input}, {dim}},
      {}, name, where);
  return added_node.output(0);
}

edge expm1(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Expm1", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge extract_image_patches(operand images, const std::vector<int64_t>& ksizes,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
    std::string_view padding, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ExtractImagePatches", {{images}},
      {{"ksizes", ksizes}, {"strides", strides}, {"rates", rates}, {"padding", padding}}, name, where);
  return added_node.output(0);
}

edge extract_jpeg_shape(operand contents, const extract_jpeg_shape_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ExtractJpegShape", {{contents}},
      {{"output_type", options.output_type}}, name, where);
  return added_node.output(0);
}

edge fifo_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    const fifo_queue_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "FIFOQueue", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge fifo_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    const fifo_queue_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "FIFOQueueV2", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge fake_quant_with_min_max_args(operand inputs,
    const fake_quant_with_min_max_args_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FakeQuantWithMinMaxArgs", {{inputs}},
      {{"min", options.min}, {"max", options.max}, {"num_bits", options.num_bits}, {"narrow_range", options.narrow_range}}, name, where);
  return added_node.output(0);
}

edge fake_quant_with_min_max_args_gradient(operand gradients, operand inputs,
    const fake_quant_with_min_max_args_gradient_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FakeQuantWithMinMaxArgsGradient", {{gradients}, {inputs}},
      {{"min", options.min}, {"max", options.max}, {"num_bits", options.num_bits}, {"narrow_range", options.narrow_range}}, name, where);
  return added_node.output(0);
}

edge fake_quant_with_min_max_vars(operand inputs, operand min, operand max,
    const fake_quant_with_min_max_vars_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FakeQuantWithMinMaxVars", {{inputs}, {min}, {max}},
      {{"num_bits", options.num_bits}, {"narrow_range", options.narrow_range}}, name, where);
  return added_node.output(0);
}

fake_quant_with_min_max_vars_gradient_outputs fake_quant_with_min_max_vars_gradient(operand gradients,
    operand inputs, operand min, operand max,
    const fake_quant_with_min_max_vars_gradient_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FakeQuantWithMinMaxVarsGradient", {{gradients}, {inputs}, {min}, {max}},
      {{"num_bits", options.num_bits}, {"narrow_range", options.narrow_range}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge fill(graph& in, operand dims, operand value, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "Fill", {{dims}, {value}},
      {}, name, where);
  return added_node.output(0);
}

edge fixed_length_record_reader(graph& in, int64_t record_bytes,
    const fixed_length_record_reader_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "FixedLengthRecordReader", {},
      {{"record_bytes", record_bytes}, {"header_bytes", options.header_bytes}, {"footer_bytes", options.footer_bytes}, {"hop_bytes", options.hop_bytes}, {"encoding", options.encoding}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge fixed_length_record_reader_v2(graph& in, int64_t record_bytes,
    const fixed_length_record_reader_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "FixedLengthRecordReaderV2", {},
      {{"record_bytes", record_bytes}, {"header_bytes", options.header_bytes}, {"footer_bytes", options.footer_bytes}, {"hop_bytes", options.hop_bytes}, {"encoding", options.encoding}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

fixed_unigram_candidate_sampler_outputs fixed_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const fixed_unigram_candidate_sampler_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "FixedUnigramCandidateSampler", {{true_classes}},
      {{"num_true", num_true}, {"num_sampled", num_sampled}, {"unique", unique}, {"range_max", range_max}, {"vocab_file", options.vocab_file}, {"distortion", options.distortion}, {"num_reserved_ids", options.num_reserved_ids}, {"num_shards", options.num_shards}, {"shard", options.shard}, {"unigrams", options.unigrams}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge floor(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Floor", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge floor_div(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FloorDiv", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge floor_mod(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FloorMod", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

fused_batch_norm_outputs fused_batch_norm(operand x, operand scale, operand offset, operand mean,
    operand variance, const fused_batch_norm_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FusedBatchNorm", {{x}, {scale}, {offset}, {mean}, {variance}},
      {{"epsilon", options.epsilon}, {"exponential_avg_factor", options.exponential_avg_factor}, {"data_format", options.data_format}, {"is_training", options.is_training}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4)};
}

fused_batch_norm_grad_outputs fused_batch_norm_grad(operand y_backprop, operand x, operand scale,
    operand reserve_space_1, operand reserve_space_2,
    const fused_batch_norm_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FusedBatchNormGrad", {{y_backprop}, {x}, {scale}, {reserve_space_1}, {reserve_space_2}},
      {{"epsilon", options.epsilon}, {"data_format", options.data_format}, {"is_training", options.is_training}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4)};
}

fused_batch_norm_grad_v2_outputs fused_batch_norm_grad_v2(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2,
    const fused_batch_norm_grad_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FusedBatchNormGradV2", {{y_backprop}, {x}, {scale}, {reserve_space_1}, {reserve_space_2}},
      {{"epsilon", options.epsilon}, {"data_format", options.data_format}, {"is_training", options.is_training}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4)};
}

fused_batch_norm_grad_v3_outputs fused_batch_norm_grad_v3(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2, operand reserve_space_3,
    const fused_batch_norm_grad_v3_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FusedBatchNormGradV3", {{y_backprop}, {x}, {scale}, {reserve_space_1}, {reserve_space_2}, {reserve_space_3}},
      {{"epsilon", options.epsilon}, {"data_format", options.data_format}, {"is_training", options.is_training}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4)};
}

fused_batch_norm_v2_outputs fused_batch_norm_v2(operand x, operand scale, operand offset,
    operand mean, operand variance, const fused_batch_norm_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FusedBatchNormV2", {{x}, {scale}, {offset}, {mean}, {variance}},
      {{"epsilon", options.epsilon}, {"exponential_avg_factor", options.exponential_avg_factor}, {"data_format", options.data_format}, {"is_training", options.is_training}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4)};
}

fused_batch_norm_v3_outputs fused_batch_norm_v3(operand x, operand scale, operand offset,
    operand mean, operand variance, const fused_batch_norm_v3_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "FusedBatchNormV3", {{x}, {scale}, {offset}, {mean}, {variance}},
      {{"epsilon", options.epsilon}, {"exponential_avg_factor", options.exponential_avg_factor}, {"data_format", options.data_format}, {"is_training", options.is_training}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5)};
}

gru_block_cell_outputs gru_block_cell(operand x, operand h_prev, operand w_ru, operand w_c,
    operand b_ru, operand b_c, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "GRUBlockCell", {{x}, {h_prev}, {w_ru}, {w_c}, {b_ru}, {b_c}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3)};
}

gru_block_cell_grad_outputs gru_block_cell_grad(operand x, operand h_prev, operand w_ru,
    operand w_c, operand b_ru, operand b_c, operand r, operand u, operand c, operand d_h,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "GRUBlockCellGrad", {{x}, {h_prev}, {w_ru}, {w_c}, {b_ru}, {b_c}, {r}, {u}, {c}, {d_h}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3)};
}

edge gather(operand params, operand indices, const gather_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Gather", {{params}, {indices}},
      {{"validate_indices", options.validate_indices}}, name, where);
  return added_node.output(0);
}

edge gather_nd(operand params, operand indices, const gather_nd_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "GatherNd", {{params}, {indices}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge gather_v2(operand params, operand indices, operand axis, const gather_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "GatherV2", {{params}, {indices}, {axis}},
      {{"batch_dims", options.batch_dims}}, name, where);
  return added_node.output(0);
}

edge greater(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Greater", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge greater_equal(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "GreaterEqual", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge hsv_to_rgb(operand images, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "HSVToRGB", {{images}},
      {}, name, where);
  return added_node.output(0);
}

edge hash_table(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const hash_table_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "HashTable", {},
      {{"key_dtype", key_dtype}, {"value_dtype", value_dtype}, {"container", options.container}, {"shared_name", options.shared_name}, {"use_node_name_sharing", options.use_node_name_sharing}}, name, where);
  return added_node.output(0);
}

edge hash_table_v2(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const hash_table_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "HashTableV2", {},
      {{"key_dtype", key_dtype}, {"value_dtype", value_dtype}, {"container", options.container}, {"shared_name", options.shared_name}, {"use_node_name_sharing", options.use_node_name_sharing}}, name, where);
  return added_node.output(0);
}

edge histogram_fixed_width(operand values, operand value_range, operand nbins,
    const histogram_fixed_width_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "HistogramFixedWidth", {{values}, {value_range}, {nbins}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge histogram_summary(operand tag, operand values, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "HistogramSummary", {{tag}, {values}},
      {}, name, where);
  return added_node.output(0);
}

edge identity(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Identity", {{input}},
      {}, name, where);
  return added_node.output(0);
}

std::vector<edge> identity_n(const std::vector<edge>& input, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "IdentityN", {detail::list(input, where)},
      {}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge identity_reader(graph& in, const identity_reader_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "IdentityReader", {},
      {{"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge identity_reader_v2(graph& in, const identity_reader_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "IdentityReaderV2", {},
      {{"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge igamma(operand a, operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Igamma", {{a}, {x}},
      {}, name, where);
  return added_node.output(0);
}

edge igamma_grad_a(operand a, operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "IgammaGradA", {{a}, {x}},
      {}, name, where);
  return added_node.output(0);
}

edge igammac(operand a, operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Igammac", {{a}, {x}},
      {}, name, where);
  return added_node.output(0);
}

edge imag(operand input, const imag_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Imag", {{input}},
      {{"Tout", options.tout}}, name, where);
  return added_node.output(0);
}

edge image_summary(operand tag, operand tensor, const image_summary_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ImageSummary", {{tag}, {tensor}},
      {{"max_images", options.max_images}, {"bad_color", options.bad_color}}, name, where);
  return added_node.output(0);
}

edge in_top_k(operand predictions, operand targets, int64_t k, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InTopK", {{predictions}, {targets}},
      {{"k", k}}, name, where);
  return added_node.output(0);
}

edge in_top_kv2(operand predictions, operand targets, operand k, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InTopKV2", {{predictions}, {targets}, {k}},
      {}, name, where);
  return added_node.output(0);
}

node* initialize_table(operand table_handle, operand keys, operand values, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InitializeTable", {{table_handle}, {keys}, {values}},
      {}, name, where);
  return &added_node;
}

node* initialize_table_from_text_file(operand table_handle, operand filename, int64_t key_index,
    int64_t value_index, const initialize_table_from_text_file_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InitializeTableFromTextFile", {{table_handle}, {filename}},
      {{"key_index", key_index}, {"value_index", value_index}, {"vocab_size", options.vocab_size}, {"delimiter", options.delimiter}, {"offset", options.offset}}, name, where);
  return &added_node;
}

node* initialize_table_from_text_file_v2(operand table_handle, operand filename,
    int64_t key_index, int64_t value_index,
    const initialize_table_from_text_file_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InitializeTableFromTextFileV2", {{table_handle}, {filename}},
      {{"key_index", key_index}, {"value_index", value_index}, {"vocab_size", options.vocab_size}, {"delimiter", options.delimiter}, {"offset", options.offset}}, name, where);
  return &added_node;
}

node* initialize_table_v2(operand table_handle, operand keys, operand values,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InitializeTableV2", {{table_handle}, {keys}, {values}},
      {}, name, where);
  return &added_node;
}

edge inv(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Inv", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge inv_grad(operand y, operand dy, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InvGrad", {{y}, {dy}},
      {}, name, where);
  return added_node.output(0);
}

edge invert(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Invert", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge invert_permutation(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "InvertPermutation", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge is_finite(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "IsFinite", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge is_inf(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "IsInf", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge is_nan(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "IsNan", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge is_variable_initialized(operand ref, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "IsVariableInitialized", {{ref}},
      {}, name, where);
  return added_node.output(0);
}

edge l2_loss(operand t, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "L2Loss", {{t}},
      {}, name, where);
  return added_node.output(0);
}

edge lrn(operand input, const lrn_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LRN", {{input}},
      {{"depth_radius", options.depth_radius}, {"bias", options.bias}, {"alpha", options.alpha}, {"beta", options.beta}}, name, where);
  return added_node.output(0);
}

edge lrn_grad(operand input_grads, operand input_image, operand output_image,
    const lrn_grad_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LRNGrad", {{input_grads}, {input_image}, {output_image}},
      {{"depth_radius", options.depth_radius}, {"bias", options.bias}, {"alpha", options.alpha}, {"beta", options.beta}}, name, where);
  return added_node.output(0);
}

lstm_block_cell_outputs lstm_block_cell(operand x, operand cs_prev, operand h_prev, operand w,
    operand wci, operand wcf, operand wco, operand b, const lstm_block_cell_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LSTMBlockCell", {{x}, {cs_prev}, {h_prev}, {w}, {wci}, {wcf}, {wco}, {b}},
      {{"forget_bias", options.forget_bias}, {"cell_clip", options.cell_clip}, {"use_peephole", options.use_peephole}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5), added_node.output(6)};
}

lstm_block_cell_grad_outputs lstm_block_cell_grad(operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b, operand i, operand cs, operand f,
    operand o, operand ci, operand co, operand cs_grad, operand h_grad, bool use_peephole,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LSTMBlockCellGrad", {{x}, {cs_prev}, {h_prev}, {w}, {wci}, {wcf}, {wco}, {b}, {i}, {cs}, {f}, {o}, {ci}, {co}, {cs_grad}, {h_grad}},
      {{"use_peephole", use_peephole}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4)};
}

edge leaky_relu(operand features, const leaky_relu_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LeakyRelu", {{features}},
      {{"alpha", options.alpha}}, name, where);
  return added_node.output(0);
}

edge leaky_relu_grad(operand gradients, operand features, const leaky_relu_grad_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LeakyReluGrad", {{gradients}, {features}},
      {{"alpha", options.alpha}}, name, where);
  return added_node.output(0);
}

learned_unigram_candidate_sampler_outputs learned_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const learned_unigram_candidate_sampler_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "LearnedUnigramCandidateSampler", {{true_classes}},
      {{"num_true", num_true}, {"num_sampled", num_sampled}, {"unique", unique}, {"range_max", range_max}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge left_shift(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LeftShift", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge less(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Less", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge less_equal(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LessEqual", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge lgamma(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Lgamma", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge lin_space(operand start, operand stop, operand num, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LinSpace", {{start}, {stop}, {num}},
      {}, name, where);
  return added_node.output(0);
}

list_diff_outputs list_diff(operand x, operand y, const list_diff_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ListDiff", {{x}, {y}},
      {{"out_idx", options.out_idx}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge log(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Log", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge log1p(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Log1p", {{x}},
      {}, name, where);
  return added_node.output(0);
}

log_matrix_determinant_outputs log_matrix_determinant(operand input, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LogMatrixDeterminant", {{input}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge log_softmax(operand logits, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LogSoftmax", {{logits}},
      {}, name, where);
  return added_node.output(0);
}

log_uniform_candidate_sampler_outputs log_uniform_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const log_uniform_candidate_sampler_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "LogUniformCandidateSampler", {{true_classes}},
      {{"num_true", num_true}, {"num_sampled", num_sampled}, {"unique", unique}, {"range_max", range_max}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge logical_and(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LogicalAnd", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge logical_not(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LogicalNot", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge logical_or(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LogicalOr", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

lookup_table_export_outputs lookup_table_export(operand table_handle, troupe::dtype tkeys,
    troupe::dtype tvalues, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableExport", {{table_handle}},
      {{"Tkeys", tkeys}, {"Tvalues", tvalues}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

lookup_table_export_v2_outputs lookup_table_export_v2(operand table_handle, troupe::dtype tkeys,
    troupe::dtype tvalues, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableExportV2", {{table_handle}},
      {{"Tkeys", tkeys}, {"Tvalues", tvalues}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge lookup_table_find(operand table_handle, operand keys, operand default_value,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableFind", {{table_handle}, {keys}, {default_value}},
      {}, name, where);
  return added_node.output(0);
}

edge lookup_table_find_v2(operand table_handle, operand keys, operand default_value,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableFindV2", {{table_handle}, {keys}, {default_value}},
      {}, name, where);
  return added_node.output(0);
}

node* lookup_table_import(operand table_handle, operand keys, operand values,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableImport", {{table_handle}, {keys}, {values}},
      {}, name, where);
  return &added_node;
}

node* lookup_table_import_v2(operand table_handle, operand keys, operand values,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableImportV2", {{table_handle}, {keys}, {values}},
      {}, name, where);
  return &added_node;
}

node* lookup_table_insert(operand table_handle, operand keys, operand values,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableInsert", {{table_handle}, {keys}, {values}},
      {}, name, where);
  return &added_node;
}

node* lookup_table_insert_v2(operand table_handle, operand keys, operand values,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableInsertV2", {{table_handle}, {keys}, {values}},
      {}, name, where);
  return &added_node;
}

node* lookup_table_remove_v2(operand table_handle, operand keys, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableRemoveV2", {{table_handle}, {keys}},
      {}, name, where);
  return &added_node;
}

edge lookup_table_size(operand table_handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableSize", {{table_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge lookup_table_size_v2(operand table_handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LookupTableSizeV2", {{table_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge lower_bound(operand sorted_inputs, operand values, const lower_bound_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "LowerBound", {{sorted_inputs}, {values}},
      {{"out_type", options.out_type}}, name, where);
  return added_node.output(0);
}

node* map_clear(graph& in, const map_clear_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "MapClear", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return &added_node;
}

edge map_incomplete_size(graph& in, const map_incomplete_size_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "MapIncompleteSize", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

std::vector<edge> map_peek(operand key, operand indices, const std::vector<troupe::dtype>& dtypes,
    const map_peek_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MapPeek", {{key}, {indices}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge map_size(graph& in, const map_size_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "MapSize", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

node* map_stage(operand key, operand indices, const std::vector<edge>& values,
    const std::vector<troupe::dtype>& dtypes, const map_stage_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MapStage", {{key}, {indices}, detail::list(values, where)},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return &added_node;
}

std::vector<edge> map_unstage(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, const map_unstage_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MapUnstage", {{key}, {indices}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

map_unstage_no_key_outputs map_unstage_no_key(operand indices,
    const std::vector<troupe::dtype>& dtypes, const map_unstage_no_key_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MapUnstageNoKey", {{indices}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return {added_node.output(0), detail::outputs(added_node, 1, 0)};
}

edge matmul(operand a, operand b, const matmul_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatMul", {{a}, {b}},
      {{"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}}, name, where);
  return added_node.output(0);
}

edge matching_files(graph& in, operand pattern, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "MatchingFiles", {{pattern}},
      {}, name, where);
  return added_node.output(0);
}

edge matrix_band_part(operand input, operand num_lower, operand num_upper, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixBandPart", {{input}, {num_lower}, {num_upper}},
      {}, name, where);
  return added_node.output(0);
}

edge matrix_determinant(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixDeterminant", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge matrix_diag(operand diagonal, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixDiag", {{diagonal}},
      {}, name, where);
  return added_node.output(0);
}

edge matrix_diag_part(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixDiagPart", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge matrix_inverse(operand input, const matrix_inverse_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixInverse", {{input}},
      {{"adjoint", options.adjoint}}, name, where);
  return added_node.output(0);
}

edge matrix_set_diag(operand input, operand diagonal, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixSetDiag", {{input}, {diagonal}},
      {}, name, where);
  return added_node.output(0);
}

edge matrix_solve(operand matrix, operand rhs, const matrix_solve_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixSolve", {{matrix}, {rhs}},
      {{"adjoint", options.adjoint}}, name, where);
  return added_node.output(0);
}

edge matrix_solve_ls(operand matrix, operand rhs, operand l2_regularizer,
    const matrix_solve_ls_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixSolveLs", {{matrix}, {rhs}, {l2_regularizer}},
      {{"fast", options.fast}}, name, where);
  return added_node.output(0);
}

edge matrix_triangular_solve(operand matrix, operand rhs,
    const matrix_triangular_solve_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MatrixTriangularSolve", {{matrix}, {rhs}},
      {{"lower", options.lower}, {"adjoint", options.adjoint}}, name, where);
  return added_node.output(0);
}

edge max(operand input, operand reduction_indices, const max_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Max", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

edge max_pool(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const max_pool_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPool", {{input}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge max_pool3d(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const max_pool3d_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPool3D", {{input}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge max_pool3d_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool3d_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPool3DGrad", {{orig_input}, {orig_output}, {grad}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge max_pool3d_grad_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool3d_grad_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPool3DGradGrad", {{orig_input}, {orig_output}, {grad}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge max_pool_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPoolGrad", {{orig_input}, {orig_output}, {grad}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge max_pool_grad_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPoolGradGrad", {{orig_input}, {orig_output}, {grad}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"explicit_paddings", options.explicit_paddings}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

edge max_pool_grad_grad_with_argmax(operand input, operand grad, operand argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_grad_with_argmax_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPoolGradGradWithArgmax", {{input}, {grad}, {argmax}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"include_batch_in_index", options.include_batch_in_index}}, name, where);
  return added_node.output(0);
}

edge max_pool_grad_with_argmax(operand input, operand grad, operand argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_with_argmax_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPoolGradWithArgmax", {{input}, {grad}, {argmax}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"include_batch_in_index", options.include_batch_in_index}}, name, where);
  return added_node.output(0);
}

max_pool_with_argmax_outputs max_pool_with_argmax(operand input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_with_argmax_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MaxPoolWithArgmax", {{input}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}, {"Targmax", options.targmax}, {"include_batch_in_index", options.include_batch_in_index}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge maximum(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Maximum", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge mean(operand input, operand reduction_indices, const mean_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Mean", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

edge merge_summary(const std::vector<edge>& inputs, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MergeSummary", {detail::list(inputs, where)},
      {}, name, where);
  return added_node.output(0);
}

node* merge_v2_checkpoints(operand checkpoint_prefixes, operand destination_prefix,
    const merge_v2_checkpoints_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MergeV2Checkpoints", {{checkpoint_prefixes}, {destination_prefix}},
      {{"delete_old_dirs", options.delete_old_dirs}, {"allow_missing_files", options.allow_missing_files}}, name, where);
  return &added_node;
}

edge min(operand input, operand reduction_indices, const min_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Min", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

edge minimum(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Minimum", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge mirror_pad(operand input, operand paddings, std::string_view mode, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MirrorPad", {{input}, {paddings}},
      {{"mode", mode}}, name, where);
  return added_node.output(0);
}

edge mirror_pad_grad(operand input, operand paddings, std::string_view mode,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MirrorPadGrad", {{input}, {paddings}},
      {{"mode", mode}}, name, where);
  return added_node.output(0);
}

edge mod(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Mod", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge mul(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Mul", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge multinomial(graph& in, operand logits, operand num_samples,
    const multinomial_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "Multinomial", {{logits}, {num_samples}},
      {{"seed", options.seed}, {"seed2", options.seed2}, {"output_dtype", options.output_dtype}}, name, where);
  return added_node.output(0);
}

edge mutable_hash_table(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const mutable_hash_table_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "MutableHashTable", {},
      {{"key_dtype", key_dtype}, {"value_dtype", value_dtype}, {"container", options.container}, {"shared_name", options.shared_name}, {"use_node_name_sharing", options.use_node_name_sharing}}, name, where);
  return added_node.output(0);
}

edge mutable_hash_table_of_tensors(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const troupe::partial_shape& value_shape,
    const mutable_hash_table_of_tensors_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "MutableHashTableOfTensors", {},
      {{"key_dtype", key_dtype}, {"value_dtype", value_dtype}, {"value_shape", value_shape}, {"container", options.container}, {"shared_name", options.shared_name}, {"use_node_name_sharing", options.use_node_name_sharing}}, name, where);
  return added_node.output(0);
}

edge mutable_hash_table_of_tensors_v2(graph& in, troupe::dtype key_dtype,
    troupe::dtype value_dtype, const troupe::partial_shape& value_shape,
    const mutable_hash_table_of_tensors_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "MutableHashTableOfTensorsV2", {},
      {{"key_dtype", key_dtype}, {"value_dtype", value_dtype}, {"value_shape", value_shape}, {"container", options.container}, {"shared_name", options.shared_name}, {"use_node_name_sharing", options.use_node_name_sharing}}, name, where);
  return added_node.output(0);
}

edge mutable_hash_table_v2(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const mutable_hash_table_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "MutableHashTableV2", {},
      {{"key_dtype", key_dtype}, {"value_dtype", value_dtype}, {"container", options.container}, {"shared_name", options.shared_name}, {"use_node_name_sharing", options.use_node_name_sharing}}, name, where);
  return added_node.output(0);
}

edge mutex_lock(operand mutex, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "MutexLock", {{mutex}},
      {}, name, where);
  return added_node.output(0);
}

edge mutex_v2(graph& in, const mutex_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "MutexV2", {},
      {{"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

nearest_neighbors_outputs nearest_neighbors(operand points, operand centers, operand k,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "NearestNeighbors", {{points}, {centers}, {k}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge neg(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Neg", {{x}},
      {}, name, where);
  return added_node.output(0);
}

node* no_op(graph& in, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "NoOp", {},
      {}, name, where);
  return &added_node;
}

edge non_max_suppression(operand boxes, operand scores, operand max_output_size,
    const non_max_suppression_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "NonMaxSuppression", {{boxes}, {scores}, {max_output_size}},
      {{"iou_threshold", options.iou_threshold}}, name, where);
  return added_node.output(0);
}

edge non_max_suppression_v2(operand boxes, operand scores, operand max_output_size,
    operand iou_threshold, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "NonMaxSuppressionV2", {{boxes}, {scores}, {max_output_size}, {iou_threshold}},
      {}, name, where);
  return added_node.output(0);
}

edge non_max_suppression_v3(operand boxes, operand scores, operand max_output_size,
    operand iou_threshold, operand score_threshold, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "NonMaxSuppressionV3", {{boxes}, {scores}, {max_output_size}, {iou_threshold}, {score_threshold}},
      {}, name, where);
  return added_node.output(0);
}

edge not_equal(operand x, operand y, const not_equal_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "NotEqual", {{x}, {y}},
      {{"incompatible_shape_error", options.incompatible_shape_error}}, name, where);
  return added_node.output(0);
}

edge nth_element(operand input, operand n, const nth_element_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "NthElement", {{input}, {n}},
      {{"reverse", options.reverse}}, name, where);
  return added_node.output(0);
}

edge one_hot(operand indices, operand depth, operand on_value, operand off_value,
    const one_hot_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OneHot", {{indices}, {depth}, {on_value}, {off_value}},
      {{"axis", options.axis}}, name, where);
  return added_node.output(0);
}

edge ones_like(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OnesLike", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge optional_from_value(const std::vector<edge>& components, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OptionalFromValue", {detail::list(components, where)},
      {}, name, where);
  return added_node.output(0);
}

std::vector<edge> optional_get_value(operand optional,
    const std::vector<troupe::dtype>& output_types,
    const std::vector<troupe::partial_shape>& output_shapes, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OptionalGetValue", {{optional}},
      {{"output_types", output_types}, {"output_shapes", output_shapes}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge optional_has_value(operand optional, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OptionalHasValue", {{optional}},
      {}, name, where);
  return added_node.output(0);
}

edge optional_none(graph& in, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "OptionalNone", {},
      {}, name, where);
  return added_node.output(0);
}

node* ordered_map_clear(graph& in, const ordered_map_clear_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "OrderedMapClear", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return &added_node;
}

edge ordered_map_incomplete_size(graph& in, const ordered_map_incomplete_size_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "OrderedMapIncompleteSize", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

std::vector<edge> ordered_map_peek(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_peek_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OrderedMapPeek", {{key}, {indices}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge ordered_map_size(graph& in, const ordered_map_size_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "OrderedMapSize", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

node* ordered_map_stage(operand key, operand indices, const std::vector<edge>& values,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_stage_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OrderedMapStage", {{key}, {indices}, detail::list(values, where)},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return &added_node;
}

std::vector<edge> ordered_map_unstage(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_unstage_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OrderedMapUnstage", {{key}, {indices}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

ordered_map_unstage_no_key_outputs ordered_map_unstage_no_key(operand indices,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_unstage_no_key_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "OrderedMapUnstageNoKey", {{indices}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return {added_node.output(0), detail::outputs(added_node, 1, 0)};
}

edge pack(const std::vector<edge>& values, const pack_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Pack", {detail::list(values, where)},
      {{"axis", options.axis}}, name, where);
  return added_node.output(0);
}

edge pad(operand input, operand paddings, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Pad", {{input}, {paddings}},
      {}, name, where);
  return added_node.output(0);
}

edge pad_v2(operand input, operand paddings, operand constant_values, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "PadV2", {{input}, {paddings}, {constant_values}},
      {}, name, where);
  return added_node.output(0);
}

edge padding_fifo_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    const padding_fifo_queue_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "PaddingFIFOQueue", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge padding_fifo_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    const padding_fifo_queue_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "PaddingFIFOQueueV2", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge parallel_concat(const std::vector<edge>& values, const troupe::partial_shape& shape,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ParallelConcat", {detail::list(values, where)},
      {{"shape", shape}}, name, where);
  return added_node.output(0);
}

edge parallel_dynamic_stitch(const std::vector<edge>& indices, const std::vector<edge>& data,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ParallelDynamicStitch", {detail::list(indices, where), detail::list(data, where)},
      {{"N", std::ssize(indices)}, {"N", std::ssize(data)}}, name, where);
  return added_node.output(0);
}

edge parameterized_truncated_normal(graph& in, operand shape, operand means, operand stdevs,
    operand minvals, operand maxvals, const parameterized_truncated_normal_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "ParameterizedTruncatedNormal", {{shape}, {means}, {stdevs}, {minvals}, {maxvals}},
      {{"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

parse_example_outputs parse_example(operand serialized, operand names,
    const std::vector<edge>& sparse_keys, const std::vector<edge>& dense_keys,
    const std::vector<edge>& dense_defaults, const parse_example_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ParseExample", {{serialized}, {names}, detail::list(sparse_keys, where), detail::list(dense_keys, where), detail::list(dense_defaults, where)},
      {{"Nsparse", std::ssize(sparse_keys)}, {"Ndense", std::ssize(dense_keys)}, {"sparse_types", options.sparse_types}, {"dense_shapes", options.dense_shapes}}, name, where);
  int next = 0;
  return {detail::next_outputs(added_node, next, added_node.attr<int64_t>("Nsparse")),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("sparse_types"))),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("Nsparse")),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("Tdense")))};
}

parse_example_v2_outputs parse_example_v2(operand serialized, operand names, operand sparse_keys,
    operand dense_keys, operand ragged_keys, const std::vector<edge>& dense_defaults,
    int64_t num_sparse, const parse_example_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ParseExampleV2", {{serialized}, {names}, {sparse_keys}, {dense_keys}, {ragged_keys}, detail::list(dense_defaults, where)},
      {{"num_sparse", num_sparse}, {"sparse_types", options.sparse_types}, {"ragged_value_types", options.ragged_value_types}, {"ragged_split_types", options.ragged_split_types}, {"dense_shapes", options.dense_shapes}}, name, where);
  int next = 0;
  return {detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_sparse")),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("sparse_types"))),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_sparse")),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("Tdense"))),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("ragged_value_types"))),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("ragged_split_types")))};
}

parse_single_example_outputs parse_single_example(operand serialized,
    const std::vector<edge>& dense_defaults, int64_t num_sparse,
    const parse_single_example_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ParseSingleExample", {{serialized}, detail::list(dense_defaults, where)},
      {{"num_sparse", num_sparse}, {"sparse_keys", options.sparse_keys}, {"dense_keys", options.dense_keys}, {"sparse_types", options.sparse_types}, {"dense_shapes", options.dense_shapes}}, name, where);
  int next = 0;
  return {detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_sparse")),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("sparse_types"))),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_sparse")),
          detail::next_outputs(added_node, next, std::ssize(added_node.attr<std::vector<dtype>>("Tdense")))};
}

edge parse_tensor(operand serialized, troupe::dtype out_type, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ParseTensor", {{serialized}},
      {{"out_type", out_type}}, name, where);
  return added_node.output(0);
}

edge placeholder_with_default(operand input, const placeholder_with_default_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "PlaceholderWithDefault", {{input}},
      {{"shape", options.shape}}, name, where);
  return added_node.output(0);
}

edge polygamma(operand a, operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Polygamma", {{a}, {x}},
      {}, name, where);
  return added_node.output(0);
}

edge population_count(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "PopulationCount", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge pow(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Pow", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge prevent_gradient(operand input, const prevent_gradient_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "PreventGradient", {{input}},
      {{"message", options.message}}, name, where);
  return added_node.output(0);
}

edge print(operand input, const std::vector<edge>& data, const print_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Print", {{input}, detail::list(data, where)},
      {{"message", options.message}, {"first_n", options.first_n}, {"summarize", options.summarize}}, name, where);
  return added_node.output(0);
}

node* print_v2(operand input, const print_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "PrintV2", {{input}},
      {{"output_stream", options.output_stream}, {"end", options.end}}, name, where);
  return &added_node;
}

edge priority_queue(graph& in, const priority_queue_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "PriorityQueue", {},
      {{"component_types", options.component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge priority_queue_v2(graph& in, const priority_queue_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "PriorityQueueV2", {},
      {{"component_types", options.component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge prod(operand input, operand reduction_indices, const prod_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Prod", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

qr_outputs qr(operand input, const qr_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Qr", {{input}},
      {{"full_matrices", options.full_matrices}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge quantize_and_dequantize_v2(operand input, operand input_min, operand input_max,
    const quantize_and_dequantize_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizeAndDequantizeV2", {{input}, {input_min}, {input_max}},
      {{"signed_input", options.signed_input}, {"num_bits", options.num_bits}, {"range_given", options.range_given}, {"round_mode", options.round_mode}, {"narrow_range", options.narrow_range}, {"axis", options.axis}}, name, where);
  return added_node.output(0);
}

edge quantize_and_dequantize_v3(operand input, operand input_min, operand input_max,
    operand num_bits, const quantize_and_dequantize_v3_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizeAndDequantizeV3", {{input}, {input_min}, {input_max}, {num_bits}},
      {{"signed_input", options.signed_input}, {"range_given", options.range_given}, {"narrow_range", options.narrow_range}, {"axis", options.axis}}, name, where);
  return added_node.output(0);
}

edge quantize_and_dequantize_v4(operand input, operand input_min, operand input_max,
    const quantize_and_dequantize_v4_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizeAndDequantizeV4", {{input}, {input_min}, {input_max}},
      {{"signed_input", options.signed_input}, {"num_bits", options.num_bits}, {"range_given", options.range_given}, {"round_mode", options.round_mode}, {"narrow_range", options.narrow_range}, {"axis", options.axis}}, name, where);
  return added_node.output(0);
}

quantize_and_dequantize_v4_grad_outputs quantize_and_dequantize_v4_grad(operand gradients,
    operand input, operand input_min, operand input_max,
    const quantize_and_dequantize_v4_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizeAndDequantizeV4Grad", {{gradients}, {input}, {input_min}, {input_max}},
      {{"axis", options.axis}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantize_down_and_shrink_range_outputs quantize_down_and_shrink_range(operand input,
    operand input_min, operand input_max, troupe::dtype out_type, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizeDownAndShrinkRange", {{input}, {input_min}, {input_max}},
      {{"out_type", out_type}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantize_v2_outputs quantize_v2(operand input, operand min_range, operand max_range,
    troupe::dtype t, const quantize_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizeV2", {{input}, {min_range}, {max_range}},
      {{"T", t}, {"mode", options.mode}, {"round_mode", options.round_mode}, {"narrow_range", options.narrow_range}, {"axis", options.axis}, {"ensure_minimum_range", options.ensure_minimum_range}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_add_outputs quantized_add(operand x, operand y, operand min_x, operand max_x,
    operand min_y, operand max_y, const quantized_add_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedAdd", {{x}, {y}, {min_x}, {max_x}, {min_y}, {max_y}},
      {{"Toutput", options.toutput}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_avg_pool_outputs quantized_avg_pool(operand input, operand min_input, operand max_input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedAvgPool", {{input}, {min_input}, {max_input}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_bias_add_outputs quantized_bias_add(operand input, operand bias, operand min_input,
    operand max_input, operand min_bias, operand max_bias,
    const quantized_bias_add_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedBiasAdd", {{input}, {bias}, {min_input}, {max_input}, {min_bias}, {max_bias}},
      {{"out_type", options.out_type}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_conv2d_outputs quantized_conv2d(operand input, operand filter, operand min_input,
    operand max_input, operand min_filter, operand max_filter,
    const std::vector<int64_t>& strides, std::string_view padding,
    const quantized_conv2d_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedConv2D", {{input}, {filter}, {min_input}, {max_input}, {min_filter}, {max_filter}},
      {{"strides", strides}, {"padding", padding}, {"out_type", options.out_type}, {"dilations", options.dilations}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_mat_mul_outputs quantized_mat_mul(operand a, operand b, operand min_a, operand max_a,
    operand min_b, operand max_b, const quantized_mat_mul_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedMatMul", {{a}, {b}, {min_a}, {max_a}, {min_b}, {max_b}},
      {{"Toutput", options.toutput}, {"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}, {"Tactivation", options.tactivation}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_max_pool_outputs quantized_max_pool(operand input, operand min_input, operand max_input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedMaxPool", {{input}, {min_input}, {max_input}},
      {{"ksize", ksize}, {"strides", strides}, {"padding", padding}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_mul_outputs quantized_mul(operand x, operand y, operand min_x, operand max_x,
    operand min_y, operand max_y, const quantized_mul_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedMul", {{x}, {y}, {min_x}, {max_x}, {min_y}, {max_y}},
      {{"Toutput", options.toutput}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_relu_outputs quantized_relu(operand features, operand min_features,
    operand max_features, const quantized_relu_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedRelu", {{features}, {min_features}, {max_features}},
      {{"out_type", options.out_type}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_relu6_outputs quantized_relu6(operand features, operand min_features,
    operand max_features, const quantized_relu6_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedRelu6", {{features}, {min_features}, {max_features}},
      {{"out_type", options.out_type}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

quantized_relu_x_outputs quantized_relu_x(operand features, operand max_value,
    operand min_features, operand max_features, const quantized_relu_x_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QuantizedReluX", {{features}, {max_value}, {min_features}, {max_features}},
      {{"out_type", options.out_type}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

node* queue_close(operand handle, const queue_close_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueClose", {{handle}},
      {{"cancel_pending_enqueues", options.cancel_pending_enqueues}}, name, where);
  return &added_node;
}

node* queue_close_v2(operand handle, const queue_close_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueCloseV2", {{handle}},
      {{"cancel_pending_enqueues", options.cancel_pending_enqueues}}, name, where);
  return &added_node;
}

std::vector<edge> queue_dequeue(operand handle, const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueDequeue", {{handle}},
      {{"component_types", component_types}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

std::vector<edge> queue_dequeue_many(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types, const queue_dequeue_many_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueDequeueMany", {{handle}, {n}},
      {{"component_types", component_types}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

std::vector<edge> queue_dequeue_many_v2(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_many_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueDequeueManyV2", {{handle}, {n}},
      {{"component_types", component_types}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

std::vector<edge> queue_dequeue_up_to(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types, const queue_dequeue_up_to_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueDequeueUpTo", {{handle}, {n}},
      {{"component_types", component_types}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

std::vector<edge> queue_dequeue_up_to_v2(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_up_to_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueDequeueUpToV2", {{handle}, {n}},
      {{"component_types", component_types}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

std::vector<edge> queue_dequeue_v2(operand handle,
    const std::vector<troupe::dtype>& component_types, const queue_dequeue_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueDequeueV2", {{handle}},
      {{"component_types", component_types}, {"timeout_ms", options.timeout_ms}, {"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

node* queue_enqueue(operand handle, const std::vector<edge>& components,
    const queue_enqueue_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueEnqueue", {{handle}, detail::list(components, where)},
      {{"timeout_ms", options.timeout_ms}}, name, where);
  return &added_node;
}

node* queue_enqueue_many(operand handle, const std::vector<edge>& components,
    const queue_enqueue_many_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueEnqueueMany", {{handle}, detail::list(components, where)},
      {{"timeout_ms", options.timeout_ms}}, name, where);
  return &added_node;
}

node* queue_enqueue_many_v2(operand handle, const std::vector<edge>& components,
    const queue_enqueue_many_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueEnqueueManyV2", {{handle}, detail::list(components, where)},
      {{"timeout_ms", options.timeout_ms}}, name, where);
  return &added_node;
}

node* queue_enqueue_v2(operand handle, const std::vector<edge>& components,
    const queue_enqueue_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueEnqueueV2", {{handle}, detail::list(components, where)},
      {{"timeout_ms", options.timeout_ms}}, name, where);
  return &added_node;
}

edge queue_is_closed(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueIsClosed", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

edge queue_is_closed_v2(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueIsClosedV2", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

node* queue_restore_state(operand handle, operand state, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueRestoreState", {{handle}, {state}},
      {}, name, where);
  return &added_node;
}

edge queue_serialize_state(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueSerializeState", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

edge queue_size(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueSize", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

edge queue_size_v2(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueSizeV2", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

queue_statistics_outputs queue_statistics(operand handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueStatistics", {{handle}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3), added_node.output(4), added_node.output(5), added_node.output(6), added_node.output(7)};
}

node* queue_suspend(operand handle, const queue_suspend_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "QueueSuspend", {{handle}},
      {{"suspended", options.suspended}}, name, where);
  return &added_node;
}

edge rgb_to_hsv(operand images, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RGBToHSV", {{images}},
      {}, name, where);
  return added_node.output(0);
}

edge random_gamma(graph& in, operand shape, operand alpha, const random_gamma_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomGamma", {{shape}, {alpha}},
      {{"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

edge random_gamma_grad(operand alpha, operand sample, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RandomGammaGrad", {{alpha}, {sample}},
      {}, name, where);
  return added_node.output(0);
}

edge random_poisson(graph& in, operand shape, operand rate, const random_poisson_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomPoisson", {{shape}, {rate}},
      {{"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

edge random_poisson_v2(graph& in, operand shape, operand rate,
    const random_poisson_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomPoissonV2", {{shape}, {rate}},
      {{"seed", options.seed}, {"seed2", options.seed2}, {"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge random_shuffle(graph& in, operand value, const random_shuffle_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomShuffle", {{value}},
      {{"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

edge random_shuffle_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    const random_shuffle_queue_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomShuffleQueue", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"min_after_dequeue", options.min_after_dequeue}, {"seed", options.seed}, {"seed2", options.seed2}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge random_shuffle_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    const random_shuffle_queue_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomShuffleQueueV2", {},
      {{"component_types", component_types}, {"shapes", options.shapes}, {"capacity", options.capacity}, {"min_after_dequeue", options.min_after_dequeue}, {"seed", options.seed}, {"seed2", options.seed2}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge random_standard_normal(graph& in, operand shape, troupe::dtype dtype,
    const random_standard_normal_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomStandardNormal", {{shape}},
      {{"dtype", dtype}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

edge random_uniform(graph& in, operand shape, troupe::dtype dtype,
    const random_uniform_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomUniform", {{shape}},
      {{"dtype", dtype}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

edge random_uniform_int(graph& in, operand shape, operand minval, operand maxval,
    const random_uniform_int_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "RandomUniformInt", {{shape}, {minval}, {maxval}},
      {{"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

edge range(graph& in, operand start, operand limit, operand delta, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "Range", {{start}, {limit}, {delta}},
      {}, name, where);
  return added_node.output(0);
}

edge rank_of(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Rank", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge read_file(graph& in, operand filename, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "ReadFile", {{filename}},
      {}, name, where);
  return added_node.output(0);
}

edge read_variable_op(operand resource, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReadVariableOp", {{resource}},
      {}, name, where);
  return added_node.output(0);
}

edge reader_num_records_produced(operand reader_handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderNumRecordsProduced", {{reader_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge reader_num_records_produced_v2(operand reader_handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderNumRecordsProducedV2", {{reader_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge reader_num_work_units_completed(operand reader_handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderNumWorkUnitsCompleted", {{reader_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge reader_num_work_units_completed_v2(operand reader_handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderNumWorkUnitsCompletedV2", {{reader_handle}},
      {}, name, where);
  return added_node.output(0);
}

reader_read_outputs reader_read(operand reader_handle, operand queue_handle,
    const reader_read_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderRead", {{reader_handle}, {queue_handle}},
      {{"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

reader_read_up_to_outputs reader_read_up_to(operand reader_handle, operand queue_handle,
    operand num_records, const reader_read_up_to_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderReadUpTo", {{reader_handle}, {queue_handle}, {num_records}},
      {{"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

reader_read_up_to_v2_outputs reader_read_up_to_v2(operand reader_handle, operand queue_handle,
    operand num_records, const reader_read_up_to_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderReadUpToV2", {{reader_handle}, {queue_handle}, {num_records}},
      {{"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

reader_read_v2_outputs reader_read_v2(operand reader_handle, operand queue_handle,
    const reader_read_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderReadV2", {{reader_handle}, {queue_handle}},
      {{"drop_if_step_fails", options.drop_if_step_fails}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

node* reader_reset(operand reader_handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderReset", {{reader_handle}},
      {}, name, where);
  return &added_node;
}

node* reader_reset_v2(operand reader_handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderResetV2", {{reader_handle}},
      {}, name, where);
  return &added_node;
}

node* reader_restore_state(operand reader_handle, operand state, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderRestoreState", {{reader_handle}, {state}},
      {}, name, where);
  return &added_node;
}

node* reader_restore_state_v2(operand reader_handle, operand state, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderRestoreStateV2", {{reader_handle}, {state}},
      {}, name, where);
  return &added_node;
}

edge reader_serialize_state(operand reader_handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderSerializeState", {{reader_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge reader_serialize_state_v2(operand reader_handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReaderSerializeStateV2", {{reader_handle}},
      {}, name, where);
  return added_node.output(0);
}

edge real(operand input, const real_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Real", {{input}},
      {{"Tout", options.tout}}, name, where);
  return added_node.output(0);
}

edge real_div(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RealDiv", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge reciprocal(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Reciprocal", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge reciprocal_grad(operand y, operand dy, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReciprocalGrad", {{y}, {dy}},
      {}, name, where);
  return added_node.output(0);
}

edge reduce_join(operand inputs, operand reduction_indices, const reduce_join_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReduceJoin", {{inputs}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}, {"separator", options.separator}}, name, where);
  return added_node.output(0);
}

edge regex_full_match(operand input, operand pattern, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RegexFullMatch", {{input}, {pattern}},
      {}, name, where);
  return added_node.output(0);
}

edge regex_replace(operand input, operand pattern, operand rewrite,
    const regex_replace_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RegexReplace", {{input}, {pattern}, {rewrite}},
      {{"replace_global", options.replace_global}}, name, where);
  return added_node.output(0);
}

edge relu(operand features, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Relu", {{features}},
      {}, name, where);
  return added_node.output(0);
}

edge relu6(operand features, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Relu6", {{features}},
      {}, name, where);
  return added_node.output(0);
}

edge relu6_grad(operand gradients, operand features, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Relu6Grad", {{gradients}, {features}},
      {}, name, where);
  return added_node.output(0);
}

edge relu_grad(operand gradients, operand features, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReluGrad", {{gradients}, {features}},
      {}, name, where);
  return added_node.output(0);
}

edge replica_clock(graph& in, int64_t replicas, const replica_clock_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "ReplicaClock", {},
      {{"replicas", replicas}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge replica_clock_await(operand clock, operand known, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReplicaClockAwait", {{clock}, {known}},
      {}, name, where);
  return added_node.output(0);
}

node* replica_clock_join(operand clock, operand replica, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReplicaClockJoin", {{clock}, {replica}},
      {}, name, where);
  return &added_node;
}

node* replica_clock_leave(operand clock, operand replica, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReplicaClockLeave", {{clock}, {replica}},
      {}, name, where);
  return &added_node;
}

edge replica_clock_read(operand clock, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReplicaClockRead", {{clock}},
      {}, name, where);
  return added_node.output(0);
}

node* replica_clock_set(operand clock, operand step, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReplicaClockSet", {{clock}, {step}},
      {}, name, where);
  return &added_node;
}

edge replica_clock_tick(operand clock, operand replica, operand lead, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReplicaClockTick", {{clock}, {replica}, {lead}},
      {}, name, where);
  return added_node.output(0);
}

requantization_range_outputs requantization_range(operand input, operand input_min,
    operand input_max, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RequantizationRange", {{input}, {input_min}, {input_max}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

requantize_outputs requantize(operand input, operand input_min, operand input_max,
    operand requested_output_min, operand requested_output_max, troupe::dtype out_type,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Requantize", {{input}, {input_min}, {input_max}, {requested_output_min}, {requested_output_max}},
      {{"out_type", out_type}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge reshape(operand tensor, operand shape, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Reshape", {{tensor}, {shape}},
      {}, name, where);
  return added_node.output(0);
}

edge resize_area(operand images, operand size, const resize_area_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeArea", {{images}, {size}},
      {{"align_corners", options.align_corners}}, name, where);
  return added_node.output(0);
}

edge resize_bicubic(operand images, operand size, const resize_bicubic_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeBicubic", {{images}, {size}},
      {{"align_corners", options.align_corners}, {"half_pixel_centers", options.half_pixel_centers}}, name, where);
  return added_node.output(0);
}

edge resize_bicubic_grad(operand grads, operand original_image,
    const resize_bicubic_grad_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeBicubicGrad", {{grads}, {original_image}},
      {{"align_corners", options.align_corners}, {"half_pixel_centers", options.half_pixel_centers}}, name, where);
  return added_node.output(0);
}

edge resize_bilinear(operand images, operand size, const resize_bilinear_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeBilinear", {{images}, {size}},
      {{"align_corners", options.align_corners}, {"half_pixel_centers", options.half_pixel_centers}}, name, where);
  return added_node.output(0);
}

edge resize_bilinear_grad(operand grads, operand original_image,
    const resize_bilinear_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeBilinearGrad", {{grads}, {original_image}},
      {{"align_corners", options.align_corners}, {"half_pixel_centers", options.half_pixel_centers}}, name, where);
  return added_node.output(0);
}

edge resize_nearest_neighbor(operand images, operand size,
    const resize_nearest_neighbor_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeNearestNeighbor", {{images}, {size}},
      {{"align_corners", options.align_corners}, {"half_pixel_centers", options.half_pixel_centers}}, name, where);
  return added_node.output(0);
}

edge resize_nearest_neighbor_grad(operand grads, operand size,
    const resize_nearest_neighbor_grad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResizeNearestNeighborGrad", {{grads}, {size}},
      {{"align_corners", options.align_corners}, {"half_pixel_centers", options.half_pixel_centers}}, name, where);
  return added_node.output(0);
}

node* resource_accumulator_apply_gradient(operand handle, operand local_step, operand gradient,
    const resource_accumulator_apply_gradient_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceAccumulatorApplyGradient", {{handle}, {local_step}, {gradient}},
      {{"contributor", options.contributor}}, name, where);
  return &added_node;
}

edge resource_accumulator_num_accumulated(operand handle, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceAccumulatorNumAccumulated", {{handle}},
      {}, name, where);
  return added_node.output(0);
}

node* resource_accumulator_set_global_step(operand handle, operand new_global_step,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceAccumulatorSetGlobalStep", {{handle}, {new_global_step}},
      {}, name, where);
  return &added_node;
}

edge resource_accumulator_take_gradient(operand handle, operand num_required, troupe::dtype dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceAccumulatorTakeGradient", {{handle}, {num_required}},
      {{"dtype", dtype}}, name, where);
  return added_node.output(0);
}

node* resource_apply_ada_max(operand var, operand m, operand v, operand beta1_power, operand lr,
    operand beta1, operand beta2, operand epsilon, operand grad,
    const resource_apply_ada_max_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdaMax", {{var}, {m}, {v}, {beta1_power}, {lr}, {beta1}, {beta2}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, const resource_apply_adadelta_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdadelta", {{var}, {accum}, {accum_update}, {lr}, {rho}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    const resource_apply_adagrad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdagrad", {{var}, {accum}, {lr}, {grad}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return &added_node;
}

node* resource_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand lr, operand l1, operand l2,
    operand global_step, const resource_apply_adagrad_da_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdagradDA", {{var}, {gradient_accumulator}, {gradient_squared_accumulator}, {grad}, {lr}, {l1}, {l2}, {global_step}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, const resource_apply_adagrad_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdagradV2", {{var}, {accum}, {lr}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return &added_node;
}

node* resource_apply_adam(operand var, operand m, operand v, operand beta1_power,
    operand beta2_power, operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    const resource_apply_adam_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdam", {{var}, {m}, {v}, {beta1_power}, {beta2_power}, {lr}, {beta1}, {beta2}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return &added_node;
}

node* resource_apply_adam_with_amsgrad(operand var, operand m, operand v, operand vhat,
    operand beta1_power, operand beta2_power, operand lr, operand beta1, operand beta2,
    operand epsilon, operand grad, const resource_apply_adam_with_amsgrad_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAdamWithAmsgrad", {{var}, {m}, {v}, {vhat}, {beta1_power}, {beta2_power}, {lr}, {beta1}, {beta2}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_add_sign(operand var, operand m, operand lr, operand alpha,
    operand sign_decay, operand beta, operand grad,
    const resource_apply_add_sign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyAddSign", {{var}, {m}, {lr}, {alpha}, {sign_decay}, {beta}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom,
    operand lr, operand rho, operand momentum, operand epsilon, operand grad,
    const resource_apply_centered_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyCenteredRMSProp", {{var}, {mg}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_ftrl(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand lr_power, const resource_apply_ftrl_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyFtrl", {{var}, {accum}, {linear}, {grad}, {lr}, {l1}, {l2}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return &added_node;
}

node* resource_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const resource_apply_ftrl_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyFtrlV2", {{var}, {accum}, {linear}, {grad}, {lr}, {l1}, {l2}, {l2_shrinkage}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return &added_node;
}

node* resource_apply_gradient_descent(operand var, operand alpha, operand delta,
    const resource_apply_gradient_descent_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyGradientDescent", {{var}, {alpha}, {delta}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_keras_momentum(operand var, operand accum, operand lr, operand grad,
    operand momentum, const resource_apply_keras_momentum_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyKerasMomentum", {{var}, {accum}, {lr}, {grad}, {momentum}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return &added_node;
}

node* resource_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand momentum, const resource_apply_momentum_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyMomentum", {{var}, {accum}, {lr}, {grad}, {momentum}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return &added_node;
}

node* resource_apply_power_sign(operand var, operand m, operand lr, operand logbase,
    operand sign_decay, operand beta, operand grad,
    const resource_apply_power_sign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyPowerSign", {{var}, {m}, {lr}, {logbase}, {sign_decay}, {beta}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1,
    operand l2, operand grad, const resource_apply_proximal_adagrad_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyProximalAdagrad", {{var}, {accum}, {lr}, {l1}, {l2}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand delta, const resource_apply_proximal_gradient_descent_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyProximalGradientDescent", {{var}, {alpha}, {l1}, {l2}, {delta}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad,
    const resource_apply_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceApplyRMSProp", {{var}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

edge resource_conditional_accumulator(graph& in, troupe::dtype dtype,
    const resource_conditional_accumulator_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "ResourceConditionalAccumulator", {},
      {{"dtype", dtype}, {"shape", options.shape}, {"container", options.container}, {"shared_name", options.shared_name}, {"reduction_type", options.reduction_type}}, name, where);
  return added_node.output(0);
}

edge resource_count_up_to(operand resource, int64_t limit, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceCountUpTo", {{resource}},
      {{"limit", limit}}, name, where);
  return added_node.output(0);
}

edge resource_gather(operand resource, operand indices, const resource_gather_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceGather", {{resource}, {indices}},
      {{"batch_dims", options.batch_dims}, {"validate_indices", options.validate_indices}}, name, where);
  return added_node.output(0);
}

edge resource_gather_nd(operand resource, operand indices, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceGatherNd", {{resource}, {indices}},
      {}, name, where);
  return added_node.output(0);
}

node* resource_scatter_add(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterAdd", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_scatter_div(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterDiv", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_scatter_max(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterMax", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_scatter_min(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterMin", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_scatter_mul(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterMul", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_scatter_nd_add(operand ref, operand indices, operand updates,
    const resource_scatter_nd_add_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterNdAdd", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return &added_node;
}

node* resource_scatter_nd_max(operand ref, operand indices, operand updates,
    const resource_scatter_nd_max_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterNdMax", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return &added_node;
}

node* resource_scatter_nd_min(operand ref, operand indices, operand updates,
    const resource_scatter_nd_min_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterNdMin", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return &added_node;
}

node* resource_scatter_nd_sub(operand ref, operand indices, operand updates,
    const resource_scatter_nd_sub_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterNdSub", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return &added_node;
}

node* resource_scatter_nd_update(operand ref, operand indices, operand updates,
    const resource_scatter_nd_update_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterNdUpdate", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return &added_node;
}

node* resource_scatter_sub(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterSub", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_scatter_update(operand resource, operand indices, operand updates,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceScatterUpdate", {{resource}, {indices}, {updates}},
      {}, name, where);
  return &added_node;
}

node* resource_sparse_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, operand indices,
    const resource_sparse_apply_adadelta_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyAdadelta", {{var}, {accum}, {accum_update}, {lr}, {rho}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    operand indices, const resource_sparse_apply_adagrad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyAdagrad", {{var}, {accum}, {lr}, {grad}, {indices}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand indices, operand lr, operand l1,
    operand l2, operand global_step, const resource_sparse_apply_adagrad_da_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyAdagradDA", {{var}, {gradient_accumulator}, {gradient_squared_accumulator}, {grad}, {indices}, {lr}, {l1}, {l2}, {global_step}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, operand indices, const resource_sparse_apply_adagrad_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyAdagradV2", {{var}, {accum}, {lr}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom,
    operand lr, operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    const resource_sparse_apply_centered_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyCenteredRMSProp", {{var}, {mg}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_ftrl(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand lr_power,
    const resource_sparse_apply_ftrl_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyFtrl", {{var}, {accum}, {linear}, {grad}, {indices}, {lr}, {l1}, {l2}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const resource_sparse_apply_ftrl_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyFtrlV2", {{var}, {accum}, {linear}, {grad}, {indices}, {lr}, {l1}, {l2}, {l2_shrinkage}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_keras_momentum(operand var, operand accum, operand lr, operand grad,
    operand indices, operand momentum,
    const resource_sparse_apply_keras_momentum_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyKerasMomentum", {{var}, {accum}, {lr}, {grad}, {indices}, {momentum}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand indices, operand momentum, const resource_sparse_apply_momentum_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyMomentum", {{var}, {accum}, {lr}, {grad}, {indices}, {momentum}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1,
    operand l2, operand grad, operand indices,
    const resource_sparse_apply_proximal_adagrad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyProximalAdagrad", {{var}, {accum}, {lr}, {l1}, {l2}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_proximal_gradient_descent(operand var, operand alpha, operand l1,
    operand l2, operand grad, operand indices,
    const resource_sparse_apply_proximal_gradient_descent_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyProximalGradientDescent", {{var}, {alpha}, {l1}, {l2}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_sparse_apply_rms_prop(operand var, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    const resource_sparse_apply_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceSparseApplyRMSProp", {{var}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return &added_node;
}

node* resource_strided_slice_assign(operand ref, operand begin, operand end, operand strides,
    operand value, const resource_strided_slice_assign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ResourceStridedSliceAssign", {{ref}, {begin}, {end}, {strides}, {value}},
      {{"begin_mask", options.begin_mask}, {"end_mask", options.end_mask}, {"ellipsis_mask", options.ellipsis_mask}, {"new_axis_mask", options.new_axis_mask}, {"shrink_axis_mask", options.shrink_axis_mask}}, name, where);
  return &added_node;
}

edge restore(operand file_pattern, operand tensor_name, troupe::dtype dt,
    const restore_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Restore", {{file_pattern}, {tensor_name}},
      {{"dt", dt}, {"preferred_shard", options.preferred_shard}}, name, where);
  return added_node.output(0);
}

edge restore_slice(operand file_pattern, operand tensor_name, operand shape_and_slice,
    troupe::dtype dt, const restore_slice_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RestoreSlice", {{file_pattern}, {tensor_name}, {shape_and_slice}},
      {{"dt", dt}, {"preferred_shard", options.preferred_shard}}, name, where);
  return added_node.output(0);
}

std::vector<edge> restore_v2(operand prefix, operand tensor_names, operand shape_and_slices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RestoreV2", {{prefix}, {tensor_names}, {shape_and_slices}},
      {{"dtypes", dtypes}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge reverse(operand tensor, operand dims, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Reverse", {{tensor}, {dims}},
      {}, name, where);
  return added_node.output(0);
}

edge reverse_sequence(operand input, operand seq_lengths, int64_t seq_dim,
    const reverse_sequence_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReverseSequence", {{input}, {seq_lengths}},
      {{"seq_dim", seq_dim}, {"batch_dim", options.batch_dim}}, name, where);
  return added_node.output(0);
}

edge reverse_v2(operand tensor, operand axis, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ReverseV2", {{tensor}, {axis}},
      {}, name, where);
  return added_node.output(0);
}

edge right_shift(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RightShift", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge rint(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Rint", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge rng_read_and_skip(operand resource, operand alg, operand delta, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RngReadAndSkip", {{resource}, {alg}, {delta}},
      {}, name, where);
  return added_node.output(0);
}

node* rng_skip(operand resource, operand algorithm, operand delta, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RngSkip", {{resource}, {algorithm}, {delta}},
      {}, name, where);
  return &added_node;
}

edge roll(operand input, operand shift, operand axis, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Roll", {{input}, {shift}, {axis}},
      {}, name, where);
  return added_node.output(0);
}

edge round(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Round", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge rsqrt(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Rsqrt", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge rsqrt_grad(operand y, operand dy, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "RsqrtGrad", {{y}, {dy}},
      {}, name, where);
  return added_node.output(0);
}

node* save(operand filename, operand tensor_names, const std::vector<edge>& data,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Save", {{filename}, {tensor_names}, detail::list(data, where)},
      {}, name, where);
  return &added_node;
}

node* save_slices(operand filename, operand tensor_names, operand shapes_and_slices,
    const std::vector<edge>& data, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SaveSlices", {{filename}, {tensor_names}, {shapes_and_slices}, detail::list(data, where)},
      {}, name, where);
  return &added_node;
}

node* save_v2(operand prefix, operand tensor_names, operand shape_and_slices,
    const std::vector<edge>& tensors, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SaveV2", {{prefix}, {tensor_names}, {shape_and_slices}, detail::list(tensors, where)},
      {}, name, where);
  return &added_node;
}

edge scalar_summary(operand tags, operand values, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScalarSummary", {{tags}, {values}},
      {}, name, where);
  return added_node.output(0);
}

edge scatter_add(operand ref, operand indices, operand updates,
    const scatter_add_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterAdd", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge scatter_div(operand ref, operand indices, operand updates,
    const scatter_div_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterDiv", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge scatter_max(operand ref, operand indices, operand updates,
    const scatter_max_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterMax", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge scatter_min(operand ref, operand indices, operand updates,
    const scatter_min_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterMin", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge scatter_mul(operand ref, operand indices, operand updates,
    const scatter_mul_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterMul", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge scatter_nd(operand indices, operand updates, operand shape,
    const scatter_nd_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterNd", {{indices}, {updates}, {shape}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge scatter_nd_add(operand ref, operand indices, operand updates,
    const scatter_nd_add_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterNdAdd", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge scatter_nd_max(operand ref, operand indices, operand updates,
    const scatter_nd_max_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterNdMax", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge scatter_nd_min(operand ref, operand indices, operand updates,
    const scatter_nd_min_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterNdMin", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge scatter_nd_sub(operand ref, operand indices, operand updates,
    const scatter_nd_sub_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterNdSub", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge scatter_nd_update(operand ref, operand indices, operand updates,
    const scatter_nd_update_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterNdUpdate", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}, {"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge scatter_sub(operand ref, operand indices, operand updates,
    const scatter_sub_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterSub", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge scatter_update(operand ref, operand indices, operand updates,
    const scatter_update_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ScatterUpdate", {{ref}, {indices}, {updates}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge segment_max(operand data, operand segment_ids, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SegmentMax", {{data}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge segment_mean(operand data, operand segment_ids, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SegmentMean", {{data}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge segment_min(operand data, operand segment_ids, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SegmentMin", {{data}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge segment_prod(operand data, operand segment_ids, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SegmentProd", {{data}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge segment_sum(operand data, operand segment_ids, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SegmentSum", {{data}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge select(operand condition, operand t, operand e, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Select", {{condition}, {t}, {e}},
      {}, name, where);
  return added_node.output(0);
}

edge select_v2(operand condition, operand t, operand e, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SelectV2", {{condition}, {t}, {e}},
      {}, name, where);
  return added_node.output(0);
}

self_adjoint_eig_v2_outputs self_adjoint_eig_v2(operand input,
    const self_adjoint_eig_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SelfAdjointEigV2", {{input}},
      {{"compute_v", options.compute_v}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge selu(operand features, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Selu", {{features}},
      {}, name, where);
  return added_node.output(0);
}

edge selu_grad(operand gradients, operand outputs, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SeluGrad", {{gradients}, {outputs}},
      {}, name, where);
  return added_node.output(0);
}

edge serialize_tensor(operand tensor, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SerializeTensor", {{tensor}},
      {}, name, where);
  return added_node.output(0);
}

edge shape_of(operand input, const shape_of_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Shape", {{input}},
      {{"out_type", options.out_type}}, name, where);
  return added_node.output(0);
}

std::vector<edge> shapes_of(const std::vector<edge>& input, const shapes_of_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ShapeN", {detail::list(input, where)},
      {{"out_type", options.out_type}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge sharded_filename(operand basename, operand shard, operand num_shards, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ShardedFilename", {{basename}, {shard}, {num_shards}},
      {}, name, where);
  return added_node.output(0);
}

edge sharded_filespec(operand basename, operand num_shards, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ShardedFilespec", {{basename}, {num_shards}},
      {}, name, where);
  return added_node.output(0);
}

edge sigmoid(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sigmoid", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge sigmoid_grad(operand y, operand dy, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SigmoidGrad", {{y}, {dy}},
      {}, name, where);
  return added_node.output(0);
}

edge sign(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sign", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge sin(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sin", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge sinh(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sinh", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge size_of(operand input, const size_of_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Size", {{input}},
      {{"out_type", options.out_type}}, name, where);
  return added_node.output(0);
}

edge slice(operand input, operand begin, operand size, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Slice", {{input}, {begin}, {size}},
      {}, name, where);
  return added_node.output(0);
}

edge softmax(operand logits, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Softmax", {{logits}},
      {}, name, where);
  return added_node.output(0);
}

softmax_cross_entropy_with_logits_outputs softmax_cross_entropy_with_logits(operand features,
    operand labels, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SoftmaxCrossEntropyWithLogits", {{features}, {labels}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge softplus(operand features, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Softplus", {{features}},
      {}, name, where);
  return added_node.output(0);
}

edge softplus_grad(operand gradients, operand features, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SoftplusGrad", {{gradients}, {features}},
      {}, name, where);
  return added_node.output(0);
}

edge softsign(operand features, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Softsign", {{features}},
      {}, name, where);
  return added_node.output(0);
}

edge softsign_grad(operand gradients, operand features, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SoftsignGrad", {{gradients}, {features}},
      {}, name, where);
  return added_node.output(0);
}

edge space_to_batch(operand input, operand paddings, int64_t block_size, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SpaceToBatch", {{input}, {paddings}},
      {{"block_size", block_size}}, name, where);
  return added_node.output(0);
}

edge space_to_batch_nd(operand input, operand block_shape, operand paddings,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SpaceToBatchND", {{input}, {block_shape}, {paddings}},
      {}, name, where);
  return added_node.output(0);
}

edge space_to_depth(operand input, int64_t block_size, const space_to_depth_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SpaceToDepth", {{input}},
      {{"block_size", block_size}, {"data_format", options.data_format}}, name, where);
  return added_node.output(0);
}

node* sparse_accumulator_apply_gradient(operand handle, operand local_step,
    operand gradient_indices, operand gradient_values, operand gradient_shape,
    bool has_known_shape, const sparse_accumulator_apply_gradient_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseAccumulatorApplyGradient", {{handle}, {local_step}, {gradient_indices}, {gradient_values}, {gradient_shape}},
      {{"has_known_shape", has_known_shape}, {"contributor", options.contributor}}, name, where);
  return &added_node;
}

sparse_accumulator_take_gradient_outputs sparse_accumulator_take_gradient(operand handle,
    operand num_required, troupe::dtype dtype, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseAccumulatorTakeGradient", {{handle}, {num_required}},
      {{"dtype", dtype}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

sparse_add_outputs sparse_add(operand a_indices, operand a_values, operand a_shape,
    operand b_indices, operand b_values, operand b_shape, operand thresh, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseAdd", {{a_indices}, {a_values}, {a_shape}, {b_indices}, {b_values}, {b_shape}, {thresh}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

sparse_add_grad_outputs sparse_add_grad(operand backprop_val_grad, operand a_indices,
    operand b_indices, operand sum_indices, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseAddGrad", {{backprop_val_grad}, {a_indices}, {b_indices}, {sum_indices}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge sparse_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, operand indices,
    const sparse_apply_adadelta_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyAdadelta", {{var}, {accum}, {accum_update}, {lr}, {rho}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_adagrad(operand var, operand accum, operand lr, operand grad, operand indices,
    const sparse_apply_adagrad_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyAdagrad", {{var}, {accum}, {lr}, {grad}, {indices}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand indices, operand lr, operand l1,
    operand l2, operand global_step, const sparse_apply_adagrad_da_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyAdagradDA", {{var}, {gradient_accumulator}, {gradient_squared_accumulator}, {grad}, {indices}, {lr}, {l1}, {l2}, {global_step}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, operand indices, const sparse_apply_adagrad_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyAdagradV2", {{var}, {accum}, {lr}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}, {"update_slots", options.update_slots}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    const sparse_apply_centered_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyCenteredRMSProp", {{var}, {mg}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_ftrl(operand var, operand accum, operand linear, operand grad, operand indices,
    operand lr, operand l1, operand l2, operand lr_power,
    const sparse_apply_ftrl_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyFtrl", {{var}, {accum}, {linear}, {grad}, {indices}, {lr}, {l1}, {l2}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const sparse_apply_ftrl_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyFtrlV2", {{var}, {accum}, {linear}, {grad}, {indices}, {lr}, {l1}, {l2}, {l2_shrinkage}, {lr_power}},
      {{"use_locking", options.use_locking}, {"multiply_linear_by_lr", options.multiply_linear_by_lr}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_momentum(operand var, operand accum, operand lr, operand grad, operand indices,
    operand momentum, const sparse_apply_momentum_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyMomentum", {{var}, {accum}, {lr}, {grad}, {indices}, {momentum}},
      {{"use_locking", options.use_locking}, {"use_nesterov", options.use_nesterov}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1, operand l2,
    operand grad, operand indices, const sparse_apply_proximal_adagrad_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyProximalAdagrad", {{var}, {accum}, {lr}, {l1}, {l2}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand grad, operand indices, const sparse_apply_proximal_gradient_descent_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyProximalGradientDescent", {{var}, {alpha}, {l1}, {l2}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

edge sparse_apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad, operand indices,
    const sparse_apply_rms_prop_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseApplyRMSProp", {{var}, {ms}, {mom}, {lr}, {rho}, {momentum}, {epsilon}, {grad}, {indices}},
      {{"use_locking", options.use_locking}}, name, where);
  return added_node.output(0);
}

sparse_concat_outputs sparse_concat(const std::vector<edge>& indices,
    const std::vector<edge>& values, const std::vector<edge>& shapes, int64_t concat_dim,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseConcat", {detail::list(indices, where), detail::list(values, where), detail::list(shapes, where)},
      {{"N", std::ssize(indices)}, {"N", std::ssize(values)}, {"N", std::ssize(shapes)}, {"concat_dim", concat_dim}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge sparse_conditional_accumulator(graph& in, troupe::dtype dtype,
    const sparse_conditional_accumulator_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "SparseConditionalAccumulator", {},
      {{"dtype", dtype}, {"shape", options.shape}, {"container", options.container}, {"shared_name", options.shared_name}, {"reduction_type", options.reduction_type}}, name, where);
  return added_node.output(0);
}

edge sparse_dense_cwise_add(operand sp_indices, operand sp_values, operand sp_shape,
    operand dense, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseDenseCwiseAdd", {{sp_indices}, {sp_values}, {sp_shape}, {dense}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_dense_cwise_div(operand sp_indices, operand sp_values, operand sp_shape,
    operand dense, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseDenseCwiseDiv", {{sp_indices}, {sp_values}, {sp_shape}, {dense}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_dense_cwise_mul(operand sp_indices, operand sp_values, operand sp_shape,
    operand dense, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseDenseCwiseMul", {{sp_indices}, {sp_values}, {sp_shape}, {dense}},
      {}, name, where);
  return added_node.output(0);
}

sparse_fill_empty_rows_outputs sparse_fill_empty_rows(operand indices, operand values,
    operand dense_shape, operand default_value, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseFillEmptyRows", {{indices}, {values}, {dense_shape}, {default_value}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2), added_node.output(3)};
}

sparse_fill_empty_rows_grad_outputs sparse_fill_empty_rows_grad(operand reverse_index_map,
    operand grad_values, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseFillEmptyRowsGrad", {{reverse_index_map}, {grad_values}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge sparse_matmul(operand a, operand b, const sparse_matmul_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseMatMul", {{a}, {b}},
      {{"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}, {"a_is_sparse", options.a_is_sparse}, {"b_is_sparse", options.b_is_sparse}}, name, where);
  return added_node.output(0);
}

edge sparse_reduce_max(operand input_indices, operand input_values, operand input_shape,
    operand reduction_axes, const sparse_reduce_max_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseReduceMax", {{input_indices}, {input_values}, {input_shape}, {reduction_axes}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

edge sparse_reduce_sum(operand input_indices, operand input_values, operand input_shape,
    operand reduction_axes, const sparse_reduce_sum_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseReduceSum", {{input_indices}, {input_values}, {input_shape}, {reduction_axes}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

sparse_reorder_outputs sparse_reorder(operand input_indices, operand input_values,
    operand input_shape, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseReorder", {{input_indices}, {input_values}, {input_shape}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

sparse_reshape_outputs sparse_reshape(operand input_indices, operand input_shape,
    operand new_shape, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseReshape", {{input_indices}, {input_shape}, {new_shape}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge sparse_segment_mean(operand data, operand indices, operand segment_ids,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentMean", {{data}, {indices}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_mean_grad(operand grad, operand indices, operand segment_ids,
    operand output_dim0, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentMeanGrad", {{grad}, {indices}, {segment_ids}, {output_dim0}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_mean_with_num_segments(operand data, operand indices, operand segment_ids,
    operand num_segments, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentMeanWithNumSegments", {{data}, {indices}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_sqrt_n(operand data, operand indices, operand segment_ids,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentSqrtN", {{data}, {indices}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_sqrt_n_grad(operand grad, operand indices, operand segment_ids,
    operand output_dim0, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentSqrtNGrad", {{grad}, {indices}, {segment_ids}, {output_dim0}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_sqrt_n_with_num_segments(operand data, operand indices, operand segment_ids,
    operand num_segments, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentSqrtNWithNumSegments", {{data}, {indices}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_sum(operand data, operand indices, operand segment_ids, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentSum", {{data}, {indices}, {segment_ids}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_sum_grad(operand grad, operand indices, operand segment_ids,
    operand output_dim0, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentSumGrad", {{grad}, {indices}, {segment_ids}, {output_dim0}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_segment_sum_with_num_segments(operand data, operand indices, operand segment_ids,
    operand num_segments, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSegmentSumWithNumSegments", {{data}, {indices}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

sparse_slice_outputs sparse_slice(operand indices, operand values, operand shape, operand start,
    operand size, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSlice", {{indices}, {values}, {shape}, {start}, {size}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge sparse_slice_grad(operand backprop_val_grad, operand input_indices, operand input_start,
    operand output_indices, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSliceGrad", {{backprop_val_grad}, {input_indices}, {input_start}, {output_indices}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_softmax(operand sp_indices, operand sp_values, operand sp_shape,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSoftmax", {{sp_indices}, {sp_values}, {sp_shape}},
      {}, name, where);
  return added_node.output(0);
}

sparse_softmax_cross_entropy_with_logits_outputs sparse_softmax_cross_entropy_with_logits(operand features,
    operand labels, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSoftmaxCrossEntropyWithLogits", {{features}, {labels}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

sparse_sparse_maximum_outputs sparse_sparse_maximum(operand a_indices, operand a_values,
    operand a_shape, operand b_indices, operand b_values, operand b_shape, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSparseMaximum", {{a_indices}, {a_values}, {a_shape}, {b_indices}, {b_values}, {b_shape}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

sparse_sparse_minimum_outputs sparse_sparse_minimum(operand a_indices, operand a_values,
    operand a_shape, operand b_indices, operand b_values, operand b_shape, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSparseMinimum", {{a_indices}, {a_values}, {a_shape}, {b_indices}, {b_values}, {b_shape}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

sparse_split_outputs sparse_split(operand split_dim, operand indices, operand values,
    operand shape, int64_t num_split, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseSplit", {{split_dim}, {indices}, {values}, {shape}},
      {{"num_split", num_split}}, name, where);
  int next = 0;
  return {detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_split")),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_split")),
          detail::next_outputs(added_node, next, added_node.attr<int64_t>("num_split"))};
}

edge sparse_tensor_dense_add(operand a_indices, operand a_values, operand a_shape, operand b,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseTensorDenseAdd", {{a_indices}, {a_values}, {a_shape}, {b}},
      {}, name, where);
  return added_node.output(0);
}

edge sparse_tensor_dense_mat_mul(operand a_indices, operand a_values, operand a_shape, operand b,
    const sparse_tensor_dense_mat_mul_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseTensorDenseMatMul", {{a_indices}, {a_values}, {a_shape}, {b}},
      {{"adjoint_a", options.adjoint_a}, {"adjoint_b", options.adjoint_b}}, name, where);
  return added_node.output(0);
}

edge sparse_to_dense(operand sparse_indices, operand output_shape, operand sparse_values,
    operand default_value, const sparse_to_dense_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparseToDense", {{sparse_indices}, {output_shape}, {sparse_values}, {default_value}},
      {{"validate_indices", options.validate_indices}}, name, where);
  return added_node.output(0);
}

sparsify_top_k_outputs sparsify_top_k(operand residual, operand gradient, operand k,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SparsifyTopK", {{residual}, {gradient}, {k}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

std::vector<edge> split(operand split_dim, operand value, int64_t num_split,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Split", {{split_dim}, {value}},
      {{"num_split", num_split}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

std::vector<edge> split_v(operand value, operand size_splits, operand split_dim,
    int64_t num_split, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SplitV", {{value}, {size_splits}, {split_dim}},
      {{"num_split", num_split}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge sqrt(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sqrt", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge sqrt_grad(operand y, operand dy, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SqrtGrad", {{y}, {dy}},
      {}, name, where);
  return added_node.output(0);
}

edge square(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Square", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge squared_difference(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "SquaredDifference", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge squeeze(operand input, const squeeze_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Squeeze", {{input}},
      {{"squeeze_dims", options.squeeze_dims}}, name, where);
  return added_node.output(0);
}

edge new_stack(graph& in, troupe::dtype elem_type, const new_stack_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "Stack", {},
      {{"elem_type", elem_type}, {"stack_name", options.stack_name}}, name, where);
  return added_node.output(0);
}

node* stack_close(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StackClose", {{handle}},
      {}, name, where);
  return &added_node;
}

node* stack_close_v2(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StackCloseV2", {{handle}},
      {}, name, where);
  return &added_node;
}

edge stack_pop(operand handle, troupe::dtype elem_type, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StackPop", {{handle}},
      {{"elem_type", elem_type}}, name, where);
  return added_node.output(0);
}

edge stack_pop_v2(operand handle, troupe::dtype elem_type, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StackPopV2", {{handle}},
      {{"elem_type", elem_type}}, name, where);
  return added_node.output(0);
}

edge stack_push(operand handle, operand elem, const stack_push_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StackPush", {{handle}, {elem}},
      {{"swap_memory", options.swap_memory}}, name, where);
  return added_node.output(0);
}

edge stack_push_v2(operand handle, operand elem, const stack_push_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StackPushV2", {{handle}, {elem}},
      {{"swap_memory", options.swap_memory}}, name, where);
  return added_node.output(0);
}

edge new_stack_v2(graph& in, operand max_size, troupe::dtype elem_type,
    const new_stack_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "StackV2", {{max_size}},
      {{"elem_type", elem_type}, {"stack_name", options.stack_name}}, name, where);
  return added_node.output(0);
}

node* stage(const std::vector<edge>& values, const stage_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Stage", {detail::list(values, where)},
      {{"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return &added_node;
}

node* stage_clear(graph& in, const stage_clear_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StageClear", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return &added_node;
}

std::vector<edge> stage_peek(operand index, const std::vector<troupe::dtype>& dtypes,
    const stage_peek_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StagePeek", {{index}},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge stage_size(graph& in, const stage_size_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StageSize", {},
      {{"dtypes", options.dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge stateful_standard_normal_v2(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_standard_normal_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatefulStandardNormalV2", {{resource}, {algorithm}, {shape}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateful_truncated_normal(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_truncated_normal_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatefulTruncatedNormal", {{resource}, {algorithm}, {shape}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateful_uniform(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_uniform_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatefulUniform", {{resource}, {algorithm}, {shape}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateful_uniform_full_int(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_uniform_full_int_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatefulUniformFullInt", {{resource}, {algorithm}, {shape}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateful_uniform_int(graph& in, operand resource, operand algorithm, operand shape,
    operand minval, operand maxval, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatefulUniformInt", {{resource}, {algorithm}, {shape}, {minval}, {maxval}},
      {}, name, where);
  return added_node.output(0);
}

edge stateless_random_get_alg(graph& in, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomGetAlg", {},
      {}, name, where);
  return added_node.output(0);
}

stateless_random_get_key_counter_outputs stateless_random_get_key_counter(operand seed,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StatelessRandomGetKeyCounter", {{seed}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

stateless_random_get_key_counter_alg_outputs stateless_random_get_key_counter_alg(operand seed,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StatelessRandomGetKeyCounterAlg", {{seed}},
      {}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge stateless_random_normal(graph& in, operand shape, operand seed,
    const stateless_random_normal_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomNormal", {{shape}, {seed}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateless_random_normal_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_random_normal_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomNormalV2", {{shape}, {key}, {counter}, {alg}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateless_random_uniform(graph& in, operand shape, operand seed,
    const stateless_random_uniform_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomUniform", {{shape}, {seed}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateless_random_uniform_full_int_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_random_uniform_full_int_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomUniformFullIntV2", {{shape}, {key}, {counter}, {alg}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateless_random_uniform_int_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, operand minval, operand maxval, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomUniformIntV2", {{shape}, {key}, {counter}, {alg}, {minval}, {maxval}},
      {}, name, where);
  return added_node.output(0);
}

edge stateless_random_uniform_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_random_uniform_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessRandomUniformV2", {{shape}, {key}, {counter}, {alg}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateless_truncated_normal(graph& in, operand shape, operand seed,
    const stateless_truncated_normal_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessTruncatedNormal", {{shape}, {seed}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge stateless_truncated_normal_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_truncated_normal_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "StatelessTruncatedNormalV2", {{shape}, {key}, {counter}, {alg}},
      {{"dtype", options.dtype}}, name, where);
  return added_node.output(0);
}

edge static_regex_full_match(operand input, std::string_view pattern, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StaticRegexFullMatch", {{input}},
      {{"pattern", pattern}}, name, where);
  return added_node.output(0);
}

edge static_regex_replace(operand input, std::string_view pattern, std::string_view rewrite,
    const static_regex_replace_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StaticRegexReplace", {{input}},
      {{"pattern", pattern}, {"rewrite", rewrite}, {"replace_global", options.replace_global}}, name, where);
  return added_node.output(0);
}

edge stop_gradient(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StopGradient", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge strided_slice(operand input, operand begin, operand end, operand strides,
    const strided_slice_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StridedSlice", {{input}, {begin}, {end}, {strides}},
      {{"begin_mask", options.begin_mask}, {"end_mask", options.end_mask}, {"ellipsis_mask", options.ellipsis_mask}, {"new_axis_mask", options.new_axis_mask}, {"shrink_axis_mask", options.shrink_axis_mask}}, name, where);
  return added_node.output(0);
}

edge strided_slice_assign(operand ref, operand begin, operand end, operand strides, operand value,
    const strided_slice_assign_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StridedSliceAssign", {{ref}, {begin}, {end}, {strides}, {value}},
      {{"begin_mask", options.begin_mask}, {"end_mask", options.end_mask}, {"ellipsis_mask", options.ellipsis_mask}, {"new_axis_mask", options.new_axis_mask}, {"shrink_axis_mask", options.shrink_axis_mask}}, name, where);
  return added_node.output(0);
}

edge strided_slice_grad(operand shape, operand begin, operand end, operand strides, operand dy,
    const strided_slice_grad_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StridedSliceGrad", {{shape}, {begin}, {end}, {strides}, {dy}},
      {{"begin_mask", options.begin_mask}, {"end_mask", options.end_mask}, {"ellipsis_mask", options.ellipsis_mask}, {"new_axis_mask", options.new_axis_mask}, {"shrink_axis_mask", options.shrink_axis_mask}}, name, where);
  return added_node.output(0);
}

edge string_format(const std::vector<edge>& inputs, const string_format_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringFormat", {detail::list(inputs, where)},
      {{"template", options.template_}, {"placeholder", options.placeholder}, {"summarize", options.summarize}}, name, where);
  return added_node.output(0);
}

edge string_join(const std::vector<edge>& inputs, const string_join_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringJoin", {detail::list(inputs, where)},
      {{"separator", options.separator}}, name, where);
  return added_node.output(0);
}

edge string_length(operand input, const string_length_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringLength", {{input}},
      {{"unit", options.unit}}, name, where);
  return added_node.output(0);
}

edge string_lower(operand input, const string_lower_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringLower", {{input}},
      {{"encoding", options.encoding}}, name, where);
  return added_node.output(0);
}

string_split_outputs string_split(operand input, operand delimiter,
    const string_split_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringSplit", {{input}, {delimiter}},
      {{"skip_empty", options.skip_empty}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

string_split_v2_outputs string_split_v2(operand input, operand sep,
    const string_split_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringSplitV2", {{input}, {sep}},
      {{"maxsplit", options.maxsplit}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge string_strip(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringStrip", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge string_to_hash_bucket(operand string_tensor, int64_t num_buckets, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringToHashBucket", {{string_tensor}},
      {{"num_buckets", num_buckets}}, name, where);
  return added_node.output(0);
}

edge string_to_hash_bucket_fast(operand input, int64_t num_buckets, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringToHashBucketFast", {{input}},
      {{"num_buckets", num_buckets}}, name, where);
  return added_node.output(0);
}

edge string_to_hash_bucket_strong(operand input, int64_t num_buckets,
    const std::vector<int64_t>& key, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringToHashBucketStrong", {{input}},
      {{"num_buckets", num_buckets}, {"key", key}}, name, where);
  return added_node.output(0);
}

edge string_to_number(operand string_tensor, const string_to_number_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringToNumber", {{string_tensor}},
      {{"out_type", options.out_type}}, name, where);
  return added_node.output(0);
}

edge string_upper(operand input, const string_upper_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "StringUpper", {{input}},
      {{"encoding", options.encoding}}, name, where);
  return added_node.output(0);
}

edge sub(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sub", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge substr(operand input, operand pos, operand len, const substr_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Substr", {{input}, {pos}, {len}},
      {{"unit", options.unit}}, name, where);
  return added_node.output(0);
}

edge sum(operand input, operand reduction_indices, const sum_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Sum", {{input}, {reduction_indices}},
      {{"keep_dims", options.keep_dims}}, name, where);
  return added_node.output(0);
}

svd_outputs svd(operand input, const svd_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Svd", {{input}},
      {{"compute_uv", options.compute_uv}, {"full_matrices", options.full_matrices}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge tf_record_reader(graph& in, const tf_record_reader_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "TFRecordReader", {},
      {{"compression_type", options.compression_type}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge tf_record_reader_v2(graph& in, const tf_record_reader_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TFRecordReaderV2", {},
      {{"compression_type", options.compression_type}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge tan(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Tan", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge tanh(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Tanh", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge tanh_grad(operand y, operand dy, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TanhGrad", {{y}, {dy}},
      {}, name, where);
  return added_node.output(0);
}

edge temporary_variable(graph& in, const troupe::partial_shape& shape, troupe::dtype dtype,
    const temporary_variable_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TemporaryVariable", {},
      {{"shape", shape}, {"dtype", dtype}, {"var_name", options.var_name}}, name, where);
  return added_node.output(0);
}

edge tensor_array(graph& in, operand size, troupe::dtype dtype,
    const tensor_array_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TensorArray", {{size}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}, {"dynamic_size", options.dynamic_size}, {"clear_after_read", options.clear_after_read}, {"tensor_array_name", options.tensor_array_name}}, name, where);
  return added_node.output(0);
}

node* tensor_array_close(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayClose", {{handle}},
      {}, name, where);
  return &added_node;
}

node* tensor_array_close_v2(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayCloseV2", {{handle}},
      {}, name, where);
  return &added_node;
}

node* tensor_array_close_v3(operand handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayCloseV3", {{handle}},
      {}, name, where);
  return &added_node;
}

tensor_array_concat_outputs tensor_array_concat(operand handle, operand flow_in,
    troupe::dtype dtype, const tensor_array_concat_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayConcat", {{handle}, {flow_in}},
      {{"dtype", dtype}, {"element_shape_except0", options.element_shape_except0}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

tensor_array_concat_v2_outputs tensor_array_concat_v2(operand handle, operand flow_in,
    troupe::dtype dtype, const tensor_array_concat_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayConcatV2", {{handle}, {flow_in}},
      {{"dtype", dtype}, {"element_shape_except0", options.element_shape_except0}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

tensor_array_concat_v3_outputs tensor_array_concat_v3(operand handle, operand flow_in,
    troupe::dtype dtype, const tensor_array_concat_v3_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayConcatV3", {{handle}, {flow_in}},
      {{"dtype", dtype}, {"element_shape_except0", options.element_shape_except0}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge tensor_array_gather(operand handle, operand indices, operand flow_in, troupe::dtype dtype,
    const tensor_array_gather_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGather", {{handle}, {indices}, {flow_in}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}}, name, where);
  return added_node.output(0);
}

edge tensor_array_gather_v2(operand handle, operand indices, operand flow_in, troupe::dtype dtype,
    const tensor_array_gather_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGatherV2", {{handle}, {indices}, {flow_in}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}}, name, where);
  return added_node.output(0);
}

edge tensor_array_gather_v3(operand handle, operand indices, operand flow_in, troupe::dtype dtype,
    const tensor_array_gather_v3_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGatherV3", {{handle}, {indices}, {flow_in}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}}, name, where);
  return added_node.output(0);
}

edge tensor_array_grad(operand handle, operand flow_in, std::string_view source,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGrad", {{handle}, {flow_in}},
      {{"source", source}}, name, where);
  return added_node.output(0);
}

edge tensor_array_grad_v2(operand handle, operand flow_in, std::string_view source,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGradV2", {{handle}, {flow_in}},
      {{"source", source}}, name, where);
  return added_node.output(0);
}

tensor_array_grad_v3_outputs tensor_array_grad_v3(operand handle, operand flow_in,
    std::string_view source, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGradV3", {{handle}, {flow_in}},
      {{"source", source}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

tensor_array_grad_with_shape_outputs tensor_array_grad_with_shape(operand handle, operand flow_in,
    operand shape_to_prepend, std::string_view source, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayGradWithShape", {{handle}, {flow_in}, {shape_to_prepend}},
      {{"source", source}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge tensor_array_pack(operand handle, operand flow_in, troupe::dtype dtype,
    const tensor_array_pack_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayPack", {{handle}, {flow_in}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}}, name, where);
  return added_node.output(0);
}

edge tensor_array_read(operand handle, operand index, operand flow_in, troupe::dtype dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayRead", {{handle}, {index}, {flow_in}},
      {{"dtype", dtype}}, name, where);
  return added_node.output(0);
}

edge tensor_array_read_v2(operand handle, operand index, operand flow_in, troupe::dtype dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayReadV2", {{handle}, {index}, {flow_in}},
      {{"dtype", dtype}}, name, where);
  return added_node.output(0);
}

edge tensor_array_read_v3(operand handle, operand index, operand flow_in, troupe::dtype dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayReadV3", {{handle}, {index}, {flow_in}},
      {{"dtype", dtype}}, name, where);
  return added_node.output(0);
}

edge tensor_array_scatter(operand handle, operand indices, operand value, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayScatter", {{handle}, {indices}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_scatter_v2(operand handle, operand indices, operand value, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayScatterV2", {{handle}, {indices}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_scatter_v3(operand handle, operand indices, operand value, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayScatterV3", {{handle}, {indices}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_size(operand handle, operand flow_in, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArraySize", {{handle}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_size_v2(operand handle, operand flow_in, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArraySizeV2", {{handle}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_size_v3(operand handle, operand flow_in, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArraySizeV3", {{handle}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_split(operand handle, operand value, operand lengths, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArraySplit", {{handle}, {value}, {lengths}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_split_v2(operand handle, operand value, operand lengths, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArraySplitV2", {{handle}, {value}, {lengths}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_split_v3(operand handle, operand value, operand lengths, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArraySplitV3", {{handle}, {value}, {lengths}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_unpack(operand handle, operand value, operand flow_in, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayUnpack", {{handle}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_v2(graph& in, operand size, troupe::dtype dtype,
    const tensor_array_v2_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TensorArrayV2", {{size}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}, {"dynamic_size", options.dynamic_size}, {"clear_after_read", options.clear_after_read}, {"tensor_array_name", options.tensor_array_name}}, name, where);
  return added_node.output(0);
}

tensor_array_v3_outputs tensor_array_v3(graph& in, operand size, troupe::dtype dtype,
    const tensor_array_v3_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TensorArrayV3", {{size}},
      {{"dtype", dtype}, {"element_shape", options.element_shape}, {"dynamic_size", options.dynamic_size}, {"clear_after_read", options.clear_after_read}, {"identical_element_shapes", options.identical_element_shapes}, {"tensor_array_name", options.tensor_array_name}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge tensor_array_write(operand handle, operand index, operand value, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayWrite", {{handle}, {index}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_write_v2(operand handle, operand index, operand value, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayWriteV2", {{handle}, {index}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_array_write_v3(operand handle, operand index, operand value, operand flow_in,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorArrayWriteV3", {{handle}, {index}, {value}, {flow_in}},
      {}, name, where);
  return added_node.output(0);
}

tensor_list_concat_outputs tensor_list_concat(operand input_handle, troupe::dtype element_dtype,
    const tensor_list_concat_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListConcat", {{input_handle}},
      {{"element_dtype", element_dtype}, {"element_shape", options.element_shape}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge tensor_list_concat_lists(operand input_a, operand input_b, troupe::dtype element_dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListConcatLists", {{input_a}, {input_b}},
      {{"element_dtype", element_dtype}}, name, where);
  return added_node.output(0);
}

tensor_list_concat_v2_outputs tensor_list_concat_v2(operand input_handle, operand element_shape,
    operand leading_dims, troupe::dtype element_dtype, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListConcatV2", {{input_handle}, {element_shape}, {leading_dims}},
      {{"element_dtype", element_dtype}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge tensor_list_element_shape(operand input_handle, troupe::dtype shape_type,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListElementShape", {{input_handle}},
      {{"shape_type", shape_type}}, name, where);
  return added_node.output(0);
}

edge tensor_list_from_tensor(operand tensor, operand element_shape, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListFromTensor", {{tensor}, {element_shape}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_gather(operand input_handle, operand indices, operand element_shape,
    troupe::dtype element_dtype, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListGather", {{input_handle}, {indices}, {element_shape}},
      {{"element_dtype", element_dtype}}, name, where);
  return added_node.output(0);
}

edge tensor_list_get_item(operand input_handle, operand index, operand element_shape,
    troupe::dtype element_dtype, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListGetItem", {{input_handle}, {index}, {element_shape}},
      {{"element_dtype", element_dtype}}, name, where);
  return added_node.output(0);
}

edge tensor_list_length(operand input_handle, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListLength", {{input_handle}},
      {}, name, where);
  return added_node.output(0);
}

tensor_list_pop_back_outputs tensor_list_pop_back(operand input_handle, operand element_shape,
    troupe::dtype element_dtype, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListPopBack", {{input_handle}, {element_shape}},
      {{"element_dtype", element_dtype}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge tensor_list_push_back(operand input_handle, operand tensor, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListPushBack", {{input_handle}, {tensor}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_push_back_batch(operand input_handles, operand tensor, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListPushBackBatch", {{input_handles}, {tensor}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_reserve(operand element_shape, operand num_elements, troupe::dtype element_dtype,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListReserve", {{element_shape}, {num_elements}},
      {{"element_dtype", element_dtype}}, name, where);
  return added_node.output(0);
}

edge tensor_list_resize(operand input_handle, operand size, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListResize", {{input_handle}, {size}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_scatter(operand tensor, operand indices, operand element_shape,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListScatter", {{tensor}, {indices}, {element_shape}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_scatter_into_existing_list(operand input_handle, operand tensor, operand indices,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListScatterIntoExistingList", {{input_handle}, {tensor}, {indices}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_scatter_v2(operand tensor, operand indices, operand element_shape,
    operand num_elements, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListScatterV2", {{tensor}, {indices}, {element_shape}, {num_elements}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_set_item(operand input_handle, operand index, operand item,
    const tensor_list_set_item_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListSetItem", {{input_handle}, {index}, {item}},
      {{"resize_if_index_out_of_bounds", options.resize_if_index_out_of_bounds}}, name, where);
  return added_node.output(0);
}

edge tensor_list_split(operand tensor, operand element_shape, operand lengths,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListSplit", {{tensor}, {element_shape}, {lengths}},
      {}, name, where);
  return added_node.output(0);
}

edge tensor_list_stack(operand input_handle, operand element_shape, troupe::dtype element_dtype,
    const tensor_list_stack_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorListStack", {{input_handle}, {element_shape}},
      {{"element_dtype", element_dtype}, {"num_elements", options.num_elements}}, name, where);
  return added_node.output(0);
}

edge tensor_scatter_add(operand tensor, operand indices, operand updates,
    const tensor_scatter_add_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorScatterAdd", {{tensor}, {indices}, {updates}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge tensor_scatter_max(operand tensor, operand indices, operand updates,
    const tensor_scatter_max_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorScatterMax", {{tensor}, {indices}, {updates}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge tensor_scatter_min(operand tensor, operand indices, operand updates,
    const tensor_scatter_min_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorScatterMin", {{tensor}, {indices}, {updates}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge tensor_scatter_sub(operand tensor, operand indices, operand updates,
    const tensor_scatter_sub_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorScatterSub", {{tensor}, {indices}, {updates}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge tensor_scatter_update(operand tensor, operand indices, operand updates,
    const tensor_scatter_update_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorScatterUpdate", {{tensor}, {indices}, {updates}},
      {{"bad_indices_policy", options.bad_indices_policy}}, name, where);
  return added_node.output(0);
}

edge tensor_summary(operand tensor, const tensor_summary_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorSummary", {{tensor}},
      {{"description", options.description}, {"labels", options.labels}, {"display_name", options.display_name}}, name, where);
  return added_node.output(0);
}

edge tensor_summary_v2(operand tag, operand tensor, operand serialized_summary_metadata,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TensorSummaryV2", {{tag}, {tensor}, {serialized_summary_metadata}},
      {}, name, where);
  return added_node.output(0);
}

edge text_line_reader(graph& in, const text_line_reader_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "TextLineReader", {},
      {{"skip_header_lines", options.skip_header_lines}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge text_line_reader_v2(graph& in, const text_line_reader_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TextLineReaderV2", {},
      {{"skip_header_lines", options.skip_header_lines}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

thread_unsafe_unigram_candidate_sampler_outputs thread_unsafe_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const thread_unsafe_unigram_candidate_sampler_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "ThreadUnsafeUnigramCandidateSampler", {{true_classes}},
      {{"num_true", num_true}, {"num_sampled", num_sampled}, {"unique", unique}, {"range_max", range_max}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

edge tile(operand input, operand multiples, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Tile", {{input}, {multiples}},
      {}, name, where);
  return added_node.output(0);
}

top_k_outputs top_k(operand input, int64_t k, const top_k_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TopK", {{input}},
      {{"k", k}, {"sorted", options.sorted}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

top_kv2_outputs top_kv2(operand input, operand k, const top_kv2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TopKV2", {{input}, {k}},
      {{"sorted", options.sorted}, {"index_type", options.index_type}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

edge transpose(operand x, operand perm, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Transpose", {{x}, {perm}},
      {}, name, where);
  return added_node.output(0);
}

edge truncate_div(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TruncateDiv", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge truncate_mod(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "TruncateMod", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge truncated_normal(graph& in, operand shape, troupe::dtype dtype,
    const truncated_normal_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "TruncatedNormal", {{shape}},
      {{"dtype", dtype}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return added_node.output(0);
}

uniform_candidate_sampler_outputs uniform_candidate_sampler(graph& in, operand true_classes,
    int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const uniform_candidate_sampler_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "UniformCandidateSampler", {{true_classes}},
      {{"num_true", num_true}, {"num_sampled", num_sampled}, {"unique", unique}, {"range_max", range_max}, {"seed", options.seed}, {"seed2", options.seed2}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

unique_outputs unique(operand x, const unique_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Unique", {{x}},
      {{"out_idx", options.out_idx}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

unique_v2_outputs unique_v2(operand x, operand axis, const unique_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UniqueV2", {{x}, {axis}},
      {{"out_idx", options.out_idx}}, name, where);
  return {added_node.output(0), added_node.output(1)};
}

unique_with_counts_outputs unique_with_counts(operand x,
    const unique_with_counts_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UniqueWithCounts", {{x}},
      {{"out_idx", options.out_idx}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

unique_with_counts_v2_outputs unique_with_counts_v2(operand x, operand axis,
    const unique_with_counts_v2_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UniqueWithCountsV2", {{x}, {axis}},
      {{"out_idx", options.out_idx}}, name, where);
  return {added_node.output(0), added_node.output(1), added_node.output(2)};
}

std::vector<edge> unpack(operand value, int64_t num, const unpack_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Unpack", {{value}},
      {{"num", num}, {"axis", options.axis}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge unsorted_segment_max(operand data, operand segment_ids, operand num_segments,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UnsortedSegmentMax", {{data}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

edge unsorted_segment_min(operand data, operand segment_ids, operand num_segments,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UnsortedSegmentMin", {{data}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

edge unsorted_segment_prod(operand data, operand segment_ids, operand num_segments,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UnsortedSegmentProd", {{data}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

edge unsorted_segment_sum(operand data, operand segment_ids, operand num_segments,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UnsortedSegmentSum", {{data}, {segment_ids}, {num_segments}},
      {}, name, where);
  return added_node.output(0);
}

std::vector<edge> unstage(graph& in, const std::vector<troupe::dtype>& dtypes,
    const unstage_options& options, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "Unstage", {},
      {{"dtypes", dtypes}, {"capacity", options.capacity}, {"memory_limit", options.memory_limit}, {"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return detail::outputs(added_node, 0, 0);
}

edge upper_bound(operand sorted_inputs, operand values, const upper_bound_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "UpperBound", {{sorted_inputs}, {values}},
      {{"out_type", options.out_type}}, name, where);
  return added_node.output(0);
}

edge var_is_initialized_op(operand resource, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "VarIsInitializedOp", {{resource}},
      {}, name, where);
  return added_node.output(0);
}

edge variable_shape(operand input, const variable_shape_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "VariableShape", {{input}},
      {{"out_type", options.out_type}}, name, where);
  return added_node.output(0);
}

edge where(operand input, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Where", {{input}},
      {}, name, where);
  return added_node.output(0);
}

edge whole_file_reader(graph& in, const whole_file_reader_options& options, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(&in, "WholeFileReader", {},
      {{"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

edge whole_file_reader_v2(graph& in, const whole_file_reader_v2_options& options,
    std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(&in, "WholeFileReaderV2", {},
      {{"container", options.container}, {"shared_name", options.shared_name}}, name, where);
  return added_node.output(0);
}

node* write_file(operand filename, operand contents, std::string_view name,
    std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "WriteFile", {{filename}, {contents}},
      {}, name, where);
  return &added_node;
}

edge xdivy(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Xdivy", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge xlogy(operand x, operand y, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Xlogy", {{x}, {y}},
      {}, name, where);
  return added_node.output(0);
}

edge zeros_like(operand x, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "ZerosLike", {{x}},
      {}, name, where);
  return added_node.output(0);
}

edge zeta(operand x, operand q, std::string_view name, std::source_location where) {
  auto& added_node = detail::add_node(nullptr, "Zeta", {{x}, {q}},
      {}, name, where);
  return added_node.output(0);
}

} // namespace troupe
