// The division of tensors among tasks, and the expansion of collective operations between tasks.
#include "troupe/runtime/graph/piece.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "troupe/runtime/passes/spread_collectives.hpp"

#include <random>

namespace troupe::test::piece_test {

TEST_CASE("pieces cover a tensor, are aligned, and differ in size by at most one grain") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 dice{seed};
  for (int round = 0; round < 2000; ++round) {
    auto type = round % 2 ? dtype::f16 : dtype::f64;
    auto elements = static_cast<int64_t>(dice() >> (dice() % 60 + 2));
    auto count = static_cast<int64_t>(1 + dice() % 40);
    auto grain = static_cast<int64_t>(tensor_alignment / size_of(type));
    INFO(elements << " elements in " << count << " pieces");
    int64_t end = 0, least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < count; ++i) {
      auto part = piece_of(elements, type, i, count);
      REQUIRE(part.begin == end);
      REQUIRE((part.begin % grain == 0 || part.elements() == 0));
      least = std::min(least, part.elements());
      most = std::max(most, part.elements());
      end = part.end;
    }
    REQUIRE(end == elements);
    REQUIRE(most - least < 2 * grain);
  }
}

namespace {

constexpr auto text = R"(
x = Placeholder dtype=f32 shape=[100000]
y = Placeholder dtype=f32 shape=[100000]
n = Neg(x)
m = Exp(y)
a = CollectiveReduce(n) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Div"
b = CollectiveReduce(m) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Div"
feed x = f32(1)
feed y = f32(1)
fetch a
fetch b
)";

std::vector<int> placed(const pass_case& at, int of_b) {
  std::vector<int> chosen;
  for (const auto& added : at.closed.nodes->nodes())
    chosen.push_back(added->name() == "m" || added->name() == "b"   ? of_b
                     : added->name() == "n" || added->name() == "a" ? 0
                                                                    : -1);
  return chosen;
}

} // namespace

TEST_CASE(
    "a group on two tasks becomes pieces that each of them reduces, and one on one task stays") {
  const device_list devices{
      {"worker", 0, "cpu", 0}, {"worker", 0, "cpu", 1}, {"worker", 1, "cpu", 0}};
  pass_case at{text};
  auto chosen = placed(at, 1);
  auto unchanged = at.written();
  CHECK_FALSE(*spread_collectives(at.closed, chosen, devices));
  CHECK(at.written() == unchanged);
  chosen = placed(at, 2);
  REQUIRE(*spread_collectives(at.closed, chosen, devices));
  REQUIRE(chosen.size() == at.closed.nodes->nodes().size());
  INFO(at.written());
  std::map<std::string, std::vector<int>> where;
  for (const auto& added : at.closed.nodes->nodes()) {
    where[std::string{added->op().name}].push_back(chosen[added->index()]);
    for (const auto& input : added->inputs())
      CHECK(input.node->id() < added->id());
  }
  for (auto& [op, nodes_of_op] : where)
    std::ranges::sort(nodes_of_op);
  CHECK(where["_Pieces"] == std::vector<int>{0, 2});
  CHECK(where["_ReducePieces"] == std::vector<int>{0, 2});
  CHECK(where["_JoinPieces"] == std::vector<int>{0, 2});
  CHECK_FALSE(where.contains("CollectiveReduce"));
  CHECK(at["a"].output_shape(0) == partial_shape{shape{100000}});
  CHECK(chosen[at["b"].index()] == 2);
}

} // namespace troupe::test::piece_test
