// How deep calls may still go on a thread.
#pragma once
#include <cstddef>

namespace troupe {

/// Bytes of the calling thread's stack that are left; as many as there can be where that cannot be
/// known, as on stacks that a program has made itself.
size_t stack_left() noexcept;

} // namespace troupe
