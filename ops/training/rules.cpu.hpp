// The rules of the algorithms that there are both for whole gradients and for gradients of rows.
#pragma once
#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {

template <class T>
struct momentum {
  static constexpr int variables = 2;
  explicit momentum(const scalars<T>& given)
      : rate(given[0]), friction(given[1]), nesterov(given.variant) {}

  void operator()(T& value, T& speed, T gradient) const {
    speed = speed * friction + gradient;
    value -= rate * (nesterov ? gradient + friction * speed : speed);
  }

  T rate, friction;
  bool nesterov;
};

template <class T>
struct adagrad {
  static constexpr int variables = 2;
  explicit adagrad(const scalars<T>& given) : rate(given[0]), adds(given.variant ? T{1} : T{0}) {}

  void operator()(T& value, T& squares, T gradient) const {
    squares += adds * gradient * gradient;
    value -= rate * gradient / std::sqrt(squares);
  }

  T rate, adds;
};

template <class T>
struct adagrad_da {
  static constexpr int variables = 3;
  explicit adagrad_da(const scalars<T>& given)
      : rate(given[0]), threshold(std::max(given[1], T{0}) * given[3]),
        decay(given[2] * given[3] * rate) {}

  void operator()(T& value, T& sum, T& squares, T gradient) const {
    sum += gradient;
    squares += gradient * gradient;
    auto left = std::max(std::abs(sum) - threshold, T{0});
    value = -rate * std::copysign(left, sum) / (decay + std::sqrt(squares));
  }

  T rate, threshold, decay;
};

template <class T>
struct adadelta {
  static constexpr int variables = 3;
  explicit adadelta(const scalars<T>& given) : rate(given[0]), keep(given[1]), epsilon(given[2]) {}

  void operator()(T& value, T& squares, T& updates, T gradient) const {
    squares = squares * keep + gradient * gradient * (1 - keep);
    auto update = std::sqrt((updates + epsilon) / (squares + epsilon)) * gradient;
    updates = updates * keep + update * update * (1 - keep);
    value -= rate * update;
  }

  T rate, keep, epsilon;
};

template <class T>
struct rms_prop {
  static constexpr int variables = 3;
  explicit rms_prop(const scalars<T>& given)
      : rate(given[0]), keep(given[1]), friction(given[2]), epsilon(given[3]) {}

  void operator()(T& value, T& squares, T& speed, T gradient) const {
    squares += (gradient * gradient - squares) * (1 - keep);
    speed = speed * friction + rate * gradient / std::sqrt(squares + epsilon);
    value -= speed;
  }

  T rate, keep, friction, epsilon;
};

template <class T>
struct centered_rms_prop {
  static constexpr int variables = 4;
  explicit centered_rms_prop(const scalars<T>& given)
      : rate(given[0]), keep(given[1]), friction(given[2]), epsilon(given[3]) {}

  void operator()(T& value, T& mean, T& squares, T& speed, T gradient) const {
    squares += (gradient * gradient - squares) * (1 - keep);
    mean += (gradient - mean) * (1 - keep);
    auto variance = squares - mean * mean + epsilon;
    speed = speed * friction + rate * gradient / std::sqrt(variance);
    value -= speed;
  }

  T rate, keep, friction, epsilon;
};

/// What forward-backward splitting leaves of a value: pulled towards zero by l1, shrunk by l2.
template <class T>
T proximal(T value, T rate, T l1, T l2) {
  auto left = std::max(std::abs(value) - rate * std::max(l1, T{0}), T{0});
  return std::copysign(left, value) / (1 + l2 * rate);
}

template <class T>
struct proximal_adagrad {
  static constexpr int variables = 2;
  explicit proximal_adagrad(const scalars<T>& given) : rate(given[0]), l1(given[1]), l2(given[2]) {}

  void operator()(T& value, T& squares, T gradient) const {
    squares += gradient * gradient;
    auto own_rate = rate / std::sqrt(squares);
    value = proximal(value - gradient * own_rate, own_rate, l1, l2);
  }

  T rate, l1, l2;
};

template <class T>
struct proximal_gradient_descent {
  static constexpr int variables = 1;
  explicit proximal_gradient_descent(const scalars<T>& given)
      : rate(given[0]), l1(given[1]), l2(given[2]) {}

  void operator()(T& value, T gradient) const {
    value = proximal(value - gradient * rate, rate, l1, l2);
  }

  T rate, l1, l2;
};

/// The usual power, -0.5, is a square root, which processors have; `Root` says that it is that.
/// Where linear is to be multiplied by the rate, it holds rate times what it holds elsewhere.
template <class T, bool Root, bool Shrinkage>
struct ftrl {
  static constexpr int variables = 3;
  explicit ftrl(const scalars<T>& given)
      : rate(given[0]), l1(given[1]), l2(given[2]), shrinkage(Shrinkage ? given[3] : T{0}),
        power(-given[Shrinkage ? 4 : 3]), scale(given.variant ? rate : T{1}),
        divisor(given.variant ? T{1} : rate) {}

  status check() const {
    if (divisor == 0 || !(rate >= 0))
      return invalid("lr must be positive, got ", rate);
    if (!(l1 >= 0) || !(l2 >= 0) || !(shrinkage >= 0))
      return invalid("l1, l2 and l2_shrinkage must not be negative, got ", l1, ", ", l2, " and ",
                     shrinkage);
    if (!(power >= 0))
      return invalid("lr_power must not be positive, got ", -power);
    return {};
  }

  T powered(T squares) const {
    if constexpr (Root)
      return std::sqrt(squares);
    else
      return std::pow(squares, power);
  }

  void operator()(T& value, T& squares, T& linear, T gradient) const {
    auto before = powered(squares);
    squares += gradient * gradient;
    auto after = powered(squares);
    linear += (gradient + 2 * shrinkage * value) * scale - (after - before) / divisor * value;
    auto bound = l1 * scale, clipped = std::min(std::max(linear, -bound), bound);
    value = (clipped - linear) / (after / divisor + 2 * l2 * scale);
  }

  T rate, l1, l2, shrinkage, power, scale, divisor;
};

template <class T, bool Shrinkage>
status apply_ftrl(kernel_context& at) {
  using compute = compute_type<T>;
  TROUPE_ASSIGN(auto given, training_scalars(at));
  if (given[Shrinkage ? 4 : 3] == -0.5)
    return apply<T, ftrl<compute, true, Shrinkage>>(at);
  return apply<T, ftrl<compute, false, Shrinkage>>(at);
}

template <bool Shrinkage>
constexpr upto<typed_kernel, 18> ftrl_kernels() {
  return {{dtype::f16, apply_ftrl<float16, Shrinkage>},
          {dtype::bf16, apply_ftrl<bfloat16, Shrinkage>},
          {dtype::f32, apply_ftrl<float, Shrinkage>},
          {dtype::f64, apply_ftrl<double, Shrinkage>}};
}

} // namespace troupe::ops
