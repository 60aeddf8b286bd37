// Runs simulations in processes of their own: a seed that crashes or hangs is a seed that fails.
#pragma once
#include "tests/simulate/world.hpp"

namespace troupe::simulate {

struct run_result {
  outcome what;
  uint64_t probes_hit = 0;
  double seconds = 0; ///< of a processor, where it ran apart
};

struct run_choice {
  options with;
  canary planted = canary::none;
};

/// Runs one here. Whatever a broken promise leaves behind stays: the process should end.
run_result run_here(const run_choice& what, bool tracing);

/// Runs all of them, `jobs` at once, and tells each result as it comes. Stops early when
/// `on_result` says false.
void run_apart(const std::vector<run_choice>& all, size_t jobs,
               const std::function<bool(const run_choice&, const run_result&)>& on_result);

/// What a process with these arguments of this program prints.
std::string output_of(const std::vector<std::string>& arguments);

} // namespace troupe::simulate
