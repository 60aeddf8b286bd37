// A collective computation of several devices in one step, such as the sum of their gradients.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <memory>

namespace troupe {

enum class collective_kind : uint8_t { all_reduce, reduce_scatter, all_gather, broadcast };
enum class reduction : uint8_t { sum, product, min, max };

/// The computation of a group. All inputs have the same type and shape.
struct collective_call {
  collective_kind kind = collective_kind::all_reduce;
  reduction operation = reduction::sum;
  bool average = false; ///< the sum is divided by the number of members
  dtype type = dtype::none;
  shape dims = {}; ///< the shape of each input
  size_t root = 0; ///< the member that sends, in a broadcast

  shape output_dims(size_t member_count) const; ///< returns the shape of each output
};

/// The part of one member, on its device. A receiver of a broadcast has no input.
struct collective_part {
  device* target = nullptr;
  tensor input = {}, output = {};
  /// The device's event after which the input is ready, in the order of its launches. Null: the
  /// input is ready now.
  std::shared_ptr<void> ready = {};
};

} // namespace troupe
