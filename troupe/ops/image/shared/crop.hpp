// Ops that cut boxes out of images, and what they send back.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline status check_crop_method(const infer_context& at, bool nearest_too) {
  const auto& method = at.attr<std::string>("method");
  if (method != "bilinear" && !(nearest_too && method == "nearest"))
    return at.invalid("method must be bilinear", nearest_too ? " or nearest" : "", ", got '",
                      method, "'");
  return {};
}

/// The images that boxes can be cut out of.
inline constexpr auto croppable = one_of(dtype::u8, dtype::u16, dtype::i8, dtype::i16, dtype::i32,
                                         dtype::i64, dtype::f16, dtype::f32, dtype::f64);

} // namespace troupe::ops
