// What training algorithms do to one element of a variable and its slots, on every device.
//
// A rule says how one element changes, in the type that is computed in:
//
//   template <class T>
//   struct momentum {
//     static constexpr int variables = 2; // the variable and its slots
//     constexpr explicit momentum(const scalars<T>& given);
//     status check() const;           // where not all values will do; may be left out
//     constexpr bool allowed() const; // the same for GPUs, which only have yes or no
//     constexpr void operator()(T& value, T& speed, T gradient) const;
//   };
//
// The same rule serves a gradient of all elements and one of some rows.
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

/// 1 where both have the same sign, -1 where they have not, 0 where one of them is zero.
template <class T>
constexpr T agreement(T a, T b) {
  auto sign = [](T x) { return static_cast<T>((x > 0) - (x < 0)); };
  return sign(a) * sign(b);
}

template <class T>
struct momentum {
  static constexpr int variables = 2;
  constexpr explicit momentum(const scalars<T>& given)
      : rate(given[0]), friction(given[1]), nesterov(given.variant) {}

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
  constexpr explicit adagrad(const scalars<T>& given)
      : rate(given[0]), adds(given.variant ? T{1} : T{0}) {}

  constexpr void operator()(T& value, T& squares, T gradient) const {
    squares += adds * gradient * gradient;
    value -= rate * gradient / std::sqrt(squares);
  }

  T rate, adds;
};

template <class T>
struct adagrad_da {
  static constexpr int variables = 3;
  constexpr explicit adagrad_da(const scalars<T>& given)
      : rate(given[0]), threshold(std::max(given[1], T{0}) * given[3]),
        decay(given[2] * given[3] * rate) {}

  constexpr void operator()(T& value, T& sum, T& squares, T gradient) const {
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
  constexpr explicit adadelta(const scalars<T>& given)
      : rate(given[0]), keep(given[1]), epsilon(given[2]) {}

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
  constexpr explicit rms_prop(const scalars<T>& given)
      : rate(given[0]), keep(given[1]), friction(given[2]), epsilon(given[3]) {}

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
  constexpr explicit centered_rms_prop(const scalars<T>& given)
      : rate(given[0]), keep(given[1]), friction(given[2]), epsilon(given[3]) {}

  constexpr void operator()(T& value, T& mean, T& squares, T& speed, T gradient) const {
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
constexpr T proximal(T value, T rate, T l1, T l2) {
  auto left = std::max(std::abs(value) - rate * std::max(l1, T{0}), T{0});
  return std::copysign(left, value) / (1 + l2 * rate);
}

template <class T>
struct proximal_adagrad {
  static constexpr int variables = 2;
  constexpr explicit proximal_adagrad(const scalars<T>& given)
      : rate(given[0]), l1(given[1]), l2(given[2]) {}

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
  constexpr explicit proximal_gradient_descent(const scalars<T>& given)
      : rate(given[0]), l1(given[1]), l2(given[2]) {}

  constexpr void operator()(T& value, T gradient) const {
    value = proximal(value - gradient * rate, rate, l1, l2);
  }

  T rate, l1, l2;
};

/// The usual power, -0.5, is a square root, which processors have; `Root` says that it is that.
/// Where linear is to be multiplied by the rate, it holds rate times what it holds elsewhere.
template <class T, bool Root, bool Shrinkage>
struct ftrl {
  static constexpr int variables = 3;
  constexpr explicit ftrl(const scalars<T>& given)
      : rate(given[0]), l1(given[1]), l2(given[2]), shrinkage(Shrinkage ? given[3] : T{0}),
        power(-given[Shrinkage ? 4 : 3]), scale(given.variant ? rate : T{1}),
        divisor(given.variant ? T{1} : rate) {}

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
    auto before = powered(squares);
    squares += gradient * gradient;
    auto after = powered(squares);
    linear += (gradient + 2 * shrinkage * value) * scale - (after - before) / divisor * value;
    auto bound = l1 * scale, clipped = std::min(std::max(linear, -bound), bound);
    value = (clipped - linear) / (after / divisor + 2 * l2 * scale);
  }

  T rate, l1, l2, shrinkage, power, scale, divisor;
};

template <class T>
struct adam {
  static constexpr int variables = 3;
  constexpr explicit adam(const scalars<T>& given)
      : rate(given[2] * std::sqrt(1 - given[1]) / (1 - given[0])), beta1(given[3]), beta2(given[4]),
        epsilon(given[5]), nesterov(given.variant) {}

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
  constexpr explicit ada_max(const scalars<T>& given)
      : rate(given[1] / (1 - given[0])), beta1(given[2]), beta2(given[3]), epsilon(given[4]) {}

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
  constexpr explicit add_sign(const scalars<T>& given)
      : rate(given[0]), alpha(given[1]), decay(given[2]), beta(given[3]) {}

  constexpr void operator()(T& value, T& mean, T gradient) const {
    mean = mean * beta + gradient * (1 - beta);
    value -= rate * (alpha + decay * agreement(gradient, mean)) * gradient;
  }

  T rate, alpha, decay, beta;
};

template <class T>
struct power_sign {
  static constexpr int variables = 2;
  constexpr explicit power_sign(const scalars<T>& given)
      : rate(given[0]), longer(std::exp(given[1] * given[2])), beta(given[3]) {}

  constexpr void operator()(T& value, T& mean, T gradient) const {
    mean = mean * beta + gradient * (1 - beta);
    auto agree = agreement(gradient, mean);
    value -= rate * (agree > 0 ? longer : agree < 0 ? 1 / longer : T{1}) * gradient;
  }

  T rate, longer, beta;
};

} // namespace troupe::ops
