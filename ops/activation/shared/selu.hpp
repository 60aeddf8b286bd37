// The two constants of Selu (Klambauer et al., "Self-Normalizing Neural Networks", 2017). With
// them, activations of mean 0 and variance 1 keep their mean and variance.
#pragma once

namespace troupe::ops {

inline constexpr double selu_scale = 1.0507009873554804934193349852946;
inline constexpr double selu_scale_alpha = 1.7580993408473768599402175208123;

} // namespace troupe::ops
