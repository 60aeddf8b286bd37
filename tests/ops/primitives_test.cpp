// The primitives of GPU kernels do what their headers state, on simulated GPUs. Many kernels use
// sorts, scans along rows and reductions (many_elements_test.cpp); the others are called here.
#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"

#include <numeric>

namespace troupe::test::primitives_test {

namespace {

struct primitives {
  simulated_gpu on;
  std::mt19937 random{on.seed};

  int64_t draw(int64_t min, int64_t max) {
    return std::uniform_int_distribution<int64_t>{min, max}(random);
  }
  kernel_context context() { return {nullptr, *on.device}; }

  template <class T>
  tensor uploaded(const std::vector<T>& values) {
    auto on_device =
        tensor::make(dtype_of<T>, shape{static_cast<int64_t>(values.size())}, on.device->memory());
    REQUIRE(on_device);
    std::ranges::copy(values, static_cast<T*>(on_device->raw())); // nothing runs there yet
    return *std::move(on_device);
  }
  template <class T>
  std::vector<T> downloaded(const tensor& on_device) {
    auto values_here = on.download(on_device).get();
    REQUIRE(values_here);
    auto values = values_here->template values<T>();
    return {values.begin(), values.end()};
  }
};

} // namespace

TEST_CASE("select_flagged returns the positions of set flags in order") {
  primitives fixture;
  INFO("seed " << fixture.on.seed);
  for (int64_t count : {0, 1, 2, 63, 1'000, 70'001})
    for (auto percent : {0, 3, 97, 100}) {
      std::vector<uint8_t> flags(static_cast<size_t>(count));
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < count; ++i)
        if (fixture.draw(1, 100) <= percent) {
          flags[static_cast<size_t>(i)] = static_cast<uint8_t>(fixture.draw(1, 255));
          expected.push_back(i);
        }
      auto at = fixture.context();
      auto selected = ops::gpu::select_flagged(at, fixture.uploaded(flags));
      REQUIRE(selected);
      CHECK(fixture.downloaded<int64_t>(selected->count) ==
            std::vector{static_cast<int64_t>(expected.size())});
      auto places = fixture.downloaded<int64_t>(selected->places);
      REQUIRE(places.size() == flags.size());
      places.resize(expected.size());
      CHECK(places == expected);
    }
}

TEST_CASE("partial_sums begins with zero and ends with the total") {
  primitives fixture;
  INFO("seed " << fixture.on.seed);
  auto check = [&]<class T>(T min, T max) {
    for (int64_t count : {0, 1, 2, 63, 1'000, 70'001}) {
      std::vector<T> numbers(static_cast<size_t>(count));
      for (auto& number : numbers)
        number = static_cast<T>(fixture.draw(min, max));
      std::vector<int64_t> expected{0};
      for (auto number : numbers)
        expected.push_back(expected.back() + number);
      auto at = fixture.context();
      auto sums = ops::gpu::partial_sums(at, fixture.uploaded(numbers));
      REQUIRE(sums);
      CHECK(fixture.downloaded<int64_t>(*sums) == expected);
    }
  };
  check(uint8_t{0}, uint8_t{255});
  check(int32_t{-1'000'000'000}, int32_t{2'000'000'000});
  check(int64_t{-1'000'000'000'000}, int64_t{2'000'000'000'000});
}

TEST_CASE("sort_rows sorts by the lowest bits of the keys, and keeps the order of equal keys") {
  primitives fixture;
  INFO("seed " << fixture.on.seed);
  auto check = [&]<class Key, class Place>(Key, Place) {
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 5},
                                 {3, 7},
                                 {0, 4},
                                 {4, 0},
                                 {2, 19},
                                 {2, 45},
                                 {3, 45},
                                 {1, 46},
                                 {1, 10'007},
                                 {90, 301}})
      for (int bits : {1, 7, static_cast<int>(8 * sizeof(Key))}) {
        std::vector<Key> keys(static_cast<size_t>(rows * columns));
        for (auto& key : keys)
          key = static_cast<Key>(fixture.draw(INT64_MIN, INT64_MAX));
        auto unsorted = fixture.uploaded(keys);
        auto at = fixture.context();
        auto sorted = ops::gpu::sort_rows(at, unsorted.reshaped(shape{rows, columns}), bits);
        REQUIRE(sorted);
        auto sorted_keys = fixture.downloaded<Key>(sorted->keys);
        auto places = fixture.downloaded<Place>(sorted->places);
        auto mask = static_cast<Key>(~Key{0} >> (8 * sizeof(Key) - bits));
        std::vector<Place> order(static_cast<size_t>(columns));
        for (int64_t row = 0; row < rows; ++row) {
          const auto* from = keys.data() + row * columns;
          std::iota(order.begin(), order.end(), Place{0});
          std::ranges::stable_sort(order, {}, [&](Place i) { return from[i] & mask; });
          for (int64_t i = 0; i < columns; ++i) {
            auto to = static_cast<size_t>(row * columns + i);
            auto place = order[static_cast<size_t>(i)];
            if (places[to] != place || sorted_keys[to] != from[place])
              FAIL("row " << row << " of " << columns << ", place " << i);
          }
        }
        CHECK(fixture.downloaded<Key>(unsorted) == keys);
      }
  };
  check(uint32_t{}, int32_t{});
  check(uint64_t{}, int64_t{});
}

} // namespace troupe::test::primitives_test
