// A random program of branches, loops, calls and state over all tasks, and its expected results.
#pragma once
#include "tests/simulate/device.hpp"
#include "tests/simulate/ledger.hpp"
#include "tests/simulate/step_texts.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/program_drawer.hpp"
#include "troupe/runtime/graph/step_signature.hpp"

namespace troupe::simulate {

/// The program has its own state: the step begin() initializes it, and each run of the step turn()
/// changes it. Before each step, an interpreter computes the results of the step, and the number of
/// runs of each update.
class random_program {
public:
  random_program(core& simulation, ledger& book, const layout& lay, int client, uint64_t number);

  const graph& nodes() const noexcept { return nodes_; }
  const step_signature& begin() const noexcept { return begin_; }
  const step_signature& turn() const noexcept { return turn_; }

  /// Interprets a step, the first of which must be begin(). Returns the number of runs of each
  /// slot.
  std::map<int64_t, int64_t> interpret(const step_signature& signature);
  /// The feeds of the step that was interpreted last, for the run with that number.
  std::vector<tensor> feeds(const step_signature& signature, uint64_t run) const;
  /// The difference of the step's results from the expected ones; empty if there is none.
  std::string difference(const std::vector<tensor>& fetches) const;

private:
  core& core_;
  ledger& ledger_;
  simulated_device device_;
  graph_builder nodes_;
  step_signature begin_, turn_;
  test::program_drawer::program drawn_;
  edge run_;
  test::evaluator interpreter_;
  int64_t marks_ = 0, turns_ = 0;
  std::vector<tensor> wanted_;
};

} // namespace troupe::simulate
