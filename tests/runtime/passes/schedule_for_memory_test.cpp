#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

#include <random>

namespace troupe::test::schedule_for_memory_test {

namespace {

void check_dependence(const graph& nodes) {
  for (const auto& node : nodes.nodes()) {
    for (const auto& input : node->inputs())
      REQUIRE(input.node->id() < node->id());
    for (auto* predecessor : node->controls())
      REQUIRE(predecessor->id() < node->id());
  }
}

} // namespace

TEST_CASE("values are consumed as soon as they exist") {
  // The graph has all large values first, then their sums: four are alive at a time, where two
  // suffice.
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += concat("x", i, " = Fill(i32[1000], f32(", i, "))\n");
  for (int i = 0; i < 4; ++i)
    text += concat("y", i, " = Sum(x", i, ", i32[0])\nfetch y", i, '\n');
  pass_case at{text};
  auto original_peak = estimated_peak(*at.closed.nodes);
  schedule_for_memory(at.closed);
  check_dependence(*at.closed.nodes);
  CHECK(estimated_peak(*at.closed.nodes) <= original_peak);
  CHECK(estimated_peak(*at.closed.nodes) < 2 * 4000);
}

TEST_CASE("reads and updates of a variable keep their order, even where the graph leaves it open") {
  pass_case at{R"(
v = VariableV2 dtype=f32 shape=[1000]
a = Neg(v)
set = Assign(v, f32{1000}[1])
b = Neg(v)
x = Fill(i32[1000], f32(1))
sa = Sum(a, i32[0])
sb = Sum(b, i32[0])
sx = Sum(x, i32[0])
fetch sx
fetch sb
fetch sa
target set
)"};
  auto place = [&](std::string_view name) { return at[name].id(); };
  bool reads_before = place("a") < place("set"), reads_after = place("set") < place("b");
  schedule_for_memory(at.closed);
  check_dependence(*at.closed.nodes);
  CHECK((place("a") < place("set")) == reads_before);
  CHECK((place("set") < place("b")) == reads_after);
}

TEST_CASE("values too large for any memory are scheduled like others") {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += concat("x", i, " = Fill(i64[1099511627776, 1048576], f64(", i, "))\n");
  for (int i = 0; i < 20; ++i)
    text += concat("y", i, " = Sum(x", i, ", i32[0, 1])\nfetch y", i, '\n');
  pass_case at{text};
  auto original_peak = estimated_peak(*at.closed.nodes);
  CHECK(original_peak > int64_t{1} << 44);
  schedule_for_memory(at.closed);
  check_dependence(*at.closed.nodes);
  CHECK(estimated_peak(*at.closed.nodes) < original_peak / 4);
}

TEST_CASE("no random graph needs more memory than before, by the estimate") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 50; ++round) {
    INFO("seed " << base + round);
    std::mt19937 dice{base + round};
    std::string text = "n0 = Placeholder dtype=f32 shape=[100]\n";
    int count = 1;
    auto any = [&] { return concat("n", dice() % static_cast<unsigned>(count)); };
    for (; count < 40; ++count)
      switch (dice() % 3) {
        case 0: text += concat("n", count, " = Neg(", any(), ")\n"); break;
        case 1: text += concat("n", count, " = AddN(", any(), ", ", any(), ") \n"); break;
        case 2: text += concat("n", count, " = Neg(", any(), ", ^", any(), ")\n"); break;
      }
    text += "feed n0 = f32{100}[1]\n";
    for (int i = 0; i < 4; ++i)
      text += concat("fetch ", any(), '\n');
    pass_case at{text};
    auto size = at.closed.nodes->nodes().size();
    auto original_peak = estimated_peak(*at.closed.nodes);
    schedule_for_memory(at.closed);
    check_dependence(*at.closed.nodes);
    CHECK(at.closed.nodes->nodes().size() == size);
    CHECK(estimated_peak(*at.closed.nodes) <= original_peak);
  }
}

} // namespace troupe::test::schedule_for_memory_test
