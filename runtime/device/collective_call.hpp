// What several devices compute together within a step, such as the sum of their gradients.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <memory>

namespace troupe {

enum class collective_kind : uint8_t { all_reduce, reduce_scatter, all_gather, broadcast };
enum class reduction : uint8_t { sum, product, min, max };

/// What a group computes. All inputs have the same type and shape.
struct collective_call {
  collective_kind kind = collective_kind::all_reduce;
  reduction by = reduction::sum;
  bool average = false; ///< the sum is divided by the number of members
  dtype type = dtype::none;
  shape dims = {}; ///< of each input
  size_t root = 0; ///< who sends, in a broadcast

  shape output_dims(size_t members) const; ///< of each output
};

/// One member, as devices see it. A receiver of a broadcast has no input.
struct collective_part {
  device* on = nullptr;
  tensor input = {}, output = {};
  /// The device's: since when the input is there, in the order of its launches. Null: since now.
  std::shared_ptr<void> ready = {};
};

} // namespace troupe
