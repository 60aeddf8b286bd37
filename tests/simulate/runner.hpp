// Runs simulations in separate processes: a seed that crashes or hangs counts as failed.
#pragma once
#include "tests/simulate/world.hpp"

namespace troupe::simulate {

struct run_result {
  outcome final_outcome;
  uint64_t probes_hit = 0;
  double seconds = 0; ///< processor seconds, where it ran in a separate process
};

struct run_choice {
  options settings;
  canary planted = canary::none;
};

/// Runs one simulation in this process. After a broken promise, actors may remain, so the process
/// should end.
run_result run_here(const run_choice& choice, bool tracing);

/// Runs all simulations, `jobs` concurrently, and calls `on_result` with each result. Stops early
/// when `on_result` returns false.
void run_apart(const std::vector<run_choice>& choices, size_t jobs,
               const std::function<bool(const run_choice&, const run_result&)>& on_result);

/// The output of a process of this program with these arguments.
std::string output_of(const std::vector<std::string>& arguments);

} // namespace troupe::simulate
