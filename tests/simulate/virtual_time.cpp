#include "tests/simulate/virtual_time.hpp"

namespace troupe::simulate {
namespace {

time_point current{};

} // namespace

void set_time(time_point now) noexcept { current = now; }
time_point read_time() noexcept { return current; }

} // namespace troupe::simulate

// Replaces the standard library's clock: kernels' stop signals, step tables and heartbeats read it
// where no actor clock is available, and time must be the same everywhere.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return troupe::simulate::read_time();
}
