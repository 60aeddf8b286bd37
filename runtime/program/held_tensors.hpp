// The tensors that a step or a function holds when memory runs out.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class node;

/// A tensor that a step holds.
struct held_tensor {
  const node* origin;
  tensor value;
  /// The calls and iterations of loops around it, the outermost first: "[While 'train' iteration 3]
  /// ".
  std::string enclosing_calls = {};
};

/// Describes the largest tensors, each memory once, with the nodes that computed them: "; the
/// step's largest tensors: 4096 bytes, f32[32,32] of Add 'net/sum' (model.cpp:41), ...". The size
/// of a list is that of its items.
std::string describe_largest(std::vector<held_tensor> held, size_t max_count,
                             std::string_view heading = "the step's largest tensors");

/// Adds a call or an iteration to the nest of all entries from `first` on.
void add_enclosing_call(std::vector<held_tensor>& held, size_t first, const std::string& call);

} // namespace troupe
