// Writes docs/ops.md, the reference of all ops.
#pragma once
#include "troupe/runtime/registry.hpp"

#include <string>

namespace troupe::generate {

std::string reference(const registry& ops);

} // namespace troupe::generate
