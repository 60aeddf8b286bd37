// What the definitions of TensorScatterMin and TensorScatterMax share.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/index/shared/nd_indices.hpp"

namespace troupe::ops {

/// The gradient goes to where the output came from; where several are equal, they share it.
inline edges scatter_extreme_gradient(gradient_context& at) {
  auto x = at.input(0), indices = at.input(1), updates = at.input(2), y = at.output(0);
  attr_map policy{{"bad_indices_policy", at.attr<std::string>("bad_indices_policy")}};
  auto from_x = cast_to(build("Equal", {x, y}), x.type());
  auto taken = build("GatherNd", {y, indices}, policy);
  auto from_updates = cast_to(build("Equal", {updates, taken}), x.type());
  auto sharers = build("TensorScatterAdd", {from_x, indices, from_updates}, policy);
  auto share = at.output_gradient(0) / build("Maximum", {sharers, scalar_like(x, 1)});
  return {share * from_x, {}, build("GatherNd", {share, indices}, policy) * from_updates};
}

} // namespace troupe::ops
