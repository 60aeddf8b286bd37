// The source of a GPU's kernel that computes a _Fused node in one pass over memory.
#pragma once
#include "troupe/runtime/graph/fused_stages.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <span>
#include <string>

namespace troupe::ops {

/// How an input lies beside the output.
enum class beside : uint8_t {
  whole,   ///< element for element
  one,     ///< one element for all
  row,     ///< its elements over and over again
  strided, ///< broadcast in another way
};

/// What a kernel is made for; the same one serves all shapes that lie so.
struct fused_variant {
  std::vector<beside> inputs;
  int width = 1;      ///< elements that a thread reads and writes at once; rows are multiples
  bool narrow = true; ///< 32 bits hold the number of elements
  auto operator<=>(const fused_variant&) const = default;
};

/// CUDA C++ without headers, with a kernel `fused(packs, count, out, in0, step0, in1, step1, ...)`:
/// 64-bit numbers of packs (of `width` elements) and of elements; of a row the step is its length,
/// of a strided input a `fused_steps`, of others a number without meaning. Fails, naming the op,
/// where an op has no code.
result<std::string> fused_code(const fused_stages& stages, std::span<const dtype> inputs,
                               const registry& ops, const fused_variant& variant);

/// How a strided input is walked; the kernel knows it by the same layout.
struct fused_steps {
  int64_t rank = 0;
  int64_t extents[max_rank] = {}, strides[max_rank] = {};
};

} // namespace troupe::ops
