// Catches the first instruction that makes a number which is not finite.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/program/check_numerics.hpp"

#include <optional>
#include <vector>

namespace troupe {

/// Looks at what an instruction takes before it runs, and at what it has made.
class numerics_watch {
public:
  void before(const instruction& code, const tensor* slots);
  /// Fails with what the outputs, or the variables that it has changed, and its inputs are like.
  status after(const instruction& code, const tensor* slots) const;

private:
  std::string describe_inputs(const instruction& code, const tensor* slots) const;

  std::vector<std::optional<value_summary>> seen_; // inputs that the instruction may overwrite
};

} // namespace troupe
