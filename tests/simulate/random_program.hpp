// A random program of branches, loops, calls and state over all tasks, and what it must do.
#pragma once
#include "tests/simulate/device.hpp"
#include "tests/simulate/ledger.hpp"
#include "tests/simulate/step_texts.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/program_drawer.hpp"
#include "troupe/runtime/graph/step_signature.hpp"

namespace troupe::simulate {

/// Has state of its own, which begin() makes and turns change. An interpreter goes before each
/// step: it says what the step must give, and how often each update happens.
class random_program {
public:
  random_program(core& of, ledger& book, const layout& lay, int client, uint64_t number);

  const graph& nodes() const noexcept { return nodes_; }
  const step_signature& begin() const noexcept { return begin_; }
  const step_signature& turn() const noexcept { return turn_; }

  /// Interprets a step, the first of which must be begin(). Returns how often each slot runs.
  std::map<int64_t, int64_t> interpret(const step_signature& what);
  /// What a step is fed, as the run of that number: as it was interpreted last.
  std::vector<tensor> feeds(const step_signature& of, uint64_t run) const;
  /// What is wrong with what that step gave; nothing if it is right.
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
