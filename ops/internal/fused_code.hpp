// Generates the source of a GPU kernel that computes a _Fused node in one pass over memory.
#pragma once
#include "troupe/runtime/graph/fused_stages.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <span>
#include <string>

namespace troupe::ops {

/// The layout of an input relative to the output.
enum class beside : uint8_t {
  elementwise, ///< element for element
  single,      ///< a single element
  row,         ///< its elements repeat
  strided,     ///< any other broadcast
};

/// The properties that a kernel is specialized for. One kernel serves all shapes with the same
/// properties.
struct fused_variant {
  std::vector<beside> inputs;
  int width = 1;      ///< elements per access of a thread; rows are multiples of it
  bool narrow = true; ///< 32 bits hold the number of elements
  auto operator<=>(const fused_variant&) const = default;
};

/// CUDA C++ without headers, with a kernel `fused(packs, count, out, in0, step0, in1, step1, ...)`.
/// packs (of `width` elements) and count (of elements) are 64-bit numbers. The step of a row is its
/// length, of a strided input a `fused_steps`; of other inputs it is unused. Fails, naming the op,
/// where an op has no code.
result<std::string> fused_code(const fused_stages& stages, std::span<const dtype> inputs,
                               const registry& ops, const fused_variant& variant);

/// The strides of a strided input; the kernel declares the same layout.
struct fused_steps {
  int64_t rank = 0;
  int64_t extents[max_rank] = {}, strides[max_rank] = {};
};

} // namespace troupe::ops
