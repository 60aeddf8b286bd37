// Compares tensors as text graphs do: equal within a tolerance.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>

namespace troupe {

/// 1e-5 for f32, 1e-12 for f64 and so on; 0 for types that must be equal.
double default_tolerance(dtype type) noexcept;

/// Returns whether types and shapes are equal, and everywhere
/// |actual - expected| <= tolerance * max(1, |expected|). NaN is close to NaN only, an infinity to
/// itself only. Otherwise writes the difference to `message`, if it is not null.
bool close_to(const tensor& actual, const tensor& expected, double tolerance,
              std::string* message = nullptr);

} // namespace troupe
