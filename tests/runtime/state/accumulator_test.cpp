#include "tests/support/catch.hpp"
#include "troupe/runtime/state/accumulator.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

namespace troupe::test::accumulator_test {

namespace {

request_id request_of(uint64_t number, uint64_t step = 1) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

} // namespace

TEST_CASE("an accumulator returns the mean of its gradients, and starts the next step") {
  auto tested = *accumulator::make({.name = "a", .dims = shape{2}});
  answers done;
  tested->take(request_of(1), 2, done);
  CHECK(done.empty());
  tested->apply(request_of(2), 0, tensor::vector<float>({1, 2}), done);
  CHECK(done.size() == 1);
  tested->apply(request_of(3), 0, tensor::vector<float>({3, 6}), done);
  REQUIRE(done.size() == 3);
  CHECK(done[2].id.number == 1);
  CHECK(std::ranges::equal(done[2].tensors.at(0).values<float>(), std::vector{2.f, 4.f}));
  CHECK(tested->global_step() == 1);
  CHECK(tested->accumulated() == 0);
}

TEST_CASE("gradients for an older step are dropped without an error") {
  auto tested = *accumulator::make({.name = "a", .mean = false});
  answers done;
  tested->set_global_step(3);
  tested->apply(request_of(1), 2, tensor::scalar(100.f), done);
  tested->apply(request_of(2), 3, tensor::scalar(1.f), done);
  tested->apply(request_of(3), 7, tensor::scalar(2.f), done);
  tested->take(request_of(4), 1, done);
  REQUIRE(done.size() == 4);
  CHECK(done[0].outcome.ok());
  CHECK(*done[3].tensors.at(0).data<float>() == 3.f);
}

TEST_CASE("gradients with a wrong shape are refused and change nothing") {
  auto tested = *accumulator::make({.name = "a", .dims = partial_shape{unknown_extent}});
  answers done;
  tested->apply(request_of(1), 0, tensor::scalar(1.f), done);
  tested->apply(request_of(2), 0, tensor::vector<int>({1}), done);
  tested->apply(request_of(3), 0,
                sparse_gradient{tensor::vector<int64_t>({0}), tensor::vector<float>({1}), {}},
                done);
  tested->apply(request_of(4), 0, tensor::vector<float>({1, 2}), done);
  tested->apply(request_of(5), 0, tensor::vector<float>({1, 2, 3}), done);
  tested->take(request_of(6), 0, done);
  REQUIRE(done.size() == 6);
  for (auto i : {0, 1, 2, 4, 5})
    CHECK(done[static_cast<size_t>(i)].outcome.kind() == error_kind::invalid_argument);
  CHECK(tested->accumulated() == 1);
}

TEST_CASE("a waiting take can be cancelled, and the next one is served") {
  auto tested = *accumulator::make({.name = "a"});
  answers done;
  tested->take(request_of(1, 10), 2, done);
  tested->take(request_of(2, 20), 1, done);
  tested->apply(request_of(3), 0, tensor::scalar(5.f), done);
  CHECK(done.size() == 1); // the first take needs two
  tested->cancel(step_id{0, 10}, stopped, done);
  REQUIRE(done.size() == 3);
  CHECK(done[1].outcome.kind() == error_kind::cancelled);
  CHECK(done[2].id.number == 2);
  tested->apply(request_of(4), 1, tensor::scalar(7.f), done);
  tested->take(request_of(5, 30), 4, done);
  tested->reset(stopped, done);
  CHECK(done.back().outcome.kind() == error_kind::cancelled);
  CHECK(tested->global_step() == 0);
  CHECK(tested->accumulated() == 0);
}

TEST_CASE("a sparse accumulator averages each row over the gradients that contain it") {
  auto tested =
      *accumulator::make({.name = "a", .dims = partial_shape{unknown_extent, 2}, .sparse = true});
  answers done;
  auto rows = [](std::vector<float> values) {
    auto count = static_cast<int64_t>(values.size() / 2);
    return tensor::from_values<float>(shape{count, 2}, values);
  };
  tested->apply(request_of(1), 0, {tensor::vector<int64_t>({7, 2}), rows({1, 1, 2, 2}), {}}, done);
  // An index that occurs twice in one gradient: the rows are added, and count once.
  tested->apply(request_of(2), 0, {tensor::vector<int64_t>({7, 7}), rows({2, 2, 3, 5}), {}}, done);
  tested->take(request_of(3), 2, done);
  REQUIRE(done.size() == 3);
  REQUIRE(done[2].outcome.ok());
  CHECK(std::ranges::equal(done[2].tensors.at(0).values<int64_t>(), std::vector<int64_t>{2, 7}));
  CHECK(std::ranges::equal(done[2].tensors.at(1).values<float>(), std::vector{2.f, 2.f, 3.f, 4.f}));
  tested->apply(request_of(4), 1,
                {tensor::vector<int64_t>({9}), rows({1, 1}), tensor::vector<int64_t>({9, 2})},
                done);
  CHECK(done.back().outcome.message().find("index 9 is not in 0 to 8") != std::string::npos);
}

TEST_CASE("means of integers and of 16-bit numbers are rounded once") {
  for (auto type : {dtype::i8, dtype::u8, dtype::i64}) {
    auto tested = *accumulator::make({.name = "a", .type = type});
    answers done;
    for (uint64_t i = 0; i < 300; ++i) { // more than 8 bits can count
      auto addend = *tensor::make(type, shape{});
      std::memset(addend.raw(), 0, addend.bytes());
      tested->apply(request_of(i), 0, addend, done);
    }
    tested->take(request_of(1000), 300, done);
    CHECK(done.back().outcome.ok());
  }
  auto tested = *accumulator::make({.name = "a", .type = dtype::bf16});
  answers done;
  for (uint64_t i = 0; i < 1000; ++i)
    tested->apply(request_of(i), 0, tensor::scalar(bfloat16{1.f}), done);
  tested->take(request_of(1000), 1000, done);
  CHECK(float(*done.back().tensors.at(0).data<bfloat16>()) == 1.f); // 256 + 1 is 256 in 16 bits
}

namespace {

void compare_with_a_list(unsigned rounds) {
  struct take {
    uint64_t step;
    size_t required;
  };
  auto base = std::random_device{}();
  for (unsigned round = 0; round < rounds; ++round) {
    INFO("seed " << base + round);
    std::mt19937 dice{base + round};
    auto tested = *accumulator::make({.name = "a", .type = dtype::i64, .mean = false});
    answers done;
    std::vector<int64_t> list;
    std::vector<std::pair<uint64_t, take>> waiting;
    std::map<uint64_t, int64_t> expected; // sums, by request
    int64_t step = 0;
    auto serve = [&] {
      while (!waiting.empty() && list.size() >= waiting.front().second.required) {
        expected[waiting.front().first] = std::reduce(list.begin(), list.end());
        waiting.erase(waiting.begin());
        list.clear();
        ++step;
      }
    };
    for (uint64_t id = 0; id < 100; ++id) {
      auto step_number = dice() % 5;
      if (auto event = dice() % 10; event < 5) {
        auto local = static_cast<int64_t>(dice() % 20);
        auto value = static_cast<int64_t>(dice() % 1000);
        tested->apply(request_of(id), local, tensor::scalar(value), done);
        if (local >= step)
          list.push_back(value);
      } else if (event < 9) {
        auto required = 1 + dice() % 4;
        tested->take(request_of(id, step_number), static_cast<int64_t>(required), done);
        waiting.push_back({id, {step_number, required}});
      } else {
        tested->cancel(step_id{0, step_number}, stopped, done);
        std::erase_if(waiting, [&](auto& waiter) { return waiter.second.step == step_number; });
      }
      serve();
      REQUIRE(tested->accumulated() == static_cast<int64_t>(list.size()));
    }
    size_t sums = 0;
    for (const auto& answered : done)
      if (!answered.tensors.empty()) {
        ++sums;
        REQUIRE(*answered.tensors[0].data<int64_t>() == expected.at(answered.id.number));
      }
    REQUIRE(sums == expected.size());
  }
}

} // namespace

TEST_CASE("an accumulator behaves like a list of gradients under random requests") {
  compare_with_a_list(300);
}

TEST_CASE("an accumulator behaves like a list through a million requests", "[slow]") {
  compare_with_a_list(10'000);
}

TEST_CASE("only the first gradient of each contributor counts, until all are taken") {
  auto tested = *accumulator::make({.name = "a", .mean = false});
  answers done;
  tested->apply(request_of(1), 0, tensor::scalar(1.f), done, 3);
  tested->apply(request_of(2), 0, tensor::scalar(100.f), done, 3);
  tested->apply(request_of(3), 0, tensor::scalar(2.f), done, 4);
  tested->apply(request_of(4), 0, tensor::scalar(4.f),
                done); // gradients without a contributor
  tested->apply(request_of(5), 0, tensor::scalar(8.f), done);
  CHECK(tested->accumulated() == 4);
  tested->take(request_of(6), 4, done);
  REQUIRE(done.size() == 6);
  CHECK(*done[5].tensors.at(0).data<float>() == 15.f);
  tested->apply(request_of(7), 1, tensor::scalar(5.f), done, 3);
  CHECK(tested->accumulated() == 1);
  tested->clear(stopped, done);
  tested->apply(request_of(8), 1, tensor::scalar(5.f), done, 3);
  CHECK(tested->accumulated() == 1);
}

TEST_CASE("clearing an accumulator drops its gradients, and cancels waiting takes") {
  auto tested = *accumulator::make({.name = "a"});
  answers done;
  tested->set_global_step(5);
  tested->apply(request_of(1), 5, tensor::scalar(1.f), done);
  tested->take(request_of(2), 2, done);
  tested->clear(stopped, done);
  REQUIRE(done.size() == 2);
  CHECK(done[1].outcome.kind() == error_kind::cancelled);
  CHECK(tested->accumulated() == 0);
  CHECK(tested->global_step() == 5);
  tested->apply(request_of(3), 5, tensor::scalar(7.f), done);
  tested->take(request_of(4), 1, done);
  CHECK(*done.at(3).tensors.at(0).data<float>() == 7.f);
}

TEST_CASE("the mean of a row may be over all gradients, including those without the row") {
  auto tested = *accumulator::make({.name = "a", .sparse = true, .divide_by_total = true});
  answers done;
  auto gradient = [](std::vector<int64_t> rows, std::vector<float> values) {
    return sparse_gradient{tensor::vector(rows), tensor::vector(values), {}};
  };
  tested->apply(request_of(1), 0, gradient({0, 2}, {4, 8}), done);
  tested->apply(request_of(2), 0, gradient({2}, {2}), done);
  tested->take(request_of(3), 2, done);
  REQUIRE(done.size() == 3);
  CHECK(std::ranges::equal(done[2].tensors.at(1).values<float>(), std::vector{2.f, 5.f}));
  CHECK_FALSE(tested->declare_again(**accumulator::make({.name = "a", .sparse = true})).ok());
}

} // namespace troupe::test::accumulator_test
