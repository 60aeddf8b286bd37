// The step for which a thread launches work on accelerators: an error that a kernel reports later
// belongs to it.
#pragma once
#include <cstdint>

namespace troupe {

/// Returns the number of a new owner: a step, or a run within a step. Unique within the process.
uint64_t next_launch_owner() noexcept;

/// Returns whether the number is from next_launch_owner(): these are not below 2^63, and numbers of
/// other kinds are.
constexpr bool is_launch_owner(uint64_t number) noexcept { return number >> 63 != 0; }

/// Returns the step for which this thread launches; 0: none, for instance in a program that uses a
/// device without a session.
uint64_t current_launch_owner() noexcept;

/// While an object exists, this thread launches for that step; 0: for none.
class launching_for {
public:
  explicit launching_for(uint64_t owner) noexcept;
  launching_for(const launching_for&) = delete;
  launching_for& operator=(const launching_for&) = delete;
  ~launching_for();

private:
  const uint64_t outer_;
};

} // namespace troupe
