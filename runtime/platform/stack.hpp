// The remaining depth of the calling thread's stack.
#pragma once
#include <cstddef>

namespace troupe {

/// Returns the bytes that are left on the calling thread's stack; SIZE_MAX where the bounds of the
/// stack are unknown, as on stacks that a program has allocated itself.
size_t stack_left() noexcept;

} // namespace troupe
