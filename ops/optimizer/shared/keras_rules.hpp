// Update rules, like rules.hpp, of the optimizers that TensorFlow 2 has added.
#pragma once
#include "troupe/ops/optimizer/shared/rules.hpp"

namespace troupe::ops {

template <class T>
struct adagrad_v2 {
  static constexpr int variables = 2;
  constexpr explicit adagrad_v2(const scalars<T>& parameters)
      : rate(parameters[0]), epsilon(parameters[1]), adds(parameters.variant ? T{1} : T{0}) {}

  constexpr void operator()(T& value, T& squares, T gradient) const {
    squares += adds * gradient * gradient;
    value -= rate * gradient / (std::sqrt(squares) + epsilon);
  }

  T rate, epsilon, adds;
};

template <class T>
struct keras_momentum {
  static constexpr int variables = 2;
  constexpr explicit keras_momentum(const scalars<T>& parameters)
      : rate(parameters[0]), friction(parameters[1]), nesterov(parameters.variant) {}

  constexpr void operator()(T& value, T& speed, T gradient) const {
    speed = speed * friction - rate * gradient;
    value += nesterov ? speed * friction - rate * gradient : speed;
  }

  T rate, friction;
  bool nesterov;
};

template <class T>
struct amsgrad {
  static constexpr int variables = 4;
  constexpr explicit amsgrad(const scalars<T>& parameters)
      : rate(parameters[2] * std::sqrt(1 - parameters[1]) / (1 - parameters[0])),
        beta1(parameters[3]), beta2(parameters[4]), epsilon(parameters[5]) {}

  constexpr void operator()(T& value, T& mean, T& squares, T& largest, T gradient) const {
    mean += (gradient - mean) * (1 - beta1);
    squares += (gradient * gradient - squares) * (1 - beta2);
    largest = std::max(largest, squares);
    value -= rate * mean / (std::sqrt(largest) + epsilon);
  }

  T rate, beta1, beta2, epsilon;
};

} // namespace troupe::ops
