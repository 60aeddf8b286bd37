// The error for a tensor that a file of tensors does not have.
#pragma once
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/types/status.hpp"

#include <string_view>
#include <vector>

namespace troupe {

/// The message proposes the nearest name in `entries`.
template <class Entries>
status no_such_tensor(std::string_view file, std::string_view name, const Entries& entries) {
  std::vector<std::string_view> known;
  for (const auto& entry : entries)
    known.push_back(entry.name);
  return failure(error_kind::not_found, file, ": has no tensor '", name, "'",
                 did_you_mean(name, known));
}

} // namespace troupe
