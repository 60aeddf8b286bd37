// Generated from the op definitions: one function per op that adds a node to the graph.
//
// All take a name for the node (empty: the op's name, made unique), remember the line that
// calls them, and throw troupe::error when the op's definition rejects the node.
#pragma once
#include "troupe/api/operand.hpp"

namespace TROUPE_API troupe {

struct abort__options {
  std::string error_msg = {};
  bool exit_without_error = false;
};
/// Fails the step with error_msg.
///
/// With exit_without_error, it does nothing. TensorFlow ends the process in either case; no graph
/// may do that here.
node* abort_(graph& in, const abort__options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* abort_(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return abort_(in, abort__options{}, name, where);
}

/// Takes the absolute value of each element.
///
/// The least whole number stays as it is. The gradient at 0 is 0.
edge abs(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up tensors of one shape, element by element.
///
/// It does what AddN does; `shape` is that of the inputs.
edge accumulate_nv2(const std::vector<edge>& inputs, const troupe::partial_shape& shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct accumulator_apply_gradient_options {
  int64_t contributor = -1;
};
/// Adds a gradient to an accumulator, unless it was computed for an older global step.
///
/// Of one contributor, if that is not negative, only the first gradient counts until all are taken:
/// a replica that was restarted may send its again.
node* accumulator_apply_gradient(operand handle, operand local_step, operand gradient,
    const accumulator_apply_gradient_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* accumulator_apply_gradient(operand handle, operand local_step, operand gradient,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return accumulator_apply_gradient(handle, local_step, gradient, accumulator_apply_gradient_options{}, name, where);
}

/// Drops the gradients of an accumulator; steps that wait to take from it fail with `cancelled`.
///
/// Its global step stays as it is.
node* accumulator_clear(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the gradients that an accumulator has for its global step.
edge accumulator_num_accumulated(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Sets the global step of an accumulator: older gradients are dropped from now on.
node* accumulator_set_global_step(operand handle, operand new_global_step,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Waits until enough gradients have been added, gives their mean or sum, and begins the next
/// global step with none.
///
/// What is taken does not come back if the step fails.
edge accumulator_take_gradient(operand handle, operand num_required, troupe::dtype dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Takes the inverse cosine of each element, in radians.
///
/// It is NaN for real numbers beyond [-1, 1].
edge acos(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the inverse hyperbolic cosine of each element.
///
/// It is NaN for real numbers below 1.
edge acosh(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds x and y, element by element.
///
/// Broadcasts by NumPy's rules. Whole numbers wrap around; strings are joined.
edge add(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up tensors of one shape, element by element.
///
/// It does not broadcast. Lists are added item by item.
edge add_n(const std::vector<edge>& inputs, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds x and y, element by element, as Add does, but not strings.
///
/// Broadcasts by NumPy's rules. Whole numbers wrap around.
edge add_v2(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Multiplies the distance of each pixel from the average of its image and channel.
///
/// The last three axes are height, width and channels.
edge adjust_contrastv2(operand images, operand contrast_factor, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Turns the hue of each pixel by delta, a fraction of a turn.
///
/// The colors keep their least and greatest of red, green and blue.
edge adjust_hue(operand images, operand delta, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Multiplies the saturation of each pixel by scale.
///
/// The saturation stays in [0, 1], and the hue and the value as they are.
edge adjust_saturation(operand images, operand scale, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct all_options {
  bool keep_dims = false;
};
/// Says whether all elements along the axes in reduction_indices are true.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. All of nothing are true.
edge all(operand input, operand reduction_indices, const all_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge all(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return all(input, reduction_indices, all_options{}, name, where);
}

struct all_candidate_sampler_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct all_candidate_sampler_outputs {
  edge sampled_candidates;
  edge true_expected_count;
  edge sampled_expected_count;
};
/// Samples each of num_sampled classes once, in order.
///
/// All expected counts are 1. For tests: it computes what the other samplers approximate.
all_candidate_sampler_outputs all_candidate_sampler(operand true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, const all_candidate_sampler_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline all_candidate_sampler_outputs all_candidate_sampler(operand true_classes, int64_t num_true,
    int64_t num_sampled, bool unique, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return all_candidate_sampler(true_classes, num_true, num_sampled, unique, all_candidate_sampler_options{}, name, where);
}

struct angle_options {
  troupe::dtype tout = troupe::dtype::f32;
};
/// Takes the angle of each element with the positive real numbers, in radians.
///
/// It lies in (-pi, pi].
edge angle(operand input, const angle_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge angle(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return angle(input, angle_options{}, name, where);
}

struct any_options {
  bool keep_dims = false;
};
/// Says whether any element along the axes in reduction_indices is true.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. Of nothing none is true.
edge any(operand input, operand reduction_indices, const any_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge any(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return any(input, reduction_indices, any_options{}, name, where);
}

struct apply_ada_max_options {
  bool use_locking = true;
};
/// Steps a variable by the AdaMax algorithm.
///
/// m += (grad - m) * (1 - beta1) and v = max(beta2 * v, |grad|); then var -= lr / (1 - beta1_power)
/// * m / (v + epsilon). Updates that share variables exclude each other; with use_locking=false
/// they race, as is TensorFlow's default, and concurrent updates may be lost in part.
edge apply_ada_max(operand var, operand m, operand v, operand beta1_power, operand lr,
    operand beta1, operand beta2, operand epsilon, operand grad,
    const apply_ada_max_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_ada_max(operand var, operand m, operand v, operand beta1_power, operand lr,
    operand beta1, operand beta2, operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad, apply_ada_max_options{}, name, where);
}

struct apply_adadelta_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with rates from past updates.
///
/// accum = rho * accum + (1 - rho) * grad * grad; update = sqrt((accum_update + epsilon) / (accum +
/// epsilon)) * grad; accum_update = rho * accum_update + (1 - rho) * update * update; var -= lr *
/// update. Updates that share variables exclude each other; with use_locking=false they race, as is
/// TensorFlow's default, and concurrent updates may be lost in part.
edge apply_adadelta(operand var, operand accum, operand accum_update, operand lr, operand rho,
    operand epsilon, operand grad, const apply_adadelta_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_adadelta(var, accum, accum_update, lr, rho, epsilon, grad, apply_adadelta_options{}, name, where);
}

struct apply_adagrad_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large.
///
/// accum += grad * grad, unless update_slots is false; then var -= lr * grad / sqrt(accum). Updates
/// that share variables exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge apply_adagrad(operand var, operand accum, operand lr, operand grad,
    const apply_adagrad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_adagrad(operand var, operand accum, operand lr, operand grad,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return apply_adagrad(var, accum, lr, grad, apply_adagrad_options{}, name, where);
}

struct apply_adagrad_da_options {
  bool use_locking = true;
};
/// Sets a variable by the sum of all its gradients (dual averaging).
///
/// gradient_accumulator += grad and gradient_squared_accumulator += grad * grad; then var = -lr *
/// shrunk / (l2 * global_step * lr + sqrt(gradient_squared_accumulator)), where shrunk is
/// gradient_accumulator, closer to zero by l1 * global_step, or zero. A negative l1 counts as 0.
/// Updates that share variables exclude each other; with use_locking=false they race, as is
/// TensorFlow's default, and concurrent updates may be lost in part.
edge apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand lr, operand l1, operand l2,
    operand global_step, const apply_adagrad_da_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand lr, operand l1, operand l2,
    operand global_step, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step, apply_adagrad_da_options{}, name, where);
}

struct apply_adagrad_v2_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large.
///
/// accum += grad * grad, unless update_slots is false; then var -= lr * grad / (sqrt(accum) +
/// epsilon). Updates that share variables exclude each other; with use_locking=false they race, as
/// is TensorFlow's default, and concurrent updates may be lost in part.
edge apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon, operand grad,
    const apply_adagrad_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_adagrad_v2(var, accum, lr, epsilon, grad, apply_adagrad_v2_options{}, name, where);
}

struct apply_adam_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable by the Adam algorithm.
///
/// m += (grad - m) * (1 - beta1) and v += (grad * grad - v) * (1 - beta2); then var -= rate * m /
/// (sqrt(v) + epsilon), where rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power). With
/// use_nesterov beta1 * m + (1 - beta1) * grad takes the place of m. Updates that share variables
/// exclude each other; with use_locking=false they race, as is TensorFlow's default, and concurrent
/// updates may be lost in part.
edge apply_adam(operand var, operand m, operand v, operand beta1_power, operand beta2_power,
    operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    const apply_adam_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_adam(operand var, operand m, operand v, operand beta1_power,
    operand beta2_power, operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, apply_adam_options{}, name, where);
}

struct apply_add_sign_options {
  bool use_locking = true;
};
/// Steps a variable by the AddSign algorithm.
///
/// m = beta * m + (1 - beta) * grad; var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) *
/// grad. Updates that share variables exclude each other; with use_locking=false they race, as is
/// TensorFlow's default, and concurrent updates may be lost in part.
edge apply_add_sign(operand var, operand m, operand lr, operand alpha, operand sign_decay,
    operand beta, operand grad, const apply_add_sign_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge apply_add_sign(operand var, operand m, operand lr, operand alpha, operand sign_decay,
    operand beta, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_add_sign(var, m, lr, alpha, sign_decay, beta, grad, apply_add_sign_options{}, name, where);
}

struct apply_centered_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the centered RMSProp algorithm.
///
/// ms += (grad * grad - ms) * (1 - rho) and mg += (grad - mg) * (1 - rho); mom = momentum * mom +
/// lr * grad / sqrt(ms - mg * mg + epsilon); var -= mom. Updates that share variables exclude each
/// other; with use_locking=false they race, as is TensorFlow's default, and concurrent updates may
/// be lost in part.
edge apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad,
    const apply_centered_rms_prop_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad, apply_centered_rms_prop_options{}, name, where);
}

struct apply_ftrl_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm.
///
/// With power(x) = x^-lr_power: the new accum is accum + grad * grad; linear += grad - (power(new
/// accum) - power(accum)) / lr * var; var = (clip(linear, -l1, l1) - linear) / (power(new accum) /
/// lr + 2 * l2). With multiply_linear_by_lr, linear holds lr times that, and lr may be 0. Updates
/// that share variables exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge apply_ftrl(operand var, operand accum, operand linear, operand grad, operand lr, operand l1,
    operand l2, operand lr_power, const apply_ftrl_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge apply_ftrl(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand lr_power, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, apply_ftrl_options{}, name, where);
}

struct apply_ftrl_v2_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm, with shrinkage.
///
/// With shrunk = grad + 2 * l2_shrinkage * var and power(x) = x^-lr_power: the new accum is accum +
/// grad * grad; linear += shrunk - (power(new accum) - power(accum)) / lr * var; var =
/// (clip(linear, -l1, l1) - linear) / (power(new accum) / lr + 2 * l2). With multiply_linear_by_lr,
/// linear holds lr times that, and lr may be 0. Updates that share variables exclude each other;
/// with use_locking=false they race, as is TensorFlow's default, and concurrent updates may be lost
/// in part.
edge apply_ftrl_v2(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const apply_ftrl_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_ftrl_v2(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand l2_shrinkage, operand lr_power, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, apply_ftrl_v2_options{}, name, where);
}

struct apply_gradient_descent_options {
  bool use_locking = true;
};
/// Subtracts alpha * delta from a variable, in place.
///
/// Updates of one variable exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge apply_gradient_descent(operand var, operand alpha, operand delta,
    const apply_gradient_descent_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_gradient_descent(operand var, operand alpha, operand delta,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return apply_gradient_descent(var, alpha, delta, apply_gradient_descent_options{}, name, where);
}

struct apply_momentum_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable against its gradient, with momentum.
///
/// accum = accum * momentum + grad, then var -= lr * accum; with use_nesterov var -= lr * (grad +
/// momentum * accum). Updates that share variables exclude each other; with use_locking=false they
/// race, as is TensorFlow's default, and concurrent updates may be lost in part.
edge apply_momentum(operand var, operand accum, operand lr, operand grad, operand momentum,
    const apply_momentum_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_momentum(operand var, operand accum, operand lr, operand grad, operand momentum,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return apply_momentum(var, accum, lr, grad, momentum, apply_momentum_options{}, name, where);
}

struct apply_power_sign_options {
  bool use_locking = true;
};
/// Steps a variable by the PowerSign algorithm.
///
/// m = beta * m + (1 - beta) * grad; var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) *
/// grad. Updates that share variables exclude each other; with use_locking=false they race, as is
/// TensorFlow's default, and concurrent updates may be lost in part.
edge apply_power_sign(operand var, operand m, operand lr, operand logbase, operand sign_decay,
    operand beta, operand grad, const apply_power_sign_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge apply_power_sign(operand var, operand m, operand lr, operand logbase,
    operand sign_decay, operand beta, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_power_sign(var, m, lr, logbase, sign_decay, beta, grad, apply_power_sign_options{}, name, where);
}

struct apply_proximal_adagrad_options {
  bool use_locking = true;
};
/// Steps a variable by Adagrad, with forward-backward splitting for l1 and l2.
///
/// accum += grad * grad; rate = lr / sqrt(accum); prox = var - rate * grad; var = prox, closer to
/// zero by rate * l1, or zero, divided by 1 + l2 * rate. A negative l1 counts as 0. Updates that
/// share variables exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1, operand l2,
    operand grad, const apply_proximal_adagrad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1, operand l2,
    operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_proximal_adagrad(var, accum, lr, l1, l2, grad, apply_proximal_adagrad_options{}, name, where);
}

struct apply_proximal_gradient_descent_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with forward-backward splitting for l1 and l2.
///
/// rate = alpha; prox = var - rate * gradient; var = prox, closer to zero by rate * l1, or zero,
/// divided by 1 + l2 * rate. A negative l1 counts as 0. Updates that share variables exclude each
/// other; with use_locking=false they race, as is TensorFlow's default, and concurrent updates may
/// be lost in part.
edge apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand delta, const apply_proximal_gradient_descent_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand delta, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_proximal_gradient_descent(var, alpha, l1, l2, delta, apply_proximal_gradient_descent_options{}, name, where);
}

struct apply_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the RMSProp algorithm.
///
/// ms += (grad * grad - ms) * (1 - rho); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var
/// -= mom. Updates that share variables exclude each other; with use_locking=false they race, as is
/// TensorFlow's default, and concurrent updates may be lost in part.
edge apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad, const apply_rms_prop_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return apply_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad, apply_rms_prop_options{}, name, where);
}

struct approximate_equal_options {
  double tolerance = 1e-05;
};
/// Says where the difference of x and y is within the tolerance.
///
/// Both must have the same shape. NaN is near to nothing.
edge approximate_equal(operand x, operand y, const approximate_equal_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge approximate_equal(operand x, operand y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return approximate_equal(x, y, approximate_equal_options{}, name, where);
}

struct arg_max_options {
  troupe::dtype output_type = troupe::dtype::i64;
};
/// Finds the position of the largest element along an axis.
///
/// The first one counts where several are equal. NaN counts as largest. An empty axis fails.
edge arg_max(operand input, operand dimension, const arg_max_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge arg_max(operand input, operand dimension, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return arg_max(input, dimension, arg_max_options{}, name, where);
}

struct arg_min_options {
  troupe::dtype output_type = troupe::dtype::i64;
};
/// Finds the position of the smallest element along an axis.
///
/// The first one counts where several are equal. NaN counts as smallest. An empty axis fails.
edge arg_min(operand input, operand dimension, const arg_min_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge arg_min(operand input, operand dimension, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return arg_min(input, dimension, arg_min_options{}, name, where);
}

struct as_string_options {
  int64_t precision = -1;
  bool scientific = false;
  bool shortest = false;
  int64_t width = -1;
  std::string fill = {};
};
/// Writes each number as text.
///
/// Real numbers have `precision` digits after the point (6 if it is negative), with `scientific` an
/// exponent, with `shortest` whichever is shorter; complex ones are written (re,im). A `width` that
/// is not negative fills the number up, with spaces at its left or as the flag of printf that
/// `fill` is has it. Text stays as it is.
edge as_string(operand input, const as_string_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge as_string(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return as_string(input, as_string_options{}, name, where);
}

/// Takes the inverse sine of each element, in radians.
///
/// It is NaN for real numbers beyond [-1, 1].
edge asin(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the inverse hyperbolic sine of each element.
edge asinh(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct assert__options {
  int64_t summarize = 3;
};
/// Fails the step with the data if the condition is false.
///
/// The error has the first and the last `summarize` elements of each axis of the data, or all for a
/// negative number. As it has no outputs, other nodes must depend on it for it to run.
node* assert_(operand condition, const std::vector<edge>& data,
    const assert__options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* assert_(operand condition, const std::vector<edge>& data, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return assert_(condition, data, assert__options{}, name, where);
}

struct assign_options {
  bool validate_shape = true;
  bool use_locking = true;
};
/// Replaces the value of a variable.
///
/// With validate_shape, the value must have the shape of the one it replaces; the variable's
/// declared shape holds always. The variable shares the value's memory until one of them changes.
/// use_locking is accepted for TensorFlow's sake: replacing is atomic in any case.
edge assign(operand ref, operand value, const assign_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge assign(operand ref, operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return assign(ref, value, assign_options{}, name, where);
}

struct assign_add_options {
  bool use_locking = true;
};
/// Adds a value of the same shape to a variable, in place.
///
/// Updates of one variable exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge assign_add(operand ref, operand value, const assign_add_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge assign_add(operand ref, operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return assign_add(ref, value, assign_add_options{}, name, where);
}

/// Adds a value of the same shape to a variable, in place.
///
/// The same as AssignAdd for a variable that is given by its handle, which it does not hand on.
node* assign_add_variable_op(operand resource, operand value, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct assign_sub_options {
  bool use_locking = true;
};
/// Subtracts a value of the same shape from a variable, in place.
///
/// Updates of one variable exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge assign_sub(operand ref, operand value, const assign_sub_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge assign_sub(operand ref, operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return assign_sub(ref, value, assign_sub_options{}, name, where);
}

/// Subtracts a value of the same shape from a variable, in place.
///
/// The same as AssignSub for a variable that is given by its handle, which it does not hand on.
node* assign_sub_variable_op(operand resource, operand value, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct assign_variable_op_options {
  bool validate_shape = false;
};
/// Replaces the value of a variable that is given by its handle.
///
/// With validate_shape, the value must have the shape of the one it replaces; the variable's
/// declared shape holds always. The variable shares the value's memory until one of them changes.
node* assign_variable_op(operand resource, operand value,
    const assign_variable_op_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* assign_variable_op(operand resource, operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return assign_variable_op(resource, value, assign_variable_op_options{}, name, where);
}

/// Takes the inverse tangent of each element, in radians.
edge atan(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the angle of the point (x, y) with the axis of x, in radians, element by element.
///
/// Broadcasts by NumPy's rules.
edge atan2(operand y, operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the inverse hyperbolic tangent of each element.
///
/// It is infinite for -1 and 1, and NaN for real numbers beyond.
edge atanh(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct audio_summary_options {
  int64_t max_outputs = 3;
};
/// Does the same as AudioSummaryV2, whose sample rate is an input.
edge audio_summary(operand tag, operand tensor, double sample_rate,
    const audio_summary_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge audio_summary(operand tag, operand tensor, double sample_rate, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return audio_summary(tag, tensor, sample_rate, audio_summary_options{}, name, where);
}

struct audio_summary_v2_options {
  int64_t max_outputs = 3;
};
/// Writes sounds [batch, frames] or [batch, frames, channels] as WAV files in a Summary.
///
/// Samples lie between -1 and 1 and become 16 bits; sample_rate is in hertz. Of each batch, the
/// first max_outputs are written, with the tags tag/audio/0 and so on; if only one is to be
/// written, tag/audio.
edge audio_summary_v2(operand tag, operand tensor, operand sample_rate,
    const audio_summary_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge audio_summary_v2(operand tag, operand tensor, operand sample_rate,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return audio_summary_v2(tag, tensor, sample_rate, audio_summary_v2_options{}, name, where);
}

struct avg_pool_options {
  std::string data_format = "NHWC";
};
/// Gives the mean of the elements of each window, for each channel.
///
/// Windows of ksize elements move by strides; both have one number for each axis, 1 for images and
/// channels. Padding is SAME or VALID and counts for nothing.
edge avg_pool(operand value, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge avg_pool(operand value, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return avg_pool(value, ksize, strides, padding, avg_pool_options{}, name, where);
}

struct avg_pool3d_options {
  std::string data_format = "NDHWC";
};
/// Gives the mean of the elements of each window, for each channel.
///
/// Windows of ksize elements move by strides; both have one number for each axis, 1 for images and
/// channels. Padding is SAME or VALID and counts for nothing.
edge avg_pool3d(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool3d_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge avg_pool3d(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return avg_pool3d(input, ksize, strides, padding, avg_pool3d_options{}, name, where);
}

struct avg_pool3d_grad_options {
  std::string data_format = "NDHWC";
};
/// Shares each gradient evenly among the elements of its window.
edge avg_pool3d_grad(operand orig_input_shape, operand grad, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool3d_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge avg_pool3d_grad(operand orig_input_shape, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return avg_pool3d_grad(orig_input_shape, grad, ksize, strides, padding, avg_pool3d_grad_options{}, name, where);
}

struct avg_pool_grad_options {
  std::string data_format = "NHWC";
};
/// Shares each gradient evenly among the elements of its window.
edge avg_pool_grad(operand orig_input_shape, operand grad, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const avg_pool_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge avg_pool_grad(operand orig_input_shape, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return avg_pool_grad(orig_input_shape, grad, ksize, strides, padding, avg_pool_grad_options{}, name, where);
}

struct barrier_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements whose components come one by one, each under the element's key.
///
/// An element comes out when it is complete, in the order in which the first components came. Lives
/// in the named container of its task, under shared_name or else the node's name. An insertion
/// waits while there are `capacity` complete elements (no limit for a negative one).
edge barrier(graph& in, const std::vector<troupe::dtype>& component_types,
    const barrier_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge barrier(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return barrier(in, component_types, barrier_options{}, name, where);
}

struct barrier_close_options {
  bool cancel_pending_enqueues = false;
};
/// Closes a barrier: new keys are refused from now on.
///
/// Incomplete elements can still be completed, unless cancel_pending_enqueues, which drops them.
node* barrier_close(operand handle, const barrier_close_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* barrier_close(operand handle, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return barrier_close(handle, barrier_close_options{}, name, where);
}

/// Counts the elements of a barrier that lack a component at this moment.
edge barrier_incomplete_size(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct barrier_insert_many_options {
  int64_t timeout_ms = -1;
};
/// Sets one component of the elements of these keys, a slice of `values` for each.
///
/// All or nothing: fails where a key has that component, and, with cancelled, where the barrier is
/// closed and a key is new. A positive timeout_ms bounds the wait.
node* barrier_insert_many(operand handle, operand keys, operand values, int64_t component_index,
    const barrier_insert_many_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* barrier_insert_many(operand handle, operand keys, operand values,
    int64_t component_index, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return barrier_insert_many(handle, keys, values, component_index, barrier_insert_many_options{}, name, where);
}

/// Counts the complete elements of a barrier at this moment.
edge barrier_ready_size(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct barrier_take_many_options {
  bool allow_small_batch = false;
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
struct barrier_take_many_outputs {
  edge indices;
  edge keys;
  std::vector<edge> values;
};
/// Takes complete elements out of a barrier: which insertions brought their keys, the keys, and
/// each component stacked along a new first axis.
///
/// Insertions are counted from -2^63. Elements come in the order of their first components. Waits
/// until there are num_elements. When the barrier is closed and no more can become complete, fails
/// with out_of_range, or takes fewer with allow_small_batch. The elements go back if the step fails
/// later, unless drop_if_step_fails. A positive timeout_ms bounds the wait.
barrier_take_many_outputs barrier_take_many(operand handle, operand num_elements,
    const std::vector<troupe::dtype>& component_types,
    const barrier_take_many_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline barrier_take_many_outputs barrier_take_many(operand handle, operand num_elements,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return barrier_take_many(handle, num_elements, component_types, barrier_take_many_options{}, name, where);
}

struct batch_matmul_options {
  bool adj_x = false;
  bool adj_y = false;
};
/// Multiplies each matrix of x by the matrix of y at the same place.
///
/// The last two axes are the matrices; all others are equal. With adj_x or adj_y the operand is
/// transposed first, and conjugated.
edge batch_matmul(operand x, operand y, const batch_matmul_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge batch_matmul(operand x, operand y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return batch_matmul(x, y, batch_matmul_options{}, name, where);
}

struct batch_mat_mul_v2_options {
  bool adj_x = false;
  bool adj_y = false;
};
/// Multiplies each matrix of x by a matrix of y.
///
/// The last two axes are the matrices; all others broadcast by NumPy's rules. With adj_x or adj_y
/// the operand is transposed first, and conjugated.
edge batch_mat_mul_v2(operand x, operand y, const batch_mat_mul_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge batch_mat_mul_v2(operand x, operand y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return batch_mat_mul_v2(x, y, batch_mat_mul_v2_options{}, name, where);
}

/// Does what BatchToSpaceND does with a block of block_size x block_size on images.
edge batch_to_space(operand input, operand crops, int64_t block_size, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the batch, axis 0, apart into parts, one for each place in a block of extents block_shape,
/// and puts the blocks together along axes 1, 2, ...
///
/// Then crops[i, 0] elements before and crops[i, 1] behind are dropped from each of these axes.
edge batch_to_space_nd(operand input, operand block_shape, operand crops,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Computes the regularized incomplete beta function: the share of the integral of t^(a - 1) * (1 -
/// t)^(b - 1) from 0 to 1 that lies below x, element by element.
///
/// Inputs have one shape, or are scalars. It is NaN where a or b is not positive, or x is not in
/// [0, 1]. Only x has a gradient.
edge betainc(operand a, operand b, operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct bias_add_options {
  std::string data_format = "NHWC";
};
/// Adds bias[c] to every element of channel c.
///
/// The channels are the last axis, or axis 1 with data_format "NCHW".
edge bias_add(operand value, operand bias, const bias_add_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge bias_add(operand value, operand bias, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return bias_add(value, bias, bias_add_options{}, name, where);
}

struct bias_add_grad_options {
  std::string data_format = "NHWC";
};
/// Sums the gradients of each channel.
edge bias_add_grad(operand out_backprop, const bias_add_grad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge bias_add_grad(operand out_backprop, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return bias_add_grad(out_backprop, bias_add_grad_options{}, name, where);
}

/// Counts how often each number from 0 to size - 1 occurs in arr, or adds up the weights that
/// belong to it.
///
/// Numbers of at least size are ignored, and negative numbers are errors. If weights is empty, each
/// number counts 1.
edge bincount(operand arr, operand size, operand weights, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Reads the bytes of its input as elements of another type.
///
/// Where these are smaller, a last axis is added for those of one element; where they are larger,
/// the last axis must make up one, and goes away.
edge bitcast(operand input, troupe::dtype type, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Sets the bits that are set in both x and y.
///
/// Broadcasts by NumPy's rules.
edge bitwise_and(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Sets the bits that are set in x or in y or in both.
///
/// Broadcasts by NumPy's rules.
edge bitwise_or(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Sets the bits that are set in exactly one of x and y.
///
/// Broadcasts by NumPy's rules.
edge bitwise_xor(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct block_lstm_options {
  double forget_bias = 1;
  double cell_clip = 3;
  bool use_peephole = false;
};
struct block_lstm_outputs {
  edge i;
  edge cs;
  edge f;
  edge o;
  edge ci;
  edge co;
  edge h;
};
/// Computes long short-term memory over a whole sequence.
///
/// Step t of it is an LSTMBlockCell on x[t] and the cs and h of the step before, cs_prev and h_prev
/// for the first. From step seq_len_max on, all outputs are zeros. What x contributes is one
/// product for all steps.
block_lstm_outputs block_lstm(operand seq_len_max, operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b,
    const block_lstm_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline block_lstm_outputs block_lstm(operand seq_len_max, operand x, operand cs_prev,
    operand h_prev, operand w, operand wci, operand wcf, operand wco, operand b,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return block_lstm(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, block_lstm_options{}, name, where);
}

struct block_lstm_grad_outputs {
  edge x_grad;
  edge cs_prev_grad;
  edge h_prev_grad;
  edge w_grad;
  edge wci_grad;
  edge wcf_grad;
  edge wco_grad;
  edge b_grad;
};
/// Computes the gradients of a BlockLSTM's inputs from those of its cs and h.
///
/// Cells that were clipped count as if they had not been. The gradients of the peepholes are zeros
/// unless use_peephole is true, as is that of x from step seq_len_max on.
block_lstm_grad_outputs block_lstm_grad(operand seq_len_max, operand x, operand cs_prev,
    operand h_prev, operand w, operand wci, operand wcf, operand wco, operand b, operand i,
    operand cs, operand f, operand o, operand ci, operand co, operand h, operand cs_grad,
    operand h_grad, bool use_peephole, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct block_lstm_grad_v2_outputs {
  edge x_grad;
  edge cs_prev_grad;
  edge h_prev_grad;
  edge w_grad;
  edge wci_grad;
  edge wcf_grad;
  edge wco_grad;
  edge b_grad;
};
/// Computes the gradients of a BlockLSTMV2's inputs from those of its cs and h.
///
/// Cells that were clipped count as if they had not been. The gradients of the peepholes are zeros
/// unless use_peephole is true, as is that of x from step seq_len_max on.
block_lstm_grad_v2_outputs block_lstm_grad_v2(operand seq_len_max, operand x, operand cs_prev,
    operand h_prev, operand w, operand wci, operand wcf, operand wco, operand b, operand i,
    operand cs, operand f, operand o, operand ci, operand co, operand h, operand cs_grad,
    operand h_grad, bool use_peephole, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct block_lstmv2_options {
  double cell_clip = 0;
  bool use_peephole = false;
};
struct block_lstmv2_outputs {
  edge i;
  edge cs;
  edge f;
  edge o;
  edge ci;
  edge co;
  edge h;
};
/// Computes a BlockLSTM whose w and b have the gates in another order.
///
/// Theirs is [i, f, ci, o]; there is no forget_bias: b is to have it.
block_lstmv2_outputs block_lstmv2(operand seq_len_max, operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b,
    const block_lstmv2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline block_lstmv2_outputs block_lstmv2(operand seq_len_max, operand x, operand cs_prev,
    operand h_prev, operand w, operand wci, operand wcf, operand wco, operand b,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return block_lstmv2(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, block_lstmv2_options{}, name, where);
}

/// Gives the shape that tensors of the shapes s0 and s1 get when they are broadcast.
edge broadcast_args(operand s0, operand s1, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct broadcast_gradient_args_outputs {
  edge r0;
  edge r1;
};
/// For the shapes s0 and s1 of two operands that were broadcast, gives the axes over which to sum
/// the gradient of each.
///
/// Summed over these axes and reshaped, it has the shape of the operand.
broadcast_gradient_args_outputs broadcast_gradient_args(operand s0, operand s1,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Repeats elements by NumPy's rules, so that the output has the shape that is listed.
edge broadcast_to(operand input, operand shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts for each element the boundaries that are not larger.
///
/// Boundaries must not decrease. NaN lies behind all of them.
edge bucketize(operand input, const std::vector<double>& boundaries, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct ctc_beam_search_decoder_options {
  bool merge_repeated = true;
};
struct ctc_beam_search_decoder_outputs {
  std::vector<edge> decoded_indices;
  std::vector<edge> decoded_values;
  std::vector<edge> decoded_shape;
  edge log_probability;
};
/// Finds the top_paths most likely sequences of labels, best first.
///
/// inputs [time, batch, classes] are logits; the last class is the blank. The probability of a
/// sequence is the sum over all paths that become it when repetitions without a blank between are
/// merged and blanks dropped. From step to step the beam_width best sequences are kept, so better
/// ones may be missed. merge_repeated then merges repetitions in the sequences themselves: A, B, B
/// becomes A, B. It fails where there are fewer sequences than top_paths. Each path is a sparse
/// tensor of rows by places; log_probability [batch, top_paths] is the natural logarithm.
ctc_beam_search_decoder_outputs ctc_beam_search_decoder(operand inputs, operand sequence_length,
    int64_t beam_width, int64_t top_paths, const ctc_beam_search_decoder_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline ctc_beam_search_decoder_outputs ctc_beam_search_decoder(operand inputs,
    operand sequence_length, int64_t beam_width, int64_t top_paths, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, ctc_beam_search_decoder_options{}, name, where);
}

struct ctc_greedy_decoder_options {
  bool merge_repeated = false;
  int64_t blank_index = -1;
};
struct ctc_greedy_decoder_outputs {
  edge decoded_indices;
  edge decoded_values;
  edge decoded_shape;
  edge log_probability;
};
/// Takes the class with the greatest logit in each step, and drops the blanks.
///
/// inputs [time, batch, classes] are logits. The blank is the class blank_index, counted from the
/// end where negative. With merge_repeated, repetitions without a blank between count once. The
/// labels are a sparse tensor of rows by places; log_probability is minus the sum of the logits
/// that were taken.
ctc_greedy_decoder_outputs ctc_greedy_decoder(operand inputs, operand sequence_length,
    const ctc_greedy_decoder_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline ctc_greedy_decoder_outputs ctc_greedy_decoder(operand inputs, operand sequence_length,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return ctc_greedy_decoder(inputs, sequence_length, ctc_greedy_decoder_options{}, name, where);
}

struct ctc_loss_options {
  bool preprocess_collapse_repeated = false;
  bool ctc_merge_repeated = true;
  bool ignore_longer_outputs_than_inputs = false;
};
struct ctc_loss_outputs {
  edge loss;
  edge gradient;
};
/// Computes the loss of connectionist temporal classification (Graves et al. 2006).
///
/// inputs [time, batch, classes] are logits; the last class is the blank. Row b of the batch is
/// sequence_length[b] steps long, and its labels are those labels_values whose row in
/// labels_indices begins with b; these must be sorted. The loss is minus the logarithm of the
/// probability of all paths that become the labels when repetitions are merged and blanks dropped,
/// infinite where there is none. Blanks at the end of labels count for nothing.
///
/// More labels than steps are an error, or with ignore_longer_outputs_than_inputs a loss of 0.
/// preprocess_collapse_repeated merges repeated labels first; without ctc_merge_repeated,
/// repetitions in a path are labels of their own. In difference to TensorFlow, a row may have no
/// labels.
ctc_loss_outputs ctc_loss(operand inputs, operand labels_indices, operand labels_values,
    operand sequence_length, const ctc_loss_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline ctc_loss_outputs ctc_loss(operand inputs, operand labels_indices, operand labels_values,
    operand sequence_length, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ctc_loss(inputs, labels_indices, labels_values, sequence_length, ctc_loss_options{}, name, where);
}

struct ctc_loss_v2_options {
  bool preprocess_collapse_repeated = false;
  bool ctc_merge_repeated = true;
  bool ignore_longer_outputs_than_inputs = false;
};
struct ctc_loss_v2_outputs {
  edge loss;
  edge gradient;
};
/// Computes the loss of connectionist temporal classification where class 0 is the blank.
///
/// Otherwise as CTCLoss.
ctc_loss_v2_outputs ctc_loss_v2(operand inputs, operand labels_indices, operand labels_values,
    operand sequence_length, const ctc_loss_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline ctc_loss_v2_outputs ctc_loss_v2(operand inputs, operand labels_indices,
    operand labels_values, operand sequence_length, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ctc_loss_v2(inputs, labels_indices, labels_values, sequence_length, ctc_loss_v2_options{}, name, where);
}

struct cast_options {
  bool truncate = false;
};
/// Converts each element to another type.
///
/// Floats become whole numbers by cutting off their fraction; those beyond the type's range become
/// its least or greatest number, and NaN becomes 0. Whole numbers that do not fit wrap around.
/// Complex numbers lose their imaginary part. Everything but zero is true. Floats that become
/// narrower ones are rounded; with Truncate, the bits that there is no room for are cut off.
edge cast(operand x, troupe::dtype dst_t, const cast_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge cast(operand x, troupe::dtype dst_t, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return cast(x, dst_t, cast_options{}, name, where);
}

/// Rounds each element up to a whole number.
///
/// The gradient is 0.
edge ceil(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives its input, and fails with the message where that has a NaN or an infinity.
edge check_numerics(operand tensor, std::string_view message, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the lower triangular l with l l' = input for each matrix, which must be Hermitian and
/// positive definite.
///
/// The last two axes are the matrices. Only their lower triangles are read, and the gradient is
/// with respect to these. A matrix that is not positive definite gives NaN in the lower triangle.
edge cholesky(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Replaces elements below clip_value_min or above clip_value_max by that bound.
///
/// Bounds are scalars, or have the shape of t. Where the least is larger than the most, the least
/// is the result, and the gradient is of no use.
edge clip_by_value(operand t, operand clip_value_min, operand clip_value_max,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct collective_bcast_recv_options {
  troupe::partial_shape shape = {};
  std::string communication_hint = "auto";
  double timeout_seconds = 0;
};
/// Gets the tensor that a CollectiveBcastSend on another device gives to its group.
///
/// The members are the nodes of one step that have the same group_key and instance_key, group_size
/// in all, on devices of one kind and one task; they wait for each other. Where shape is unknown,
/// the output is what comes. The step's deadline bounds the wait, timeout_seconds must be 0;
/// communication_hint is a hint that is not needed.
edge collective_bcast_recv(graph& in, troupe::dtype t, int64_t group_size, int64_t group_key,
    int64_t instance_key, const collective_bcast_recv_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge collective_bcast_recv(graph& in, troupe::dtype t, int64_t group_size,
    int64_t group_key, int64_t instance_key, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return collective_bcast_recv(in, t, group_size, group_key, instance_key, collective_bcast_recv_options{}, name, where);
}

struct collective_bcast_send_options {
  troupe::partial_shape shape = {};
  std::string communication_hint = "auto";
  double timeout_seconds = 0;
};
/// Gives a tensor to the devices of a group, each of which has a CollectiveBcastRecv.
///
/// The members are the nodes of one step that have the same group_key and instance_key, group_size
/// in all, on devices of one kind and one task; they wait for each other. The output is the input.
/// The step's deadline bounds the wait, timeout_seconds must be 0; communication_hint is a hint
/// that is not needed.
edge collective_bcast_send(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, const collective_bcast_send_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge collective_bcast_send(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return collective_bcast_send(input, group_size, group_key, instance_key, collective_bcast_send_options{}, name, where);
}

struct collective_gather_options {
  troupe::partial_shape shape = {};
  std::string communication_hint = "auto";
  double timeout_seconds = 0;
};
/// Joins tensors of equal shape on several devices along their first axis, and gives each device
/// the result.
///
/// The members are the nodes of one step that have the same group_key and instance_key, group_size
/// in all, on devices of one kind and one task; they wait for each other. Their order is that of
/// the devices, on one device that of their names. The gradient of an input is its part of the sum
/// of the gradients of all members. The step's deadline bounds the wait, timeout_seconds must be 0;
/// communication_hint and shape are hints that are not needed.
edge collective_gather(operand input, int64_t group_size, int64_t group_key, int64_t instance_key,
    const collective_gather_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge collective_gather(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return collective_gather(input, group_size, group_key, instance_key, collective_gather_options{}, name, where);
}

struct collective_reduce_options {
  std::vector<int64_t> subdiv_offsets = {};
  std::vector<int64_t> wait_for = {};
  std::string communication_hint = "auto";
  double timeout_seconds = 0;
};
/// Reduces tensors of equal shape on several devices, and gives each device the result.
///
/// The members are the nodes of one step that have the same group_key and instance_key, group_size
/// in all, on devices of one kind and one task; they wait for each other. Their order is that of
/// the devices, on one device that of their names. final_op Div makes a mean of a sum. The gradient
/// is the reduction of the gradients of all members. The step's deadline bounds the wait,
/// timeout_seconds must be 0; communication_hint, subdiv_offsets and wait_for are hints that are
/// not needed.
edge collective_reduce(operand input, int64_t group_size, int64_t group_key, int64_t instance_key,
    std::string_view merge_op, std::string_view final_op,
    const collective_reduce_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge collective_reduce(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, std::string_view merge_op, std::string_view final_op,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return collective_reduce(input, group_size, group_key, instance_key, merge_op, final_op, collective_reduce_options{}, name, where);
}

struct collective_reduce_scatter_options {
  std::vector<int64_t> wait_for = {};
  std::string communication_hint = "auto";
  double timeout_seconds = 0;
};
/// Reduces tensors of equal shape on several devices, cuts the result along its first axis, and
/// gives each device its part.
///
/// The members are the nodes of one step that have the same group_key and instance_key, group_size
/// in all, on devices of one kind and one task; they wait for each other. Their order is that of
/// the devices, on one device that of their names. final_op Div makes a mean of a sum. What
/// TensorFlow's CollectiveReduceScatterV2 does, with attributes for its keys. The step's deadline
/// bounds the wait, timeout_seconds must be 0; communication_hint and wait_for are hints that are
/// not needed.
edge collective_reduce_scatter(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, std::string_view merge_op, std::string_view final_op,
    const collective_reduce_scatter_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge collective_reduce_scatter(operand input, int64_t group_size, int64_t group_key,
    int64_t instance_key, std::string_view merge_op, std::string_view final_op,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return collective_reduce_scatter(input, group_size, group_key, instance_key, merge_op, final_op, collective_reduce_scatter_options{}, name, where);
}

struct complex_options {
  troupe::dtype tout = troupe::dtype::c64;
};
/// Makes complex numbers of their real and imaginary parts.
///
/// Broadcasts by NumPy's rules.
edge complex(operand real, operand imag, const complex_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge complex(operand real, operand imag, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return complex(real, imag, complex_options{}, name, where);
}

struct complex_abs_options {
  troupe::dtype tout = troupe::dtype::f32;
};
/// Takes the absolute value of each complex number.
///
/// The gradient at 0 is 0.
edge complex_abs(operand x, const complex_abs_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge complex_abs(operand x, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return complex_abs(x, complex_abs_options{}, name, where);
}

struct compute_accidental_hits_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct compute_accidental_hits_outputs {
  edge indices;
  edge ids;
  edge weights;
};
/// Finds the sampled candidates that are among the true classes of a row.
///
/// Each hit gives the row in indices, the place among sampled_candidates in ids, and the lowest
/// float in weights: added to the logit there, it takes the candidate out. Of equal candidates the
/// last is meant. The seeds are TensorFlow's; nothing here is random.
compute_accidental_hits_outputs compute_accidental_hits(operand true_classes,
    operand sampled_candidates, int64_t num_true,
    const compute_accidental_hits_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline compute_accidental_hits_outputs compute_accidental_hits(operand true_classes,
    operand sampled_candidates, int64_t num_true, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return compute_accidental_hits(true_classes, sampled_candidates, num_true, compute_accidental_hits_options{}, name, where);
}

/// For tensors of the given shapes that are joined along axis concat_dim, says where in the result
/// each begins.
///
/// The shapes must be the same but for that axis.
std::vector<edge> concat_offset(operand concat_dim, const std::vector<edge>& shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Joins tensors along an axis; their other extents are the same.
///
/// The axis is the last input.
edge concatenate(const std::vector<edge>& values, operand axis, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct conditional_accumulator_options {
  troupe::partial_shape shape = {};
  std::string container = {};
  std::string shared_name = {};
  std::string reduction_type = "MEAN";
};
/// Adds up gradients of one variable, until a step takes their mean.
///
/// It has a global step, and drops gradients that were computed for an older one: they come from a
/// worker that is too slow. Lives in the named container of its task, under shared_name or else the
/// node's name. reduction_type is MEAN or SUM. (MEAN_OF_ALL, which TensorFlow does not know, is the
/// same as MEAN here.)
edge conditional_accumulator(graph& in, troupe::dtype dtype,
    const conditional_accumulator_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conditional_accumulator(graph& in, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conditional_accumulator(in, dtype, conditional_accumulator_options{}, name, where);
}

/// Negates the imaginary part of each element.
///
/// Real numbers have no Conj: they are their own conjugates.
edge conj(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes axis perm[i] of the input axis i of the output, and negates imaginary parts.
edge conjugate_transpose(operand x, operand perm, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Lets go of a lock before the step's end.
///
/// It must come after all that needs the lock, by control edges.
node* consume_mutex_lock(operand mutex_lock, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct conv2d_options {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes a 2-D convolution of images with a filter [rows, columns, inputs, outputs].
///
/// The input is [images, rows, columns, channels], or [images, channels, rows, columns] with
/// data_format "NCHW". Strides and dilations have one number for each of its axes, 1 for images and
/// channels. The padding is VALID (none), SAME (as much as gives an output for each stride, one
/// more behind than before where it is odd) or EXPLICIT (explicit_paddings: before and after, for
/// each axis). Where the filter has fewer inputs than there are channels, it is for groups of them,
/// and its outputs are those of all groups.
edge conv2d(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, const conv2d_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conv2d(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conv2d(input, filter, strides, padding, conv2d_options{}, name, where);
}

struct conv2d_backprop_filter_options {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes the gradient of Conv2D with respect to its filter, which has the shape filter_sizes.
edge conv2d_backprop_filter(operand input, operand filter_sizes, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv2d_backprop_filter_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conv2d_backprop_filter(operand input, operand filter_sizes, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, conv2d_backprop_filter_options{}, name, where);
}

struct conv2d_backprop_input_options {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes the gradient of Conv2D with respect to its input, which has the shape input_sizes.
edge conv2d_backprop_input(operand input_sizes, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv2d_backprop_input_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conv2d_backprop_input(operand input_sizes, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conv2d_backprop_input(input_sizes, filter, out_backprop, strides, padding, conv2d_backprop_input_options{}, name, where);
}

struct conv3d_options {
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes a 3-D convolution with a filter [depth, rows, columns, inputs, outputs].
///
/// The input is [images, depth, rows, columns, channels], or has the channels before the depth with
/// data_format "NCDHW". Padding, strides and dilations are as for Conv2D.
edge conv3d(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, const conv3d_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conv3d(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conv3d(input, filter, strides, padding, conv3d_options{}, name, where);
}

struct conv3d_backprop_filter_v2_options {
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes the gradient of Conv3D with respect to its filter, which has the shape filter_sizes.
edge conv3d_backprop_filter_v2(operand input, operand filter_sizes, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv3d_backprop_filter_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conv3d_backprop_filter_v2(operand input, operand filter_sizes, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conv3d_backprop_filter_v2(input, filter_sizes, out_backprop, strides, padding, conv3d_backprop_filter_v2_options{}, name, where);
}

struct conv3d_backprop_input_v2_options {
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes the gradient of Conv3D with respect to its input, which has the shape input_sizes.
edge conv3d_backprop_input_v2(operand input_sizes, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding,
    const conv3d_backprop_input_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge conv3d_backprop_input_v2(operand input_sizes, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return conv3d_backprop_input_v2(input_sizes, filter, out_backprop, strides, padding, conv3d_backprop_input_v2_options{}, name, where);
}

/// Takes the cosine of each element, an angle in radians.
edge cos(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the hyperbolic cosine of each element.
edge cosh(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts a scalar variable up by one, and outputs what it was before.
///
/// Fails with out_of_range, the end of data, when the variable has reached limit.
edge count_up_to(operand ref, int64_t limit, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct crop_and_resize_options {
  std::string method = "bilinear";
  double extrapolation_value = 0;
};
/// Cuts boxes out of images and resizes them to one size.
///
/// A box is [y1, x1, y2, x2], where 0 and 1 are the centers of the outermost pixels; box_ind says
/// which image it lies in. Pixels are interpolated, or with `method` nearest taken as they are;
/// what lies outside of the image is extrapolation_value. Where y1 > y2, the crop is upside down.
edge crop_and_resize(operand image, operand boxes, operand box_ind, operand crop_size,
    const crop_and_resize_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge crop_and_resize(operand image, operand boxes, operand box_ind, operand crop_size,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return crop_and_resize(image, boxes, box_ind, crop_size, crop_and_resize_options{}, name, where);
}

struct crop_and_resize_grad_boxes_options {
  std::string method = "bilinear";
};
/// Computes the gradient of CropAndResize with respect to its boxes.
edge crop_and_resize_grad_boxes(operand grads, operand image, operand boxes, operand box_ind,
    const crop_and_resize_grad_boxes_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge crop_and_resize_grad_boxes(operand grads, operand image, operand boxes,
    operand box_ind, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return crop_and_resize_grad_boxes(grads, image, boxes, box_ind, crop_and_resize_grad_boxes_options{}, name, where);
}

struct crop_and_resize_grad_image_options {
  std::string method = "bilinear";
};
/// Computes the gradient of CropAndResize with respect to its images, whose shape image_size lists.
edge crop_and_resize_grad_image(operand grads, operand boxes, operand box_ind, operand image_size,
    troupe::dtype t, const crop_and_resize_grad_image_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge crop_and_resize_grad_image(operand grads, operand boxes, operand box_ind,
    operand image_size, troupe::dtype t, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return crop_and_resize_grad_image(grads, boxes, box_ind, image_size, t, crop_and_resize_grad_image_options{}, name, where);
}

/// Takes the cross product of each vector of a and that of b.
///
/// Vectors lie along the last axis, which has 3 elements. Both have the same shape.
edge cross(operand a, operand b, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct cumprod_options {
  bool exclusive = false;
  bool reverse = false;
};
/// Replaces each element by the product of the elements up to it along an axis.
///
/// Where exclusive, the element itself is left out, and the first product is 1. With reverse,
/// products start at the end of the axis. A negative axis counts from the end. The gradient is not
/// defined, and NaN, at elements that are 0.
edge cumprod(operand x, operand axis, const cumprod_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge cumprod(operand x, operand axis, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return cumprod(x, axis, cumprod_options{}, name, where);
}

struct cumsum_options {
  bool exclusive = false;
  bool reverse = false;
};
/// Replaces each element by the sum of the elements up to it along an axis.
///
/// Where exclusive, the element itself is left out, and the first sum is 0. With reverse, sums
/// start at the end of the axis. A negative axis counts from the end.
edge cumsum(operand x, operand axis, const cumsum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge cumsum(operand x, operand axis, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return cumsum(x, axis, cumsum_options{}, name, where);
}

/// Decodes web-safe base64, with or without padding at its end.
edge decode_base64(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct decode_bmp_options {
  int64_t channels = 0;
};
/// Decodes a BMP file of 8, 24 or 32 bits for a pixel to a tensor [height, width, channels].
///
/// `channels` is 3 (RGB), 4 (with alpha), or 0 for as many as the file has. The colors of a palette
/// are not looked up. Compressed files are refused.
edge decode_bmp(operand contents, const decode_bmp_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge decode_bmp(operand contents, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return decode_bmp(contents, decode_bmp_options{}, name, where);
}

struct decode_csv_options {
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value = {};
  std::vector<int64_t> select_cols = {};
};
/// Reads each string as the fields of one record, separated by a character.
///
/// There is an output for each field, whose type is that of its default. The default stands for a
/// field that is empty or na_value; an empty tensor as default says that there is none, and the
/// field is required. With use_quote_delim, a field may stand in quotes, a doubled quote in it for
/// one. select_cols names the columns to read, in growing order, instead of all.
std::vector<edge> decode_csv(operand records, const std::vector<edge>& record_defaults,
    const decode_csv_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> decode_csv(operand records, const std::vector<edge>& record_defaults,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return decode_csv(records, record_defaults, decode_csv_options{}, name, where);
}

/// Decodes a GIF file to a tensor [frames, height, width, 3].
///
/// Each frame begins as the one before it, the first one black, and all have the extents of the
/// largest. A PNG or JPEG file is one frame.
edge decode_gif(operand contents, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct decode_image_options {
  int64_t channels = 0;
  troupe::dtype dtype = troupe::dtype::u8;
  bool expand_animations = true;
};
/// Decodes a PNG, JPEG, GIF or BMP file to a tensor [height, width, channels].
///
/// A GIF file becomes [frames, height, width, 3], or its first frame where expand_animations is
/// false. `channels` is 1 (gray), 3 (RGB), 4 (with alpha), or 0 for as many as the file has, as far
/// as the format can: JPEG has no alpha, GIF and BMP no gray. u16 and f32 have the full range of
/// brightness of u16, and from 0 to 1; of a file of 8 bits, other than PNG, u16 has 256 times the
/// numbers.
edge decode_image(operand contents, const decode_image_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge decode_image(operand contents, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return decode_image(contents, decode_image_options{}, name, where);
}

struct decode_jpeg_options {
  int64_t channels = 0;
  int64_t ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  std::string dct_method = {};
};
/// Decodes a JPEG file to a tensor [height, width, channels].
///
/// `channels` is 1 (gray), 3 (RGB), or 0 for as many as the file has. With `ratio` 2, 4 or 8 the
/// image becomes so many times smaller, which is faster than to resize it. With
/// try_recover_truncated, a file that ends early gives what it has, gray where it has nothing, if
/// acceptable_fraction of the lines come out. dct_method INTEGER_ACCURATE takes longer than
/// INTEGER_FAST, the default. A PNG file is taken as well, and a GIF file with one image.
edge decode_jpeg(operand contents, const decode_jpeg_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge decode_jpeg(operand contents, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return decode_jpeg(contents, decode_jpeg_options{}, name, where);
}

struct decode_png_options {
  int64_t channels = 0;
  troupe::dtype dtype = troupe::dtype::u8;
};
/// Decodes a PNG file to a tensor [height, width, channels].
///
/// `channels` is 1 (gray), 3 (RGB), 4 (with alpha), or 0 for as many as the file has. Where a file
/// has 16 bits a sample and dtype 8, the lower ones are dropped. A JPEG file is taken as well, and
/// a GIF file with one image.
edge decode_png(operand contents, const decode_png_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge decode_png(operand contents, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return decode_png(contents, decode_png_options{}, name, where);
}

struct decode_raw_options {
  bool little_endian = true;
};
/// Takes the bytes of each string for the elements of a vector.
///
/// All strings have the same length, which is a multiple of the element's size. little_endian says
/// which byte of an element comes first.
edge decode_raw(operand bytes, troupe::dtype out_type, const decode_raw_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge decode_raw(operand bytes, troupe::dtype out_type, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return decode_raw(bytes, out_type, decode_raw_options{}, name, where);
}

struct dense_bincount_options {
  bool binary_output = false;
};
/// Counts how often each number from 0 to size - 1 occurs in a vector, or in each row of a matrix,
/// or adds up the weights that belong to it.
///
/// Numbers of at least size are ignored, and negative numbers are errors. If weights is empty, each
/// number counts 1. With binary_output, the count of a number that occurs is 1, and weights are
/// ignored.
edge dense_bincount(operand input, operand size, operand weights,
    const dense_bincount_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge dense_bincount(operand input, operand size, operand weights, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return dense_bincount(input, size, weights, dense_bincount_options{}, name, where);
}

/// Makes a tensor that is zero but for the values at some positions among its elements.
///
/// What comes for one position twice is added up. A position outside fails.
edge densify_top_k(operand values, operand positions, operand shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct depth_to_space_options {
  std::string data_format = "NHWC";
};
/// Makes each pixel a block of block_size x block_size pixels, among which its channels are dealt
/// out.
///
/// The block gets them row by row. data_format says whether the channels are the last axis (NHWC)
/// or axis 1 (NCHW).
edge depth_to_space(operand input, int64_t block_size, const depth_to_space_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge depth_to_space(operand input, int64_t block_size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return depth_to_space(input, block_size, depth_to_space_options{}, name, where);
}

struct depthwise_conv2d_native_options {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes a 2-D convolution of each channel with filters of its own.
///
/// The filter is [rows, columns, channels, multiplier]: channel c becomes the output channels c *
/// multiplier up to (c + 1) * multiplier - 1. Otherwise it is as Conv2D; strides may differ between
/// rows and columns.
edge depthwise_conv2d_native(operand input, operand filter, const std::vector<int64_t>& strides,
    std::string_view padding, const depthwise_conv2d_native_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge depthwise_conv2d_native(operand input, operand filter,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return depthwise_conv2d_native(input, filter, strides, padding, depthwise_conv2d_native_options{}, name, where);
}

struct depthwise_conv2d_native_backprop_filter_options {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes the gradient of DepthwiseConv2dNative with respect to its filter, which has the shape
/// filter_sizes.
edge depthwise_conv2d_native_backprop_filter(operand input, operand filter_sizes,
    operand out_backprop, const std::vector<int64_t>& strides, std::string_view padding,
    const depthwise_conv2d_native_backprop_filter_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge depthwise_conv2d_native_backprop_filter(operand input, operand filter_sizes,
    operand out_backprop, const std::vector<int64_t>& strides, std::string_view padding,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return depthwise_conv2d_native_backprop_filter(input, filter_sizes, out_backprop, strides, padding, depthwise_conv2d_native_backprop_filter_options{}, name, where);
}

struct depthwise_conv2d_native_backprop_input_options {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {};
};
/// Computes the gradient of DepthwiseConv2dNative with respect to its input, which has the shape
/// input_sizes.
edge depthwise_conv2d_native_backprop_input(operand input_sizes, operand filter,
    operand out_backprop, const std::vector<int64_t>& strides, std::string_view padding,
    const depthwise_conv2d_native_backprop_input_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge depthwise_conv2d_native_backprop_input(operand input_sizes, operand filter,
    operand out_backprop, const std::vector<int64_t>& strides, std::string_view padding,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return depthwise_conv2d_native_backprop_input(input_sizes, filter, out_backprop, strides, padding, depthwise_conv2d_native_backprop_input_options{}, name, where);
}

struct dequantize_options {
  std::string mode = "MIN_COMBINED";
  bool narrow_range = false;
  int64_t axis = -1;
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Gives the real numbers that whole ones of few bits stand for.
///
/// The range is what QuantizeV2 says that it used, the attributes are those that it had.
edge dequantize(operand input, operand min_range, operand max_range,
    const dequantize_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge dequantize(operand input, operand min_range, operand max_range, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return dequantize(input, min_range, max_range, dequantize_options{}, name, where);
}

struct destroy_resource_op_options {
  bool ignore_lookup_error = true;
};
/// Lets go of a variable's value.
///
/// The variable can be assigned anew; until then, errors say that it was destroyed. Fails with
/// not_found where there is no value, unless ignore_lookup_error is set.
node* destroy_resource_op(operand resource, const destroy_resource_op_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* destroy_resource_op(operand resource, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return destroy_resource_op(resource, destroy_resource_op_options{}, name, where);
}

/// Gives the value of a temporary variable, and destroys it.
///
/// It must depend on all that uses the variable. var_name must be the variable's.
edge destroy_temporary_variable(operand ref, std::string_view var_name,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes a tensor of twice as many axes that is zero but for its diagonal.
///
/// Element [i, j, ..., i, j, ...] is element [i, j, ...] of the input.
edge diag(operand diagonal, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the diagonal of a tensor whose second half of axes is like its first.
///
/// Element [i, j, ...] is element [i, j, ..., i, j, ...] of the input.
edge diag_part(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the derivative of Lgamma at each element.
///
/// It is NaN at 0 and at negative whole numbers.
edge digamma(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the grayscale dilation of images by a filter for each channel.
///
/// input is [images, rows, columns, channels], filter [rows, columns, channels]. In each window,
/// the filter is added to the elements that it lies on, and the largest sum taken. Windows move by
/// strides, and have their elements rates apart; both have four numbers, 1 for images and channels.
/// Padding is SAME or VALID and holds no elements. The gradient goes to the first among equals. A
/// NaN is never the largest.
edge dilation2d(operand input, operand filter, const std::vector<int64_t>& strides,
    const std::vector<int64_t>& rates, std::string_view padding, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives each gradient to the element of the filter whose sum with the input was the largest of its
/// window.
///
/// Among equals it is the first; what comes to one element is added up. See Dilation2D.
edge dilation2d_backprop_filter(operand input, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
    std::string_view padding, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives each gradient to the element of the input whose sum with the filter was the largest of its
/// window.
///
/// Among equals it is the first; what comes to one element is added up. See Dilation2D.
edge dilation2d_backprop_input(operand input, operand filter, operand out_backprop,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
    std::string_view padding, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Does nothing.
///
/// In TensorFlow it ends a mode of a variable in which reads copy its value. Here they share it;
/// updates copy it while a reader has it.
node* disable_copy_on_read(operand resource, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides x by y, element by element.
///
/// Broadcasts by NumPy's rules. Quotients of whole numbers are rounded towards zero, and dividing
/// them by zero fails.
edge div(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides x by y, element by element, and gives 0 where y is 0.
///
/// Broadcasts by NumPy's rules.
edge div_no_nan(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Draws the outlines of boxes into images, each in the next of ten colors.
///
/// Images are [batch, height, width, channels] with 1 (gray), 3 (RGB) or 4 channels (with alpha),
/// in [0, 1]; each has its own boxes, [y1, x1, y2, x2], where 0 and 1 are the outermost pixels.
/// Boxes that are not in the image, or upside down, are left out.
edge draw_bounding_boxes(operand images, operand boxes, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Puts each row of data into the output that partitions names, in order.
///
/// The shape of partitions begins that of data; what is left is a row. A number outside of [0,
/// num_partitions) fails.
std::vector<edge> dynamic_partition(operand data, operand partitions, int64_t num_partitions,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes row j of data[i] the row indices[i][j] of the output.
///
/// The shape of indices[i] begins that of data[i]; what is left is a row. Of several rows with one
/// number the last stays; rows that have none are zero.
edge dynamic_stitch(const std::vector<edge>& indices, const std::vector<edge>& data,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct edit_distance_options {
  bool normalize = true;
};
/// Counts the elements to insert, to delete and to replace that make a sequence another.
///
/// Both inputs are sparse tensors, given by the coordinates of their elements, their values and
/// their shape; the sequences lie along the last axis, in the order in which they are listed. With
/// normalize, the count is divided by the length of the truth; where that is empty, it is infinite,
/// or 0 if the hypothesis is empty as well.
edge edit_distance(operand hypothesis_indices, operand hypothesis_values,
    operand hypothesis_shape, operand truth_indices, operand truth_values, operand truth_shape,
    const edit_distance_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge edit_distance(operand hypothesis_indices, operand hypothesis_values,
    operand hypothesis_shape, operand truth_indices, operand truth_values, operand truth_shape,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return edit_distance(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape, edit_distance_options{}, name, where);
}

/// Computes x where it is positive, exp(x) - 1 elsewhere, of each element.
edge elu(operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Elu from its outputs: where they are negative, the gradients times
/// (outputs + 1).
edge elu_grad(operand gradients, operand outputs, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct empty_options {
  bool init = false;
};
/// Makes a tensor of the listed extents.
///
/// Its elements are zero, whether init asks for that or not, so that a mistake shows itself in
/// every run alike.
edge empty(operand shape, troupe::dtype dtype, const empty_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge empty(operand shape, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return empty(shape, dtype, empty_options{}, name, where);
}

/// Makes an empty list.
///
/// Items must have the type element_dtype, and a shape that is compatible with element_shape: a
/// vector, in which -1 is an unknown extent, or the scalar -1 for any shape. max_num_elements is
/// the maximum number of items, or -1 for no limit.
edge empty_tensor_list(operand element_shape, operand max_num_elements,
    troupe::dtype element_dtype, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct encode_base64_options {
  bool pad = false;
};
/// Encodes each string in web-safe base64.
///
/// With `pad`, the text is filled up to a multiple of 4 characters with '='.
edge encode_base64(operand input, const encode_base64_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge encode_base64(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return encode_base64(input, encode_base64_options{}, name, where);
}

struct encode_jpeg_options {
  std::string format = {};
  int64_t quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  std::string density_unit = "in";
  int64_t x_density = 300;
  int64_t y_density = 300;
  std::string xmp_metadata = {};
};
/// Encodes a tensor [height, width, channels] as JPEG file.
///
/// There are 1 (gray) or 3 channels (RGB), and `format` may say which. `quality` is in [0, 100];
/// optimize_size takes time to make the file smaller, `progressive` lets it be shown while it is
/// loaded, and chroma_downsampling stores colors at half the resolution.
edge encode_jpeg(operand image, const encode_jpeg_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge encode_jpeg(operand image, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return encode_jpeg(image, encode_jpeg_options{}, name, where);
}

struct encode_png_options {
  int64_t compression = -1;
};
/// Encodes a tensor [height, width, channels] as PNG file.
///
/// There are 1 (gray), 2 (gray with alpha), 3 (RGB) or 4 channels (with alpha). `compression` goes
/// from 0, none, to 9, the best; -1 is zlib's own choice.
edge encode_png(operand image, const encode_png_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge encode_png(operand image, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return encode_png(image, encode_png_options{}, name, where);
}

/// Gives its input, and fails where that has not the shape.
///
/// Shape functions know the shape from here on.
edge ensure_shape(operand input, const troupe::partial_shape& shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct equal_options {
  bool incompatible_shape_error = true;
};
/// Says where x is equal to y.
///
/// Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor less. Where
/// shapes do not fit, that is an error, or one answer for the whole if incompatible_shape_error is
/// false.
edge equal(operand x, operand y, const equal_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge equal(operand x, operand y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return equal(x, y, equal_options{}, name, where);
}

/// Takes the error function of each element: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to
/// x.
edge erf(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes 1 - Erf(x) of each element, exact also where that is near 0.
edge erfc(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct euclidean_norm_options {
  bool keep_dims = false;
};
/// Takes the square root of the sum of the squared elements along the axes in reduction_indices.
///
/// Negative axes count from the end. With keep_dims the reduced axes stay, with extent 1. Squares
/// of whole numbers and their sums wrap around, and the root is rounded towards zero. The gradient
/// is not defined, and NaN, where the norm is 0.
edge euclidean_norm(operand input, operand reduction_indices,
    const euclidean_norm_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge euclidean_norm(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return euclidean_norm(input, reduction_indices, euclidean_norm_options{}, name, where);
}

/// Raises e to the power of each element.
edge exp(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds an axis of extent 1 in front of axis dim.
///
/// A negative dim counts from the end: -1 adds the last axis. The memory is shared.
edge expand_dims(operand input, operand dim, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes exp(x) - 1 of each element, exact also where x is near 0.
edge expm1(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives each patch of ksizes pixels of an image as channels of one pixel.
///
/// Patches are strides apart, their own pixels rates. The lists are about batch, rows, columns and
/// channels; those for batch and channels must be 1. With padding SAME, patches reach over the
/// edges, where there are zeros; with VALID, they lie within the image.
edge extract_image_patches(operand images, const std::vector<int64_t>& ksizes,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
    std::string_view padding, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct extract_jpeg_shape_options {
  troupe::dtype output_type = troupe::dtype::i32;
};
/// Gives height, width and channels of a JPEG file, by its header alone.
edge extract_jpeg_shape(operand contents, const extract_jpeg_shape_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge extract_jpeg_shape(operand contents, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return extract_jpeg_shape(contents, extract_jpeg_shape_options{}, name, where);
}

struct fifo_queue_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements, each a tuple of tensors, that come out in the order in which they went in.
///
/// The queue lives in the named container of its task, under shared_name or else the node's name;
/// nodes of the same name share it. An enqueue waits while there are `capacity` elements (no limit
/// for a negative one), a dequeue while there are none. What a step takes out goes back to the
/// front if the step fails.
edge fifo_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    const fifo_queue_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fifo_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return fifo_queue(in, component_types, fifo_queue_options{}, name, where);
}

struct fifo_queue_v2_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements, each a tuple of tensors, that come out in the order in which they went in.
///
/// The same as FIFOQueue in all but its name, for graphs that use this one.
edge fifo_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    const fifo_queue_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fifo_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return fifo_queue_v2(in, component_types, fifo_queue_v2_options{}, name, where);
}

struct fake_quant_with_min_max_args_options {
  double min = -6;
  double max = 6;
  int64_t num_bits = 8;
  bool narrow_range = false;
};
/// Rounds to the numbers that whole ones of num_bits can stand for.
///
/// These are spread over the range from min to max, which is moved a little so that 0 is one of
/// them; what is outside becomes its ends. With narrow_range there is one number less. The gradient
/// passes within the range as if nothing was rounded.
edge fake_quant_with_min_max_args(operand inputs,
    const fake_quant_with_min_max_args_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fake_quant_with_min_max_args(operand inputs, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fake_quant_with_min_max_args(inputs, fake_quant_with_min_max_args_options{}, name, where);
}

struct fake_quant_with_min_max_args_gradient_options {
  double min = -6;
  double max = 6;
  int64_t num_bits = 8;
  bool narrow_range = false;
};
/// Gives the gradients where the inputs are within the range, zeros elsewhere.
edge fake_quant_with_min_max_args_gradient(operand gradients, operand inputs,
    const fake_quant_with_min_max_args_gradient_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fake_quant_with_min_max_args_gradient(operand gradients, operand inputs,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return fake_quant_with_min_max_args_gradient(gradients, inputs, fake_quant_with_min_max_args_gradient_options{}, name, where);
}

struct fake_quant_with_min_max_vars_options {
  int64_t num_bits = 8;
  bool narrow_range = false;
};
/// Does what FakeQuantWithMinMaxArgs does, with a range that is computed.
///
/// The gradients of what is beyond an end of the range add up to those of the end. Where both ends
/// are 0, so are the outputs.
edge fake_quant_with_min_max_vars(operand inputs, operand min, operand max,
    const fake_quant_with_min_max_vars_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fake_quant_with_min_max_vars(operand inputs, operand min, operand max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return fake_quant_with_min_max_vars(inputs, min, max, fake_quant_with_min_max_vars_options{}, name, where);
}

struct fake_quant_with_min_max_vars_gradient_options {
  int64_t num_bits = 8;
  bool narrow_range = false;
};
struct fake_quant_with_min_max_vars_gradient_outputs {
  edge backprops_wrt_input;
  edge backprop_wrt_min;
  edge backprop_wrt_max;
};
/// Gives the gradients where the inputs are within the range, zeros elsewhere, and the sums of
/// those where they are less than min and greater than max.
///
/// Where both are 0, all gradients pass.
fake_quant_with_min_max_vars_gradient_outputs fake_quant_with_min_max_vars_gradient(operand gradients,
    operand inputs, operand min, operand max,
    const fake_quant_with_min_max_vars_gradient_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline fake_quant_with_min_max_vars_gradient_outputs fake_quant_with_min_max_vars_gradient(operand gradients,
    operand inputs, operand min, operand max, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, fake_quant_with_min_max_vars_gradient_options{}, name, where);
}

/// Makes a tensor of the listed extents, each element of which is value.
edge fill(graph& in, operand dims, operand value, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct fixed_length_record_reader_options {
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  std::string encoding = {};
  std::string container = {};
  std::string shared_name = {};
};
/// Gives records of `record_bytes` bytes.
///
/// They begin behind `header_bytes`, each `hop_bytes` behind the one before (0: record_bytes), and
/// end before the last `footer_bytes` of the file. A key is the file's name and the number of the
/// record, from 0: "a.bin:0". `encoding` says how the file is compressed: "", "ZLIB" or "GZIP".
/// Fails with data_loss where records that follow each other leave bytes over; TensorFlow drops
/// those.
edge fixed_length_record_reader(graph& in, int64_t record_bytes,
    const fixed_length_record_reader_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fixed_length_record_reader(graph& in, int64_t record_bytes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fixed_length_record_reader(in, record_bytes, fixed_length_record_reader_options{}, name, where);
}

struct fixed_length_record_reader_v2_options {
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  int64_t hop_bytes = 0;
  std::string encoding = {};
  std::string container = {};
  std::string shared_name = {};
};
/// Gives records of `record_bytes` bytes.
///
/// The same as FixedLengthRecordReader in all but its name, for graphs that use this one.
edge fixed_length_record_reader_v2(graph& in, int64_t record_bytes,
    const fixed_length_record_reader_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge fixed_length_record_reader_v2(graph& in, int64_t record_bytes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fixed_length_record_reader_v2(in, record_bytes, fixed_length_record_reader_v2_options{}, name, where);
}

struct fixed_unigram_candidate_sampler_options {
  std::string vocab_file = {};
  double distortion = 1;
  int64_t num_reserved_ids = 0;
  int64_t num_shards = 1;
  int64_t shard = 0;
  std::vector<double> unigrams = {};
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct fixed_unigram_candidate_sampler_outputs {
  edge sampled_candidates;
  edge true_expected_count;
  edge sampled_expected_count;
};
/// Samples classes as often as their weights say, for losses that do not look at all.
///
/// The weights are `unigrams`, or the last of the numbers, separated by commas, of each line of
/// vocab_file, a file on the task that runs the op. Each is raised to the power of distortion: 0
/// makes all equal. The first num_reserved_ids classes have no weight, the listed ones follow. With
/// several shards, only classes whose number leaves the rest `shard` when divided by num_shards are
/// kept, and numbered anew; range_max is how many that leaves. Expected counts and seeds are as
/// those of UniformCandidateSampler.
fixed_unigram_candidate_sampler_outputs fixed_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const fixed_unigram_candidate_sampler_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline fixed_unigram_candidate_sampler_outputs fixed_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return fixed_unigram_candidate_sampler(in, true_classes, num_true, num_sampled, unique, range_max, fixed_unigram_candidate_sampler_options{}, name, where);
}

/// Rounds each element down to a whole number.
///
/// The gradient is 0.
edge floor(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides x by y, element by element, and rounds down.
///
/// Broadcasts by NumPy's rules. Dividing whole numbers by zero fails. The gradient is 0.
edge floor_div(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the remainder of dividing x by y and rounding down, element by element: it has the sign of
/// y.
///
/// Broadcasts by NumPy's rules. Dividing whole numbers by zero fails.
edge floor_mod(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct fused_batch_norm_options {
  double epsilon = 0.0001;
  double exponential_avg_factor = 1;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct fused_batch_norm_outputs {
  edge y;
  edge batch_mean;
  edge batch_variance;
  edge reserve_space_1;
  edge reserve_space_2;
};
/// Normalizes each channel to mean 0 and variance 1, then scales it and adds an offset.
///
/// In training, mean and variance are the batch's, over all but the channels; batch_mean and
/// batch_variance (the unbiased one) are for running averages: (1 - exponential_avg_factor) * mean
/// + exponential_avg_factor * the batch's. Otherwise the inputs mean and variance are used. The
/// reserve spaces are what the gradient wants to know: mean and variance that were used.
fused_batch_norm_outputs fused_batch_norm(operand x, operand scale, operand offset, operand mean,
    operand variance, const fused_batch_norm_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline fused_batch_norm_outputs fused_batch_norm(operand x, operand scale, operand offset,
    operand mean, operand variance, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fused_batch_norm(x, scale, offset, mean, variance, fused_batch_norm_options{}, name, where);
}

struct fused_batch_norm_grad_options {
  double epsilon = 0.0001;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct fused_batch_norm_grad_outputs {
  edge x_backprop;
  edge scale_backprop;
  edge offset_backprop;
  edge reserve_space_3;
  edge reserve_space_4;
};
/// Computes the gradients of FusedBatchNorm from what it was given and its reserve spaces.
///
/// In training, mean and variance depended on x; otherwise they are taken for constants.
fused_batch_norm_grad_outputs fused_batch_norm_grad(operand y_backprop, operand x, operand scale,
    operand reserve_space_1, operand reserve_space_2,
    const fused_batch_norm_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline fused_batch_norm_grad_outputs fused_batch_norm_grad(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fused_batch_norm_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, fused_batch_norm_grad_options{}, name, where);
}

struct fused_batch_norm_grad_v2_options {
  double epsilon = 0.0001;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct fused_batch_norm_grad_v2_outputs {
  edge x_backprop;
  edge scale_backprop;
  edge offset_backprop;
  edge reserve_space_3;
  edge reserve_space_4;
};
/// Computes the gradients of FusedBatchNorm from what it was given and its reserve spaces.
///
/// In training, mean and variance depended on x; otherwise they are taken for constants.
fused_batch_norm_grad_v2_outputs fused_batch_norm_grad_v2(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2,
    const fused_batch_norm_grad_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline fused_batch_norm_grad_v2_outputs fused_batch_norm_grad_v2(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fused_batch_norm_grad_v2(y_backprop, x, scale, reserve_space_1, reserve_space_2, fused_batch_norm_grad_v2_options{}, name, where);
}

struct fused_batch_norm_grad_v3_options {
  double epsilon = 0.0001;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct fused_batch_norm_grad_v3_outputs {
  edge x_backprop;
  edge scale_backprop;
  edge offset_backprop;
  edge reserve_space_4;
  edge reserve_space_5;
};
/// Computes the gradients of FusedBatchNorm from what it was given and its reserve spaces.
///
/// In training, mean and variance depended on x; otherwise they are taken for constants.
fused_batch_norm_grad_v3_outputs fused_batch_norm_grad_v3(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2, operand reserve_space_3,
    const fused_batch_norm_grad_v3_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline fused_batch_norm_grad_v3_outputs fused_batch_norm_grad_v3(operand y_backprop, operand x,
    operand scale, operand reserve_space_1, operand reserve_space_2, operand reserve_space_3,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return fused_batch_norm_grad_v3(y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3, fused_batch_norm_grad_v3_options{}, name, where);
}

struct fused_batch_norm_v2_options {
  double epsilon = 0.0001;
  double exponential_avg_factor = 1;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct fused_batch_norm_v2_outputs {
  edge y;
  edge batch_mean;
  edge batch_variance;
  edge reserve_space_1;
  edge reserve_space_2;
};
/// Normalizes each channel to mean 0 and variance 1, then scales it and adds an offset.
///
/// In training, mean and variance are the batch's, over all but the channels; batch_mean and
/// batch_variance (the unbiased one) are for running averages: (1 - exponential_avg_factor) * mean
/// + exponential_avg_factor * the batch's. Otherwise the inputs mean and variance are used. The
/// reserve spaces are what the gradient wants to know: mean and variance that were used.
fused_batch_norm_v2_outputs fused_batch_norm_v2(operand x, operand scale, operand offset,
    operand mean, operand variance, const fused_batch_norm_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline fused_batch_norm_v2_outputs fused_batch_norm_v2(operand x, operand scale, operand offset,
    operand mean, operand variance, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fused_batch_norm_v2(x, scale, offset, mean, variance, fused_batch_norm_v2_options{}, name, where);
}

struct fused_batch_norm_v3_options {
  double epsilon = 0.0001;
  double exponential_avg_factor = 1;
  std::string data_format = "NHWC";
  bool is_training = true;
};
struct fused_batch_norm_v3_outputs {
  edge y;
  edge batch_mean;
  edge batch_variance;
  edge reserve_space_1;
  edge reserve_space_2;
  edge reserve_space_3;
};
/// Normalizes each channel to mean 0 and variance 1, then scales it and adds an offset.
///
/// In training, mean and variance are the batch's, over all but the channels; batch_mean and
/// batch_variance (the unbiased one) are for running averages: (1 - exponential_avg_factor) * mean
/// + exponential_avg_factor * the batch's. Otherwise the inputs mean and variance are used. The
/// reserve spaces are what the gradient wants to know: mean and variance that were used.
fused_batch_norm_v3_outputs fused_batch_norm_v3(operand x, operand scale, operand offset,
    operand mean, operand variance, const fused_batch_norm_v3_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline fused_batch_norm_v3_outputs fused_batch_norm_v3(operand x, operand scale, operand offset,
    operand mean, operand variance, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return fused_batch_norm_v3(x, scale, offset, mean, variance, fused_batch_norm_v3_options{}, name, where);
}

struct gru_block_cell_outputs {
  edge r;
  edge u;
  edge c;
  edge h;
};
/// Computes one step of a gated recurrent unit for a batch.
///
/// [r, u] = sigmoid([x, h_prev] * w_ru + b_ru)
/// c = tanh([x, h_prev * r] * w_c + b_c), where h_prev * r is element by element
/// h = (1 - u) * c + u * h_prev
gru_block_cell_outputs gru_block_cell(operand x, operand h_prev, operand w_ru, operand w_c,
    operand b_ru, operand b_c, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct gru_block_cell_grad_outputs {
  edge d_x;
  edge d_h_prev;
  edge d_c_bar;
  edge d_r_bar_u_bar;
};
/// Computes the gradients of a GRUBlockCell's x and h_prev, and of what it adds up.
///
/// d_c_bar and d_r_bar_u_bar are the gradients of c and [r, u] before tanh and sigmoid, from which
/// those of the weights follow as those of a product.
gru_block_cell_grad_outputs gru_block_cell_grad(operand x, operand h_prev, operand w_ru,
    operand w_c, operand b_ru, operand b_c, operand r, operand u, operand c, operand d_h,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct gather_options {
  bool validate_indices = true;
};
/// Takes the rows of params that indices names.
///
/// A row is a slice of the first axis; an index outside of it fails.
edge gather(operand params, operand indices, const gather_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge gather(operand params, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return gather(params, indices, gather_options{}, name, where);
}

struct gather_nd_options {
  std::string bad_indices_policy = {};
};
/// Takes the blocks of params whose leading coordinates the last axis of indices lists.
///
/// With as many coordinates as params has axes, a block is one element. Coordinates outside of
/// params fail; where bad_indices_policy is IGNORE, they give zeros.
edge gather_nd(operand params, operand indices, const gather_nd_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge gather_nd(operand params, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return gather_nd(params, indices, gather_nd_options{}, name, where);
}

struct gather_v2_options {
  int64_t batch_dims = 0;
};
/// Takes the slices of params along an axis that indices names.
///
/// The axis is replaced by those of indices. The first batch_dims axes of both are the same: each
/// batch has indices of its own. A negative axis counts from the end; an index outside of the axis
/// fails.
edge gather_v2(operand params, operand indices, operand axis,
    const gather_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge gather_v2(operand params, operand indices, operand axis, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return gather_v2(params, indices, axis, gather_v2_options{}, name, where);
}

/// Says where x is greater than y.
///
/// Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor less.
edge greater(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says where x is greater than y or equal to it.
///
/// Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor less.
edge greater_equal(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Converts the hue, saturation and value of each pixel to red, green and blue.
///
/// All six are in [0, 1], and the hue is a fraction of a turn.
edge hsv_to_rgb(operand images, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct hash_table_options {
  std::string container = {};
  std::string shared_name = {};
  bool use_node_name_sharing = false;
};
/// Makes a table of pairs of keys and values that does not change once it is initialized, and
/// outputs a reference to it.
///
/// The table is in the named container of its task, under shared_name or else under the node's
/// name, for any value of use_node_name_sharing; nodes with the same name share it. InitializeTable
/// or InitializeTableFromTextFile initializes it; lookups before that fail. Checkpoints of
/// variables do not contain the table: its initializer makes it again.
edge hash_table(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const hash_table_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge hash_table(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return hash_table(in, key_dtype, value_dtype, hash_table_options{}, name, where);
}

struct hash_table_v2_options {
  std::string container = {};
  std::string shared_name = {};
  bool use_node_name_sharing = false;
};
/// Makes a table of pairs of keys and values that does not change once it is initialized, and
/// outputs a reference to it.
///
/// The same as HashTable in all but its name, for graphs that use this one.
edge hash_table_v2(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const hash_table_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge hash_table_v2(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return hash_table_v2(in, key_dtype, value_dtype, hash_table_v2_options{}, name, where);
}

struct histogram_fixed_width_options {
  troupe::dtype dtype = troupe::dtype::i32;
};
/// Counts how many values lie in each of nbins intervals that divide value_range evenly.
///
/// Values below the range count in the first interval, values above it in the last one; NaN is not
/// counted.
edge histogram_fixed_width(operand values, operand value_range, operand nbins,
    const histogram_fixed_width_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge histogram_fixed_width(operand values, operand value_range, operand nbins,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return histogram_fixed_width(values, value_range, nbins, histogram_fixed_width_options{}, name, where);
}

/// Counts elements in ranges that grow by a tenth, and writes the counts as a Summary.
///
/// The ranges go from 1e-12 to 1e20 and from there on, on both sides of zero; neighbours without
/// elements are joined. Fails for elements that are not finite.
edge histogram_summary(operand tag, operand values, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives its input.
///
/// It shares the memory and copies nothing.
edge identity(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives its inputs, all of them at once.
///
/// Who waits for one output waits for all inputs. Nothing is copied.
std::vector<edge> identity_n(const std::vector<edge>& input, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct identity_reader_options {
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the names that it takes from the queue as keys and as values, and reads no file.
edge identity_reader(graph& in, const identity_reader_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge identity_reader(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return identity_reader(in, identity_reader_options{}, name, where);
}

struct identity_reader_v2_options {
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the names that it takes from the queue as keys and as values, and reads no file.
///
/// The same as IdentityReader in all but its name, for graphs that use this one.
edge identity_reader_v2(graph& in, const identity_reader_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge identity_reader_v2(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return identity_reader_v2(in, identity_reader_v2_options{}, name, where);
}

/// Computes the regularized lower incomplete gamma function: the integral of t^(a - 1) * exp(-t)
/// from 0 to x, over gamma(a).
///
/// It is NaN where a is not positive or x is negative. Broadcasts by NumPy's rules.
edge igamma(operand a, operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the derivative of Igamma(a, x) by a, element by element.
///
/// Broadcasts by NumPy's rules.
edge igamma_grad_a(operand a, operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes 1 - Igamma(a, x), exact also where that is near 0.
///
/// It is NaN where a is not positive or x is negative. Broadcasts by NumPy's rules.
edge igammac(operand a, operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct imag_options {
  troupe::dtype tout = troupe::dtype::f32;
};
/// Takes the imaginary part of each element.
edge imag(operand input, const imag_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge imag(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return imag(input, imag_options{}, name, where);
}

struct image_summary_options {
  int64_t max_images = 3;
  troupe::tensor bad_color = {};
};
/// Writes images [batch, height, width, channels] as PNG files in a Summary.
///
/// There are 1, 3 or 4 channels. Of each batch, the first max_images are written, with the tags
/// tag/image/0 and so on; if only one is to be written, tag/image. Elements of u8 stay as they are.
/// Others are scaled for each image by itself: if none is negative, so that the largest becomes
/// 255; else so that 0 becomes 128 and the one that is farthest from it 1 or 255. Pixels that are
/// not finite get bad_color, by default red.
edge image_summary(operand tag, operand tensor, const image_summary_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge image_summary(operand tag, operand tensor, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return image_summary(tag, tensor, image_summary_options{}, name, where);
}

/// Says for each row whether the prediction of its target class is among the k greatest.
///
/// All classes that tie with the k-th are among them. A target outside [0, classes) is not, nor is
/// any target of a row whose predictions are not all finite up to the decision.
edge in_top_k(operand predictions, operand targets, int64_t k, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says for each row whether the prediction of its target class is among the k greatest.
///
/// As InTopK, but k is an input.
edge in_top_kv2(operand predictions, operand targets, operand k, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Initializes a HashTable with keys [n] and a value for each.
///
/// A key may occur twice with the same value. Fails with invalid_argument for a key with two
/// values, and with failed_precondition for a table that has other pairs already. After a failure
/// the table is unchanged.
node* initialize_table(operand table_handle, operand keys, operand values,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct initialize_table_from_text_file_options {
  int64_t vocab_size = -1;
  std::string delimiter = "\t";
  int64_t offset = 0;
};
/// Initializes a HashTable from a text file with one pair per line.
///
/// key_index and value_index select the key and the value of a line: the number of a column
/// (columns are separated by delimiter), -2 for the whole line, or -1 for the number of the line,
/// counted from 0, plus offset. Numbers may be surrounded by spaces. Lines end with LF or CR LF,
/// and must not be empty. With a vocab_size, only that many lines are read, and the file must have
/// them.
///
/// The task that holds the table reads the file. Errors name the file and the line, counted from 1.
/// A table that has pairs already must have the same pairs (TensorFlow does not check this).
node* initialize_table_from_text_file(operand table_handle, operand filename, int64_t key_index,
    int64_t value_index, const initialize_table_from_text_file_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* initialize_table_from_text_file(operand table_handle, operand filename,
    int64_t key_index, int64_t value_index, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return initialize_table_from_text_file(table_handle, filename, key_index, value_index, initialize_table_from_text_file_options{}, name, where);
}

struct initialize_table_from_text_file_v2_options {
  int64_t vocab_size = -1;
  std::string delimiter = "\t";
  int64_t offset = 0;
};
/// Initializes a HashTable from a text file with one pair per line.
///
/// The same as InitializeTableFromTextFile in all but its name, for graphs that use this one.
node* initialize_table_from_text_file_v2(operand table_handle, operand filename,
    int64_t key_index, int64_t value_index,
    const initialize_table_from_text_file_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* initialize_table_from_text_file_v2(operand table_handle, operand filename,
    int64_t key_index, int64_t value_index, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return initialize_table_from_text_file_v2(table_handle, filename, key_index, value_index, initialize_table_from_text_file_v2_options{}, name, where);
}

/// Initializes a HashTable with keys [n] and a value for each.
///
/// The same as InitializeTable in all but its name, for graphs that use this one.
node* initialize_table_v2(operand table_handle, operand keys, operand values,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Divides one by each element.
///
/// It is infinite at 0. It is an old name of Reciprocal.
edge inv(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Inv from its output y: -dy * y^2.
///
/// It is 0 where dy is, whatever y is. For complex numbers it takes the conjugate of y. It is an
/// old name of ReciprocalGrad.
edge inv_grad(operand y, operand dy, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Flips all bits of each element.
edge invert(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the permutation y with y[x[i]] = i.
edge invert_permutation(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says which elements are neither infinite nor NaN.
edge is_finite(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says which elements are infinite.
edge is_inf(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says which elements are no numbers (NaN).
edge is_nan(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says whether a variable has been assigned.
edge is_variable_initialized(operand ref, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes half the sum of the squares of all elements.
edge l2_loss(operand t, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct lrn_options {
  int64_t depth_radius = 5;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
};
/// Divides each element by a power of the sum of squares of its neighbours.
///
/// The neighbours are those up to depth_radius away along the last of four axes: the element is
/// divided by (bias + alpha * sum) ^ beta.
edge lrn(operand input, const lrn_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge lrn(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return lrn(input, lrn_options{}, name, where);
}

struct lrn_grad_options {
  int64_t depth_radius = 5;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
};
/// Computes the gradient of LRN from that of its output, its input and its output.
///
/// The output must be what LRN gives for the input: some devices compute it anew.
edge lrn_grad(operand input_grads, operand input_image, operand output_image,
    const lrn_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge lrn_grad(operand input_grads, operand input_image, operand output_image,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return lrn_grad(input_grads, input_image, output_image, lrn_grad_options{}, name, where);
}

struct lstm_block_cell_options {
  double forget_bias = 1;
  double cell_clip = 3;
  bool use_peephole = false;
};
struct lstm_block_cell_outputs {
  edge i;
  edge cs;
  edge f;
  edge o;
  edge ci;
  edge co;
  edge h;
};
/// Computes one step of long short-term memory for a batch.
///
/// With [i, ci, f, o] = [x, h_prev] * w + b, each of them a number for each cell:
///
/// i = sigmoid(i + cs_prev * wci)
/// f = sigmoid(f + cs_prev * wcf + forget_bias)
/// ci = tanh(ci)
/// cs = clip(ci * i + cs_prev * f)
/// o = sigmoid(o + cs * wco)
/// co = tanh(cs)
/// h = co * o
///
/// The weights wci, wcf and wco of the peepholes count as zeros unless use_peephole is true. cs is
/// kept within +-cell_clip if that is positive.
lstm_block_cell_outputs lstm_block_cell(operand x, operand cs_prev, operand h_prev, operand w,
    operand wci, operand wcf, operand wco, operand b, const lstm_block_cell_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline lstm_block_cell_outputs lstm_block_cell(operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return lstm_block_cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, lstm_block_cell_options{}, name, where);
}

struct lstm_block_cell_grad_outputs {
  edge cs_prev_grad;
  edge dicfo;
  edge wci_grad;
  edge wcf_grad;
  edge wco_grad;
};
/// Computes the gradients of what an LSTMBlockCell adds up.
///
/// dicfo are those of [i, ci, f, o] before their sigmoids and tanh, from which those of x, h_prev,
/// w and b follow as those of a product. Cells that were clipped count as if they had not been. The
/// gradients of the peepholes are zeros unless use_peephole is true.
lstm_block_cell_grad_outputs lstm_block_cell_grad(operand x, operand cs_prev, operand h_prev,
    operand w, operand wci, operand wcf, operand wco, operand b, operand i, operand cs, operand f,
    operand o, operand ci, operand co, operand cs_grad, operand h_grad, bool use_peephole,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct leaky_relu_options {
  double alpha = 0.2;
};
/// Computes x where it is positive, alpha * x elsewhere, of each element.
edge leaky_relu(operand features, const leaky_relu_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge leaky_relu(operand features, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return leaky_relu(features, leaky_relu_options{}, name, where);
}

struct leaky_relu_grad_options {
  double alpha = 0.2;
};
/// Passes the gradients on where the features of a LeakyRelu are positive, times alpha elsewhere.
///
/// The features may be the inputs or, for a positive alpha, the outputs.
edge leaky_relu_grad(operand gradients, operand features,
    const leaky_relu_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge leaky_relu_grad(operand gradients, operand features, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return leaky_relu_grad(gradients, features, leaky_relu_grad_options{}, name, where);
}

struct learned_unigram_candidate_sampler_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct learned_unigram_candidate_sampler_outputs {
  edge sampled_candidates;
  edge true_expected_count;
  edge sampled_expected_count;
};
/// Samples classes as often as they were among true_classes so far, for losses that do not look at
/// all.
///
/// Each class counts once to begin with, and once more whenever a run has it in true_classes; a run
/// samples before it counts. range_max numbers are kept from run to run. Expected counts and seeds
/// are as those of UniformCandidateSampler.
learned_unigram_candidate_sampler_outputs learned_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const learned_unigram_candidate_sampler_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline learned_unigram_candidate_sampler_outputs learned_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return learned_unigram_candidate_sampler(in, true_classes, num_true, num_sampled, unique, range_max, learned_unigram_candidate_sampler_options{}, name, where);
}

/// Shifts the bits of x up by y places, and zeros in. A negative y counts as 0; one that is not
/// less than the number of bits, as the greatest that is.
///
/// Broadcasts by NumPy's rules.
edge left_shift(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says where x is less than y.
///
/// Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor less.
edge less(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says where x is less than y or equal to it.
///
/// Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor less.
edge less_equal(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the logarithm of the absolute value of the gamma function of each element.
///
/// It is infinite at 0 and at negative whole numbers.
edge lgamma(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives num numbers at even distances from start to stop, both included.
///
/// One number alone is start.
edge lin_space(operand start, operand stop, operand num, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct list_diff_options {
  troupe::dtype out_idx = troupe::dtype::i32;
};
struct list_diff_outputs {
  edge out;
  edge idx;
};
/// Lists the elements of x that y has not, in their order, and their places.
///
/// Elements that appear several times in x do so in the output.
list_diff_outputs list_diff(operand x, operand y, const list_diff_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline list_diff_outputs list_diff(operand x, operand y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return list_diff(x, y, list_diff_options{}, name, where);
}

/// Takes the natural logarithm of each element.
///
/// It is -inf at 0 and NaN for negative numbers.
edge log(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes log(1 + x) of each element, exact also where x is near 0.
///
/// It is -inf at -1 and NaN below.
edge log1p(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct log_matrix_determinant_outputs {
  edge sign;
  edge log_abs_determinant;
};
/// Computes the sign of the determinant of each square matrix, and the logarithm of its absolute
/// value.
///
/// The last two axes are the matrices. The determinant is sign * exp(log_abs_determinant); one that
/// is 0 has the sign 0 and the logarithm -inf, and its gradient fails. The sign has no gradient.
log_matrix_determinant_outputs log_matrix_determinant(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the logarithm of the softmax of each row of the last axis.
edge log_softmax(operand logits, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct log_uniform_candidate_sampler_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct log_uniform_candidate_sampler_outputs {
  edge sampled_candidates;
  edge true_expected_count;
  edge sampled_expected_count;
};
/// Samples classes by Zipf's law, for losses that do not look at all.
///
/// Class k has the probability log((k + 2) / (k + 1)) / log(range_max + 1): classes are to be
/// numbered from the most frequent on. Expected counts and seeds are as those of
/// UniformCandidateSampler.
log_uniform_candidate_sampler_outputs log_uniform_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const log_uniform_candidate_sampler_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline log_uniform_candidate_sampler_outputs log_uniform_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return log_uniform_candidate_sampler(in, true_classes, num_true, num_sampled, unique, range_max, log_uniform_candidate_sampler_options{}, name, where);
}

/// Says where both x and y are true.
///
/// Broadcasts by NumPy's rules.
edge logical_and(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says where x is false.
edge logical_not(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says where x or y or both are true.
///
/// Broadcasts by NumPy's rules.
edge logical_or(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct lookup_table_export_outputs {
  edge keys;
  edge values;
};
/// Outputs copies of all pairs of a table: keys [n], and a value for each.
///
/// The pairs are in the order in which the keys were added, except that a key may take the position
/// of a removed one. They are a consistent snapshot, from which LookupTableImport restores a table.
lookup_table_export_outputs lookup_table_export(operand table_handle, troupe::dtype tkeys,
    troupe::dtype tvalues, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct lookup_table_export_v2_outputs {
  edge keys;
  edge values;
};
/// Outputs copies of all pairs of a table: keys [n], and a value for each.
///
/// The same as LookupTableExport in all but its name, for graphs that use this one.
lookup_table_export_v2_outputs lookup_table_export_v2(operand table_handle, troupe::dtype tkeys,
    troupe::dtype tvalues, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Looks up the values of keys.
///
/// Outputs a value for each key, in the shape of keys. For a missing key, outputs default_value:
/// one value for all keys, or one for each key. Fails with failed_precondition for a HashTable that
/// is not initialized.
edge lookup_table_find(operand table_handle, operand keys, operand default_value,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Looks up the values of keys.
///
/// The same as LookupTableFind in all but its name, for graphs that use this one.
edge lookup_table_find_v2(operand table_handle, operand keys, operand default_value,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Replaces all pairs of a table by keys [n], with a value for each.
///
/// Of several values for one key, the last is kept. For a HashTable, the same as InitializeTable.
node* lookup_table_import(operand table_handle, operand keys, operand values,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Replaces all pairs of a table by keys [n], with a value for each.
///
/// The same as LookupTableImport in all but its name, for graphs that use this one.
node* lookup_table_import_v2(operand table_handle, operand keys, operand values,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Adds pairs to a table, and replaces the values of existing keys.
///
/// Keys may have any shape; the shape of values is that of the keys, followed by that of one value.
/// Of several values for one key, the last is kept. The change is atomic: other ops see all pairs
/// or none.
node* lookup_table_insert(operand table_handle, operand keys, operand values,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Adds pairs to a table, and replaces the values of existing keys.
///
/// The same as LookupTableInsert in all but its name, for graphs that use this one.
node* lookup_table_insert_v2(operand table_handle, operand keys, operand values,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Removes keys, of any shape, and their values from a table; missing keys are ignored.
node* lookup_table_remove_v2(operand table_handle, operand keys, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the pairs of a table; 0 before it is initialized.
edge lookup_table_size(operand table_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the pairs of a table; 0 before it is initialized.
///
/// The same as LookupTableSize in all but its name, for graphs that use this one.
edge lookup_table_size_v2(operand table_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct lower_bound_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
/// Says of each value how many elements of the sorted row are less.
///
/// Each row of values has a row of sorted_inputs, which must be in ascending order.
edge lower_bound(operand sorted_inputs, operand values, const lower_bound_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge lower_bound(operand sorted_inputs, operand values, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return lower_bound(sorted_inputs, values, lower_bound_options{}, name, where);
}

struct map_clear_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Drops the tuples of a staging area.
node* map_clear(graph& in, const map_clear_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* map_clear(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_clear(in, map_clear_options{}, name, where);
}

struct map_incomplete_size_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Counts the tuples of a staging area that lack a component.
edge map_incomplete_size(graph& in, const map_incomplete_size_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge map_incomplete_size(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_incomplete_size(in, map_incomplete_size_options{}, name, where);
}

struct map_peek_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Looks at components of the tuple with that key in a staging area, as soon as it is there.
std::vector<edge> map_peek(operand key, operand indices, const std::vector<troupe::dtype>& dtypes,
    const map_peek_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> map_peek(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_peek(key, indices, dtypes, map_peek_options{}, name, where);
}

struct map_size_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Counts the complete tuples of a staging area at this moment.
edge map_size(graph& in, const map_size_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge map_size(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_size(in, map_size_options{}, name, where);
}

struct map_stage_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Puts components of a tuple into a staging area under a key.
///
/// `indices` says which of the `dtypes` the values are; the tuple is there once it has all. Waits
/// while the area is full. Nodes of one name share the area (see Stage).
node* map_stage(operand key, operand indices, const std::vector<edge>& values,
    const std::vector<troupe::dtype>& dtypes, const map_stage_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* map_stage(operand key, operand indices, const std::vector<edge>& values,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_stage(key, indices, values, dtypes, map_stage_options{}, name, where);
}

struct map_unstage_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Takes components of the tuple with that key out of a staging area, as soon as it is there.
///
/// The others stay in. What was taken goes back if the step fails later.
std::vector<edge> map_unstage(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, const map_unstage_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline std::vector<edge> map_unstage(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_unstage(key, indices, dtypes, map_unstage_options{}, name, where);
}

struct map_unstage_no_key_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
struct map_unstage_no_key_outputs {
  edge key;
  std::vector<edge> values;
};
/// Takes components of a tuple out of a staging area, whichever is there, and says its key.
///
/// It goes back if the step fails later.
map_unstage_no_key_outputs map_unstage_no_key(operand indices,
    const std::vector<troupe::dtype>& dtypes, const map_unstage_no_key_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline map_unstage_no_key_outputs map_unstage_no_key(operand indices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return map_unstage_no_key(indices, dtypes, map_unstage_no_key_options{}, name, where);
}

struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
};
/// Multiplies two matrices, either of them transposed first if asked.
edge matmul(operand a, operand b, const matmul_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge matmul(operand a, operand b, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return matmul(a, b, matmul_options{}, name, where);
}

/// Lists the files whose paths fit a pattern, or any of several, in order.
///
/// `*`, `?` and `[a-z]` stand for what they do in a shell, within a name. They are looked for on
/// the task that runs the node.
edge matching_files(graph& in, operand pattern, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes zero what is farther below the main diagonals of matrices than num_lower, or farther above
/// than num_upper.
///
/// The matrices are the last two axes. A negative number keeps the whole triangle; others must not
/// be beyond the matrix.
edge matrix_band_part(operand input, operand num_lower, operand num_upper,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Computes the determinant of each square matrix.
///
/// The last two axes are the matrices. The gradient of a matrix without inverse fails.
edge matrix_determinant(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes square matrices that are zero but for the diagonals, which are the vectors along the last
/// axis.
edge matrix_diag(operand diagonal, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the main diagonals of the matrices in the last two axes.
edge matrix_diag_part(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct matrix_inverse_options {
  bool adjoint = false;
};
/// Computes the inverse of each square matrix, or of its adjoint.
///
/// The last two axes are the matrices. One that has no inverse fails.
edge matrix_inverse(operand input, const matrix_inverse_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge matrix_inverse(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return matrix_inverse(input, matrix_inverse_options{}, name, where);
}

/// Replaces the main diagonals of the matrices in the last two axes.
edge matrix_set_diag(operand input, operand diagonal, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct matrix_solve_options {
  bool adjoint = false;
};
/// Solves matrix * output = rhs for each square matrix, or adjoint(matrix) * output = rhs.
///
/// The last two axes are the matrices; all others are equal. A matrix without inverse fails.
edge matrix_solve(operand matrix, operand rhs, const matrix_solve_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge matrix_solve(operand matrix, operand rhs, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return matrix_solve(matrix, rhs, matrix_solve_options{}, name, where);
}

struct matrix_solve_ls_options {
  bool fast = true;
};
/// Solves matrix * output = rhs in the least-squares sense for each matrix.
///
/// The last two axes are the matrices; all others are equal. A fast solution factorizes matrix' *
/// matrix + l2_regularizer, or matrix * matrix' + l2_regularizer where there are fewer rows than
/// columns; then output is the shortest of all solutions. It fails for matrices that have not full
/// rank, or nearly so. Otherwise, an orthogonal decomposition finds the shortest solution for any
/// matrix, and l2_regularizer is not looked at. The gradient is defined for full rank, and needs to
/// know how many rows and columns there are.
edge matrix_solve_ls(operand matrix, operand rhs, operand l2_regularizer,
    const matrix_solve_ls_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge matrix_solve_ls(operand matrix, operand rhs, operand l2_regularizer,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return matrix_solve_ls(matrix, rhs, l2_regularizer, matrix_solve_ls_options{}, name, where);
}

struct matrix_triangular_solve_options {
  bool lower = true;
  bool adjoint = false;
};
/// Solves matrix * output = rhs for each triangular matrix, or adjoint(matrix) * output = rhs.
///
/// The last two axes are the matrices; all others broadcast by NumPy's rules. Only the lower
/// triangle of matrix is read, or the upper one. A 0 on the diagonal gives infinities or NaN.
edge matrix_triangular_solve(operand matrix, operand rhs,
    const matrix_triangular_solve_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge matrix_triangular_solve(operand matrix, operand rhs, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return matrix_triangular_solve(matrix, rhs, matrix_triangular_solve_options{}, name, where);
}

struct max_options {
  bool keep_dims = false;
};
/// Takes the largest element along the axes in reduction_indices.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. Where one is NaN, so is the result. Of nothing it is -inf, or
/// the least whole number. Elements that are equally large share the gradient.
edge max(operand input, operand reduction_indices, const max_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max(input, reduction_indices, max_options{}, name, where);
}

struct max_pool_options {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
};
/// Gives the largest element of each window, for each channel.
///
/// Windows of ksize elements move by strides; both have one number for each axis, 1 for images and
/// channels. Padding is SAME, VALID or EXPLICIT (see Conv2D) and holds no elements. A NaN is larger
/// than all numbers.
edge max_pool(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const max_pool_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge max_pool(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool(input, ksize, strides, padding, max_pool_options{}, name, where);
}

struct max_pool3d_options {
  std::string data_format = "NDHWC";
};
/// Gives the largest element of each window, for each channel.
///
/// Windows of ksize elements move by strides; both have one number for each axis, 1 for images and
/// channels. Padding is SAME or VALID and holds no elements. A NaN is larger than all numbers.
edge max_pool3d(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding,
    const max_pool3d_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge max_pool3d(operand input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool3d(input, ksize, strides, padding, max_pool3d_options{}, name, where);
}

struct max_pool3d_grad_options {
  std::string data_format = "NDHWC";
};
/// Gives each gradient to the largest element of its window, the first among equals, and adds up
/// what comes to one element.
edge max_pool3d_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool3d_grad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max_pool3d_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool3d_grad(orig_input, orig_output, grad, ksize, strides, padding, max_pool3d_grad_options{}, name, where);
}

struct max_pool3d_grad_grad_options {
  std::string data_format = "NDHWC";
};
/// Gives the gradient at the largest element of each window, the first among equals.
edge max_pool3d_grad_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool3d_grad_grad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max_pool3d_grad_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool3d_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, max_pool3d_grad_grad_options{}, name, where);
}

struct max_pool_grad_options {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
};
/// Gives each gradient to the largest element of its window, the first among equals, and adds up
/// what comes to one element.
edge max_pool_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max_pool_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool_grad(orig_input, orig_output, grad, ksize, strides, padding, max_pool_grad_options{}, name, where);
}

struct max_pool_grad_grad_options {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
};
/// Gives the gradient at the largest element of each window, the first among equals.
edge max_pool_grad_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_grad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max_pool_grad_grad(operand orig_input, operand orig_output, operand grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool_grad_grad(orig_input, orig_output, grad, ksize, strides, padding, max_pool_grad_grad_options{}, name, where);
}

struct max_pool_grad_grad_with_argmax_options {
  bool include_batch_in_index = false;
};
/// Gives the gradient at the place that argmax names for each window.
edge max_pool_grad_grad_with_argmax(operand input, operand grad, operand argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_grad_with_argmax_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max_pool_grad_grad_with_argmax(operand input, operand grad, operand argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool_grad_grad_with_argmax(input, grad, argmax, ksize, strides, padding, max_pool_grad_grad_with_argmax_options{}, name, where);
}

struct max_pool_grad_with_argmax_options {
  bool include_batch_in_index = false;
};
/// Adds each gradient to the place that argmax names for its window.
edge max_pool_grad_with_argmax(operand input, operand grad, operand argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_grad_with_argmax_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge max_pool_grad_with_argmax(operand input, operand grad, operand argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool_grad_with_argmax(input, grad, argmax, ksize, strides, padding, max_pool_grad_with_argmax_options{}, name, where);
}

struct max_pool_with_argmax_options {
  troupe::dtype targmax = troupe::dtype::i64;
  bool include_batch_in_index = false;
};
struct max_pool_with_argmax_outputs {
  edge output;
  edge argmax;
};
/// Gives the largest element of each window as MaxPool does, and its place.
///
/// argmax counts elements from the first one of the image, or of all images with
/// include_batch_in_index.
max_pool_with_argmax_outputs max_pool_with_argmax(operand input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, const max_pool_with_argmax_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline max_pool_with_argmax_outputs max_pool_with_argmax(operand input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return max_pool_with_argmax(input, ksize, strides, padding, max_pool_with_argmax_options{}, name, where);
}

/// Takes the larger one of x and y, element by element.
///
/// Broadcasts by NumPy's rules. Where one is NaN, so is the result. The gradient goes to x where
/// both are equal.
edge maximum(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct mean_options {
  bool keep_dims = false;
};
/// Takes the mean of the elements along the axes in reduction_indices.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. The mean of nothing is NaN, or 0 for whole numbers, whose mean
/// is rounded towards zero.
edge mean(operand input, operand reduction_indices, const mean_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge mean(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return mean(input, reduction_indices, mean_options{}, name, where);
}

/// Makes one Summary of all values of several.
///
/// Inputs may have any shape. Fails where two values have one tag.
edge merge_summary(const std::vector<edge>& inputs, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct merge_v2_checkpoints_options {
  bool delete_old_dirs = true;
  bool allow_missing_files = false;
};
/// Makes one checkpoint of several, which tasks have written each on its own.
///
/// The files of data are renamed, so all must be on one disk; the old indices are removed, and with
/// delete_old_dirs their folders, too, if these are empty then. With allow_missing_files, some may
/// not be there.
node* merge_v2_checkpoints(operand checkpoint_prefixes, operand destination_prefix,
    const merge_v2_checkpoints_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* merge_v2_checkpoints(operand checkpoint_prefixes, operand destination_prefix,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return merge_v2_checkpoints(checkpoint_prefixes, destination_prefix, merge_v2_checkpoints_options{}, name, where);
}

struct min_options {
  bool keep_dims = false;
};
/// Takes the smallest element along the axes in reduction_indices.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. Where one is NaN, so is the result. Of nothing it is inf, or
/// the greatest whole number. Elements that are equally small share the gradient.
edge min(operand input, operand reduction_indices, const min_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge min(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return min(input, reduction_indices, min_options{}, name, where);
}

/// Takes the smaller one of x and y, element by element.
///
/// Broadcasts by NumPy's rules. Where one is NaN, so is the result. The gradient goes to x where
/// both are equal.
edge minimum(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Puts paddings[i, 0] mirrored elements before and paddings[i, 1] behind those of axis i.
///
/// In mode SYMMETRIC the mirrors stand outside of the first and last element, in mode REFLECT on
/// them, so that these do not appear twice.
edge mirror_pad(operand input, operand paddings, std::string_view mode,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Adds the elements of the frame that MirrorPad makes to those that they are images of, and drops
/// the frame.
edge mirror_pad_grad(operand input, operand paddings, std::string_view mode,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Takes the remainder of dividing x by y, element by element, with the sign of x.
///
/// Broadcasts by NumPy's rules. Dividing whole numbers by zero fails. It is what TruncateMod is.
edge mod(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Multiplies x and y, element by element.
///
/// Broadcasts by NumPy's rules. Whole numbers wrap around.
edge mul(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct multinomial_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
  troupe::dtype output_dtype = troupe::dtype::i64;
};
/// Draws num_samples classes for each row of logits.
///
/// The softmax of a row is how likely each class is; a logit that is not finite makes its class
/// impossible, and a row must have another. Equal seeds give equal classes, as for RandomUniform.
edge multinomial(graph& in, operand logits, operand num_samples,
    const multinomial_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge multinomial(graph& in, operand logits, operand num_samples, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return multinomial(in, logits, num_samples, multinomial_options{}, name, where);
}

struct mutable_hash_table_options {
  std::string container = {};
  std::string shared_name = {};
  bool use_node_name_sharing = false;
};
/// Makes a table of pairs of keys and values that steps can look up, add, replace and remove, and
/// outputs a reference to it.
///
/// The table is in the named container of its task, under shared_name or else under the node's
/// name, for any value of use_node_name_sharing; nodes with the same name share it. The table is
/// empty at first. Each op on it is atomic. The order of several ops in one step is undefined,
/// unless control inputs define it. Checkpoints of variables do not contain the table. To save it,
/// fetch the outputs of LookupTableExport, and later feed them to LookupTableImport.
edge mutable_hash_table(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const mutable_hash_table_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge mutable_hash_table(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return mutable_hash_table(in, key_dtype, value_dtype, mutable_hash_table_options{}, name, where);
}

struct mutable_hash_table_of_tensors_options {
  std::string container = {};
  std::string shared_name = {};
  bool use_node_name_sharing = false;
};
/// Makes a table of pairs of keys and values, where each value is a tensor of shape value_shape,
/// and outputs a reference to it.
///
/// The shape of values is that of the keys, followed by value_shape, which must be fully known.
/// Otherwise the same as MutableHashTable.
edge mutable_hash_table_of_tensors(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const troupe::partial_shape& value_shape,
    const mutable_hash_table_of_tensors_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge mutable_hash_table_of_tensors(graph& in, troupe::dtype key_dtype,
    troupe::dtype value_dtype, const troupe::partial_shape& value_shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return mutable_hash_table_of_tensors(in, key_dtype, value_dtype, value_shape, mutable_hash_table_of_tensors_options{}, name, where);
}

struct mutable_hash_table_of_tensors_v2_options {
  std::string container = {};
  std::string shared_name = {};
  bool use_node_name_sharing = false;
};
/// Makes a table of pairs of keys and values, where each value is a tensor of shape value_shape,
/// and outputs a reference to it.
///
/// The same as MutableHashTableOfTensors in all but its name, for graphs that use this one.
edge mutable_hash_table_of_tensors_v2(graph& in, troupe::dtype key_dtype,
    troupe::dtype value_dtype, const troupe::partial_shape& value_shape,
    const mutable_hash_table_of_tensors_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge mutable_hash_table_of_tensors_v2(graph& in, troupe::dtype key_dtype,
    troupe::dtype value_dtype, const troupe::partial_shape& value_shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return mutable_hash_table_of_tensors_v2(in, key_dtype, value_dtype, value_shape, mutable_hash_table_of_tensors_v2_options{}, name, where);
}

struct mutable_hash_table_v2_options {
  std::string container = {};
  std::string shared_name = {};
  bool use_node_name_sharing = false;
};
/// Makes a table of pairs of keys and values that steps can look up, add, replace and remove, and
/// outputs a reference to it.
///
/// The same as MutableHashTable in all but its name, for graphs that use this one.
edge mutable_hash_table_v2(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    const mutable_hash_table_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge mutable_hash_table_v2(graph& in, troupe::dtype key_dtype, troupe::dtype value_dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return mutable_hash_table_v2(in, key_dtype, value_dtype, mutable_hash_table_v2_options{}, name, where);
}

/// Waits until its step holds the lock.
///
/// The step lets go of it by ConsumeMutexLock, or when it ends, however it ends. Steps get it in
/// the order in which they asked; nodes of one step share it. Nodes that need it must come after
/// this one, by a control edge.
edge mutex_lock(operand mutex, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct mutex_v2_options {
  std::string container = {};
  std::string shared_name = {};
};
/// Is a lock that one step holds at a time.
///
/// Lives in the named container of its task, under shared_name or else the node's name.
edge mutex_v2(graph& in, const mutex_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge mutex_v2(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return mutex_v2(in, mutex_v2_options{}, name, where);
}

struct nearest_neighbors_outputs {
  edge nearest_center_indices;
  edge nearest_center_distances;
};
/// Of each row of points, gives the k rows of centers that are closest, the closest first: their
/// numbers and the squares of their Euclidean distances.
///
/// Where there are fewer than k centers, it gives all. Of equally close ones the first comes first.
nearest_neighbors_outputs nearest_neighbors(operand points, operand centers, operand k,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Negates each element.
///
/// The least whole number stays as it is.
edge neg(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Does nothing, after its control inputs.
node* no_op(graph& in, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct non_max_suppression_options {
  double iou_threshold = 0.5;
};
/// Chooses boxes by their scores, best first, but none that overlaps a better one too much.
///
/// A box is two opposite corners, [y1, x1, y2, x2]. The overlap of two boxes is the area that they
/// share, divided by the area of both together; it may be iou_threshold. The output has the numbers
/// of at most max_output_size boxes. Scores that are NaN are never chosen.
edge non_max_suppression(operand boxes, operand scores, operand max_output_size,
    const non_max_suppression_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge non_max_suppression(operand boxes, operand scores, operand max_output_size,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return non_max_suppression(boxes, scores, max_output_size, non_max_suppression_options{}, name, where);
}

/// Chooses boxes by their scores, best first, but none that overlaps a better one too much.
///
/// Otherwise as NonMaxSuppression, with thresholds that are inputs.
edge non_max_suppression_v2(operand boxes, operand scores, operand max_output_size,
    operand iou_threshold, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Chooses boxes by their scores, best first, but none that overlaps a better one too much, nor any
/// whose score is not above a threshold.
///
/// Otherwise as NonMaxSuppression, with thresholds that are inputs.
edge non_max_suppression_v3(operand boxes, operand scores, operand max_output_size,
    operand iou_threshold, operand score_threshold, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct not_equal_options {
  bool incompatible_shape_error = true;
};
/// Says where x differs from y.
///
/// Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor less. Where
/// shapes do not fit, that is an error, or one answer for the whole if incompatible_shape_error is
/// false.
edge not_equal(operand x, operand y, const not_equal_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge not_equal(operand x, operand y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return not_equal(x, y, not_equal_options{}, name, where);
}

struct nth_element_options {
  bool reverse = false;
};
/// Finds the n-th smallest element, counted from 0, of each row of the last axis.
///
/// With reverse the n-th greatest. NaN counts as greater than all numbers.
edge nth_element(operand input, operand n, const nth_element_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge nth_element(operand input, operand n, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return nth_element(input, n, nth_element_options{}, name, where);
}

struct one_hot_options {
  int64_t axis = -1;
};
/// Puts on_value where the new axis has the index, off_value elsewhere.
///
/// The new axis has extent depth and stands before axis `axis` of the indices, by default last. An
/// index outside of [0, depth) gives off_value only.
edge one_hot(operand indices, operand depth, operand on_value, operand off_value,
    const one_hot_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge one_hot(operand indices, operand depth, operand on_value, operand off_value,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return one_hot(indices, depth, on_value, off_value, one_hot_options{}, name, where);
}

/// Makes a tensor of ones with the type and shape of the input.
edge ones_like(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes an optional that has these components.
edge optional_from_value(const std::vector<edge>& components, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Outputs the components of an optional, which must have a value.
std::vector<edge> optional_get_value(operand optional,
    const std::vector<troupe::dtype>& output_types,
    const std::vector<troupe::partial_shape>& output_shapes, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Outputs whether an optional has a value.
edge optional_has_value(operand optional, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes an optional that has no value.
edge optional_none(graph& in, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct ordered_map_clear_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Drops the tuples of a staging area.
node* ordered_map_clear(graph& in, const ordered_map_clear_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* ordered_map_clear(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_clear(in, ordered_map_clear_options{}, name, where);
}

struct ordered_map_incomplete_size_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Counts the tuples of a staging area that lack a component.
edge ordered_map_incomplete_size(graph& in,
    const ordered_map_incomplete_size_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge ordered_map_incomplete_size(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_incomplete_size(in, ordered_map_incomplete_size_options{}, name, where);
}

struct ordered_map_peek_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Looks at components of the tuple with that key in a staging area, as soon as it is there.
std::vector<edge> ordered_map_peek(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_peek_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline std::vector<edge> ordered_map_peek(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_peek(key, indices, dtypes, ordered_map_peek_options{}, name, where);
}

struct ordered_map_size_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Counts the complete tuples of a staging area at this moment.
edge ordered_map_size(graph& in, const ordered_map_size_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge ordered_map_size(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_size(in, ordered_map_size_options{}, name, where);
}

struct ordered_map_stage_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Puts components of a tuple into a staging area under a key.
///
/// `indices` says which of the `dtypes` the values are; the tuple is there once it has all. Waits
/// while the area is full. Nodes of one name share the area (see Stage).
node* ordered_map_stage(operand key, operand indices, const std::vector<edge>& values,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_stage_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* ordered_map_stage(operand key, operand indices, const std::vector<edge>& values,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_stage(key, indices, values, dtypes, ordered_map_stage_options{}, name, where);
}

struct ordered_map_unstage_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Takes components of the tuple with that key out of a staging area, as soon as it is there.
///
/// The others stay in. What was taken goes back if the step fails later.
std::vector<edge> ordered_map_unstage(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, const ordered_map_unstage_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline std::vector<edge> ordered_map_unstage(operand key, operand indices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_unstage(key, indices, dtypes, ordered_map_unstage_options{}, name, where);
}

struct ordered_map_unstage_no_key_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
struct ordered_map_unstage_no_key_outputs {
  edge key;
  std::vector<edge> values;
};
/// Takes components of a tuple out of a staging area, the one with the least key, and says its key.
///
/// It goes back if the step fails later.
ordered_map_unstage_no_key_outputs ordered_map_unstage_no_key(operand indices,
    const std::vector<troupe::dtype>& dtypes,
    const ordered_map_unstage_no_key_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline ordered_map_unstage_no_key_outputs ordered_map_unstage_no_key(operand indices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return ordered_map_unstage_no_key(indices, dtypes, ordered_map_unstage_no_key_options{}, name, where);
}

struct pack_options {
  int64_t axis = 0;
};
/// Stacks tensors of one shape along a new axis.
///
/// The new axis stands before axis `axis` of the values; a negative axis counts from the end.
edge pack(const std::vector<edge>& values, const pack_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge pack(const std::vector<edge>& values, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return pack(values, pack_options{}, name, where);
}

/// Puts paddings[i, 0] zeros before and paddings[i, 1] zeros behind the elements of axis i.
edge pad(operand input, operand paddings, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Puts constant_values paddings[i, 0] times before and paddings[i, 1] times behind the elements of
/// axis i.
edge pad_v2(operand input, operand paddings, operand constant_values, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct padding_fifo_queue_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements of different extents, which zeros make equal in a batch.
///
/// Like FIFOQueue, but `shapes` must say the rank of each component and may leave extents unknown
/// (-1). QueueDequeueMany and QueueDequeueUpTo give each such axis the largest extent of the batch,
/// and fill up with zeros, or empty strings, at the end.
edge padding_fifo_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    const padding_fifo_queue_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge padding_fifo_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return padding_fifo_queue(in, component_types, padding_fifo_queue_options{}, name, where);
}

struct padding_fifo_queue_v2_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements of different extents, which zeros make equal in a batch.
///
/// The same as PaddingFIFOQueue in all but its name, for graphs that use this one.
edge padding_fifo_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    const padding_fifo_queue_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge padding_fifo_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return padding_fifo_queue_v2(in, component_types, padding_fifo_queue_v2_options{}, name, where);
}

/// Joins tensors of one row each along axis 0.
///
/// `shape` is that of the result.
edge parallel_concat(const std::vector<edge>& values, const troupe::partial_shape& shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes row j of data[i] the row indices[i][j] of the output.
///
/// The shape of indices[i] begins that of data[i]; what is left is a row. Rows should have
/// different numbers; rows that have none are zero.
edge parallel_dynamic_stitch(const std::vector<edge>& indices, const std::vector<edge>& data,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct parameterized_truncated_normal_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws numbers from normal distributions, again where one is out of bounds.
///
/// Each parameter is one number for all, or has one for each row of the output, along its first
/// axis. Deviations must be positive, and minvals less than maxvals; these may be infinite. Equal
/// seeds give equal numbers, as for RandomUniform.
edge parameterized_truncated_normal(graph& in, operand shape, operand means, operand stdevs,
    operand minvals, operand maxvals, const parameterized_truncated_normal_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge parameterized_truncated_normal(graph& in, operand shape, operand means,
    operand stdevs, operand minvals, operand maxvals, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return parameterized_truncated_normal(in, shape, means, stdevs, minvals, maxvals, parameterized_truncated_normal_options{}, name, where);
}

struct parse_example_options {
  std::vector<troupe::dtype> sparse_types = {};
  std::vector<troupe::partial_shape> dense_shapes = {};
};
struct parse_example_outputs {
  std::vector<edge> sparse_indices;
  std::vector<edge> sparse_values;
  std::vector<edge> sparse_shapes;
  std::vector<edge> dense_values;
};
/// Reads features out of a batch of tf.train.Example messages.
///
/// A sparse feature has any number of values in each example, and becomes a sparse matrix with a
/// row for each. A dense one has the values of its shape in each; where an example lacks it, its
/// default stands, and an empty default says that none may. Where a dense shape leaves its first
/// extent open, examples are filled up with the default, one value, to the longest. `names` are for
/// errors, and may be empty.
parse_example_outputs parse_example(operand serialized, operand names,
    const std::vector<edge>& sparse_keys, const std::vector<edge>& dense_keys,
    const std::vector<edge>& dense_defaults, const parse_example_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline parse_example_outputs parse_example(operand serialized, operand names,
    const std::vector<edge>& sparse_keys, const std::vector<edge>& dense_keys,
    const std::vector<edge>& dense_defaults, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return parse_example(serialized, names, sparse_keys, dense_keys, dense_defaults, parse_example_options{}, name, where);
}

struct parse_example_v2_options {
  std::vector<troupe::dtype> sparse_types = {};
  std::vector<troupe::dtype> ragged_value_types = {};
  std::vector<troupe::dtype> ragged_split_types = {};
  std::vector<troupe::partial_shape> dense_shapes = {};
};
struct parse_example_v2_outputs {
  std::vector<edge> sparse_indices;
  std::vector<edge> sparse_values;
  std::vector<edge> sparse_shapes;
  std::vector<edge> dense_values;
  std::vector<edge> ragged_values;
  std::vector<edge> ragged_row_splits;
};
/// Reads features out of a batch of tf.train.Example messages, or of one.
///
/// Like ParseExample where `serialized` is a vector, and like ParseSingleExample where it is a
/// scalar; keys are vectors of names. There must be no ragged keys: take these features as sparse
/// ones.
parse_example_v2_outputs parse_example_v2(operand serialized, operand names, operand sparse_keys,
    operand dense_keys, operand ragged_keys, const std::vector<edge>& dense_defaults,
    int64_t num_sparse, const parse_example_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline parse_example_v2_outputs parse_example_v2(operand serialized, operand names,
    operand sparse_keys, operand dense_keys, operand ragged_keys,
    const std::vector<edge>& dense_defaults, int64_t num_sparse, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return parse_example_v2(serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults, num_sparse, parse_example_v2_options{}, name, where);
}

struct parse_single_example_options {
  std::vector<std::string> sparse_keys = {};
  std::vector<std::string> dense_keys = {};
  std::vector<troupe::dtype> sparse_types = {};
  std::vector<troupe::partial_shape> dense_shapes = {};
};
struct parse_single_example_outputs {
  std::vector<edge> sparse_indices;
  std::vector<edge> sparse_values;
  std::vector<edge> sparse_shapes;
  std::vector<edge> dense_values;
};
/// Reads features out of one tf.train.Example message.
///
/// A sparse feature has any number of values, and becomes a sparse vector. A dense one has the
/// values of its shape; where it is missing, its default stands, and an empty default says that it
/// must not. Where a dense shape leaves its first extent open, there are as many values as there
/// are.
parse_single_example_outputs parse_single_example(operand serialized,
    const std::vector<edge>& dense_defaults, int64_t num_sparse,
    const parse_single_example_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline parse_single_example_outputs parse_single_example(operand serialized,
    const std::vector<edge>& dense_defaults, int64_t num_sparse, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return parse_single_example(serialized, dense_defaults, num_sparse, parse_single_example_options{}, name, where);
}

/// Reads a tensor that SerializeTensor, or TensorFlow, has written as TensorProto.
///
/// Fails where its type is not out_type, or where it lists more elements than its shape has.
edge parse_tensor(operand serialized, troupe::dtype out_type, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct placeholder_with_default_options {
  troupe::partial_shape shape = {};
};
/// Stands for a value that may be fed to a run; otherwise it is the input.
edge placeholder_with_default(operand input, const placeholder_with_default_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge placeholder_with_default(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return placeholder_with_default(input, placeholder_with_default_options{}, name, where);
}

/// Takes the derivative of order a of Digamma at x, element by element.
///
/// Broadcasts by NumPy's rules. Only x has a gradient.
edge polygamma(operand a, operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the bits that are set in each element.
///
/// Negative numbers count as their two's complement.
edge population_count(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Raises x to the power y, element by element.
///
/// Broadcasts by NumPy's rules. Whole numbers wrap around, and a negative power of them fails.
edge pow(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct prevent_gradient_options {
  std::string message = {};
};
/// Gives its input.
///
/// Taking a gradient through it fails with the message.
edge prevent_gradient(operand input, const prevent_gradient_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge prevent_gradient(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return prevent_gradient(input, prevent_gradient_options{}, name, where);
}

struct print_options {
  std::string message = {};
  int64_t first_n = -1;
  int64_t summarize = 3;
};
/// Passes its input on, and writes a message and the data to the standard error stream.
///
/// Of each axis, the first and the last `summarize` elements are written, or all for a negative
/// number. Only the first first_n runs of the node write, or all for a negative number.
edge print(operand input, const std::vector<edge>& data, const print_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge print(operand input, const std::vector<edge>& data, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return print(input, data, print_options{}, name, where);
}

struct print_v2_options {
  std::string output_stream = "stderr";
  std::string end = "\n";
};
/// Writes a string and `end` to a stream.
///
/// output_stream is stdout or stderr; log(info), log(warning) and log(error) are stderr as well.
/// TensorFlow's files are refused: a graph that comes from elsewhere should not write any.
/// StringFormat makes strings of tensors.
node* print_v2(operand input, const print_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* print_v2(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return print_v2(input, print_v2_options{}, name, where);
}

struct priority_queue_options {
  std::vector<troupe::dtype> component_types = {};
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements that come out in the order of their priorities, the least first.
///
/// Like FIFOQueue, but each element has one more component before those that `component_types` and
/// `shapes` describe: its priority, an i64 scalar. Elements of equal priority come out in the order
/// in which they went in.
edge priority_queue(graph& in, const priority_queue_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge priority_queue(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return priority_queue(in, priority_queue_options{}, name, where);
}

struct priority_queue_v2_options {
  std::vector<troupe::dtype> component_types = {};
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements that come out in the order of their priorities, the least first.
///
/// The same as PriorityQueue in all but its name, for graphs that use this one.
edge priority_queue_v2(graph& in, const priority_queue_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge priority_queue_v2(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return priority_queue_v2(in, priority_queue_v2_options{}, name, where);
}

struct prod_options {
  bool keep_dims = false;
};
/// Multiplies the elements along the axes in reduction_indices.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. The product of nothing is 1.
edge prod(operand input, operand reduction_indices, const prod_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge prod(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return prod(input, reduction_indices, prod_options{}, name, where);
}

struct qr_options {
  bool full_matrices = false;
};
struct qr_outputs {
  edge q;
  edge r;
};
/// Factorizes each matrix into q, with orthonormal columns, and the upper triangular r.
///
/// The last two axes are the matrices, and input = q * r. For m rows and n columns q has min(m, n)
/// columns, or m with full_matrices. The signs of the rows of r, and of the columns of q with them,
/// are whatever the algorithm leaves. The gradient is defined for matrices of full rank, with as
/// many rows as columns or more.
qr_outputs qr(operand input, const qr_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline qr_outputs qr(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return qr(input, qr_options{}, name, where);
}

struct quantize_and_dequantize_v2_options {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  std::string round_mode = "HALF_TO_EVEN";
  bool narrow_range = false;
  int64_t axis = -1;
};
/// Does what QuantizeAndDequantizeV4 does; the gradient passes everywhere, as if nothing was
/// rounded.
edge quantize_and_dequantize_v2(operand input, operand input_min, operand input_max,
    const quantize_and_dequantize_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge quantize_and_dequantize_v2(operand input, operand input_min, operand input_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return quantize_and_dequantize_v2(input, input_min, input_max, quantize_and_dequantize_v2_options{}, name, where);
}

struct quantize_and_dequantize_v3_options {
  bool signed_input = true;
  bool range_given = true;
  bool narrow_range = false;
  int64_t axis = -1;
};
/// Does what QuantizeAndDequantizeV4 does with a number of bits that is computed, and rounds halves
/// to even numbers; the gradient passes everywhere, as if nothing was rounded.
edge quantize_and_dequantize_v3(operand input, operand input_min, operand input_max,
    operand num_bits, const quantize_and_dequantize_v3_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge quantize_and_dequantize_v3(operand input, operand input_min, operand input_max,
    operand num_bits, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantize_and_dequantize_v3(input, input_min, input_max, num_bits, quantize_and_dequantize_v3_options{}, name, where);
}

struct quantize_and_dequantize_v4_options {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  std::string round_mode = "HALF_TO_EVEN";
  bool narrow_range = false;
  int64_t axis = -1;
};
/// Rounds to the numbers that whole ones of num_bits can stand for, times a step.
///
/// The step is the least for which the range fits into the whole numbers, and 0 stays 0. The range
/// is that of the input, or, with range_given, the one from input_min to input_max: then what is
/// outside of what the whole numbers stand for becomes their ends. signed_input says that whole
/// numbers may be negative, and narrow_range leaves out the least, which has no opposite.
/// round_mode is HALF_TO_EVEN or HALF_UP. With an axis, each slice along it has a range of its own.
///
/// The gradient passes from input_min to input_max, whether or not they are the range that was
/// used.
edge quantize_and_dequantize_v4(operand input, operand input_min, operand input_max,
    const quantize_and_dequantize_v4_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge quantize_and_dequantize_v4(operand input, operand input_min, operand input_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return quantize_and_dequantize_v4(input, input_min, input_max, quantize_and_dequantize_v4_options{}, name, where);
}

struct quantize_and_dequantize_v4_grad_options {
  int64_t axis = -1;
};
struct quantize_and_dequantize_v4_grad_outputs {
  edge input_backprop;
  edge input_min_backprop;
  edge input_max_backprop;
};
/// Gives the gradients where the input is between input_min and input_max, zeros elsewhere and for
/// both ends.
quantize_and_dequantize_v4_grad_outputs quantize_and_dequantize_v4_grad(operand gradients,
    operand input, operand input_min, operand input_max,
    const quantize_and_dequantize_v4_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline quantize_and_dequantize_v4_grad_outputs quantize_and_dequantize_v4_grad(operand gradients,
    operand input, operand input_min, operand input_max, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantize_and_dequantize_v4_grad(gradients, input, input_min, input_max, quantize_and_dequantize_v4_grad_options{}, name, where);
}

struct quantize_down_and_shrink_range_outputs {
  edge output;
  edge output_min;
  edge output_max;
};
/// Makes bytes of 32-bit whole numbers that stand for a range; the bytes stand for the part of it
/// that the elements need.
///
/// It is Requantize with what RequantizationRange gives. The range must be finite and in order.
quantize_down_and_shrink_range_outputs quantize_down_and_shrink_range(operand input,
    operand input_min, operand input_max, troupe::dtype out_type, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct quantize_v2_options {
  std::string mode = "MIN_COMBINED";
  std::string round_mode = "HALF_AWAY_FROM_ZERO";
  bool narrow_range = false;
  int64_t axis = -1;
  double ensure_minimum_range = 0.01;
};
struct quantize_v2_outputs {
  edge output;
  edge output_min;
  edge output_max;
};
/// Makes real numbers whole ones of few bits that stand for a range.
///
/// The range, from min_range to max_range, is widened to have 0, and to be no less than
/// ensure_minimum_range of its greatest number; the last outputs say what it became. Values outside
/// of it become its ends. MIN_COMBINED spreads the whole numbers over the range; MIN_FIRST does so
/// such that 0 is one of them; SCALED multiplies by one number, so that 0 stays 0, and with
/// narrow_range leaves out the least whole number, which has no opposite. With an axis, each slice
/// along it has a range of its own. The types stand for TensorFlow's quantized ones.
quantize_v2_outputs quantize_v2(operand input, operand min_range, operand max_range,
    troupe::dtype t, const quantize_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline quantize_v2_outputs quantize_v2(operand input, operand min_range, operand max_range,
    troupe::dtype t, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantize_v2(input, min_range, max_range, t, quantize_v2_options{}, name, where);
}

struct quantized_add_options {
  troupe::dtype toutput = troupe::dtype::i32;
};
struct quantized_add_outputs {
  edge z;
  edge min_z;
  edge max_z;
};
/// Adds what bytes stand for, with broadcasting.
///
/// The sum stands for a range around 0 that is 2^14 times as large as what either operand can be. A
/// range must be finite, its maximum larger than its minimum.
quantized_add_outputs quantized_add(operand x, operand y, operand min_x, operand max_x,
    operand min_y, operand max_y, const quantized_add_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline quantized_add_outputs quantized_add(operand x, operand y, operand min_x, operand max_x,
    operand min_y, operand max_y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_add(x, y, min_x, max_x, min_y, max_y, quantized_add_options{}, name, where);
}

struct quantized_avg_pool_outputs {
  edge output;
  edge min_output;
  edge max_output;
};
/// Gives the mean of the elements of each window, for each channel, of whole numbers that stand for
/// a range.
///
/// Means are rounded towards 0. Windows are those of AvgPool, the range stays as it is.
quantized_avg_pool_outputs quantized_avg_pool(operand input, operand min_input, operand max_input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct quantized_bias_add_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
struct quantized_bias_add_outputs {
  edge output;
  edge min_out;
  edge max_out;
};
/// Adds bias[c] to every element of channel c, of bytes that stand for ranges.
///
/// The channels are the last axis. The sum stands for a range around 0 that is 2^17 times as large
/// as what either operand can be. Ranges must be finite and in order.
quantized_bias_add_outputs quantized_bias_add(operand input, operand bias, operand min_input,
    operand max_input, operand min_bias, operand max_bias,
    const quantized_bias_add_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline quantized_bias_add_outputs quantized_bias_add(operand input, operand bias,
    operand min_input, operand max_input, operand min_bias, operand max_bias,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return quantized_bias_add(input, bias, min_input, max_input, min_bias, max_bias, quantized_bias_add_options{}, name, where);
}

struct quantized_conv2d_options {
  troupe::dtype out_type = troupe::dtype::i32;
  std::vector<int64_t> dilations = {};
};
struct quantized_conv2d_outputs {
  edge output;
  edge min_output;
  edge max_output;
};
/// Computes a 2-D convolution of images of bytes with a filter of bytes, which stand for ranges of
/// real numbers.
///
/// Images are [images, rows, columns, channels], the filter is [rows, columns, inputs, outputs];
/// strides, dilations and padding are those of Conv2D, and padding stands for 0. The sums are exact
/// whole numbers, that wrap around at 32 bits; min_output and max_output say what the ends of their
/// type stand for. Ranges must be finite and in order. It is fastest where they have 0. Unlike
/// TensorFlow's, windows begin where those of Conv2D do with strides beyond 2 as well, and strides
/// may differ.
quantized_conv2d_outputs quantized_conv2d(operand input, operand filter, operand min_input,
    operand max_input, operand min_filter, operand max_filter,
    const std::vector<int64_t>& strides, std::string_view padding,
    const quantized_conv2d_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline quantized_conv2d_outputs quantized_conv2d(operand input, operand filter, operand min_input,
    operand max_input, operand min_filter, operand max_filter,
    const std::vector<int64_t>& strides, std::string_view padding, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_conv2d(input, filter, min_input, max_input, min_filter, max_filter, strides, padding, quantized_conv2d_options{}, name, where);
}

struct quantized_mat_mul_options {
  troupe::dtype toutput = troupe::dtype::i32;
  bool transpose_a = false;
  bool transpose_b = false;
  troupe::dtype tactivation = troupe::dtype::u8;
};
struct quantized_mat_mul_outputs {
  edge out;
  edge min_out;
  edge max_out;
};
/// Multiplies two matrices of bytes that stand for ranges of real numbers.
///
/// The sums are exact whole numbers, that wrap around at 32 bits; min_out and max_out say what the
/// ends of their type stand for. A range must be finite, its maximum larger than its minimum. It is
/// fastest where the ranges have 0.
quantized_mat_mul_outputs quantized_mat_mul(operand a, operand b, operand min_a, operand max_a,
    operand min_b, operand max_b, const quantized_mat_mul_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline quantized_mat_mul_outputs quantized_mat_mul(operand a, operand b, operand min_a,
    operand max_a, operand min_b, operand max_b, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_mat_mul(a, b, min_a, max_a, min_b, max_b, quantized_mat_mul_options{}, name, where);
}

struct quantized_max_pool_outputs {
  edge output;
  edge min_output;
  edge max_output;
};
/// Gives the largest element of each window, for each channel, of whole numbers that stand for a
/// range.
///
/// Windows are those of MaxPool, the range stays as it is.
quantized_max_pool_outputs quantized_max_pool(operand input, operand min_input, operand max_input,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    std::string_view padding, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct quantized_mul_options {
  troupe::dtype toutput = troupe::dtype::i32;
};
struct quantized_mul_outputs {
  edge z;
  edge min_z;
  edge max_z;
};
/// Multiplies what bytes stand for, with broadcasting.
///
/// The products are exact whole numbers; min_z and max_z say what the ends of their type stand for.
/// A range must be finite, its maximum larger than its minimum.
quantized_mul_outputs quantized_mul(operand x, operand y, operand min_x, operand max_x,
    operand min_y, operand max_y, const quantized_mul_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline quantized_mul_outputs quantized_mul(operand x, operand y, operand min_x, operand max_x,
    operand min_y, operand max_y, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_mul(x, y, min_x, max_x, min_y, max_y, quantized_mul_options{}, name, where);
}

struct quantized_relu_options {
  troupe::dtype out_type = troupe::dtype::u8;
};
struct quantized_relu_outputs {
  edge activations;
  edge min_activations;
  edge max_activations;
};
/// Computes max(x, 0) of each element, where 0 is the whole number that stands for it.
///
/// The range must be finite and in order; it stays as it is, and out_type must be Tinput.
quantized_relu_outputs quantized_relu(operand features, operand min_features,
    operand max_features, const quantized_relu_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline quantized_relu_outputs quantized_relu(operand features, operand min_features,
    operand max_features, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_relu(features, min_features, max_features, quantized_relu_options{}, name, where);
}

struct quantized_relu6_options {
  troupe::dtype out_type = troupe::dtype::u8;
};
struct quantized_relu6_outputs {
  edge activations;
  edge min_activations;
  edge max_activations;
};
/// Computes min(max(x, 0), 6) of each element, where 0 and 6 are the whole numbers that stand for
/// them.
///
/// The range must be finite and in order; it stays as it is, and out_type must be Tinput.
quantized_relu6_outputs quantized_relu6(operand features, operand min_features,
    operand max_features, const quantized_relu6_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline quantized_relu6_outputs quantized_relu6(operand features, operand min_features,
    operand max_features, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_relu6(features, min_features, max_features, quantized_relu6_options{}, name, where);
}

struct quantized_relu_x_options {
  troupe::dtype out_type = troupe::dtype::u8;
};
struct quantized_relu_x_outputs {
  edge activations;
  edge min_activations;
  edge max_activations;
};
/// Computes min(max(x, 0), max_value) of each element, where 0 and max_value are the whole numbers
/// that stand for them.
///
/// The range must be finite and in order; it stays as it is, and out_type must be Tinput.
quantized_relu_x_outputs quantized_relu_x(operand features, operand max_value,
    operand min_features, operand max_features, const quantized_relu_x_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline quantized_relu_x_outputs quantized_relu_x(operand features, operand max_value,
    operand min_features, operand max_features, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return quantized_relu_x(features, max_value, min_features, max_features, quantized_relu_x_options{}, name, where);
}

struct queue_close_options {
  bool cancel_pending_enqueues = false;
};
/// Closes a queue: later enqueues fail, dequeues go on while there are elements.
///
/// Enqueues that wait for room at that time may finish, unless cancel_pending_enqueues.
node* queue_close(operand handle, const queue_close_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* queue_close(operand handle, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_close(handle, queue_close_options{}, name, where);
}

struct queue_close_v2_options {
  bool cancel_pending_enqueues = false;
};
/// Closes a queue: later enqueues fail, dequeues go on while there are elements.
///
/// The same as QueueClose in all but its name, for graphs that use this one.
node* queue_close_v2(operand handle, const queue_close_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* queue_close_v2(operand handle, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_close_v2(handle, queue_close_v2_options{}, name, where);
}

struct queue_dequeue_options {
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
/// Takes the first element from a queue, as soon as there is one.
///
/// Fails with out_of_range when the queue is closed and empty. A positive timeout_ms bounds the
/// wait. The element goes back to the front of the queue if the step fails later, unless
/// drop_if_step_fails.
std::vector<edge> queue_dequeue(operand handle, const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> queue_dequeue(operand handle,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_dequeue(handle, component_types, queue_dequeue_options{}, name, where);
}

struct queue_dequeue_many_options {
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
/// Takes n elements from a queue and stacks them along a new first axis.
///
/// Waits until there are n. Their shapes must be equal, unless the queue pads. Fails with
/// out_of_range when the queue is closed and has fewer.
std::vector<edge> queue_dequeue_many(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_many_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> queue_dequeue_many(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_dequeue_many(handle, n, component_types, queue_dequeue_many_options{}, name, where);
}

struct queue_dequeue_many_v2_options {
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
/// Takes n elements from a queue and stacks them along a new first axis.
///
/// The same as QueueDequeueMany in all but its name, for graphs that use this one.
std::vector<edge> queue_dequeue_many_v2(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_many_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> queue_dequeue_many_v2(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_dequeue_many_v2(handle, n, component_types, queue_dequeue_many_v2_options{}, name, where);
}

struct queue_dequeue_up_to_options {
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
/// Takes n elements from a queue, or what is left when it is closed, and stacks them along a new
/// first axis.
///
/// Like QueueDequeueMany until the queue is closed; then it takes fewer, and fails with
/// out_of_range when there are none.
std::vector<edge> queue_dequeue_up_to(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_up_to_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> queue_dequeue_up_to(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_dequeue_up_to(handle, n, component_types, queue_dequeue_up_to_options{}, name, where);
}

struct queue_dequeue_up_to_v2_options {
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
/// Takes n elements from a queue, or what is left when it is closed, and stacks them along a new
/// first axis.
///
/// The same as QueueDequeueUpTo in all but its name, for graphs that use this one.
std::vector<edge> queue_dequeue_up_to_v2(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_up_to_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> queue_dequeue_up_to_v2(operand handle, operand n,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_dequeue_up_to_v2(handle, n, component_types, queue_dequeue_up_to_v2_options{}, name, where);
}

struct queue_dequeue_v2_options {
  int64_t timeout_ms = -1;
  bool drop_if_step_fails = false;
};
/// Takes the first element from a queue, as soon as there is one.
///
/// The same as QueueDequeue in all but its name, for graphs that use this one.
std::vector<edge> queue_dequeue_v2(operand handle,
    const std::vector<troupe::dtype>& component_types,
    const queue_dequeue_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> queue_dequeue_v2(operand handle,
    const std::vector<troupe::dtype>& component_types, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_dequeue_v2(handle, component_types, queue_dequeue_v2_options{}, name, where);
}

struct queue_enqueue_options {
  int64_t timeout_ms = -1;
};
/// Puts an element into a queue, as soon as there is room.
///
/// Fails with cancelled when the queue is closed. A positive timeout_ms bounds the wait.
node* queue_enqueue(operand handle, const std::vector<edge>& components,
    const queue_enqueue_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* queue_enqueue(operand handle, const std::vector<edge>& components,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return queue_enqueue(handle, components, queue_enqueue_options{}, name, where);
}

struct queue_enqueue_many_options {
  int64_t timeout_ms = -1;
};
/// Cuts tensors along their first axis and puts the pieces into a queue, one element each.
///
/// Waits for room before each element; elements that went in stay in if it fails later.
node* queue_enqueue_many(operand handle, const std::vector<edge>& components,
    const queue_enqueue_many_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* queue_enqueue_many(operand handle, const std::vector<edge>& components,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return queue_enqueue_many(handle, components, queue_enqueue_many_options{}, name, where);
}

struct queue_enqueue_many_v2_options {
  int64_t timeout_ms = -1;
};
/// Cuts tensors along their first axis and puts the pieces into a queue, one element each.
///
/// The same as QueueEnqueueMany in all but its name, for graphs that use this one.
node* queue_enqueue_many_v2(operand handle, const std::vector<edge>& components,
    const queue_enqueue_many_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* queue_enqueue_many_v2(operand handle, const std::vector<edge>& components,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return queue_enqueue_many_v2(handle, components, queue_enqueue_many_v2_options{}, name, where);
}

struct queue_enqueue_v2_options {
  int64_t timeout_ms = -1;
};
/// Puts an element into a queue, as soon as there is room.
///
/// The same as QueueEnqueue in all but its name, for graphs that use this one.
node* queue_enqueue_v2(operand handle, const std::vector<edge>& components,
    const queue_enqueue_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* queue_enqueue_v2(operand handle, const std::vector<edge>& components,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return queue_enqueue_v2(handle, components, queue_enqueue_v2_options{}, name, where);
}

/// Says whether a queue has been closed.
edge queue_is_closed(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Says whether a queue has been closed.
///
/// The same as QueueIsClosed in all but its name, for graphs that use this one.
edge queue_is_closed_v2(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes a queue hold what another one, of elements of the same types, has held.
///
/// What it held before is dropped. It may hold more than its capacity then.
node* queue_restore_state(operand handle, operand state, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives what a queue holds, as bytes for QueueRestoreState.
///
/// Elements that running steps have taken are among them, as if these steps had failed; what waits
/// to be put in is not. Whether the queue is closed, and where the random numbers of a
/// RandomShuffleQueue stand, is said, too. Fails for a queue in the memory of a GPU.
edge queue_serialize_state(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the elements of a queue at this moment.
edge queue_size(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the elements of a queue at this moment.
///
/// The same as QueueSize in all but its name, for graphs that use this one.
edge queue_size_v2(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct queue_statistics_outputs {
  edge seconds;
  edge mean_size;
  edge enqueues;
  edge enqueue_seconds;
  edge enqueue_waiting;
  edge dequeues;
  edge dequeue_seconds;
  edge dequeue_waiting;
};
/// Says how a queue has been used since it was made: its mean size, and how long those that put in
/// and those that take out have waited.
///
/// `enqueue_seconds` and `dequeue_seconds` are the sums over all requests; `enqueue_waiting` and
/// `dequeue_waiting` say how long at least one request waited, and are at most `seconds`.
/// Differences between two moments tell of the time between them.
queue_statistics_outputs queue_statistics(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct queue_suspend_options {
  bool suspended = true;
};
/// Lets nothing wait for a queue, until it is told so again with suspended=false.
///
/// Who puts in is answered at once, whatever the capacity; who takes out, or waits for that, fails
/// with cancelled. So the steps that fill queues end, and all queues can be saved as of one moment.
node* queue_suspend(operand handle, const queue_suspend_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* queue_suspend(operand handle, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return queue_suspend(handle, queue_suspend_options{}, name, where);
}

/// Converts the red, green and blue of each pixel to hue, saturation and value.
///
/// Colors are in [0, 1], and the hue is a fraction of a turn.
edge rgb_to_hsv(operand images, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct random_gamma_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws numbers from the gamma distribution with shape alpha and rate 1.
///
/// The output has, for each place of the shape that is given, one number for each alpha. Every
/// alpha must be positive. Equal seeds give equal numbers, as for RandomUniform.
edge random_gamma(graph& in, operand shape, operand alpha,
    const random_gamma_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_gamma(graph& in, operand shape, operand alpha, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return random_gamma(in, shape, alpha, random_gamma_options{}, name, where);
}

/// Computes the derivative of gamma-distributed samples with respect to alpha.
///
/// It is how the sample moves if alpha does and its quantile stays: minus the derivative of the
/// distribution function with respect to alpha, divided by the density. Broadcasts by NumPy's
/// rules.
edge random_gamma_grad(operand alpha, operand sample, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct random_poisson_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws numbers from Poisson distributions, in the type of their rates.
///
/// The output has, for each place of the shape that is given, one number for each rate. Equal seeds
/// give equal numbers, as for RandomUniform.
edge random_poisson(graph& in, operand shape, operand rate,
    const random_poisson_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_poisson(graph& in, operand shape, operand rate, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return random_poisson(in, shape, rate, random_poisson_options{}, name, where);
}

struct random_poisson_v2_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
  troupe::dtype dtype = troupe::dtype::i64;
};
/// Draws numbers from Poisson distributions.
///
/// The output has, for each place of the shape that is given, one number for each rate. Equal seeds
/// give equal numbers, as for RandomUniform.
edge random_poisson_v2(graph& in, operand shape, operand rate,
    const random_poisson_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_poisson_v2(graph& in, operand shape, operand rate, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return random_poisson_v2(in, shape, rate, random_poisson_v2_options{}, name, where);
}

struct random_shuffle_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Brings the rows of a tensor, along its first axis, into a random order.
///
/// Each order is equally likely. Equal seeds give equal orders, as for RandomUniform.
edge random_shuffle(graph& in, operand value, const random_shuffle_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge random_shuffle(graph& in, operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return random_shuffle(in, value, random_shuffle_options{}, name, where);
}

struct random_shuffle_queue_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  int64_t min_after_dequeue = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements that come out in random order.
///
/// Like FIFOQueue, but a dequeue takes any element, each with the same chance, and waits while it
/// would leave fewer than `min_after_dequeue`, until the queue is closed. The same seeds and the
/// same order of requests give the same elements; without seeds, each queue draws its own.
edge random_shuffle_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    const random_shuffle_queue_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_shuffle_queue(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return random_shuffle_queue(in, component_types, random_shuffle_queue_options{}, name, where);
}

struct random_shuffle_queue_v2_options {
  std::vector<troupe::partial_shape> shapes = {};
  int64_t capacity = -1;
  int64_t min_after_dequeue = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Holds elements that come out in random order.
///
/// The same as RandomShuffleQueue in all but its name, for graphs that use this one.
edge random_shuffle_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    const random_shuffle_queue_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_shuffle_queue_v2(graph& in, const std::vector<troupe::dtype>& component_types,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return random_shuffle_queue_v2(in, component_types, random_shuffle_queue_v2_options{}, name, where);
}

struct random_standard_normal_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws numbers from the normal distribution with mean 0 and variance 1.
///
/// Equal seeds give equal numbers, whatever the number of threads; each run goes on where the last
/// one stopped. With seed and seed2 both 0, every process draws other numbers.
edge random_standard_normal(graph& in, operand shape, troupe::dtype dtype,
    const random_standard_normal_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_standard_normal(graph& in, operand shape, troupe::dtype dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return random_standard_normal(in, shape, dtype, random_standard_normal_options{}, name, where);
}

struct random_uniform_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws numbers evenly from [0, 1).
///
/// Equal seeds give equal numbers, whatever the number of threads; each run goes on where the last
/// one stopped. With seed and seed2 both 0, every process draws other numbers.
edge random_uniform(graph& in, operand shape, troupe::dtype dtype,
    const random_uniform_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_uniform(graph& in, operand shape, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return random_uniform(in, shape, dtype, random_uniform_options{}, name, where);
}

struct random_uniform_int_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws whole numbers evenly from [minval, maxval).
///
/// Where the size of that range does not divide 2^64, the smaller numbers are more likely by that
/// size in 2^64. Equal seeds give equal numbers, whatever the number of threads; each run goes on
/// where the last one stopped. With seed and seed2 both 0, every process draws other numbers.
edge random_uniform_int(graph& in, operand shape, operand minval, operand maxval,
    const random_uniform_int_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge random_uniform_int(graph& in, operand shape, operand minval, operand maxval,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return random_uniform_int(in, shape, minval, maxval, random_uniform_int_options{}, name, where);
}

/// Counts from start up to, but not including, limit, in steps of delta.
///
/// A negative delta counts down; one that does not lead to limit fails.
edge range(graph& in, operand start, operand limit, operand delta, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the number of axes of its input.
edge rank_of(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Reads a whole file of the task that runs the node.
edge read_file(graph& in, operand filename, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the value of a variable.
///
/// That after the last update that the node depends on, and before all others. It shares the memory
/// and copies nothing.
edge read_variable_op(operand resource, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the records that a reader has given, without those that went back.
edge reader_num_records_produced(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the records that a reader has given, without those that went back.
///
/// The same as ReaderNumRecordsProduced in all but its name, for graphs that use this one.
edge reader_num_records_produced_v2(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the files whose end a reader has come to.
edge reader_num_work_units_completed(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the files whose end a reader has come to.
///
/// The same as ReaderNumWorkUnitsCompleted in all but its name, for graphs that use this one.
edge reader_num_work_units_completed_v2(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct reader_read_options {
  bool drop_if_step_fails = false;
};
struct reader_read_outputs {
  edge key;
  edge value;
};
/// Gives the next record of a reader, which takes the name of another file from the queue where it
/// needs one.
///
/// Waits for the name, and fails with out_of_range when the queue is closed and empty. The record
/// goes back if the step fails later, unless `drop_if_step_fails`; the name of a file that was
/// begun does not.
reader_read_outputs reader_read(operand reader_handle, operand queue_handle,
    const reader_read_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline reader_read_outputs reader_read(operand reader_handle, operand queue_handle,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return reader_read(reader_handle, queue_handle, reader_read_options{}, name, where);
}

struct reader_read_up_to_options {
  bool drop_if_step_fails = false;
};
struct reader_read_up_to_outputs {
  edge keys;
  edge values;
};
/// Gives up to `num_records` next records of a reader: all of one file, and fewer only where it
/// ends.
///
/// Else like ReaderRead.
reader_read_up_to_outputs reader_read_up_to(operand reader_handle, operand queue_handle,
    operand num_records, const reader_read_up_to_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline reader_read_up_to_outputs reader_read_up_to(operand reader_handle, operand queue_handle,
    operand num_records, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return reader_read_up_to(reader_handle, queue_handle, num_records, reader_read_up_to_options{}, name, where);
}

struct reader_read_up_to_v2_options {
  bool drop_if_step_fails = false;
};
struct reader_read_up_to_v2_outputs {
  edge keys;
  edge values;
};
/// Gives up to `num_records` next records of a reader: all of one file, and fewer only where it
/// ends.
///
/// The same as ReaderReadUpTo in all but its name, for graphs that use this one.
reader_read_up_to_v2_outputs reader_read_up_to_v2(operand reader_handle, operand queue_handle,
    operand num_records, const reader_read_up_to_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline reader_read_up_to_v2_outputs reader_read_up_to_v2(operand reader_handle,
    operand queue_handle, operand num_records, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return reader_read_up_to_v2(reader_handle, queue_handle, num_records, reader_read_up_to_v2_options{}, name, where);
}

struct reader_read_v2_options {
  bool drop_if_step_fails = false;
};
struct reader_read_v2_outputs {
  edge key;
  edge value;
};
/// Gives the next record of a reader, which takes the name of another file from the queue where it
/// needs one.
///
/// The same as ReaderRead in all but its name, for graphs that use this one.
reader_read_v2_outputs reader_read_v2(operand reader_handle, operand queue_handle,
    const reader_read_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline reader_read_v2_outputs reader_read_v2(operand reader_handle, operand queue_handle,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return reader_read_v2(reader_handle, queue_handle, reader_read_v2_options{}, name, where);
}

/// Makes a reader as new: it leaves its file, and counts from 0.
node* reader_reset(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes a reader as new: it leaves its file, and counts from 0.
///
/// The same as ReaderReset in all but its name, for graphs that use this one.
node* reader_reset_v2(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Brings a reader to the place at which another one, of the same kind, has stood.
///
/// The file that it stood in is opened by the next read. Names of files that the queue has given
/// already do not come again.
node* reader_restore_state(operand reader_handle, operand state, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Brings a reader to the place at which another one, of the same kind, has stood.
///
/// The same as ReaderRestoreState in all but its name, for graphs that use this one.
node* reader_restore_state_v2(operand reader_handle, operand state, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the place at which a reader stands, for ReaderRestoreState.
///
/// Readers of all kinds have one; in TensorFlow, only IdentityReader does.
edge reader_serialize_state(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the place at which a reader stands, for ReaderRestoreState.
///
/// The same as ReaderSerializeState in all but its name, for graphs that use this one.
edge reader_serialize_state_v2(operand reader_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct real_options {
  troupe::dtype tout = troupe::dtype::f32;
};
/// Takes the real part of each element.
edge real(operand input, const real_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge real(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return real(input, real_options{}, name, where);
}

/// Divides x by y, element by element, as Div does.
///
/// Broadcasts by NumPy's rules.
edge real_div(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides one by each element.
///
/// It is infinite at 0.
edge reciprocal(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Reciprocal from its output y: -dy * y^2.
///
/// It is 0 where dy is, whatever y is. For complex numbers it takes the conjugate of y.
edge reciprocal_grad(operand y, operand dy, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct reduce_join_options {
  bool keep_dims = false;
  std::string separator = {};
};
/// Puts the strings of some axes together, with a separator between them.
///
/// The first of the axes runs fastest: [1, 0] joins a matrix row by row. No axes change nothing.
edge reduce_join(operand inputs, operand reduction_indices,
    const reduce_join_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge reduce_join(operand inputs, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return reduce_join(inputs, reduction_indices, reduce_join_options{}, name, where);
}

/// Says which strings match a regular expression of RE2 from end to end.
edge regex_full_match(operand input, operand pattern, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct regex_replace_options {
  bool replace_global = true;
};
/// Replaces what matches a regular expression.
///
/// The expression is one of RE2; in the rewrite, `\1` to `\9` stand for its groups and `\0` for the
/// whole match. Without replace_global, only the first match is replaced.
edge regex_replace(operand input, operand pattern, operand rewrite,
    const regex_replace_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge regex_replace(operand input, operand pattern, operand rewrite, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return regex_replace(input, pattern, rewrite, regex_replace_options{}, name, where);
}

/// Computes max(x, 0) of each element.
edge relu(operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes min(max(x, 0), 6) of each element.
edge relu6(operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Passes the gradients on where the features of a Relu6 are in (0, 6), and zero elsewhere.
///
/// The features may be the inputs or the outputs of that Relu6.
edge relu6_grad(operand gradients, operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Passes the gradients on where the features of a Relu are positive, and zero elsewhere.
///
/// The features may be the inputs or the outputs of that Relu.
edge relu_grad(operand gradients, operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct replica_clock_options {
  std::string container = {};
  std::string shared_name = {};
};
/// Is what replicas of a model wait for: the next step of all, or those that are slow.
///
/// It has a step, none at first, that one sets and others await; and it counts the steps of each
/// living replica, of at most so many. Lives in the named container of its task, under shared_name
/// or else the node's name.
edge replica_clock(graph& in, int64_t replicas, const replica_clock_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge replica_clock(graph& in, int64_t replicas, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return replica_clock(in, replicas, replica_clock_options{}, name, where);
}

/// Waits until the step of a clock has been set, to another than the known one; gives it.
edge replica_clock_await(operand clock, operand known, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts a replica among the living, as if it had done as many steps as the slowest of them.
///
/// One that is there already stays where it is.
node* replica_clock_join(operand clock, operand replica, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes a replica out of the living: no other waits for it, and it waits for none.
///
/// -1 takes out all.
node* replica_clock_leave(operand clock, operand replica, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives the step of a clock, -1 before one was set.
edge replica_clock_read(operand clock, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Sets the step that all replicas are at: those that await another one go on.
///
/// It may be earlier than the one before, but not negative.
node* replica_clock_set(operand clock, operand step, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts a step of a replica, and waits until it is at most `lead` steps ahead of the slowest
/// living one; gives how many it has done.
///
/// A replica that is not among the living joins first, beside the slowest. A step stays counted,
/// also if the wait is given up.
edge replica_clock_tick(operand clock, operand replica, operand lead, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct requantization_range_outputs {
  edge output_min;
  edge output_max;
};
/// Gives the range of the real numbers that the elements stand for.
///
/// It is part of the range that their type stands for; its minimum is 0 where none is below.
requantization_range_outputs requantization_range(operand input, operand input_min,
    operand input_max, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct requantize_outputs {
  edge output;
  edge output_min;
  edge output_max;
};
/// Makes bytes of 32-bit whole numbers that stand for a range; the bytes stand for another.
///
/// What is outside of the new range becomes its ends. Both ranges must be finite and in order, and
/// the new one must not begin above 0.
requantize_outputs requantize(operand input, operand input_min, operand input_max,
    operand requested_output_min, operand requested_output_max, troupe::dtype out_type,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Gives its input another shape of as many elements.
///
/// One extent may be -1: it becomes what is left. The memory is shared.
edge reshape(operand tensor, operand shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct resize_area_options {
  bool align_corners = false;
};
/// Resizes images so that each pixel is the average of what it covers of the source.
///
/// `size` is the new height and width. With align_corners, the centers of the pixels at the corners
/// stay where they are.
edge resize_area(operand images, operand size, const resize_area_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge resize_area(operand images, operand size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_area(images, size, resize_area_options{}, name, where);
}

struct resize_bicubic_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Resizes images by a cubic through the sixteen neighbours of each pixel.
///
/// `size` is the new height and width. align_corners and half_pixel_centers say where pixels lie,
/// as for ResizeBilinear. Half pixels take Keys' cubic with a = -0.5, which leaves out what lies
/// beyond the border; else a is -0.75, and the border is repeated.
edge resize_bicubic(operand images, operand size, const resize_bicubic_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge resize_bicubic(operand images, operand size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_bicubic(images, size, resize_bicubic_options{}, name, where);
}

struct resize_bicubic_grad_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Computes the gradient of ResizeBicubic with respect to its images.
edge resize_bicubic_grad(operand grads, operand original_image,
    const resize_bicubic_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge resize_bicubic_grad(operand grads, operand original_image, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_bicubic_grad(grads, original_image, resize_bicubic_grad_options{}, name, where);
}

struct resize_bilinear_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Resizes images by interpolating between the four neighbours of each pixel.
///
/// `size` is the new height and width. With align_corners, the centers of the pixels at the corners
/// stay where they are; with half_pixel_centers, a pixel lies half a pixel away from its corner, as
/// images are taken to be elsewhere.
edge resize_bilinear(operand images, operand size, const resize_bilinear_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge resize_bilinear(operand images, operand size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_bilinear(images, size, resize_bilinear_options{}, name, where);
}

struct resize_bilinear_grad_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Computes the gradient of ResizeBilinear with respect to its images.
edge resize_bilinear_grad(operand grads, operand original_image,
    const resize_bilinear_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge resize_bilinear_grad(operand grads, operand original_image, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_bilinear_grad(grads, original_image, resize_bilinear_grad_options{}, name, where);
}

struct resize_nearest_neighbor_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Resizes images by taking the nearest pixel of the source for each.
///
/// `size` is the new height and width; align_corners and half_pixel_centers say where pixels lie,
/// as for ResizeBilinear.
edge resize_nearest_neighbor(operand images, operand size,
    const resize_nearest_neighbor_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge resize_nearest_neighbor(operand images, operand size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_nearest_neighbor(images, size, resize_nearest_neighbor_options{}, name, where);
}

struct resize_nearest_neighbor_grad_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Computes the gradient of ResizeNearestNeighbor with respect to its images, whose height and
/// width `size` says.
///
/// Whole numbers that do not fit wrap around.
edge resize_nearest_neighbor_grad(operand grads, operand size,
    const resize_nearest_neighbor_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge resize_nearest_neighbor_grad(operand grads, operand size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resize_nearest_neighbor_grad(grads, size, resize_nearest_neighbor_grad_options{}, name, where);
}

struct resource_accumulator_apply_gradient_options {
  int64_t contributor = -1;
};
/// Adds a gradient to an accumulator, unless it was computed for an older global step.
///
/// The same as AccumulatorApplyGradient in all but its name, for graphs that use this one.
node* resource_accumulator_apply_gradient(operand handle, operand local_step, operand gradient,
    const resource_accumulator_apply_gradient_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_accumulator_apply_gradient(operand handle, operand local_step,
    operand gradient, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_accumulator_apply_gradient(handle, local_step, gradient, resource_accumulator_apply_gradient_options{}, name, where);
}

/// Counts the gradients that an accumulator has for its global step.
///
/// The same as AccumulatorNumAccumulated in all but its name, for graphs that use this one.
edge resource_accumulator_num_accumulated(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Sets the global step of an accumulator: older gradients are dropped from now on.
///
/// The same as AccumulatorSetGlobalStep in all but its name, for graphs that use this one.
node* resource_accumulator_set_global_step(operand handle, operand new_global_step,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Waits until enough gradients have been added, gives their mean or sum, and begins the next
/// global step with none.
///
/// The same as AccumulatorTakeGradient in all but its name, for graphs that use this one.
edge resource_accumulator_take_gradient(operand handle, operand num_required, troupe::dtype dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct resource_apply_ada_max_options {
  bool use_locking = true;
};
/// Steps a variable by the AdaMax algorithm.
///
/// The same as ApplyAdaMax for a variable that is given by its handle, which it does not hand on.
node* resource_apply_ada_max(operand var, operand m, operand v, operand beta1_power, operand lr,
    operand beta1, operand beta2, operand epsilon, operand grad,
    const resource_apply_ada_max_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_ada_max(operand var, operand m, operand v, operand beta1_power,
    operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_apply_ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad, resource_apply_ada_max_options{}, name, where);
}

struct resource_apply_adadelta_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with rates from past updates.
///
/// The same as ApplyAdadelta for a variable that is given by its handle, which it does not hand on.
node* resource_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad,
    const resource_apply_adadelta_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_adadelta(var, accum, accum_update, lr, rho, epsilon, grad, resource_apply_adadelta_options{}, name, where);
}

struct resource_apply_adagrad_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large.
///
/// The same as ApplyAdagrad for a variable that is given by its handle, which it does not hand on.
node* resource_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    const resource_apply_adagrad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_apply_adagrad(var, accum, lr, grad, resource_apply_adagrad_options{}, name, where);
}

struct resource_apply_adagrad_da_options {
  bool use_locking = true;
};
/// Sets a variable by the sum of all its gradients (dual averaging).
///
/// The same as ApplyAdagradDA for a variable that is given by its handle, which it does not hand
/// on.
node* resource_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand lr, operand l1, operand l2,
    operand global_step, const resource_apply_adagrad_da_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand lr, operand l1, operand l2,
    operand global_step, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step, resource_apply_adagrad_da_options{}, name, where);
}

struct resource_apply_adagrad_v2_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large.
///
/// The same as ApplyAdagradV2 for a variable that is given by its handle, which it does not hand
/// on.
node* resource_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, const resource_apply_adagrad_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_adagrad_v2(var, accum, lr, epsilon, grad, resource_apply_adagrad_v2_options{}, name, where);
}

struct resource_apply_adam_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable by the Adam algorithm.
///
/// The same as ApplyAdam for a variable that is given by its handle, which it does not hand on.
node* resource_apply_adam(operand var, operand m, operand v, operand beta1_power,
    operand beta2_power, operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    const resource_apply_adam_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_adam(operand var, operand m, operand v, operand beta1_power,
    operand beta2_power, operand lr, operand beta1, operand beta2, operand epsilon, operand grad,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, resource_apply_adam_options{}, name, where);
}

struct resource_apply_adam_with_amsgrad_options {
  bool use_locking = true;
};
/// Steps a variable by the AMSGrad algorithm.
///
/// m += (grad - m) * (1 - beta1), v += (grad * grad - v) * (1 - beta2) and vhat = max(vhat, v);
/// then var -= rate * m / (sqrt(vhat) + epsilon), where rate = lr * sqrt(1 - beta2_power) / (1 -
/// beta1_power). Updates that share variables exclude each other; with use_locking=false they race,
/// as is TensorFlow's default, and concurrent updates may be lost in part.
node* resource_apply_adam_with_amsgrad(operand var, operand m, operand v, operand vhat,
    operand beta1_power, operand beta2_power, operand lr, operand beta1, operand beta2,
    operand epsilon, operand grad, const resource_apply_adam_with_amsgrad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_adam_with_amsgrad(operand var, operand m, operand v, operand vhat,
    operand beta1_power, operand beta2_power, operand lr, operand beta1, operand beta2,
    operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_adam_with_amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, resource_apply_adam_with_amsgrad_options{}, name, where);
}

struct resource_apply_add_sign_options {
  bool use_locking = true;
};
/// Steps a variable by the AddSign algorithm.
///
/// The same as ApplyAddSign for a variable that is given by its handle, which it does not hand on.
node* resource_apply_add_sign(operand var, operand m, operand lr, operand alpha,
    operand sign_decay, operand beta, operand grad,
    const resource_apply_add_sign_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_add_sign(operand var, operand m, operand lr, operand alpha,
    operand sign_decay, operand beta, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_add_sign(var, m, lr, alpha, sign_decay, beta, grad, resource_apply_add_sign_options{}, name, where);
}

struct resource_apply_centered_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the centered RMSProp algorithm.
///
/// The same as ApplyCenteredRMSProp for a variable that is given by its handle, which it does not
/// hand on.
node* resource_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom,
    operand lr, operand rho, operand momentum, operand epsilon, operand grad,
    const resource_apply_centered_rms_prop_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom,
    operand lr, operand rho, operand momentum, operand epsilon, operand grad,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_apply_centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad, resource_apply_centered_rms_prop_options{}, name, where);
}

struct resource_apply_ftrl_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm.
///
/// The same as ApplyFtrl for a variable that is given by its handle, which it does not hand on.
node* resource_apply_ftrl(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand lr_power, const resource_apply_ftrl_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_ftrl(operand var, operand accum, operand linear, operand grad,
    operand lr, operand l1, operand l2, operand lr_power, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, resource_apply_ftrl_options{}, name, where);
}

struct resource_apply_ftrl_v2_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm, with shrinkage.
///
/// The same as ApplyFtrlV2 for a variable that is given by its handle, which it does not hand on.
node* resource_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad, operand lr,
    operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const resource_apply_ftrl_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad,
    operand lr, operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_apply_ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, resource_apply_ftrl_v2_options{}, name, where);
}

struct resource_apply_gradient_descent_options {
  bool use_locking = true;
};
/// Subtracts alpha * delta from a variable, in place.
///
/// The same as ApplyGradientDescent for a variable that is given by its handle, which it does not
/// hand on.
node* resource_apply_gradient_descent(operand var, operand alpha, operand delta,
    const resource_apply_gradient_descent_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_gradient_descent(operand var, operand alpha, operand delta,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_apply_gradient_descent(var, alpha, delta, resource_apply_gradient_descent_options{}, name, where);
}

struct resource_apply_keras_momentum_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable against its gradient, with momentum that the rate is part of.
///
/// accum = accum * momentum - lr * grad, then var += accum; with use_nesterov var += accum *
/// momentum - lr * grad. Updates that share variables exclude each other; with use_locking=false
/// they race, as is TensorFlow's default, and concurrent updates may be lost in part.
node* resource_apply_keras_momentum(operand var, operand accum, operand lr, operand grad,
    operand momentum, const resource_apply_keras_momentum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_keras_momentum(operand var, operand accum, operand lr, operand grad,
    operand momentum, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_keras_momentum(var, accum, lr, grad, momentum, resource_apply_keras_momentum_options{}, name, where);
}

struct resource_apply_momentum_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable against its gradient, with momentum.
///
/// The same as ApplyMomentum for a variable that is given by its handle, which it does not hand on.
node* resource_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand momentum, const resource_apply_momentum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand momentum, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_momentum(var, accum, lr, grad, momentum, resource_apply_momentum_options{}, name, where);
}

struct resource_apply_power_sign_options {
  bool use_locking = true;
};
/// Steps a variable by the PowerSign algorithm.
///
/// The same as ApplyPowerSign for a variable that is given by its handle, which it does not hand
/// on.
node* resource_apply_power_sign(operand var, operand m, operand lr, operand logbase,
    operand sign_decay, operand beta, operand grad,
    const resource_apply_power_sign_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_power_sign(operand var, operand m, operand lr, operand logbase,
    operand sign_decay, operand beta, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_power_sign(var, m, lr, logbase, sign_decay, beta, grad, resource_apply_power_sign_options{}, name, where);
}

struct resource_apply_proximal_adagrad_options {
  bool use_locking = true;
};
/// Steps a variable by Adagrad, with forward-backward splitting for l1 and l2.
///
/// The same as ApplyProximalAdagrad for a variable that is given by its handle, which it does not
/// hand on.
node* resource_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1,
    operand l2, operand grad, const resource_apply_proximal_adagrad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1,
    operand l2, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_proximal_adagrad(var, accum, lr, l1, l2, grad, resource_apply_proximal_adagrad_options{}, name, where);
}

struct resource_apply_proximal_gradient_descent_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with forward-backward splitting for l1 and l2.
///
/// The same as ApplyProximalGradientDescent for a variable that is given by its handle, which it
/// does not hand on.
node* resource_apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand delta, const resource_apply_proximal_gradient_descent_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_apply_proximal_gradient_descent(operand var, operand alpha, operand l1,
    operand l2, operand delta, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_proximal_gradient_descent(var, alpha, l1, l2, delta, resource_apply_proximal_gradient_descent_options{}, name, where);
}

struct resource_apply_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the RMSProp algorithm.
///
/// The same as ApplyRMSProp for a variable that is given by its handle, which it does not hand on.
node* resource_apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad,
    const resource_apply_rms_prop_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_apply_rms_prop(operand var, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_apply_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad, resource_apply_rms_prop_options{}, name, where);
}

struct resource_conditional_accumulator_options {
  troupe::partial_shape shape = {};
  std::string container = {};
  std::string shared_name = {};
  std::string reduction_type = "MEAN";
};
/// Adds up gradients of one variable, until a step takes their mean.
///
/// The same as ConditionalAccumulator in all but its name, for graphs that use this one.
edge resource_conditional_accumulator(graph& in, troupe::dtype dtype,
    const resource_conditional_accumulator_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge resource_conditional_accumulator(graph& in, troupe::dtype dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_conditional_accumulator(in, dtype, resource_conditional_accumulator_options{}, name, where);
}

/// Counts a scalar variable up by one, and outputs what it was before.
///
/// The same as CountUpTo for a variable that is given by its handle.
edge resource_count_up_to(operand resource, int64_t limit, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct resource_gather_options {
  int64_t batch_dims = 0;
  bool validate_indices = true;
};
/// Takes the rows that indices names of a variable that is given by its handle.
///
/// A row is a slice of the first axis, or of the axis behind the batch_dims ones that variable and
/// indices have in common; an index outside of it fails. The variable is read where the node stands
/// among its updates, and runs where the variable is: only rows travel.
edge resource_gather(operand resource, operand indices,
    const resource_gather_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge resource_gather(operand resource, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_gather(resource, indices, resource_gather_options{}, name, where);
}

/// Takes the blocks whose leading coordinates the last axis of indices lists, of a variable that is
/// given by its handle.
///
/// With as many coordinates as the variable has axes, a block is one element. Coordinates outside
/// of the variable fail. It is read where the node stands among its updates.
edge resource_gather_nd(operand resource, operand indices, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds updates to the rows of a variable that indices names.
///
/// The same as ScatterAdd for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_add(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Divides the rows of a variable that indices names by updates.
///
/// The same as ScatterDiv for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_div(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Replaces elements of the rows that indices names by those of updates where they are larger.
///
/// The same as ScatterMax for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_max(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Replaces elements of the rows that indices names by those of updates where they are smaller.
///
/// The same as ScatterMin for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_min(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Multiplies the rows of a variable that indices names by updates.
///
/// The same as ScatterMul for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_mul(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct resource_scatter_nd_add_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Adds updates to the elements or slices of a variable that indices names.
///
/// The same as ScatterNdAdd for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_nd_add(operand ref, operand indices, operand updates,
    const resource_scatter_nd_add_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_scatter_nd_add(operand ref, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_scatter_nd_add(ref, indices, updates, resource_scatter_nd_add_options{}, name, where);
}

struct resource_scatter_nd_max_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Replaces elements of a variable that indices names by those of updates where they are larger.
///
/// The same as ScatterNdMax for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_nd_max(operand ref, operand indices, operand updates,
    const resource_scatter_nd_max_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_scatter_nd_max(operand ref, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_scatter_nd_max(ref, indices, updates, resource_scatter_nd_max_options{}, name, where);
}

struct resource_scatter_nd_min_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Replaces elements of a variable that indices names by those of updates where they are smaller.
///
/// The same as ScatterNdMin for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_nd_min(operand ref, operand indices, operand updates,
    const resource_scatter_nd_min_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_scatter_nd_min(operand ref, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_scatter_nd_min(ref, indices, updates, resource_scatter_nd_min_options{}, name, where);
}

struct resource_scatter_nd_sub_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Subtracts updates from the elements or slices of a variable that indices names.
///
/// The same as ScatterNdSub for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_nd_sub(operand ref, operand indices, operand updates,
    const resource_scatter_nd_sub_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_scatter_nd_sub(operand ref, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_scatter_nd_sub(ref, indices, updates, resource_scatter_nd_sub_options{}, name, where);
}

struct resource_scatter_nd_update_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Replaces the elements or slices of a variable that indices names by updates.
///
/// The same as ScatterNdUpdate for a variable that is given by its handle, which it does not hand
/// on.
node* resource_scatter_nd_update(operand ref, operand indices, operand updates,
    const resource_scatter_nd_update_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_scatter_nd_update(operand ref, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_scatter_nd_update(ref, indices, updates, resource_scatter_nd_update_options{}, name, where);
}

/// Subtracts updates from the rows of a variable that indices names.
///
/// The same as ScatterSub for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_sub(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Replaces the rows of a variable that indices names by updates.
///
/// The same as ScatterUpdate for a variable that is given by its handle, which it does not hand on.
node* resource_scatter_update(operand resource, operand indices, operand updates,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct resource_sparse_apply_adadelta_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with rates from past updates, for the rows that indices
/// names.
///
/// The same as SparseApplyAdadelta for a variable that is given by its handle, which it does not
/// hand on.
node* resource_sparse_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, operand indices,
    const resource_sparse_apply_adadelta_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_adadelta(operand var, operand accum, operand accum_update,
    operand lr, operand rho, operand epsilon, operand grad, operand indices,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_adadelta(var, accum, accum_update, lr, rho, epsilon, grad, indices, resource_sparse_apply_adadelta_options{}, name, where);
}

struct resource_sparse_apply_adagrad_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large, for the rows that
/// indices names.
///
/// The same as SparseApplyAdagrad for a variable that is given by its handle, which it does not
/// hand on.
node* resource_sparse_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    operand indices, const resource_sparse_apply_adagrad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_adagrad(var, accum, lr, grad, indices, resource_sparse_apply_adagrad_options{}, name, where);
}

struct resource_sparse_apply_adagrad_da_options {
  bool use_locking = true;
};
/// Sets a variable by the sum of all its gradients (dual averaging), for the rows that indices
/// names.
///
/// The same as SparseApplyAdagradDA for a variable that is given by its handle, which it does not
/// hand on.
node* resource_sparse_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand indices, operand lr, operand l1,
    operand l2, operand global_step, const resource_sparse_apply_adagrad_da_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand indices, operand lr, operand l1,
    operand l2, operand global_step, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, indices, lr, l1, l2, global_step, resource_sparse_apply_adagrad_da_options{}, name, where);
}

struct resource_sparse_apply_adagrad_v2_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large, for the rows that
/// indices names.
///
/// The same as SparseApplyAdagradV2 for a variable that is given by its handle, which it does not
/// hand on.
node* resource_sparse_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, operand indices, const resource_sparse_apply_adagrad_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_adagrad_v2(operand var, operand accum, operand lr,
    operand epsilon, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_adagrad_v2(var, accum, lr, epsilon, grad, indices, resource_sparse_apply_adagrad_v2_options{}, name, where);
}

struct resource_sparse_apply_centered_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the centered RMSProp algorithm, for the rows that indices names.
///
/// The same as SparseApplyCenteredRMSProp for a variable that is given by its handle, which it does
/// not hand on.
node* resource_sparse_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom,
    operand lr, operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    const resource_sparse_apply_centered_rms_prop_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_centered_rms_prop(operand var, operand mg, operand ms,
    operand mom, operand lr, operand rho, operand momentum, operand epsilon, operand grad,
    operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices, resource_sparse_apply_centered_rms_prop_options{}, name, where);
}

struct resource_sparse_apply_ftrl_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm, for the rows that indices names.
///
/// The same as SparseApplyFtrl for a variable that is given by its handle, which it does not hand
/// on.
node* resource_sparse_apply_ftrl(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand lr_power,
    const resource_sparse_apply_ftrl_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_ftrl(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand lr_power, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_ftrl(var, accum, linear, grad, indices, lr, l1, l2, lr_power, resource_sparse_apply_ftrl_options{}, name, where);
}

struct resource_sparse_apply_ftrl_v2_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm, with shrinkage, for the rows that indices
/// names.
///
/// The same as SparseApplyFtrlV2 for a variable that is given by its handle, which it does not hand
/// on.
node* resource_sparse_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const resource_sparse_apply_ftrl_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_ftrl_v2(operand var, operand accum, operand linear,
    operand grad, operand indices, operand lr, operand l1, operand l2, operand l2_shrinkage,
    operand lr_power, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_ftrl_v2(var, accum, linear, grad, indices, lr, l1, l2, l2_shrinkage, lr_power, resource_sparse_apply_ftrl_v2_options{}, name, where);
}

struct resource_sparse_apply_keras_momentum_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable against its gradient, with momentum that the rate is part of, for the rows that
/// indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. An index that comes
/// twice is applied twice, in order. accum = accum * momentum - lr * grad, then var += accum; with
/// use_nesterov var += accum * momentum - lr * grad. Updates that share variables exclude each
/// other; with use_locking=false they race, as is TensorFlow's default, and concurrent updates may
/// be lost in part.
node* resource_sparse_apply_keras_momentum(operand var, operand accum, operand lr, operand grad,
    operand indices, operand momentum,
    const resource_sparse_apply_keras_momentum_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_keras_momentum(operand var, operand accum, operand lr,
    operand grad, operand indices, operand momentum, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_keras_momentum(var, accum, lr, grad, indices, momentum, resource_sparse_apply_keras_momentum_options{}, name, where);
}

struct resource_sparse_apply_momentum_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable against its gradient, with momentum, for the rows that indices names.
///
/// The same as SparseApplyMomentum for a variable that is given by its handle, which it does not
/// hand on.
node* resource_sparse_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand indices, operand momentum, const resource_sparse_apply_momentum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand indices, operand momentum, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_momentum(var, accum, lr, grad, indices, momentum, resource_sparse_apply_momentum_options{}, name, where);
}

struct resource_sparse_apply_proximal_adagrad_options {
  bool use_locking = true;
};
/// Steps a variable by Adagrad, with forward-backward splitting for l1 and l2, for the rows that
/// indices names.
///
/// The same as SparseApplyProximalAdagrad for a variable that is given by its handle, which it does
/// not hand on.
node* resource_sparse_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1,
    operand l2, operand grad, operand indices,
    const resource_sparse_apply_proximal_adagrad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_proximal_adagrad(operand var, operand accum, operand lr,
    operand l1, operand l2, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_proximal_adagrad(var, accum, lr, l1, l2, grad, indices, resource_sparse_apply_proximal_adagrad_options{}, name, where);
}

struct resource_sparse_apply_proximal_gradient_descent_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with forward-backward splitting for l1 and l2, for the
/// rows that indices names.
///
/// The same as SparseApplyProximalGradientDescent for a variable that is given by its handle, which
/// it does not hand on.
node* resource_sparse_apply_proximal_gradient_descent(operand var, operand alpha, operand l1,
    operand l2, operand grad, operand indices,
    const resource_sparse_apply_proximal_gradient_descent_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_proximal_gradient_descent(operand var, operand alpha,
    operand l1, operand l2, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_proximal_gradient_descent(var, alpha, l1, l2, grad, indices, resource_sparse_apply_proximal_gradient_descent_options{}, name, where);
}

struct resource_sparse_apply_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the RMSProp algorithm, for the rows that indices names.
///
/// The same as SparseApplyRMSProp for a variable that is given by its handle, which it does not
/// hand on.
node* resource_sparse_apply_rms_prop(operand var, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    const resource_sparse_apply_rms_prop_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* resource_sparse_apply_rms_prop(operand var, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return resource_sparse_apply_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad, indices, resource_sparse_apply_rms_prop_options{}, name, where);
}

struct resource_strided_slice_assign_options {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
/// Replaces the elements of a variable that StridedSlice would take from it.
///
/// The same as StridedSliceAssign for a variable that is given by its handle, which it does not
/// hand on.
node* resource_strided_slice_assign(operand ref, operand begin, operand end, operand strides,
    operand value, const resource_strided_slice_assign_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* resource_strided_slice_assign(operand ref, operand begin, operand end,
    operand strides, operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return resource_strided_slice_assign(ref, begin, end, strides, value, resource_strided_slice_assign_options{}, name, where);
}

struct restore_options {
  int64_t preferred_shard = -1;
};
/// Reads a tensor of a checkpoint of version 1 of the format.
///
/// file_pattern may have ? for a character and * for any number of them: files that tasks have
/// written each on its own. preferred_shard is a hint, and not needed.
edge restore(operand file_pattern, operand tensor_name, troupe::dtype dt,
    const restore_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge restore(operand file_pattern, operand tensor_name, troupe::dtype dt,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return restore(file_pattern, tensor_name, dt, restore_options{}, name, where);
}

struct restore_slice_options {
  int64_t preferred_shard = -1;
};
/// Reads a slice of a tensor of a checkpoint of version 1 of the format.
///
/// shape_and_slice is empty for the whole, or such as "4 5 0,2:-". See Restore.
edge restore_slice(operand file_pattern, operand tensor_name, operand shape_and_slice,
    troupe::dtype dt, const restore_slice_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge restore_slice(operand file_pattern, operand tensor_name, operand shape_and_slice,
    troupe::dtype dt, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return restore_slice(file_pattern, tensor_name, shape_and_slice, dt, restore_slice_options{}, name, where);
}

/// Reads tensors of a checkpoint, whole or slices of them.
///
/// Every checksum is compared. The types must be those of the checkpoint. Where there is no
/// PREFIX.index, the prefix is taken for a file, or a pattern of files, of version 1 of the format.
std::vector<edge> restore_v2(operand prefix, operand tensor_names, operand shape_and_slices,
    const std::vector<troupe::dtype>& dtypes, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Reverses the order of the elements along each axis for which dims is true.
edge reverse(operand tensor, operand dims, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct reverse_sequence_options {
  int64_t batch_dim = 0;
};
/// Reverses the first seq_lengths[i] slices along axis seq_dim of the i-th slice along axis
/// batch_dim.
///
/// What is behind them stays as it is.
edge reverse_sequence(operand input, operand seq_lengths, int64_t seq_dim,
    const reverse_sequence_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge reverse_sequence(operand input, operand seq_lengths, int64_t seq_dim,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return reverse_sequence(input, seq_lengths, seq_dim, reverse_sequence_options{}, name, where);
}

/// Reverses the order of the elements along the listed axes.
///
/// Negative axes count from the end; none may be listed twice.
edge reverse_v2(operand tensor, operand axis, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Shifts the bits of x down by y places. A negative y counts as 0; one that is not less than the
/// number of bits, as the greatest that is. Negative numbers stay negative.
///
/// Broadcasts by NumPy's rules.
edge right_shift(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Rounds each element to the nearest whole number, halves to the even one.
///
/// The gradient is 0.
edge rint(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives a generator's state, and moves it on as drawing delta numbers does.
///
/// The numbers that an op such as StatelessRandomUniformV2 draws with that state are drawn by no
/// other op. The state is a variable, i64[3]: the two halves of a counter, and a key.
edge rng_read_and_skip(operand resource, operand alg, operand delta, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Moves a generator on, as drawing delta numbers does.
///
/// The generator's state is a variable, i64[3]: the two halves of a counter, the lower first, and a
/// key. It is read, saved and restored like any other. algorithm is 1, Philox, or 3, any.
node* rng_skip(operand resource, operand algorithm, operand delta, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Moves all elements by shift places along an axis; those beyond its end come in at its start.
///
/// Shift and axis may be vectors; an axis that is named twice is shifted twice. A negative shift
/// moves backwards, a negative axis counts from the end.
edge roll(operand input, operand shift, operand axis, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Rounds each element to the nearest whole number, halves to the even one.
///
/// Whole numbers stay as they are. The gradient is 0.
edge round(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the reciprocal of the square root of each element.
///
/// It is inf at 0 and NaN for negative numbers.
edge rsqrt(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Rsqrt from its output y: -dy * y^3 / 2.
///
/// It is 0 where dy is, whatever y is. For complex numbers it takes the conjugate of y.
edge rsqrt_grad(operand y, operand dy, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Writes tensors to a checkpoint of version 1 of the format: one file.
///
/// Each tensor may have about 2 GB as text of Protobuf. See SaveV2 for more.
node* save(operand filename, operand tensor_names, const std::vector<edge>& data,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes tensors or slices of them to a checkpoint of version 1 of the format: one file.
///
/// A string of shapes_and_slices is empty, or says which slice of which whole the tensor is, such
/// as "4 5 0,2:-". See SaveV2 for more.
node* save_slices(operand filename, operand tensor_names, operand shapes_and_slices,
    const std::vector<edge>& data, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Writes tensors to a checkpoint: PREFIX.index and PREFIX.data-00000-of-00001.
///
/// A string of shape_and_slices is empty, or says which slice of which whole the tensor is, such as
/// "4 5 0,2:-". The folder is made where there is none. What was there is replaced when all is on
/// the disk. The task that the node is on writes; other nodes go on meanwhile.
node* save_v2(operand prefix, operand tensor_names, operand shape_and_slices,
    const std::vector<edge>& tensors, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Writes numbers with their tags as a Summary, the message that event files are made of.
///
/// A summary_writer of the API adds it to such a file; MergeSummary makes one of several. Numbers
/// become f32.
edge scalar_summary(operand tags, operand values, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct scatter_add_options {
  bool use_locking = true;
};
/// Adds updates to the rows of a variable that indices names.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. Rows that
/// are named twice get both. An index outside of the variable fails, and changes nothing. Updates
/// of one variable exclude each other; with use_locking=false they race, as is TensorFlow's
/// default.
edge scatter_add(operand ref, operand indices, operand updates,
    const scatter_add_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_add(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_add(ref, indices, updates, scatter_add_options{}, name, where);
}

struct scatter_div_options {
  bool use_locking = true;
};
/// Divides the rows of a variable that indices names by updates.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. Rows that
/// are named twice are divided twice; whole numbers by zero fail. An index outside of the variable
/// fails, and changes nothing. Updates of one variable exclude each other; with use_locking=false
/// they race, as is TensorFlow's default.
edge scatter_div(operand ref, operand indices, operand updates,
    const scatter_div_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_div(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_div(ref, indices, updates, scatter_div_options{}, name, where);
}

struct scatter_max_options {
  bool use_locking = true;
};
/// Replaces elements of the rows that indices names by those of updates where they are larger.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. An index
/// outside of the variable fails, and changes nothing. Updates of one variable exclude each other;
/// with use_locking=false they race, as is TensorFlow's default.
edge scatter_max(operand ref, operand indices, operand updates,
    const scatter_max_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_max(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_max(ref, indices, updates, scatter_max_options{}, name, where);
}

struct scatter_min_options {
  bool use_locking = true;
};
/// Replaces elements of the rows that indices names by those of updates where they are smaller.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. An index
/// outside of the variable fails, and changes nothing. Updates of one variable exclude each other;
/// with use_locking=false they race, as is TensorFlow's default.
edge scatter_min(operand ref, operand indices, operand updates,
    const scatter_min_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_min(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_min(ref, indices, updates, scatter_min_options{}, name, where);
}

struct scatter_mul_options {
  bool use_locking = true;
};
/// Multiplies the rows of a variable that indices names by updates.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. Rows that
/// are named twice get both. An index outside of the variable fails, and changes nothing. Updates
/// of one variable exclude each other; with use_locking=false they race, as is TensorFlow's
/// default.
edge scatter_mul(operand ref, operand indices, operand updates,
    const scatter_mul_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_mul(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_mul(ref, indices, updates, scatter_mul_options{}, name, where);
}

struct scatter_nd_options {
  std::string bad_indices_policy = {};
};
/// Adds each update to the block of a tensor of zeros whose leading coordinates the last axis of
/// indices lists.
///
/// The tensor has the listed shape. Updates for one block add up; texts are joined, truth values
/// are true if any is. Coordinates outside of the shape fail; where bad_indices_policy is IGNORE,
/// their updates are left out.
edge scatter_nd(operand indices, operand updates, operand shape,
    const scatter_nd_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_nd(operand indices, operand updates, operand shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_nd(indices, updates, shape, scatter_nd_options{}, name, where);
}

struct scatter_nd_add_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Adds updates to the elements or slices of a variable that indices names.
///
/// The last axis of indices lists coordinates of an element, or of a slice where there are fewer of
/// them than axes; updates has an element or slice for each. What is named twice gets both. An
/// index outside of the variable fails, and changes nothing; with bad_indices_policy=IGNORE it is
/// passed over. Updates of one variable exclude each other; with use_locking=false they race, as is
/// TensorFlow's default.
edge scatter_nd_add(operand ref, operand indices, operand updates,
    const scatter_nd_add_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_nd_add(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_nd_add(ref, indices, updates, scatter_nd_add_options{}, name, where);
}

struct scatter_nd_max_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Replaces elements of a variable that indices names by those of updates where they are larger.
///
/// The last axis of indices lists coordinates of an element, or of a slice where there are fewer of
/// them than axes; updates has an element or slice for each. An index outside of the variable
/// fails, and changes nothing; with bad_indices_policy=IGNORE it is passed over. Updates of one
/// variable exclude each other; with use_locking=false they race, as is TensorFlow's default.
edge scatter_nd_max(operand ref, operand indices, operand updates,
    const scatter_nd_max_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_nd_max(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_nd_max(ref, indices, updates, scatter_nd_max_options{}, name, where);
}

struct scatter_nd_min_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Replaces elements of a variable that indices names by those of updates where they are smaller.
///
/// The last axis of indices lists coordinates of an element, or of a slice where there are fewer of
/// them than axes; updates has an element or slice for each. An index outside of the variable
/// fails, and changes nothing; with bad_indices_policy=IGNORE it is passed over. Updates of one
/// variable exclude each other; with use_locking=false they race, as is TensorFlow's default.
edge scatter_nd_min(operand ref, operand indices, operand updates,
    const scatter_nd_min_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_nd_min(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_nd_min(ref, indices, updates, scatter_nd_min_options{}, name, where);
}

struct scatter_nd_sub_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Subtracts updates from the elements or slices of a variable that indices names.
///
/// The last axis of indices lists coordinates of an element, or of a slice where there are fewer of
/// them than axes; updates has an element or slice for each. What is named twice gets both. An
/// index outside of the variable fails, and changes nothing; with bad_indices_policy=IGNORE it is
/// passed over. Updates of one variable exclude each other; with use_locking=false they race, as is
/// TensorFlow's default.
edge scatter_nd_sub(operand ref, operand indices, operand updates,
    const scatter_nd_sub_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_nd_sub(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_nd_sub(ref, indices, updates, scatter_nd_sub_options{}, name, where);
}

struct scatter_nd_update_options {
  bool use_locking = true;
  std::string bad_indices_policy = {};
};
/// Replaces the elements or slices of a variable that indices names by updates.
///
/// The last axis of indices lists coordinates of an element, or of a slice where there are fewer of
/// them than axes; updates has an element or slice for each. Of what is named twice the last
/// counts. An index outside of the variable fails, and changes nothing; with
/// bad_indices_policy=IGNORE it is passed over. Updates of one variable exclude each other; with
/// use_locking=false they race, as is TensorFlow's default.
edge scatter_nd_update(operand ref, operand indices, operand updates,
    const scatter_nd_update_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_nd_update(operand ref, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return scatter_nd_update(ref, indices, updates, scatter_nd_update_options{}, name, where);
}

struct scatter_sub_options {
  bool use_locking = true;
};
/// Subtracts updates from the rows of a variable that indices names.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. Rows that
/// are named twice get both. An index outside of the variable fails, and changes nothing. Updates
/// of one variable exclude each other; with use_locking=false they race, as is TensorFlow's
/// default.
edge scatter_sub(operand ref, operand indices, operand updates,
    const scatter_sub_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_sub(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_sub(ref, indices, updates, scatter_sub_options{}, name, where);
}

struct scatter_update_options {
  bool use_locking = true;
};
/// Replaces the rows of a variable that indices names by updates.
///
/// Row i of updates goes to row indices[i]; a scalar goes to all elements of these rows. Of rows
/// that are named twice the last counts. An index outside of the variable fails, and changes
/// nothing. Updates of one variable exclude each other; with use_locking=false they race, as is
/// TensorFlow's default.
edge scatter_update(operand ref, operand indices, operand updates,
    const scatter_update_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge scatter_update(operand ref, operand indices, operand updates, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return scatter_update(ref, indices, updates, scatter_update_options{}, name, where);
}

/// Takes the largest of the rows of data that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, element by
/// element, or is zeros if there are none. The last number plus one is the number of rows of the
/// output. Elements that are equally large share the gradient.
edge segment_max(operand data, operand segment_ids, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the mean of the rows of data that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. The last number plus one is the number of rows of the output. The mean of
/// whole numbers is rounded towards zero.
edge segment_mean(operand data, operand segment_ids, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the smallest of the rows of data that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, element by
/// element, or is zeros if there are none. The last number plus one is the number of rows of the
/// output. Elements that are equally small share the gradient.
edge segment_min(operand data, operand segment_ids, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Multiplies the rows of data that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is ones if
/// there are none. The last number plus one is the number of rows of the output.
edge segment_prod(operand data, operand segment_ids, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up the rows of data that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. The last number plus one is the number of rows of the output.
edge segment_sum(operand data, operand segment_ids, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes each element from t where condition is true, from e where it is false.
///
/// t and e have one shape; condition has the same, or is a scalar, or a vector that selects whole
/// rows.
edge select(operand condition, operand t, operand e, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes each element from t where condition is true, from e where it is false.
///
/// All three are broadcast to one shape by NumPy's rules.
edge select_v2(operand condition, operand t, operand e, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct self_adjoint_eig_v2_options {
  bool compute_v = true;
};
struct self_adjoint_eig_v2_outputs {
  edge e;
  edge v;
};
/// Computes the eigenvalues of each Hermitian matrix, and their eigenvectors.
///
/// The last two axes are the matrices; only their lower triangles are read, and the gradient is
/// with respect to these. Eigenvalues increase; eigenvectors are the columns of v, which is empty
/// without compute_v. Their signs are whatever the algorithm leaves. The gradient of eigenvectors
/// is defined where eigenvalues differ. A matrix that is not finite fails.
self_adjoint_eig_v2_outputs self_adjoint_eig_v2(operand input,
    const self_adjoint_eig_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline self_adjoint_eig_v2_outputs self_adjoint_eig_v2(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return self_adjoint_eig_v2(input, self_adjoint_eig_v2_options{}, name, where);
}

/// Computes scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere.
///
/// scale is 1.0507..., alpha 1.6732...: with these numbers, activations of mean 0 and variance 1
/// keep both from layer to layer.
edge selu(operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Selu from its outputs: the gradients times (outputs + scale * alpha)
/// where outputs are negative, times scale elsewhere.
edge selu_grad(operand gradients, operand outputs, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Writes a tensor, its type and shape included, as TensorFlow's TensorProto.
edge serialize_tensor(operand tensor, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct shape_of_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
/// Gives the extents of its input as a vector.
edge shape_of(operand input, const shape_of_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge shape_of(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return shape_of(input, shape_of_options{}, name, where);
}

struct shapes_of_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
/// Gives the extents of each of its inputs as a vector.
std::vector<edge> shapes_of(const std::vector<edge>& input, const shapes_of_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline std::vector<edge> shapes_of(const std::vector<edge>& input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return shapes_of(input, shapes_of_options{}, name, where);
}

/// Makes the name of a shard: "model-00001-of-00004".
edge sharded_filename(operand basename, operand shard, operand num_shards,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes a pattern that all shards match: "model-?????-of-00004".
edge sharded_filespec(operand basename, operand num_shards, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Maps each element to 1 / (1 + exp(-x)).
edge sigmoid(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Sigmoid from its output y: dy * y * (1 - y).
edge sigmoid_grad(operand y, operand dy, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Gives -1, 0 or 1 by the sign of each element.
///
/// NaN stays NaN. For complex numbers it is x / |x|, or 0 where x is 0. The gradient is 0.
edge sign(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the sine of each element, an angle in radians.
edge sin(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the hyperbolic sine of each element.
edge sinh(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct size_of_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
/// Gives the number of elements of its input.
edge size_of(operand input, const size_of_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge size_of(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return size_of(input, size_of_options{}, name, where);
}

/// Takes the block of extents size that starts at begin.
///
/// A size of -1 takes all that is left of the axis.
edge slice(operand input, operand begin, operand size, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Exponentiates, then normalizes, each row of the last axis.
edge softmax(operand logits, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct softmax_cross_entropy_with_logits_outputs {
  edge loss;
  edge backprop;
};
/// Computes the cross entropy between each row of labels and the softmax of that row of features.
///
/// Each row of labels must be a probability distribution for the second output to be the gradient
/// of the loss with respect to the features.
softmax_cross_entropy_with_logits_outputs softmax_cross_entropy_with_logits(operand features,
    operand labels, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes log(1 + exp(x)) of each element.
edge softplus(operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes gradients / (1 + exp(-features)).
edge softplus_grad(operand gradients, operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes x / (1 + |x|) of each element.
edge softsign(operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes gradients / (1 + |features|)^2.
edge softsign_grad(operand gradients, operand features, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Does what SpaceToBatchND does with a block of block_size x block_size on images.
edge space_to_batch(operand input, operand paddings, int64_t block_size,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Cuts axes 1, 2, ... into blocks of extents block_shape; the places in a block become parts of
/// the batch, axis 0.
///
/// First the axes are padded with zeros, paddings[i, 0] before and paddings[i, 1] behind, to
/// multiples of the block.
edge space_to_batch_nd(operand input, operand block_shape, operand paddings,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct space_to_depth_options {
  std::string data_format = "NHWC";
};
/// Makes each block of block_size x block_size pixels one pixel with as many times the channels.
///
/// The channels of the pixels follow each other row by row. data_format says whether the channels
/// are the last axis (NHWC) or axis 1 (NCHW).
edge space_to_depth(operand input, int64_t block_size, const space_to_depth_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge space_to_depth(operand input, int64_t block_size, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return space_to_depth(input, block_size, space_to_depth_options{}, name, where);
}

struct sparse_accumulator_apply_gradient_options {
  int64_t contributor = -1;
};
/// Adds rows of a gradient to an accumulator, unless it was computed for an older global step.
///
/// gradient_shape is looked at where has_known_shape is set. contributor is as in
/// AccumulatorApplyGradient.
node* sparse_accumulator_apply_gradient(operand handle, operand local_step,
    operand gradient_indices, operand gradient_values, operand gradient_shape,
    bool has_known_shape, const sparse_accumulator_apply_gradient_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* sparse_accumulator_apply_gradient(operand handle, operand local_step,
    operand gradient_indices, operand gradient_values, operand gradient_shape,
    bool has_known_shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_accumulator_apply_gradient(handle, local_step, gradient_indices, gradient_values, gradient_shape, has_known_shape, sparse_accumulator_apply_gradient_options{}, name, where);
}

struct sparse_accumulator_take_gradient_outputs {
  edge indices;
  edge values;
  edge shape;
};
/// Waits until enough sparse gradients have been added, and gives their indices in rising order,
/// the mean or sum of each row, and the shape of the whole.
sparse_accumulator_take_gradient_outputs sparse_accumulator_take_gradient(operand handle,
    operand num_required, troupe::dtype dtype, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_add_outputs {
  edge sum_indices;
  edge sum_values;
  edge sum_shape;
};
/// Adds two sparse tensors of the same shape, whose indices are in order.
///
/// The sum has an element wherever one of them has one, unless both have one and the absolute value
/// of their sum is below thresh.
sparse_add_outputs sparse_add(operand a_indices, operand a_values, operand a_shape,
    operand b_indices, operand b_values, operand b_shape, operand thresh,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct sparse_add_grad_outputs {
  edge a_val_grad;
  edge b_val_grad;
};
/// Hands the gradient of each element of a sum to the elements of a and b that it was made of.
///
/// Elements whose sum was left out get 0. All indices are in order.
sparse_add_grad_outputs sparse_add_grad(operand backprop_val_grad, operand a_indices,
    operand b_indices, operand sum_indices, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_apply_adadelta_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with rates from past updates, for the rows that indices
/// names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. accum = rho * accum +
/// (1 - rho) * grad * grad; update = sqrt((accum_update + epsilon) / (accum + epsilon)) * grad;
/// accum_update = rho * accum_update + (1 - rho) * update * update; var -= lr * update. An index
/// that comes twice is applied twice, in order. Updates that share variables exclude each other;
/// with use_locking=false they race, as is TensorFlow's default, and concurrent updates may be lost
/// in part.
edge sparse_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, operand indices,
    const sparse_apply_adadelta_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_apply_adadelta(operand var, operand accum, operand accum_update, operand lr,
    operand rho, operand epsilon, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_adadelta(var, accum, accum_update, lr, rho, epsilon, grad, indices, sparse_apply_adadelta_options{}, name, where);
}

struct sparse_apply_adagrad_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large, for the rows that
/// indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. accum += grad * grad,
/// unless update_slots is false; then var -= lr * grad / sqrt(accum). An index that comes twice is
/// applied twice, in order. Updates that share variables exclude each other; with use_locking=false
/// they race, as is TensorFlow's default, and concurrent updates may be lost in part.
edge sparse_apply_adagrad(operand var, operand accum, operand lr, operand grad, operand indices,
    const sparse_apply_adagrad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_apply_adagrad(operand var, operand accum, operand lr, operand grad,
    operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_adagrad(var, accum, lr, grad, indices, sparse_apply_adagrad_options{}, name, where);
}

struct sparse_apply_adagrad_da_options {
  bool use_locking = true;
};
/// Sets a variable by the sum of all its gradients (dual averaging), for the rows that indices
/// names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. gradient_accumulator
/// += grad and gradient_squared_accumulator += grad * grad; then var = -lr * shrunk / (l2 *
/// global_step * lr + sqrt(gradient_squared_accumulator)), where shrunk is gradient_accumulator,
/// closer to zero by l1 * global_step, or zero. A negative l1 counts as 0. An index that comes
/// twice is applied twice, in order. Updates that share variables exclude each other; with
/// use_locking=false they race, as is TensorFlow's default, and concurrent updates may be lost in
/// part.
edge sparse_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand indices, operand lr, operand l1,
    operand l2, operand global_step, const sparse_apply_adagrad_da_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_apply_adagrad_da(operand var, operand gradient_accumulator,
    operand gradient_squared_accumulator, operand grad, operand indices, operand lr, operand l1,
    operand l2, operand global_step, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, indices, lr, l1, l2, global_step, sparse_apply_adagrad_da_options{}, name, where);
}

struct sparse_apply_adagrad_v2_options {
  bool use_locking = true;
  bool update_slots = true;
};
/// Steps a variable against its gradient, by less where gradients were large, for the rows that
/// indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. An index that comes
/// twice is applied twice, in order. accum += grad * grad, unless update_slots is false; then var
/// -= lr * grad / (sqrt(accum) + epsilon). Updates that share variables exclude each other; with
/// use_locking=false they race, as is TensorFlow's default, and concurrent updates may be lost in
/// part.
edge sparse_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, operand indices, const sparse_apply_adagrad_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_apply_adagrad_v2(operand var, operand accum, operand lr, operand epsilon,
    operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_adagrad_v2(var, accum, lr, epsilon, grad, indices, sparse_apply_adagrad_v2_options{}, name, where);
}

struct sparse_apply_centered_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the centered RMSProp algorithm, for the rows that indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. ms += (grad * grad -
/// ms) * (1 - rho) and mg += (grad - mg) * (1 - rho); mom = momentum * mom + lr * grad / sqrt(ms -
/// mg * mg + epsilon); var -= mom. An index that comes twice is applied twice, in order. Updates
/// that share variables exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge sparse_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom, operand lr,
    operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    const sparse_apply_centered_rms_prop_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_apply_centered_rms_prop(operand var, operand mg, operand ms, operand mom,
    operand lr, operand rho, operand momentum, operand epsilon, operand grad, operand indices,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return sparse_apply_centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices, sparse_apply_centered_rms_prop_options{}, name, where);
}

struct sparse_apply_ftrl_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm, for the rows that indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. With power(x) =
/// x^-lr_power: the new accum is accum + grad * grad; linear += grad - (power(new accum) -
/// power(accum)) / lr * var; var = (clip(linear, -l1, l1) - linear) / (power(new accum) / lr + 2 *
/// l2). With multiply_linear_by_lr, linear holds lr times that, and lr may be 0. An index that
/// comes twice is applied twice, in order. Updates that share variables exclude each other; with
/// use_locking=false they race, as is TensorFlow's default, and concurrent updates may be lost in
/// part.
edge sparse_apply_ftrl(operand var, operand accum, operand linear, operand grad, operand indices,
    operand lr, operand l1, operand l2, operand lr_power,
    const sparse_apply_ftrl_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_apply_ftrl(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand lr_power, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_ftrl(var, accum, linear, grad, indices, lr, l1, l2, lr_power, sparse_apply_ftrl_options{}, name, where);
}

struct sparse_apply_ftrl_v2_options {
  bool use_locking = true;
  bool multiply_linear_by_lr = false;
};
/// Steps a variable by the Ftrl-proximal algorithm, with shrinkage, for the rows that indices
/// names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. All else is as with
/// ApplyFtrlV2. An index that comes twice is applied twice, in order. Updates that share variables
/// exclude each other; with use_locking=false they race, as is TensorFlow's default, and concurrent
/// updates may be lost in part.
edge sparse_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    const sparse_apply_ftrl_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_apply_ftrl_v2(operand var, operand accum, operand linear, operand grad,
    operand indices, operand lr, operand l1, operand l2, operand l2_shrinkage, operand lr_power,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return sparse_apply_ftrl_v2(var, accum, linear, grad, indices, lr, l1, l2, l2_shrinkage, lr_power, sparse_apply_ftrl_v2_options{}, name, where);
}

struct sparse_apply_momentum_options {
  bool use_locking = true;
  bool use_nesterov = false;
};
/// Steps a variable against its gradient, with momentum, for the rows that indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. accum = accum *
/// momentum + grad, then var -= lr * accum; with use_nesterov var -= lr * (grad + momentum *
/// accum). An index that comes twice is applied twice, in order. Updates that share variables
/// exclude each other; with use_locking=false they race, as is TensorFlow's default, and concurrent
/// updates may be lost in part.
edge sparse_apply_momentum(operand var, operand accum, operand lr, operand grad, operand indices,
    operand momentum, const sparse_apply_momentum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_apply_momentum(operand var, operand accum, operand lr, operand grad,
    operand indices, operand momentum, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_momentum(var, accum, lr, grad, indices, momentum, sparse_apply_momentum_options{}, name, where);
}

struct sparse_apply_proximal_adagrad_options {
  bool use_locking = true;
};
/// Steps a variable by Adagrad, with forward-backward splitting for l1 and l2, for the rows that
/// indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. accum += grad * grad;
/// rate = lr / sqrt(accum); prox = var - rate * grad; var = prox, closer to zero by rate * l1, or
/// zero, divided by 1 + l2 * rate. A negative l1 counts as 0. An index that comes twice is applied
/// twice, in order. Updates that share variables exclude each other; with use_locking=false they
/// race, as is TensorFlow's default, and concurrent updates may be lost in part.
edge sparse_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1, operand l2,
    operand grad, operand indices, const sparse_apply_proximal_adagrad_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_apply_proximal_adagrad(operand var, operand accum, operand lr, operand l1,
    operand l2, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_proximal_adagrad(var, accum, lr, l1, l2, grad, indices, sparse_apply_proximal_adagrad_options{}, name, where);
}

struct sparse_apply_proximal_gradient_descent_options {
  bool use_locking = true;
};
/// Steps a variable against its gradient, with forward-backward splitting for l1 and l2, for the
/// rows that indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. rate = alpha; prox =
/// var - rate * gradient; var = prox, closer to zero by rate * l1, or zero, divided by 1 + l2 *
/// rate. A negative l1 counts as 0. An index that comes twice is applied twice, in order. Updates
/// that share variables exclude each other; with use_locking=false they race, as is TensorFlow's
/// default, and concurrent updates may be lost in part.
edge sparse_apply_proximal_gradient_descent(operand var, operand alpha, operand l1, operand l2,
    operand grad, operand indices,
    const sparse_apply_proximal_gradient_descent_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_apply_proximal_gradient_descent(operand var, operand alpha, operand l1,
    operand l2, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_proximal_gradient_descent(var, alpha, l1, l2, grad, indices, sparse_apply_proximal_gradient_descent_options{}, name, where);
}

struct sparse_apply_rms_prop_options {
  bool use_locking = true;
};
/// Steps a variable by the RMSProp algorithm, for the rows that indices names.
///
/// Row i of grad belongs to row indices[i] of the variable; other rows stay. ms += (grad * grad -
/// ms) * (1 - rho); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom. An index
/// that comes twice is applied twice, in order. Updates that share variables exclude each other;
/// with use_locking=false they race, as is TensorFlow's default, and concurrent updates may be lost
/// in part.
edge sparse_apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad, operand indices,
    const sparse_apply_rms_prop_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_apply_rms_prop(operand var, operand ms, operand mom, operand lr, operand rho,
    operand momentum, operand epsilon, operand grad, operand indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_apply_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad, indices, sparse_apply_rms_prop_options{}, name, where);
}

struct sparse_concat_outputs {
  edge output_indices;
  edge output_values;
  edge output_shape;
};
/// Joins sparse tensors along an axis, which may be negative.
///
/// Their shapes must be the same but for that axis. The elements of the result are in order.
sparse_concat_outputs sparse_concat(const std::vector<edge>& indices,
    const std::vector<edge>& values, const std::vector<edge>& shapes, int64_t concat_dim,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct sparse_conditional_accumulator_options {
  troupe::partial_shape shape = {};
  std::string container = {};
  std::string shared_name = {};
  std::string reduction_type = "MEAN";
};
/// Adds up sparse gradients of one variable, until a step takes their mean.
///
/// Like ConditionalAccumulator, but a gradient consists of rows and their indices. The mean of a
/// row is over those gradients that have it; with the reduction_type MEAN_OF_ALL, which TensorFlow
/// does not know, over all that were taken.
edge sparse_conditional_accumulator(graph& in, troupe::dtype dtype,
    const sparse_conditional_accumulator_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_conditional_accumulator(graph& in, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_conditional_accumulator(in, dtype, sparse_conditional_accumulator_options{}, name, where);
}

/// Adds a dense tensor to a sparse one, where that has elements.
///
/// The dense tensor is broadcast to the shape of the sparse one, which must not have to be
/// broadcast itself. The output is the values; indices and shape stay.
edge sparse_dense_cwise_add(operand sp_indices, operand sp_values, operand sp_shape,
    operand dense, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides a sparse tensor by a dense one, element by element.
///
/// The dense tensor is broadcast to the shape of the sparse one, which must not have to be
/// broadcast itself. The output is the values; indices and shape stay.
edge sparse_dense_cwise_div(operand sp_indices, operand sp_values, operand sp_shape,
    operand dense, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Multiplies a sparse tensor by a dense one, element by element.
///
/// The dense tensor is broadcast to the shape of the sparse one, which must not have to be
/// broadcast itself. The output is the values; indices and shape stay.
edge sparse_dense_cwise_mul(operand sp_indices, operand sp_values, operand sp_shape,
    operand dense, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_fill_empty_rows_outputs {
  edge output_indices;
  edge output_values;
  edge empty_row_indicator;
  edge reverse_index_map;
};
/// Adds an element with default_value, in the first column, to each row that has none.
///
/// The output is ordered by rows. empty_row_indicator says which rows were empty, reverse_index_map
/// where each element went.
sparse_fill_empty_rows_outputs sparse_fill_empty_rows(operand indices, operand values,
    operand dense_shape, operand default_value, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_fill_empty_rows_grad_outputs {
  edge d_values;
  edge d_default_value;
};
/// Hands gradients back to the elements that they came from, and the sum of the others to the
/// default value.
sparse_fill_empty_rows_grad_outputs sparse_fill_empty_rows_grad(operand reverse_index_map,
    operand grad_values, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
  bool a_is_sparse = false;
  bool b_is_sparse = false;
};
/// Multiplies two matrices of f32 or bf16, either of them transposed first if asked.
///
/// The product is f32. Operands are dense; a_is_sparse and b_is_sparse hint at many zeros and
/// change nothing.
edge sparse_matmul(operand a, operand b, const sparse_matmul_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_matmul(operand a, operand b, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_matmul(a, b, sparse_matmul_options{}, name, where);
}

struct sparse_reduce_max_options {
  bool keep_dims = false;
};
/// Finds the largest elements of a sparse tensor along axes; the result is dense.
///
/// Elements that are not there do not count; where there are none the result is 0. With keep_dims
/// the reduced axes stay, with extent 1. Elements that are equally large share the gradient.
edge sparse_reduce_max(operand input_indices, operand input_values, operand input_shape,
    operand reduction_axes, const sparse_reduce_max_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_reduce_max(operand input_indices, operand input_values, operand input_shape,
    operand reduction_axes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_reduce_max(input_indices, input_values, input_shape, reduction_axes, sparse_reduce_max_options{}, name, where);
}

struct sparse_reduce_sum_options {
  bool keep_dims = false;
};
/// Adds up the elements of a sparse tensor along axes; the result is dense.
///
/// The sum of nothing is 0. With keep_dims the reduced axes stay, with extent 1.
edge sparse_reduce_sum(operand input_indices, operand input_values, operand input_shape,
    operand reduction_axes, const sparse_reduce_sum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_reduce_sum(operand input_indices, operand input_values, operand input_shape,
    operand reduction_axes, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_reduce_sum(input_indices, input_values, input_shape, reduction_axes, sparse_reduce_sum_options{}, name, where);
}

struct sparse_reorder_outputs {
  edge output_indices;
  edge output_values;
};
/// Puts the elements of a sparse tensor in the lexicographic order of their indices.
///
/// Elements with the same index keep their order.
sparse_reorder_outputs sparse_reorder(operand input_indices, operand input_values,
    operand input_shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_reshape_outputs {
  edge output_indices;
  edge output_shape;
};
/// Gives a sparse tensor another shape of as many elements, counting those that are not there.
///
/// One extent of new_shape may be -1, which then follows from the others. Values, and their order,
/// stay as they are.
sparse_reshape_outputs sparse_reshape(operand input_indices, operand input_shape,
    operand new_shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the mean of the rows of data at indices that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. The last number plus one is the number of rows of the output.
edge sparse_segment_mean(operand data, operand indices, operand segment_ids,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Computes the gradient of SparseSegmentMean with respect to its data, which has output_dim0 rows.
///
/// Entry k adds row segment_ids[k] of grad, divided by the number of entries of that segment, to
/// row indices[k] of the output.
edge sparse_segment_mean_grad(operand grad, operand indices, operand segment_ids,
    operand output_dim0, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the mean of the rows of data at indices that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. num_segments is the number of rows of the output.
edge sparse_segment_mean_with_num_segments(operand data, operand indices, operand segment_ids,
    operand num_segments, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up the rows of data at indices that have the same number in segment_ids, and divides each
/// sum by the square root of the number of its rows.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. The last number plus one is the number of rows of the output.
edge sparse_segment_sqrt_n(operand data, operand indices, operand segment_ids,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Computes the gradient of SparseSegmentSqrtN with respect to its data, which has output_dim0
/// rows.
///
/// Entry k adds row segment_ids[k] of grad, divided by the square root of the number of entries of
/// that segment, to row indices[k] of the output.
edge sparse_segment_sqrt_n_grad(operand grad, operand indices, operand segment_ids,
    operand output_dim0, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up the rows of data at indices that have the same number in segment_ids, and divides each
/// sum by the square root of the number of its rows.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. num_segments is the number of rows of the output.
edge sparse_segment_sqrt_n_with_num_segments(operand data, operand indices, operand segment_ids,
    operand num_segments, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up the rows of data at indices that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. The last number plus one is the number of rows of the output.
edge sparse_segment_sum(operand data, operand indices, operand segment_ids,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Computes the gradient of SparseSegmentSum with respect to its data, which has output_dim0 rows.
///
/// Entry k adds row segment_ids[k] of grad to row indices[k] of the output.
edge sparse_segment_sum_grad(operand grad, operand indices, operand segment_ids,
    operand output_dim0, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds up the rows of data at indices that have the same number in segment_ids.
///
/// The numbers must not decrease. Row i of the output comes from the rows numbered i, or is zeros
/// if there are none. num_segments is the number of rows of the output.
edge sparse_segment_sum_with_num_segments(operand data, operand indices, operand segment_ids,
    operand num_segments, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_slice_outputs {
  edge output_indices;
  edge output_values;
  edge output_shape;
};
/// Takes the elements of a block that begins at start and has the extents size.
///
/// The block may reach beyond the tensor; output_shape is the part inside. Elements keep their
/// order.
sparse_slice_outputs sparse_slice(operand indices, operand values, operand shape, operand start,
    operand size, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Hands the gradient of each element that SparseSlice kept to the element that it was.
///
/// Elements that were left out get 0. Both lists of indices are in the same order.
edge sparse_slice_grad(operand backprop_val_grad, operand input_indices, operand input_start,
    operand output_indices, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Exponentiates, then normalizes, the elements of each row of the last axis that are there.
///
/// Elements that are not there stay so: they count as minus infinity, not as 0. The output is the
/// values.
edge sparse_softmax(operand sp_indices, operand sp_values, operand sp_shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct sparse_softmax_cross_entropy_with_logits_outputs {
  edge loss;
  edge backprop;
};
/// Computes the cross entropy between the softmax of each row of features and the class that its
/// label numbers.
///
/// The second output is the gradient of the loss with respect to the features. A label outside [0,
/// classes) is an error.
sparse_softmax_cross_entropy_with_logits_outputs sparse_softmax_cross_entropy_with_logits(operand features,
    operand labels, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct sparse_sparse_maximum_outputs {
  edge output_indices;
  edge output_values;
};
/// Finds the larger of each two elements of two sparse tensors of the same shape, whose indices are
/// in order.
///
/// The output has an element wherever one of them has one; what is not there counts as 0. The
/// gradient goes to a where both are equal.
sparse_sparse_maximum_outputs sparse_sparse_maximum(operand a_indices, operand a_values,
    operand a_shape, operand b_indices, operand b_values, operand b_shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct sparse_sparse_minimum_outputs {
  edge output_indices;
  edge output_values;
};
/// Finds the smaller of each two elements of two sparse tensors of the same shape, whose indices
/// are in order.
///
/// The output has an element wherever one of them has one; what is not there counts as 0. The
/// gradient goes to a where both are equal.
sparse_sparse_minimum_outputs sparse_sparse_minimum(operand a_indices, operand a_values,
    operand a_shape, operand b_indices, operand b_values, operand b_shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct sparse_split_outputs {
  std::vector<edge> output_indices;
  std::vector<edge> output_values;
  std::vector<edge> output_shape;
};
/// Cuts a sparse tensor into num_split blocks along an axis.
///
/// Where the extent is no multiple of num_split, the first blocks are longer by one. Elements keep
/// their order.
sparse_split_outputs sparse_split(operand split_dim, operand indices, operand values,
    operand shape, int64_t num_split, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds a sparse tensor to a dense one of the same shape.
///
/// The order of the indices does not matter, and elements that are there twice are added twice.
edge sparse_tensor_dense_add(operand a_indices, operand a_values, operand a_shape, operand b,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct sparse_tensor_dense_mat_mul_options {
  bool adjoint_a = false;
  bool adjoint_b = false;
};
/// Multiplies a sparse matrix by a dense one, each of them transposed and conjugated first if
/// asked.
///
/// The order of the indices does not matter.
edge sparse_tensor_dense_mat_mul(operand a_indices, operand a_values, operand a_shape, operand b,
    const sparse_tensor_dense_mat_mul_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge sparse_tensor_dense_mat_mul(operand a_indices, operand a_values, operand a_shape,
    operand b, std::string_view name, std::source_location where = std::source_location::current()) {
  return sparse_tensor_dense_mat_mul(a_indices, a_values, a_shape, b, sparse_tensor_dense_mat_mul_options{}, name, where);
}

struct sparse_to_dense_options {
  bool validate_indices = true;
};
/// Fills a tensor with default_value, and sets the elements that sparse_indices names.
///
/// sparse_indices lists indices [count, rank]; a vector lists elements of a vector, a scalar is one
/// such. sparse_values has a value for each, or is a scalar for all. With validate_indices they
/// must be in lexicographic order, each once; otherwise the last one counts.
edge sparse_to_dense(operand sparse_indices, operand output_shape, operand sparse_values,
    operand default_value, const sparse_to_dense_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sparse_to_dense(operand sparse_indices, operand output_shape, operand sparse_values,
    operand default_value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value, sparse_to_dense_options{}, name, where);
}

struct sparsify_top_k_outputs {
  edge values;
  edge positions;
};
/// Adds a gradient to a residual, and takes out the k elements of the greatest magnitude.
///
/// Gives their values and their positions among all elements, in rising order; the rest stays in
/// the residual, for later steps (error feedback). Of equal magnitudes the first are taken; a NaN
/// counts as greater than every number. What was taken out is gone from the residual, also if the
/// step fails later. Elements are counted in i32: there may be 2,147,483,647. DensifyTopK makes a
/// gradient of it again.
sparsify_top_k_outputs sparsify_top_k(operand residual, operand gradient, operand k,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Cuts a tensor along axis split_dim into num_split parts of equal extent.
std::vector<edge> split(operand split_dim, operand value, int64_t num_split,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Cuts a tensor along axis split_dim into parts of the extents that size_splits lists.
///
/// One of them may be -1: that part gets what is left. Together they must make up the axis.
std::vector<edge> split_v(operand value, operand size_splits, operand split_dim,
    int64_t num_split, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the square root of each element.
///
/// It is NaN for negative numbers.
edge sqrt(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Sqrt from its output y: dy / (2 y).
///
/// It is 0 where dy is, whatever y is. For complex numbers it takes the conjugate of y.
edge sqrt_grad(operand y, operand dy, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Multiplies each element by itself.
///
/// Whole numbers wrap around.
edge square(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Squares the difference of x and y, element by element.
///
/// Broadcasts by NumPy's rules. For complex numbers it is the difference times its conjugate.
edge squared_difference(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct squeeze_options {
  std::vector<int64_t> squeeze_dims = {};
};
/// Removes the axes in squeeze_dims, whose extent must be 1; by default all axes of extent 1.
///
/// The memory is shared.
edge squeeze(operand input, const squeeze_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge squeeze(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return squeeze(input, squeeze_options{}, name, where);
}

struct new_stack_options {
  std::string stack_name = {};
};
/// Makes an empty stack without a limit of its elements.
///
/// Otherwise the same as StackV2.
edge new_stack(graph& in, troupe::dtype elem_type, const new_stack_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge new_stack(graph& in, troupe::dtype elem_type, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return new_stack(in, elem_type, new_stack_options{}, name, where);
}

/// Releases all elements of a stack.
///
/// The same as StackCloseV2 in all but its name, for graphs that use this one.
node* stack_close(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Releases all elements of a stack.
///
/// Any later use is an error. Closing is optional: all elements are released with the last handle.
node* stack_close_v2(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Removes the tensor from a stack that was pushed last, and outputs it.
///
/// The same as StackPopV2 in all but its name, for graphs that use this one.
edge stack_pop(operand handle, troupe::dtype elem_type, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Removes the tensor from a stack that was pushed last, and outputs it.
edge stack_pop_v2(operand handle, troupe::dtype elem_type, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct stack_push_options {
  bool swap_memory = false;
};
/// Pushes a tensor on a stack, and outputs it.
///
/// The same as StackPushV2 in all but its name, for graphs that use this one.
edge stack_push(operand handle, operand elem, const stack_push_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge stack_push(operand handle, operand elem, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stack_push(handle, elem, stack_push_options{}, name, where);
}

struct stack_push_v2_options {
  bool swap_memory = false;
};
/// Pushes a tensor on a stack, and outputs it.
///
/// Stacks are in the host's memory, to which tensors of a GPU are copied. With swap_memory, tensors
/// of at least 16 KiB are written to files, if the session or task has a folder for them. Otherwise
/// a tensor of a processor is not copied.
edge stack_push_v2(operand handle, operand elem, const stack_push_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge stack_push_v2(operand handle, operand elem, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stack_push_v2(handle, elem, stack_push_v2_options{}, name, where);
}

struct new_stack_v2_options {
  std::string stack_name = {};
};
/// Makes an empty stack.
///
/// Each run makes a new stack, which is released with its last handle. max_size is the maximum
/// number of elements; a negative number means no limit.
edge new_stack_v2(graph& in, operand max_size, troupe::dtype elem_type,
    const new_stack_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge new_stack_v2(graph& in, operand max_size, troupe::dtype elem_type,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return new_stack_v2(in, max_size, elem_type, new_stack_v2_options{}, name, where);
}

struct stage_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Puts a tuple into a staging area, as soon as there is room.
///
/// The area lives in the named container of its task, under shared_name or else the node's name;
/// all nodes of the name share it. It holds `capacity` tuples of `memory_limit` bytes together (0:
/// no limit). Fails with resource_exhausted where a tuple alone is larger.
node* stage(const std::vector<edge>& values, const stage_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline node* stage(const std::vector<edge>& values, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stage(values, stage_options{}, name, where);
}

struct stage_clear_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Drops the tuples of a staging area.
node* stage_clear(graph& in, const stage_clear_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline node* stage_clear(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stage_clear(in, stage_clear_options{}, name, where);
}

struct stage_peek_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Looks at the tuple in that place of a staging area's line, as soon as there is one.
std::vector<edge> stage_peek(operand index, const std::vector<troupe::dtype>& dtypes,
    const stage_peek_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> stage_peek(operand index, const std::vector<troupe::dtype>& dtypes,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return stage_peek(index, dtypes, stage_peek_options{}, name, where);
}

struct stage_size_options {
  std::vector<troupe::dtype> dtypes = {};
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Counts the tuples of a staging area at this moment.
edge stage_size(graph& in, const stage_size_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stage_size(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stage_size(in, stage_size_options{}, name, where);
}

struct stateful_standard_normal_v2_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers from the normal distribution with mean 0 and variance 1, from a generator.
///
/// The generator's state is a variable, i64[3], which RngSkip describes: equal states give equal
/// numbers, which are not those of other implementations.
edge stateful_standard_normal_v2(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_standard_normal_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateful_standard_normal_v2(graph& in, operand resource, operand algorithm,
    operand shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateful_standard_normal_v2(in, resource, algorithm, shape, stateful_standard_normal_v2_options{}, name, where);
}

struct stateful_truncated_normal_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers from the standard normal distribution, again where one is beyond 2, from a
/// generator.
///
/// The generator's state is a variable, i64[3], which RngSkip describes: equal states give equal
/// numbers, which are not those of other implementations.
edge stateful_truncated_normal(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_truncated_normal_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateful_truncated_normal(graph& in, operand resource, operand algorithm,
    operand shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateful_truncated_normal(in, resource, algorithm, shape, stateful_truncated_normal_options{}, name, where);
}

struct stateful_uniform_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers evenly from [0, 1), from a generator.
///
/// The generator's state is a variable, i64[3], which RngSkip describes: equal states give equal
/// numbers, which are not those of other implementations.
edge stateful_uniform(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_uniform_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateful_uniform(graph& in, operand resource, operand algorithm, operand shape,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return stateful_uniform(in, resource, algorithm, shape, stateful_uniform_options{}, name, where);
}

struct stateful_uniform_full_int_options {
  troupe::dtype dtype = troupe::dtype::u64;
};
/// Draws whole numbers of all bits, from a generator.
///
/// The generator's state is a variable, i64[3], which RngSkip describes: equal states give equal
/// numbers.
edge stateful_uniform_full_int(graph& in, operand resource, operand algorithm, operand shape,
    const stateful_uniform_full_int_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateful_uniform_full_int(graph& in, operand resource, operand algorithm,
    operand shape, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateful_uniform_full_int(in, resource, algorithm, shape, stateful_uniform_full_int_options{}, name, where);
}

/// Draws whole numbers evenly from [minval, maxval), from a generator.
///
/// Where the size of that range does not divide the numbers of a word, the smaller ones are a
/// little more likely. The generator's state is a variable, i64[3], which RngSkip describes: equal
/// states give equal numbers.
edge stateful_uniform_int(graph& in, operand resource, operand algorithm, operand shape,
    operand minval, operand maxval, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Names the algorithm that random numbers are drawn by: 1, Philox.
edge stateless_random_get_alg(graph& in, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct stateless_random_get_key_counter_outputs {
  edge key;
  edge counter;
};
/// Makes a key and a counter of two seeds.
///
/// Other seeds give others: they are mixed, so that small seeds do as well as large ones.
stateless_random_get_key_counter_outputs stateless_random_get_key_counter(operand seed,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct stateless_random_get_key_counter_alg_outputs {
  edge key;
  edge counter;
  edge alg;
};
/// Makes a key and a counter of two seeds, and names the algorithm: 1, Philox.
stateless_random_get_key_counter_alg_outputs stateless_random_get_key_counter_alg(operand seed,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct stateless_random_normal_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers from the normal distribution with mean 0 and variance 1.
///
/// Equal seeds give equal numbers, in each run and whatever the number of threads; they are not the
/// numbers of other implementations.
edge stateless_random_normal(graph& in, operand shape, operand seed,
    const stateless_random_normal_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateless_random_normal(graph& in, operand shape, operand seed, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateless_random_normal(in, shape, seed, stateless_random_normal_options{}, name, where);
}

struct stateless_random_normal_v2_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers from the normal distribution with mean 0 and variance 1, by a key and a counter.
///
/// StatelessRandomUniformV2 describes these. Equal ones give equal numbers, which are not those of
/// other implementations.
edge stateless_random_normal_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_random_normal_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge stateless_random_normal_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateless_random_normal_v2(in, shape, key, counter, alg, stateless_random_normal_v2_options{}, name, where);
}

struct stateless_random_uniform_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers evenly from [0, 1).
///
/// Equal seeds give equal numbers, in each run and whatever the number of threads; they are not the
/// numbers of other implementations.
edge stateless_random_uniform(graph& in, operand shape, operand seed,
    const stateless_random_uniform_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateless_random_uniform(graph& in, operand shape, operand seed,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return stateless_random_uniform(in, shape, seed, stateless_random_uniform_options{}, name, where);
}

struct stateless_random_uniform_full_int_v2_options {
  troupe::dtype dtype = troupe::dtype::u64;
};
/// Draws whole numbers of all bits, by a key and a counter.
///
/// StatelessRandomUniformV2 describes these. Equal ones give equal numbers.
edge stateless_random_uniform_full_int_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_random_uniform_full_int_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge stateless_random_uniform_full_int_v2(graph& in, operand shape, operand key,
    operand counter, operand alg, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateless_random_uniform_full_int_v2(in, shape, key, counter, alg, stateless_random_uniform_full_int_v2_options{}, name, where);
}

/// Draws whole numbers evenly from [minval, maxval), by a key and a counter.
///
/// StatelessRandomUniformV2 describes these. Equal ones give equal numbers. Where the size of the
/// range does not divide the numbers of a word, the smaller ones are a little more likely.
edge stateless_random_uniform_int_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, operand minval, operand maxval, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct stateless_random_uniform_v2_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers evenly from [0, 1), by a key and a counter.
///
/// They are a generator's (RngReadAndSkip), or a seed's (StatelessRandomGetKeyCounter). Equal ones
/// give equal numbers, which are not those of other implementations. alg is 1, Philox, or 3, any.
edge stateless_random_uniform_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_random_uniform_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge stateless_random_uniform_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateless_random_uniform_v2(in, shape, key, counter, alg, stateless_random_uniform_v2_options{}, name, where);
}

struct stateless_truncated_normal_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers from the standard normal distribution, again where one is beyond 2.
///
/// Equal seeds give equal numbers, in each run and whatever the number of threads; they are not the
/// numbers of other implementations.
edge stateless_truncated_normal(graph& in, operand shape, operand seed,
    const stateless_truncated_normal_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge stateless_truncated_normal(graph& in, operand shape, operand seed,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return stateless_truncated_normal(in, shape, seed, stateless_truncated_normal_options{}, name, where);
}

struct stateless_truncated_normal_v2_options {
  troupe::dtype dtype = troupe::dtype::f32;
};
/// Draws numbers from the standard normal distribution, again where one is beyond 2, by a key and a
/// counter.
///
/// StatelessRandomUniformV2 describes these. Equal ones give equal numbers, which are not those of
/// other implementations.
edge stateless_truncated_normal_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, const stateless_truncated_normal_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge stateless_truncated_normal_v2(graph& in, operand shape, operand key, operand counter,
    operand alg, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return stateless_truncated_normal_v2(in, shape, key, counter, alg, stateless_truncated_normal_v2_options{}, name, where);
}

/// Says which strings match a regular expression that is known while the graph is built.
edge static_regex_full_match(operand input, std::string_view pattern, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct static_regex_replace_options {
  bool replace_global = true;
};
/// Replaces what matches a regular expression that is known while the graph is built.
///
/// Otherwise as RegexReplace.
edge static_regex_replace(operand input, std::string_view pattern, std::string_view rewrite,
    const static_regex_replace_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge static_regex_replace(operand input, std::string_view pattern,
    std::string_view rewrite, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return static_regex_replace(input, pattern, rewrite, static_regex_replace_options{}, name, where);
}

/// Gives its input, and lets no gradient through.
edge stop_gradient(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct strided_slice_options {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
/// Takes the elements from begin up to, but not including, end in steps of strides.
///
/// Item i of the three lists is about the next axis; negative places count from the end, and those
/// beyond the axis mean its end. A negative stride goes backwards. Where bit i of a mask is set,
/// item i means something else: with begin_mask and end_mask the axis is taken from its very start
/// and to its end; with ellipsis_mask all axes that no other item names are taken whole;
/// new_axis_mask adds an axis of extent 1; shrink_axis_mask takes the one element at begin, and the
/// axis goes away.
edge strided_slice(operand input, operand begin, operand end, operand strides,
    const strided_slice_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge strided_slice(operand input, operand begin, operand end, operand strides,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return strided_slice(input, begin, end, strides, strided_slice_options{}, name, where);
}

struct strided_slice_assign_options {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
/// Replaces the elements of a variable that StridedSlice would take from it.
///
/// The value must have the shape of the slice. Updates of one variable exclude each other.
edge strided_slice_assign(operand ref, operand begin, operand end, operand strides, operand value,
    const strided_slice_assign_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge strided_slice_assign(operand ref, operand begin, operand end, operand strides,
    operand value, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return strided_slice_assign(ref, begin, end, strides, value, strided_slice_assign_options{}, name, where);
}

struct strided_slice_grad_options {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
/// Puts dy where StridedSlice would take it from in a tensor of the listed shape, which is zero
/// elsewhere.
edge strided_slice_grad(operand shape, operand begin, operand end, operand strides, operand dy,
    const strided_slice_grad_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge strided_slice_grad(operand shape, operand begin, operand end, operand strides,
    operand dy, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return strided_slice_grad(shape, begin, end, strides, dy, strided_slice_grad_options{}, name, where);
}

struct string_format_options {
  std::string template_ = "%s";
  std::string placeholder = "%s";
  int64_t summarize = 3;
};
/// Puts tensors into a text, in place of its placeholders.
///
/// Of each axis, the first and the last `summarize` elements are written, or all for a negative
/// number.
edge string_format(const std::vector<edge>& inputs, const string_format_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge string_format(const std::vector<edge>& inputs, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_format(inputs, string_format_options{}, name, where);
}

struct string_join_options {
  std::string separator = {};
};
/// Puts the strings of all inputs together, element by element, with a separator between them.
///
/// Inputs have one shape; scalars go with each element.
edge string_join(const std::vector<edge>& inputs, const string_join_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge string_join(const std::vector<edge>& inputs, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_join(inputs, string_join_options{}, name, where);
}

struct string_length_options {
  std::string unit = "BYTE";
};
/// Counts the bytes of each string, or its characters where `unit` is UTF8_CHAR.
///
/// Bytes that are no UTF-8 count as characters unless they look like the rest of one.
edge string_length(operand input, const string_length_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge string_length(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_length(input, string_length_options{}, name, where);
}

struct string_lower_options {
  std::string encoding = {};
};
/// Turns the letters of ASCII into lower case.
///
/// Other bytes stay as they are; TensorFlow's encoding "utf-8" is refused.
edge string_lower(operand input, const string_lower_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge string_lower(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_lower(input, string_lower_options{}, name, where);
}

struct string_split_options {
  bool skip_empty = true;
};
struct string_split_outputs {
  edge indices;
  edge values;
  edge shape;
};
/// Takes each string of a vector apart, at each of the delimiter's bytes.
///
/// The pieces are a sparse matrix, a row for each string: where they stand, what they are, and how
/// large the matrix is. With skip_empty, empty pieces are left out. An empty delimiter splits into
/// single bytes. An empty string has no pieces.
string_split_outputs string_split(operand input, operand delimiter,
    const string_split_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline string_split_outputs string_split(operand input, operand delimiter, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_split(input, delimiter, string_split_options{}, name, where);
}

struct string_split_v2_options {
  int64_t maxsplit = -1;
};
struct string_split_v2_outputs {
  edge indices;
  edge values;
  edge shape;
};
/// Takes each string of a vector apart, at the separator.
///
/// The pieces are a sparse matrix, a row for each string: where they stand, what they are, and how
/// large the matrix is. An empty separator is any amount of space, and none at both ends counts. A
/// maxsplit that is not negative is the most splits of a string.
string_split_v2_outputs string_split_v2(operand input, operand sep,
    const string_split_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline string_split_v2_outputs string_split_v2(operand input, operand sep, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_split_v2(input, sep, string_split_v2_options{}, name, where);
}

/// Removes spaces, tabs and the like from both ends of each string.
edge string_strip(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Hashes each string to one of num_buckets buckets, by MurmurHash64A.
///
/// TensorFlow gave this op no promise to keep its hash; new graphs take StringToHashBucketFast.
edge string_to_hash_bucket(operand string_tensor, int64_t num_buckets, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Hashes each string to one of num_buckets buckets, by the fingerprint of FarmHash.
///
/// The hash is the same on every machine and in every version. Who chooses the strings can choose
/// the bucket; see StringToHashBucketStrong.
edge string_to_hash_bucket_fast(operand input, int64_t num_buckets, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Hashes each string to one of num_buckets buckets, by SipHash with a key of two numbers.
///
/// Who does not know the key cannot choose strings that meet in one bucket.
edge string_to_hash_bucket_strong(operand input, int64_t num_buckets,
    const std::vector<int64_t>& key, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct string_to_number_options {
  troupe::dtype out_type = troupe::dtype::f32;
};
/// Reads each string as a decimal number.
///
/// Space around it is skipped. Whole numbers must fit their type; real ones that are too large
/// become infinite, and may be written "inf" or "nan".
edge string_to_number(operand string_tensor, const string_to_number_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge string_to_number(operand string_tensor, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_to_number(string_tensor, string_to_number_options{}, name, where);
}

struct string_upper_options {
  std::string encoding = {};
};
/// Turns the letters of ASCII into upper case.
///
/// Other bytes stay as they are; TensorFlow's encoding "utf-8" is refused.
edge string_upper(operand input, const string_upper_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge string_upper(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return string_upper(input, string_upper_options{}, name, where);
}

/// Subtracts y from x, element by element.
///
/// Broadcasts by NumPy's rules. Whole numbers wrap around.
edge sub(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct substr_options {
  std::string unit = "BYTE";
};
/// Takes `len` bytes from `pos` on out of each string, or characters where `unit` is UTF8_CHAR.
///
/// A negative pos counts from the end; one outside of the string fails. Where the string ends
/// earlier, so does the piece. The strings and the places are broadcast to one shape.
edge substr(operand input, operand pos, operand len, const substr_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge substr(operand input, operand pos, operand len, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return substr(input, pos, len, substr_options{}, name, where);
}

struct sum_options {
  bool keep_dims = false;
};
/// Adds up the elements along the axes in reduction_indices.
///
/// Negative axes count from the end; an empty list of axes changes nothing. With keep_dims the
/// reduced axes stay, with extent 1. The sum of nothing is 0.
edge sum(operand input, operand reduction_indices, const sum_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge sum(operand input, operand reduction_indices, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return sum(input, reduction_indices, sum_options{}, name, where);
}

struct svd_options {
  bool compute_uv = true;
  bool full_matrices = false;
};
struct svd_outputs {
  edge s;
  edge u;
  edge v;
};
/// Computes the singular values of each matrix, and the vectors that belong to them.
///
/// The last two axes are the matrices, and input = u * diag(s) * v'. Values decrease. Vectors are
/// the columns of u and v: as many as values, or bases of the whole space with full_matrices; empty
/// without compute_uv. Their signs are whatever the algorithm leaves. A matrix that is not finite
/// gives NaN. The gradient of vectors is defined for real matrices with values that differ and are
/// not 0.
svd_outputs svd(operand input, const svd_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline svd_outputs svd(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return svd(input, svd_options{}, name, where);
}

struct tf_record_reader_options {
  std::string compression_type = {};
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the records of TFRecord files.
///
/// A key is the file's name and the byte at which the record begins, before compression:
/// "a.tfrecord:0". A record that is damaged is an error, data_loss; the next read goes on behind
/// it, if its length is intact.
edge tf_record_reader(graph& in, const tf_record_reader_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge tf_record_reader(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tf_record_reader(in, tf_record_reader_options{}, name, where);
}

struct tf_record_reader_v2_options {
  std::string compression_type = {};
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the records of TFRecord files.
///
/// The same as TFRecordReader in all but its name, for graphs that use this one.
edge tf_record_reader_v2(graph& in, const tf_record_reader_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge tf_record_reader_v2(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tf_record_reader_v2(in, tf_record_reader_v2_options{}, name, where);
}

/// Takes the tangent of each element, an angle in radians.
edge tan(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the hyperbolic tangent of each element.
edge tanh(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the gradient of Tanh from its output y: dy * (1 - y^2).
edge tanh_grad(operand y, operand dy, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct temporary_variable_options {
  std::string var_name = {};
};
/// Holds a tensor within a step, and outputs a reference to it.
///
/// Each step has a variable of its own, which goes with it. It must be assigned before it is read
/// or updated; DestroyTemporaryVariable takes its value. var_name is by default the node's name.
edge temporary_variable(graph& in, const troupe::partial_shape& shape, troupe::dtype dtype,
    const temporary_variable_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge temporary_variable(graph& in, const troupe::partial_shape& shape, troupe::dtype dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return temporary_variable(in, shape, dtype, temporary_variable_options{}, name, where);
}

struct tensor_array_options {
  troupe::partial_shape element_shape = {};
  bool dynamic_size = false;
  bool clear_after_read = true;
  std::string tensor_array_name = {};
};
/// Makes an array of size elements that are not written.
///
/// The same as TensorArrayV2 in all but its name, for graphs that use this one.
edge tensor_array(graph& in, operand size, troupe::dtype dtype,
    const tensor_array_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_array(graph& in, operand size, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array(in, size, dtype, tensor_array_options{}, name, where);
}

/// Releases all elements of a TensorArray.
///
/// The same as TensorArrayCloseV3.
node* tensor_array_close(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Releases all elements of a TensorArray.
///
/// The same as TensorArrayCloseV3 in all but its name, for graphs that use this one.
node* tensor_array_close_v2(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Releases all elements of a TensorArray.
///
/// Any later use is an error. Closing is optional: all elements are released with the last handle.
node* tensor_array_close_v3(operand handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct tensor_array_concat_options {
  troupe::partial_shape element_shape_except0 = {};
};
struct tensor_array_concat_outputs {
  edge value;
  edge lengths;
};
/// Joins all elements of a TensorArray along their first axis.
///
/// The same as TensorArrayConcatV3.
tensor_array_concat_outputs tensor_array_concat(operand handle, operand flow_in,
    troupe::dtype dtype, const tensor_array_concat_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline tensor_array_concat_outputs tensor_array_concat(operand handle, operand flow_in,
    troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_concat(handle, flow_in, dtype, tensor_array_concat_options{}, name, where);
}

struct tensor_array_concat_v2_options {
  troupe::partial_shape element_shape_except0 = {};
};
struct tensor_array_concat_v2_outputs {
  edge value;
  edge lengths;
};
/// Joins all elements of a TensorArray along their first axis.
///
/// The same as TensorArrayConcatV3 in all but its name, for graphs that use this one.
tensor_array_concat_v2_outputs tensor_array_concat_v2(operand handle, operand flow_in,
    troupe::dtype dtype, const tensor_array_concat_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline tensor_array_concat_v2_outputs tensor_array_concat_v2(operand handle, operand flow_in,
    troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_concat_v2(handle, flow_in, dtype, tensor_array_concat_v2_options{}, name, where);
}

struct tensor_array_concat_v3_options {
  troupe::partial_shape element_shape_except0 = {};
};
struct tensor_array_concat_v3_outputs {
  edge value;
  edge lengths;
};
/// Joins all elements of a TensorArray along their first axis.
///
/// Also outputs the extent of each element along that axis. The other extents must be equal, and
/// compatible with element_shape_except0, which must be known if there are no elements. Counts as a
/// read of each element.
tensor_array_concat_v3_outputs tensor_array_concat_v3(operand handle, operand flow_in,
    troupe::dtype dtype, const tensor_array_concat_v3_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline tensor_array_concat_v3_outputs tensor_array_concat_v3(operand handle, operand flow_in,
    troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_concat_v3(handle, flow_in, dtype, tensor_array_concat_v3_options{}, name, where);
}

struct tensor_array_gather_options {
  troupe::partial_shape element_shape = {};
};
/// Joins the elements at indices along a new first axis.
///
/// The same as TensorArrayGatherV3.
edge tensor_array_gather(operand handle, operand indices, operand flow_in, troupe::dtype dtype,
    const tensor_array_gather_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_array_gather(operand handle, operand indices, operand flow_in,
    troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_gather(handle, indices, flow_in, dtype, tensor_array_gather_options{}, name, where);
}

struct tensor_array_gather_v2_options {
  troupe::partial_shape element_shape = {};
};
/// Joins the elements at indices along a new first axis.
///
/// The same as TensorArrayGatherV3 in all but its name, for graphs that use this one.
edge tensor_array_gather_v2(operand handle, operand indices, operand flow_in, troupe::dtype dtype,
    const tensor_array_gather_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_array_gather_v2(operand handle, operand indices, operand flow_in,
    troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_gather_v2(handle, indices, flow_in, dtype, tensor_array_gather_v2_options{}, name, where);
}

struct tensor_array_gather_v3_options {
  troupe::partial_shape element_shape = {};
};
/// Joins the elements at indices along a new first axis.
///
/// The elements must have one shape, which is compatible with element_shape. Without indices, the
/// shape must be known. Counts as a read of each element.
edge tensor_array_gather_v3(operand handle, operand indices, operand flow_in, troupe::dtype dtype,
    const tensor_array_gather_v3_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_array_gather_v3(operand handle, operand indices, operand flow_in,
    troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_gather_v3(handle, indices, flow_in, dtype, tensor_array_gather_v3_options{}, name, where);
}

/// Outputs the array of gradients of an array, for a source.
///
/// The same as TensorArrayGradV2 in all but its name, for graphs that use this one.
edge tensor_array_grad(operand handle, operand flow_in, std::string_view source,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Outputs the array of gradients of an array, for a source.
///
/// The same as TensorArrayGradV3, which also passes the flow on.
edge tensor_array_grad_v2(operand handle, operand flow_in, std::string_view source,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct tensor_array_grad_v3_outputs {
  edge grad_handle;
  edge flow_out;
};
/// Outputs the array of gradients of an array, for a source.
///
/// The first op for a source makes it, with the same number of elements; afterwards the array
/// cannot grow. Values that are written to one element are added up. An element that is not written
/// is zeros.
tensor_array_grad_v3_outputs tensor_array_grad_v3(operand handle, operand flow_in,
    std::string_view source, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct tensor_array_grad_with_shape_outputs {
  edge grad_handle;
  edge flow_out;
};
/// Outputs an array of gradients whose elements have additional leading axes.
///
/// Otherwise the same as TensorArrayGradV3. Used for gradients of several values together.
tensor_array_grad_with_shape_outputs tensor_array_grad_with_shape(operand handle, operand flow_in,
    operand shape_to_prepend, std::string_view source, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct tensor_array_pack_options {
  troupe::partial_shape element_shape = {};
};
/// Joins all elements of a TensorArray along a new first axis.
///
/// The same as TensorArrayGatherV3 with the indices of all elements in order.
edge tensor_array_pack(operand handle, operand flow_in, troupe::dtype dtype,
    const tensor_array_pack_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_array_pack(operand handle, operand flow_in, troupe::dtype dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_array_pack(handle, flow_in, dtype, tensor_array_pack_options{}, name, where);
}

/// Reads an element of a TensorArray.
///
/// The same as TensorArrayReadV3.
edge tensor_array_read(operand handle, operand index, operand flow_in, troupe::dtype dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Reads an element of a TensorArray.
///
/// The same as TensorArrayReadV3 in all but its name, for graphs that use this one.
edge tensor_array_read_v2(operand handle, operand index, operand flow_in, troupe::dtype dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Reads an element of a TensorArray.
///
/// An element that was not written is zeros if the array's element_shape is known, and otherwise an
/// error. Reading an element again is an error unless clear_after_read is false.
edge tensor_array_read_v3(operand handle, operand index, operand flow_in, troupe::dtype dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes the slices of a value along its first axis to the elements at indices.
///
/// The same as TensorArrayScatterV3.
edge tensor_array_scatter(operand handle, operand indices, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes the slices of a value along its first axis to the elements at indices.
///
/// The same as TensorArrayScatterV3 in all but its name, for graphs that use this one.
edge tensor_array_scatter_v2(operand handle, operand indices, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes the slices of a value along its first axis to the elements at indices.
edge tensor_array_scatter_v3(operand handle, operand indices, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Counts the elements of a TensorArray, written or not.
///
/// The same as TensorArraySizeV3.
edge tensor_array_size(operand handle, operand flow_in, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the elements of a TensorArray, written or not.
///
/// The same as TensorArraySizeV3 in all but its name, for graphs that use this one.
edge tensor_array_size_v2(operand handle, operand flow_in, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the elements of a TensorArray, written or not.
edge tensor_array_size_v3(operand handle, operand flow_in, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Splits a value along its first axis into the elements of a TensorArray.
///
/// The same as TensorArraySplitV3.
edge tensor_array_split(operand handle, operand value, operand lengths, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Splits a value along its first axis into the elements of a TensorArray.
///
/// The same as TensorArraySplitV3 in all but its name, for graphs that use this one.
edge tensor_array_split_v2(operand handle, operand value, operand lengths, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Splits a value along its first axis into the elements of a TensorArray.
///
/// lengths has a length for each element; they must add up to the extent of the axis.
edge tensor_array_split_v3(operand handle, operand value, operand lengths, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes the slices of a value along its first axis to the elements of a TensorArray.
///
/// The value has one slice for each element.
edge tensor_array_unpack(operand handle, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct tensor_array_v2_options {
  troupe::partial_shape element_shape = {};
  bool dynamic_size = false;
  bool clear_after_read = true;
  std::string tensor_array_name = {};
};
/// Makes an array of size elements that are not written.
///
/// The same as TensorArrayV3, which also outputs the first flow.
edge tensor_array_v2(graph& in, operand size, troupe::dtype dtype,
    const tensor_array_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_array_v2(graph& in, operand size, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_array_v2(in, size, dtype, tensor_array_v2_options{}, name, where);
}

struct tensor_array_v3_options {
  troupe::partial_shape element_shape = {};
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_element_shapes = false;
  std::string tensor_array_name = {};
};
struct tensor_array_v3_outputs {
  edge handle;
  edge flow;
};
/// Makes an array of size elements that are not written.
///
/// Outputs a handle, and a flow, which orders ops: each op on the array takes a flow and runs after
/// the op that has output it. Each run makes a new array, which is released with its last handle.
/// Elements must have the type dtype, and a shape that is compatible with element_shape; with
/// identical_element_shapes, all must have one shape. With dynamic_size, a write beyond the end
/// extends the array. With clear_after_read, an element can be read only once.
tensor_array_v3_outputs tensor_array_v3(graph& in, operand size, troupe::dtype dtype,
    const tensor_array_v3_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline tensor_array_v3_outputs tensor_array_v3(graph& in, operand size, troupe::dtype dtype,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_array_v3(in, size, dtype, tensor_array_v3_options{}, name, where);
}

/// Writes an element of a TensorArray.
///
/// The same as TensorArrayWriteV3.
edge tensor_array_write(operand handle, operand index, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes an element of a TensorArray.
///
/// The same as TensorArrayWriteV3 in all but its name, for graphs that use this one.
edge tensor_array_write_v2(operand handle, operand index, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Writes an element of a TensorArray.
///
/// An element can be written only once, except in an array of gradients. The value is not copied,
/// and does not change later.
edge tensor_array_write_v3(operand handle, operand index, operand value, operand flow_in,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct tensor_list_concat_options {
  troupe::partial_shape element_shape = {};
};
struct tensor_list_concat_outputs {
  edge tensor;
  edge lengths;
};
/// Joins all items of a list along their first axis.
///
/// Also outputs the extent of each item along that axis. The other extents must be equal.
tensor_list_concat_outputs tensor_list_concat(operand input_handle, troupe::dtype element_dtype,
    const tensor_list_concat_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline tensor_list_concat_outputs tensor_list_concat(operand input_handle,
    troupe::dtype element_dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_list_concat(input_handle, element_dtype, tensor_list_concat_options{}, name, where);
}

/// Makes a list of the items of one list, followed by those of another.
edge tensor_list_concat_lists(operand input_a, operand input_b, troupe::dtype element_dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct tensor_list_concat_v2_outputs {
  edge tensor;
  edge lengths;
};
/// Joins all items of a list along their first axis.
///
/// Also outputs the extent of each item along that axis. The other extents must be equal.
/// leading_dims are the first extents of items that are not set.
tensor_list_concat_v2_outputs tensor_list_concat_v2(operand input_handle, operand element_shape,
    operand leading_dims, troupe::dtype element_dtype, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Outputs the known part of the shape of a list's items.
///
/// The output is a vector, in which -1 is an unknown extent, or the scalar -1 for an unknown rank.
edge tensor_list_element_shape(operand input_handle, troupe::dtype shape_type,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes a list of the slices of a tensor along its first axis.
edge tensor_list_from_tensor(operand tensor, operand element_shape, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Joins the items at indices along a new first axis.
edge tensor_list_gather(operand input_handle, operand indices, operand element_shape,
    troupe::dtype element_dtype, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Reads one item of a list.
///
/// element_shape is the shape of an item that was not set, which is zeros.
edge tensor_list_get_item(operand input_handle, operand index, operand element_shape,
    troupe::dtype element_dtype, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Counts the items of a list, including items that are not set.
edge tensor_list_length(operand input_handle, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct tensor_list_pop_back_outputs {
  edge output_handle;
  edge tensor;
};
/// Removes the last item of a list.
///
/// Outputs the list without the item, and the item. element_shape is the shape of an item that was
/// not set, which is zeros.
tensor_list_pop_back_outputs tensor_list_pop_back(operand input_handle, operand element_shape,
    troupe::dtype element_dtype, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds an item to the end of a list.
///
/// Changes the list in place if no other op needs its old value.
edge tensor_list_push_back(operand input_handle, operand tensor, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Adds one slice of a tensor to the end of each list of a vector.
edge tensor_list_push_back_batch(operand input_handles, operand tensor,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes a list of num_elements items that are not set.
///
/// An item that is read before it is set is zeros.
edge tensor_list_reserve(operand element_shape, operand num_elements, troupe::dtype element_dtype,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Removes items from the end of a list, or adds items that are not set, so that it has size items.
edge tensor_list_resize(operand input_handle, operand size, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes a list whose items at indices are the slices of a tensor.
///
/// The length of the list is the greatest index plus one.
edge tensor_list_scatter(operand tensor, operand indices, operand element_shape,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Replaces the items of a list at indices by the slices of a tensor.
///
/// An index beyond the end makes the list longer.
edge tensor_list_scatter_into_existing_list(operand input_handle, operand tensor, operand indices,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Makes a list whose items at indices are the slices of a tensor.
///
/// The list has num_elements items; with -1, its length is the greatest index plus one.
edge tensor_list_scatter_v2(operand tensor, operand indices, operand element_shape,
    operand num_elements, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct tensor_list_set_item_options {
  bool resize_if_index_out_of_bounds = false;
};
/// Replaces one item of a list.
///
/// Changes the list in place if no other op needs its old value. With
/// resize_if_index_out_of_bounds, an index beyond the end makes the list longer.
edge tensor_list_set_item(operand input_handle, operand index, operand item,
    const tensor_list_set_item_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_list_set_item(operand input_handle, operand index, operand item,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_list_set_item(input_handle, index, item, tensor_list_set_item_options{}, name, where);
}

/// Splits a tensor along its first axis into items of these lengths, which must add up to its
/// extent.
edge tensor_list_split(operand tensor, operand element_shape, operand lengths,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct tensor_list_stack_options {
  int64_t num_elements = -1;
};
/// Joins all items of a list along a new first axis.
///
/// The items must have one shape. Without items, the shape must be known. num_elements is the
/// required number of items, or -1 for any number.
edge tensor_list_stack(operand input_handle, operand element_shape, troupe::dtype element_dtype,
    const tensor_list_stack_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_list_stack(operand input_handle, operand element_shape,
    troupe::dtype element_dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_list_stack(input_handle, element_shape, element_dtype, tensor_list_stack_options{}, name, where);
}

struct tensor_scatter_add_options {
  std::string bad_indices_policy = {};
};
/// Adds the updates to the blocks of a tensor whose leading coordinates the last axis of indices
/// lists.
///
/// Coordinates outside of the tensor fail; where bad_indices_policy is IGNORE, their updates are
/// left out.
edge tensor_scatter_add(operand tensor, operand indices, operand updates,
    const tensor_scatter_add_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_scatter_add(operand tensor, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_scatter_add(tensor, indices, updates, tensor_scatter_add_options{}, name, where);
}

struct tensor_scatter_max_options {
  std::string bad_indices_policy = {};
};
/// Replaces elements of a tensor by those of the updates that are greater.
///
/// The last axis of indices lists the leading coordinates of the block that an update is for.
/// Coordinates outside of the tensor fail; where bad_indices_policy is IGNORE, their updates are
/// left out.
edge tensor_scatter_max(operand tensor, operand indices, operand updates,
    const tensor_scatter_max_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_scatter_max(operand tensor, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_scatter_max(tensor, indices, updates, tensor_scatter_max_options{}, name, where);
}

struct tensor_scatter_min_options {
  std::string bad_indices_policy = {};
};
/// Replaces elements of a tensor by those of the updates that are less.
///
/// The last axis of indices lists the leading coordinates of the block that an update is for.
/// Coordinates outside of the tensor fail; where bad_indices_policy is IGNORE, their updates are
/// left out.
edge tensor_scatter_min(operand tensor, operand indices, operand updates,
    const tensor_scatter_min_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_scatter_min(operand tensor, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_scatter_min(tensor, indices, updates, tensor_scatter_min_options{}, name, where);
}

struct tensor_scatter_sub_options {
  std::string bad_indices_policy = {};
};
/// Subtracts the updates from the blocks of a tensor whose leading coordinates the last axis of
/// indices lists.
///
/// Coordinates outside of the tensor fail; where bad_indices_policy is IGNORE, their updates are
/// left out.
edge tensor_scatter_sub(operand tensor, operand indices, operand updates,
    const tensor_scatter_sub_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_scatter_sub(operand tensor, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_scatter_sub(tensor, indices, updates, tensor_scatter_sub_options{}, name, where);
}

struct tensor_scatter_update_options {
  std::string bad_indices_policy = {};
};
/// Replaces the blocks of a tensor whose leading coordinates the last axis of indices lists by the
/// updates.
///
/// Of several updates for one block the last stays. Coordinates outside of the tensor fail; where
/// bad_indices_policy is IGNORE, their updates are left out.
edge tensor_scatter_update(operand tensor, operand indices, operand updates,
    const tensor_scatter_update_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge tensor_scatter_update(operand tensor, operand indices, operand updates,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return tensor_scatter_update(tensor, indices, updates, tensor_scatter_update_options{}, name, where);
}

struct tensor_summary_options {
  std::string description = {};
  std::vector<std::string> labels = {};
  std::string display_name = {};
};
/// Writes a tensor as a Summary, under the name of the node instead of a tag.
///
/// description, labels and display_name are kept in graphs and say nothing here, as in TensorFlow.
edge tensor_summary(operand tensor, const tensor_summary_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge tensor_summary(operand tensor, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return tensor_summary(tensor, tensor_summary_options{}, name, where);
}

/// Writes a tensor with its tag as a Summary.
///
/// serialized_summary_metadata, a SummaryMetadata, says which plugin of TensorBoard shows it; it
/// may be empty.
edge tensor_summary_v2(operand tag, operand tensor, operand serialized_summary_metadata,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct text_line_reader_options {
  int64_t skip_header_lines = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the lines of files, without their ends.
///
/// A key is the file's name and the number of the line, from 1: "a.txt:1". Lives as WholeFileReader
/// does.
edge text_line_reader(graph& in, const text_line_reader_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge text_line_reader(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return text_line_reader(in, text_line_reader_options{}, name, where);
}

struct text_line_reader_v2_options {
  int64_t skip_header_lines = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the lines of files, without their ends.
///
/// The same as TextLineReader in all but its name, for graphs that use this one.
edge text_line_reader_v2(graph& in, const text_line_reader_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge text_line_reader_v2(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return text_line_reader_v2(in, text_line_reader_v2_options{}, name, where);
}

struct thread_unsafe_unigram_candidate_sampler_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct thread_unsafe_unigram_candidate_sampler_outputs {
  edge sampled_candidates;
  edge true_expected_count;
  edge sampled_expected_count;
};
/// Does what LearnedUnigramCandidateSampler does, and is as safe.
thread_unsafe_unigram_candidate_sampler_outputs thread_unsafe_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const thread_unsafe_unigram_candidate_sampler_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline thread_unsafe_unigram_candidate_sampler_outputs thread_unsafe_unigram_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return thread_unsafe_unigram_candidate_sampler(in, true_classes, num_true, num_sampled, unique, range_max, thread_unsafe_unigram_candidate_sampler_options{}, name, where);
}

/// Repeats the input multiples[i] times along axis i.
edge tile(operand input, operand multiples, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct top_k_options {
  bool sorted = true;
};
struct top_k_outputs {
  edge values;
  edge indices;
};
/// Gives the k greatest elements along the last axis, the greatest first, and their places there.
///
/// Of equal ones the first come first; NaN counts as greater than every number. The attribute
/// sorted allows, but does not need, another order.
top_k_outputs top_k(operand input, int64_t k, const top_k_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline top_k_outputs top_k(operand input, int64_t k, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return top_k(input, k, top_k_options{}, name, where);
}

struct top_kv2_options {
  bool sorted = true;
  troupe::dtype index_type = troupe::dtype::i32;
};
struct top_kv2_outputs {
  edge values;
  edge indices;
};
/// Gives the k greatest elements along the last axis, the greatest first, and their places there.
///
/// Of equal ones the first come first; NaN counts as greater than every number. The attribute
/// sorted allows, but does not need, another order.
top_kv2_outputs top_kv2(operand input, operand k, const top_kv2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline top_kv2_outputs top_kv2(operand input, operand k, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return top_kv2(input, k, top_kv2_options{}, name, where);
}

/// Makes axis perm[i] of the input axis i of the output.
edge transpose(operand x, operand perm, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides x by y, element by element, and rounds towards zero.
///
/// Broadcasts by NumPy's rules. Dividing whole numbers by zero fails. The gradient is 0.
edge truncate_div(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Takes the remainder of dividing x by y, element by element, with the sign of x.
///
/// Broadcasts by NumPy's rules. Dividing whole numbers by zero fails.
edge truncate_mod(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct truncated_normal_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
/// Draws numbers from the standard normal distribution, again where one is beyond 2.
///
/// Equal seeds give equal numbers, whatever the number of threads; each run goes on where the last
/// one stopped. With seed and seed2 both 0, every process draws other numbers.
edge truncated_normal(graph& in, operand shape, troupe::dtype dtype,
    const truncated_normal_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline edge truncated_normal(graph& in, operand shape, troupe::dtype dtype, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return truncated_normal(in, shape, dtype, truncated_normal_options{}, name, where);
}

struct uniform_candidate_sampler_options {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct uniform_candidate_sampler_outputs {
  edge sampled_candidates;
  edge true_expected_count;
  edge sampled_expected_count;
};
/// Samples classes evenly from [0, range_max), for losses that do not look at all.
///
/// sampled_expected_count says how often each sampled class is to be expected in such a sample,
/// true_expected_count the same of each true class. Unique classes are drawn until there are enough
/// that differ, and the counts are those for so many draws. Equal seeds give equal samples, run
/// after run.
uniform_candidate_sampler_outputs uniform_candidate_sampler(graph& in, operand true_classes,
    int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    const uniform_candidate_sampler_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline uniform_candidate_sampler_outputs uniform_candidate_sampler(graph& in,
    operand true_classes, int64_t num_true, int64_t num_sampled, bool unique, int64_t range_max,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return uniform_candidate_sampler(in, true_classes, num_true, num_sampled, unique, range_max, uniform_candidate_sampler_options{}, name, where);
}

struct unique_options {
  troupe::dtype out_idx = troupe::dtype::i32;
};
struct unique_outputs {
  edge y;
  edge idx;
};
/// Lists the different elements of a vector, in the order in which they first appear.
///
/// x[i] is y[idx[i]].
unique_outputs unique(operand x, const unique_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline unique_outputs unique(operand x, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return unique(x, unique_options{}, name, where);
}

struct unique_v2_options {
  troupe::dtype out_idx = troupe::dtype::i32;
};
struct unique_v2_outputs {
  edge y;
  edge idx;
};
/// Lists the different slices of a tensor along an axis, in the order in which they first appear.
///
/// Slice i of x is slice idx[i] of y. The axis may be missing for a vector.
unique_v2_outputs unique_v2(operand x, operand axis, const unique_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline unique_v2_outputs unique_v2(operand x, operand axis, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return unique_v2(x, axis, unique_v2_options{}, name, where);
}

struct unique_with_counts_options {
  troupe::dtype out_idx = troupe::dtype::i32;
};
struct unique_with_counts_outputs {
  edge y;
  edge idx;
  edge count;
};
/// Lists the different elements of a vector, in the order in which they first appear, and how often
/// they do.
///
/// x[i] is y[idx[i]], which appears count[idx[i]] times.
unique_with_counts_outputs unique_with_counts(operand x,
    const unique_with_counts_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline unique_with_counts_outputs unique_with_counts(operand x, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return unique_with_counts(x, unique_with_counts_options{}, name, where);
}

struct unique_with_counts_v2_options {
  troupe::dtype out_idx = troupe::dtype::i32;
};
struct unique_with_counts_v2_outputs {
  edge y;
  edge idx;
  edge count;
};
/// Lists the different slices of a tensor along an axis, in the order in which they first appear,
/// and how often they do.
///
/// Slice i of x is slice idx[i] of y, which appears count[idx[i]] times. The axis may be missing
/// for a vector.
unique_with_counts_v2_outputs unique_with_counts_v2(operand x, operand axis,
    const unique_with_counts_v2_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline unique_with_counts_v2_outputs unique_with_counts_v2(operand x, operand axis,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return unique_with_counts_v2(x, axis, unique_with_counts_v2_options{}, name, where);
}

struct unpack_options {
  int64_t axis = 0;
};
/// Takes a tensor apart along an axis, which goes away.
///
/// The axis must have extent num. A negative axis counts from the end.
std::vector<edge> unpack(operand value, int64_t num, const unpack_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline std::vector<edge> unpack(operand value, int64_t num, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return unpack(value, num, unpack_options{}, name, where);
}

/// Takes the largest of the rows of data that have the same number in segment_ids.
///
/// Row i of the output comes from the rows numbered i, or is the least finite number of the type if
/// there are none. Rows with a negative number are ignored; a number that is not less than
/// num_segments is an error. Elements that are equal to the result share the gradient.
edge unsorted_segment_max(operand data, operand segment_ids, operand num_segments,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Takes the smallest of the rows of data that have the same number in segment_ids.
///
/// Row i of the output comes from the rows numbered i, or is the largest finite number of the type
/// if there are none. Rows with a negative number are ignored; a number that is not less than
/// num_segments is an error. Elements that are equal to the result share the gradient.
edge unsorted_segment_min(operand data, operand segment_ids, operand num_segments,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Multiplies the rows of data that have the same number in segment_ids.
///
/// Row i of the output comes from the rows numbered i, or is ones if there are none. Rows with a
/// negative number are ignored; a number that is not less than num_segments is an error.
edge unsorted_segment_prod(operand data, operand segment_ids, operand num_segments,
    std::string_view name = {}, std::source_location where = std::source_location::current());

/// Adds up the rows of data that have the same number in segment_ids.
///
/// Row i of the output is the sum of the rows numbered i, or zeros if there are none. Rows with a
/// negative number are ignored; a number that is not less than num_segments is an error.
edge unsorted_segment_sum(operand data, operand segment_ids, operand num_segments,
    std::string_view name = {}, std::source_location where = std::source_location::current());

struct unstage_options {
  int64_t capacity = 0;
  int64_t memory_limit = 0;
  std::string container = {};
  std::string shared_name = {};
};
/// Takes the oldest tuple out of a staging area, as soon as there is one.
///
/// It goes back to the front if the step fails later.
std::vector<edge> unstage(graph& in, const std::vector<troupe::dtype>& dtypes,
    const unstage_options& options = {}, std::string_view name = {},
    std::source_location where = std::source_location::current());
inline std::vector<edge> unstage(graph& in, const std::vector<troupe::dtype>& dtypes,
    std::string_view name, std::source_location where = std::source_location::current()) {
  return unstage(in, dtypes, unstage_options{}, name, where);
}

struct upper_bound_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
/// Says of each value how many elements of the sorted row are not greater.
///
/// Each row of values has a row of sorted_inputs, which must be in ascending order.
edge upper_bound(operand sorted_inputs, operand values, const upper_bound_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge upper_bound(operand sorted_inputs, operand values, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return upper_bound(sorted_inputs, values, upper_bound_options{}, name, where);
}

/// Says whether a variable has been assigned.
///
/// The same as IsVariableInitialized for a variable that is given by its handle.
edge var_is_initialized_op(operand resource, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct variable_shape_options {
  troupe::dtype out_type = troupe::dtype::i32;
};
/// Gives the extents of a variable's value as a vector.
edge variable_shape(operand input, const variable_shape_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge variable_shape(operand input, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return variable_shape(input, variable_shape_options{}, name, where);
}

/// Lists the coordinates of all elements that are true, or not zero, in row-major order.
///
/// The output has a row for each.
edge where(operand input, std::string_view name = {},
    std::source_location where = std::source_location::current());

struct whole_file_reader_options {
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the bytes of each file as one record, under the file's name.
///
/// The reader lives in the named container of its task, under shared_name or else the node's name;
/// nodes of the same name share it.
edge whole_file_reader(graph& in, const whole_file_reader_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge whole_file_reader(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return whole_file_reader(in, whole_file_reader_options{}, name, where);
}

struct whole_file_reader_v2_options {
  std::string container = {};
  std::string shared_name = {};
};
/// Gives the bytes of each file as one record, under the file's name.
///
/// The same as WholeFileReader in all but its name, for graphs that use this one.
edge whole_file_reader_v2(graph& in, const whole_file_reader_v2_options& options = {},
    std::string_view name = {}, std::source_location where = std::source_location::current());
inline edge whole_file_reader_v2(graph& in, std::string_view name,
    std::source_location where = std::source_location::current()) {
  return whole_file_reader_v2(in, whole_file_reader_v2_options{}, name, where);
}

/// Writes a file, in place of one that was there, on the task that runs the node; makes folders
/// that are missing.
///
/// Whatever crashes, the name means the whole old content or the whole new.
node* write_file(operand filename, operand contents, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Divides x by y, element by element, and gives 0 where x is 0, even where y is, too.
///
/// Broadcasts by NumPy's rules.
edge xdivy(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes x * log(y), element by element, and gives 0 where x is 0, even where y is, too.
///
/// Broadcasts by NumPy's rules.
edge xlogy(operand x, operand y, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Makes a tensor of zeros with the type and shape of the input.
///
/// The zero of strings is the empty one, that of a list is a list of zeros.
edge zeros_like(operand x, std::string_view name = {},
    std::source_location where = std::source_location::current());

/// Computes the Hurwitz zeta function, the sum of (q + k)^-x over all k from 0, element by element.
///
/// Broadcasts by NumPy's rules. Only q has a gradient.
edge zeta(operand x, operand q, std::string_view name = {},
    std::source_location where = std::source_location::current());

} // namespace troupe
