// Random programs of branches, loops, calls and variables against an interpreter (evaluate.hpp)
// that knows neither passes nor compiled code.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/program_drawer.hpp"
#include "troupe/troupe.hpp"

#include <sstream>

namespace troupe::test::control_flow_random_test {
namespace {

std::string text_of(const tensor& of) {
  std::ostringstream out;
  out << of;
  return out.str();
}

// What differs, or nothing.
std::string difference(uint64_t seed, int statements) {
  graph_builder g;
  auto drawn = program_drawer{g, seed, statements, {.queues = seed % 3 == 0}}.draw();
  evaluator reference{g, small_device()};
  auto* init = g.initializer();
  if (drawn.fill)
    init = g.group({init, drawn.fill});
  auto expected = reference.run({}, {}, {init});
  if (!expected)
    return "the interpreter fails: " + expected.status().message();
  auto s = session::local({.threads = {.inter_op = seed % 2 == 0 ? size_t{1} : size_t{3}}});
  s.run(init);
  for (int64_t run = 0; run < 3; ++run) {
    auto fed = tensor::vector<int64_t>({run + 1, static_cast<int64_t>(seed % 100)});
    expected = reference.run({{drawn.input, fed}}, drawn.outputs, drawn.effects);
    if (!expected)
      return "the interpreter fails: " + expected.status().message();
    std::vector<target> targets(drawn.effects.begin(), drawn.effects.end());
    auto got = s.run({{drawn.input, fed}}, drawn.outputs, targets);
    for (size_t i = 0; i < got.size(); ++i)
      if (!identical(got[i], (*expected)[i]))
        return concat("run ", run, ": output ", i, " is ", text_of(got[i]), ", must be ",
                      text_of((*expected)[i]));
    for (const auto& one : drawn.variables) {
      auto now = s.fetch(one);
      auto wanted = *reference.variable_of(*one.ref.node).read();
      if (!identical(now, wanted))
        return concat("run ", run, ": variable ", one.name(), " is ", text_of(now), ", must be ",
                      text_of(wanted));
    }
  }
  return {};
}

void check_programs(uint64_t first, uint64_t count) {
  for (auto seed = first; seed < first + count; ++seed) {
    constexpr int size = 24;
    auto wrong = difference(seed, size);
    if (wrong.empty())
      continue;
    int least = size;
    for (int fewer = 1; fewer < size; ++fewer) // the shortest program of this seed that fails
      if (auto still = difference(seed, fewer); !still.empty()) {
        least = fewer;
        wrong = still;
        break;
      }
    FAIL_CHECK("seed " << seed << " with " << least << " statements: " << wrong);
  }
}

} // namespace

TEST_CASE("random programs of branches, loops and calls do what an interpreter does") {
  check_programs(1, 200);
}

TEST_CASE("many random programs of branches, loops and calls do what an interpreter does",
          "[slow]") {
  check_programs(1000, 10'000);
}

} // namespace troupe::test::control_flow_random_test
