// What Igamma and Igammac share.
#pragma once
#include "troupe/ops/define/build.hpp"

namespace troupe::ops {

/// The gradients of Igamma, where dz is that of its output: IgammaGradA for a, the integrand
/// x^(a - 1) * exp(-x) / gamma(a) for x.
inline edges incomplete_gamma_gradient(gradient_context& at, edge dz) {
  auto a = at.input(0), x = at.input(1);
  auto integrand =
      build("Exp", {build("Xlogy", {a - scalar_like(a, 1), x}) - x - build("Lgamma", {a})});
  return {unbroadcast(dz * build("IgammaGradA", {a, x}), a, x), unbroadcast(dz * integrand, x, a)};
}

} // namespace troupe::ops
