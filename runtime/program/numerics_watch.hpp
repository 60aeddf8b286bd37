// Detects the first instruction that computes a number that is not finite.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/program/check_numerics.hpp"

#include <optional>
#include <vector>

namespace troupe {

/// Checks the outputs of each instruction, and records those inputs that the instruction may
/// overwrite.
class numerics_watch {
public:
  void record_inputs(const instruction& code, const tensor* slots);
  /// Fails if an output or an updated variable is not finite; the error summarizes it and the
  /// inputs.
  status check_outputs(const instruction& code, const tensor* slots) const;

private:
  std::string describe_inputs(const instruction& code, const tensor* slots) const;

  std::vector<std::optional<value_summary>> seen_; // inputs that the instruction may overwrite
};

} // namespace troupe
