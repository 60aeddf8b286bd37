#include "troupe/runtime/placement/minimum_cut.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <random>

namespace troupe::test::minimum_cut_test {

TEST_CASE("items go to their cheaper side, unless separating them costs more") {
  for (int64_t together : {1, 100}) {
    minimum_cut cut;
    auto a = cut.add_item(0, minimum_cut::never), b = cut.add_item(20, 10);
    cut.add_cost(a, b, together);
    CHECK(cut.solve() == std::vector{true, together > 10});
  }
}

TEST_CASE("an item that costs the same on either side goes to the second") {
  minimum_cut cut;
  cut.add_item(5, 5);
  cut.add_item(0, 0);
  CHECK(cut.solve() == std::vector{false, false});
  CHECK(minimum_cut{}.solve().empty());
}

TEST_CASE("no other division of random items costs less") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 200; ++round) {
    INFO("seed " << base + round);
    std::mt19937 dice{base + round};
    constexpr size_t count = 9;
    auto up_to = [&](int highest) {
      return std::uniform_int_distribution<int64_t>{0, highest}(dice);
    };
    struct pair {
      size_t first_item, second_item;
      int64_t cost;
    };
    std::vector<std::array<int64_t, 2>> costs;
    std::vector<pair> pairs;
    minimum_cut cut;
    for (size_t i = 0; i < count; ++i) {
      costs.push_back({up_to(50), up_to(50)});
      if (dice() % 5 == 0)
        costs.back()[dice() % 2] = minimum_cut::never;
      cut.add_item(costs[i][0], costs[i][1]);
    }
    for (int i = 0; i < 20; ++i) {
      pairs.push_back({dice() % count, dice() % count, up_to(30)});
      if (pairs.back().first_item != pairs.back().second_item)
        cut.add_cost(pairs.back().first_item, pairs.back().second_item, pairs.back().cost);
    }
    auto cost_of = [&](auto on_first) {
      int64_t sum = 0;
      for (size_t i = 0; i < count; ++i)
        sum += costs[i][on_first(i) ? 0 : 1];
      for (const auto& pair_cost : pairs)
        if (on_first(pair_cost.first_item) && !on_first(pair_cost.second_item))
          sum += pair_cost.cost;
      return sum;
    };
    auto lowest_cost = INT64_MAX;
    for (unsigned bits = 0; bits < 1u << count; ++bits)
      lowest_cost = std::min(lowest_cost, cost_of([=](size_t i) { return (bits >> i & 1) != 0; }));
    auto solution = cut.solve();
    CHECK(cost_of([&](size_t i) { return bool{solution[i]}; }) == lowest_cost);
  }
}

} // namespace troupe::test::minimum_cut_test
