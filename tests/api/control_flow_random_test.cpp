// Random programs of branches, loops, calls and variables, compared with an interpreter
// (evaluate.hpp) without passes and compiled code.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/program_drawer.hpp"
#include "troupe/troupe.hpp"

#include <sstream>

namespace troupe::test::control_flow_random_test {
namespace {

std::string text_of(const tensor& input) {
  std::ostringstream stream;
  stream << input;
  return stream.str();
}

// Returns the first difference; empty if there is none.
std::string difference(uint64_t seed, int statements) {
  graph_builder g;
  auto program = program_drawer{g, seed, statements, {.queues = seed % 3 == 0}}.draw();
  evaluator reference{g, small_device()};
  auto* init = g.initializer();
  if (program.fill)
    init = g.group({init, program.fill});
  auto expected = reference.run({}, {}, {init});
  if (!expected)
    return "the interpreter fails: " + expected.status().message();
  auto s = session::local({.threads = {.inter_op = seed % 2 == 0 ? size_t{1} : size_t{3}}});
  s.run(init);
  for (int64_t run = 0; run < 3; ++run) {
    auto fed = tensor::vector<int64_t>({run + 1, static_cast<int64_t>(seed % 100)});
    expected = reference.run({{program.input, fed}}, program.outputs, program.effects);
    if (!expected)
      return "the interpreter fails: " + expected.status().message();
    std::vector<target> targets(program.effects.begin(), program.effects.end());
    auto results = s.run({{program.input, fed}}, program.outputs, targets);
    for (size_t i = 0; i < results.size(); ++i)
      if (!identical(results[i], (*expected)[i]))
        return concat("run ", run, ": output ", i, " is ", text_of(results[i]), ", must be ",
                      text_of((*expected)[i]));
    for (const auto& variable : program.variables) {
      auto now = s.fetch(variable);
      auto expected_value = *reference.variable_of(*variable.ref.node).read();
      if (!identical(now, expected_value))
        return concat("run ", run, ": variable ", variable.name(), " is ", text_of(now),
                      ", must be ", text_of(expected_value));
    }
  }
  return {};
}

void check_programs(uint64_t first, uint64_t count) {
  for (auto seed = first; seed < first + count; ++seed) {
    constexpr int size = 24;
    auto problem = difference(seed, size);
    if (problem.empty())
      continue;
    int least = size;
    for (int fewer = 1; fewer < size; ++fewer) // finds the shortest failing program of this seed
      if (auto smaller_problem = difference(seed, fewer); !smaller_problem.empty()) {
        least = fewer;
        problem = smaller_problem;
        break;
      }
    FAIL_CHECK("seed " << seed << " with " << least << " statements: " << problem);
  }
}

} // namespace

TEST_CASE("random programs of branches, loops and calls agree with an interpreter") {
  check_programs(1, 200);
}

TEST_CASE("many random programs of branches, loops and calls agree with an interpreter", "[slow]") {
  check_programs(1000, 10'000);
}

} // namespace troupe::test::control_flow_random_test
