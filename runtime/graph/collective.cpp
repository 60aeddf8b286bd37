#include "troupe/runtime/graph/collective.hpp"

namespace troupe {

bool is_collective(const op_def& op) noexcept {
  return has(op.effects, effect::blocking) && op.find_attr("instance_key");
}

} // namespace troupe
