// What a step or a function holds when its memory runs out.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class node;

/// A tensor that a step holds.
struct held_tensor {
  const node* made_by;
  tensor value;
  /// The calls and turns of loops that it is in, the outermost first: "[While 'train' iteration 3]
  /// ".
  std::string nest = {};
};

/// Prints the largest, each memory once, with the nodes that made them: "; the step's largest
/// tensors: 4096 bytes, f32[32,32] of Add 'net/sum' (model.cpp:41), ...". A list has the bytes of
/// its items.
std::string describe_largest(std::vector<held_tensor> held, size_t most,
                             std::string_view whose = "the step's largest tensors");

/// Puts a call or a turn around those from `first` on.
void put_around(std::vector<held_tensor>& held, size_t first, const std::string& call);

} // namespace troupe
