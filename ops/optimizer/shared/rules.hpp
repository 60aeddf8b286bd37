// Update rules of training algorithms for one element of a variable and its slots, on all devices.
//
// A rule updates one element, in the computation type:
//
//   template <class T>
//   struct momentum {
//     static constexpr int variables = 2; // the variable and its slots
//     constexpr explicit momentum(const scalars<T>& parameters);
//     status check() const;           // optional: fails for values that the rule rejects
//     constexpr bool allowed() const; // the same for GPUs, as a bool
//     constexpr void operator()(T& value, T& speed, T gradient) const;
//   };
//
// The same rule serves a gradient of all elements and a gradient of some rows.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::ops {

/// The scalar inputs, in order, and the op's own attribute.
template <class T>
struct scalars {
  std::array<double, 8> values;
  bool variant;
  constexpr T operator[](size_t i) const { return static_cast<T>(values[i]); }
};

/// 1 where the signs are equal, -1 where they differ, 0 where one of the values is zero.
template <class T>
constexpr T agreement(T a, T b) {
  auto sign = [](T x) { return static_cast<T>((x > 0) - (x < 0)); };
  return sign(a) * sign(b);
}

template <class T>
struct momentum {
  static constexpr int variables = 2;
  constexpr explicit momentum(const scalars<T>& parameters)
      : rate(parameters[0]), friction(parameters[1]), nesterov(parameters.variant) {}

  constexpr void operator()(T& value, T& speed, T gradient) const {
    speed = speed * friction + gradient;
    value -= rate * (nesterov ? gradient + friction * speed : speed);
  }

  T rate, friction;
  bool nesterov;
};

template <class T>
struct adagrad {
  static constexpr int variables = 2;
  constexpr explicit adagrad(const scalars<T>& parameters)
      : rate(parameters[0]), adds(parameters.variant ? T{1} : T{0}) {}

  constexpr void operator()(T& value, T& squares, T gradient) const {
    squares += adds * gradient * gradient;
    value -= rate * gradient / std::sqrt(squares);
  }

  T rate, adds;
};

template <class T>
struct adagrad_da {
  static constexpr int variables = 3;
  constexpr explicit adagrad_da(const scalars<T>& parameters)
      : rate(parameters[0]), threshold(std::max(parameters[1], T{0}) * parameters[3]),
        decay(parameters[2] * parameters[3] * rate) {}

  constexpr void operator()(T& value, T& sum, T& squares, T gradient) const {
    sum += gradient;
    squares += gradient * gradient;
    auto magnitude = std::max(std::abs(sum) - threshold, T{0});
    value = -rate * std::copysign(magnitude, sum) / (decay + std::sqrt(squares));
  }

  T rate, threshold, decay;
};

template <class T>
struct adadelta {
  static constexpr int variables = 3;
  constexpr explicit adadelta(const scalars<T>& parameters)
      : rate(parameters[0]), keep(parameters[1]), epsilon(parameters[2]) {}

  constexpr void operator()(T& value, T& squares, T& updates, T gradient) const {
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
  constexpr explicit rms_prop(const scalars<T>& parameters)
      : rate(parameters[0]), keep(parameters[1]), friction(parameters[2]), epsilon(parameters[3]) {}

  constexpr void operator()(T& value, T& squares, T& speed, T gradient) const {
    squares += (gradient * gradient - squares) * (1 - keep);
    speed = speed * friction + rate * gradient / std::sqrt(squares + epsilon);
    value -= speed;
  }

  T rate, keep, friction, epsilon;
};

template <class T>
struct centered_rms_prop {
  static constexpr int variables = 4;
  constexpr explicit centered_rms_prop(const scalars<T>& parameters)
      : rate(parameters[0]), keep(parameters[1]), friction(parameters[2]), epsilon(parameters[3]) {}

  constexpr void operator()(T& value, T& mean, T& squares, T& speed, T gradient) const {
    squares += (gradient * gradient - squares) * (1 - keep);
    mean += (gradient - mean) * (1 - keep);
    auto variance = squares - mean * mean + epsilon;
    speed = speed * friction + rate * gradient / std::sqrt(variance);
    value -= speed;
  }

  T rate, keep, friction, epsilon;
};

/// Forward-backward splitting of a value: moved towards zero by l1, shrunk by l2.
template <class T>
constexpr T proximal(T value, T rate, T l1, T l2) {
  auto magnitude = std::max(std::abs(value) - rate * std::max(l1, T{0}), T{0});
  return std::copysign(magnitude, value) / (1 + l2 * rate);
}

template <class T>
struct proximal_adagrad {
  static constexpr int variables = 2;
  constexpr explicit proximal_adagrad(const scalars<T>& parameters)
      : rate(parameters[0]), l1(parameters[1]), l2(parameters[2]) {}

  constexpr void operator()(T& value, T& squares, T gradient) const {
    squares += gradient * gradient;
    auto own_rate = rate / std::sqrt(squares);
    value = proximal(value - gradient * own_rate, own_rate, l1, l2);
  }

  T rate, l1, l2;
};

template <class T>
struct proximal_gradient_descent {
  static constexpr int variables = 1;
  constexpr explicit proximal_gradient_descent(const scalars<T>& parameters)
      : rate(parameters[0]), l1(parameters[1]), l2(parameters[2]) {}

  constexpr void operator()(T& value, T gradient) const {
    value = proximal(value - gradient * rate, rate, l1, l2);
  }

  T rate, l1, l2;
};

/// The usual power, -0.5, is a square root, which processors compute directly; `Root` selects it.
/// Where linear is to be multiplied by the rate, it holds the rate times its usual value.
template <class T, bool Root, bool Shrinkage>
struct ftrl {
  static constexpr int variables = 3;
  constexpr explicit ftrl(const scalars<T>& parameters)
      : rate(parameters[0]), l1(parameters[1]), l2(parameters[2]),
        shrinkage(Shrinkage ? parameters[3] : T{0}), power(-parameters[Shrinkage ? 4 : 3]),
        scale(parameters.variant ? rate : T{1}), divisor(parameters.variant ? T{1} : rate) {}

  constexpr bool rate_is_allowed() const { return divisor != 0 && rate >= 0; }
  constexpr bool allowed() const {
    return rate_is_allowed() && l1 >= 0 && l2 >= 0 && shrinkage >= 0 && power >= 0;
  }
  status check() const {
    if (!rate_is_allowed())
      return invalid("lr must be positive, got ", rate);
    if (!(l1 >= 0) || !(l2 >= 0) || !(shrinkage >= 0))
      return invalid("l1, l2 and l2_shrinkage must not be negative, got ", l1, ", ", l2, " and ",
                     shrinkage);
    if (!(power >= 0))
      return invalid("lr_power must not be positive, got ", -power);
    return {};
  }

  constexpr T powered(T squares) const {
    if constexpr (Root)
      return std::sqrt(squares);
    else
      return std::pow(squares, power);
  }

  constexpr void operator()(T& value, T& squares, T& linear, T gradient) const {
    auto old_power = powered(squares);
    squares += gradient * gradient;
    auto new_power = powered(squares);
    linear +=
        (gradient + 2 * shrinkage * value) * scale - (new_power - old_power) / divisor * value;
    auto bound = l1 * scale, clipped = std::min(std::max(linear, -bound), bound);
    value = (clipped - linear) / (new_power / divisor + 2 * l2 * scale);
  }

  T rate, l1, l2, shrinkage, power, scale, divisor;
};

template <class T>
struct adam {
  static constexpr int variables = 3;
  constexpr explicit adam(const scalars<T>& parameters)
      : rate(parameters[2] * std::sqrt(1 - parameters[1]) / (1 - parameters[0])),
        beta1(parameters[3]), beta2(parameters[4]), epsilon(parameters[5]),
        nesterov(parameters.variant) {}

  constexpr void operator()(T& value, T& mean, T& squares, T gradient) const {
    mean += (gradient - mean) * (1 - beta1);
    squares += (gradient * gradient - squares) * (1 - beta2);
    auto direction = nesterov ? gradient * (1 - beta1) + beta1 * mean : mean;
    value -= rate * direction / (std::sqrt(squares) + epsilon);
  }

  T rate, beta1, beta2, epsilon;
  bool nesterov;
};

template <class T>
struct ada_max {
  static constexpr int variables = 3;
  constexpr explicit ada_max(const scalars<T>& parameters)
      : rate(parameters[1] / (1 - parameters[0])), beta1(parameters[2]), beta2(parameters[3]),
        epsilon(parameters[4]) {}

  constexpr void operator()(T& value, T& mean, T& largest, T gradient) const {
    mean += (gradient - mean) * (1 - beta1);
    largest = std::max(beta2 * largest, std::abs(gradient));
    value -= rate * mean / (largest + epsilon);
  }

  T rate, beta1, beta2, epsilon;
};

template <class T>
struct add_sign {
  static constexpr int variables = 2;
  constexpr explicit add_sign(const scalars<T>& parameters)
      : rate(parameters[0]), alpha(parameters[1]), decay(parameters[2]), beta(parameters[3]) {}

  constexpr void operator()(T& value, T& mean, T gradient) const {
    mean = mean * beta + gradient * (1 - beta);
    value -= rate * (alpha + decay * agreement(gradient, mean)) * gradient;
  }

  T rate, alpha, decay, beta;
};

template <class T>
struct power_sign {
  static constexpr int variables = 2;
  constexpr explicit power_sign(const scalars<T>& parameters)
      : rate(parameters[0]), longer(std::exp(parameters[1] * parameters[2])), beta(parameters[3]) {}

  constexpr void operator()(T& value, T& mean, T gradient) const {
    mean = mean * beta + gradient * (1 - beta);
    auto agree = agreement(gradient, mean);
    value -= rate * (agree > 0 ? longer : agree < 0 ? 1 / longer : T{1}) * gradient;
  }

  T rate, longer, beta;
};

} // namespace troupe::ops
