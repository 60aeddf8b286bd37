#include "tests/support/catch.hpp"
#include "troupe/runtime/state/accumulator.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>

namespace troupe::test::accumulator_test {

namespace {

request_id who(uint64_t number, uint64_t step = 1) { return {{0, step}, number}; }

const status stopped = failure(error_kind::cancelled, "stopped");

} // namespace

TEST_CASE("an accumulator gives the mean of what was added, and begins the next step") {
  auto made = *accumulator::make({.name = "a", .dims = shape{2}});
  answers done;
  made->take(who(1), 2, done);
  CHECK(done.empty());
  made->apply(who(2), 0, tensor::vector<float>({1, 2}), done);
  CHECK(done.size() == 1);
  made->apply(who(3), 0, tensor::vector<float>({3, 6}), done);
  REQUIRE(done.size() == 3);
  CHECK(done[2].who.number == 1);
  CHECK(std::ranges::equal(done[2].tensors.at(0).values<float>(), std::vector{2.f, 4.f}));
  CHECK(made->global_step() == 1);
  CHECK(made->accumulated() == 0);
}

TEST_CASE("gradients for an older step are dropped, and are no errors") {
  auto made = *accumulator::make({.name = "a", .mean = false});
  answers done;
  made->set_global_step(3);
  made->apply(who(1), 2, tensor::scalar(100.f), done);
  made->apply(who(2), 3, tensor::scalar(1.f), done);
  made->apply(who(3), 7, tensor::scalar(2.f), done);
  made->take(who(4), 1, done);
  REQUIRE(done.size() == 4);
  CHECK(done[0].outcome.ok());
  CHECK(*done[3].tensors.at(0).data<float>() == 3.f);
}

TEST_CASE("gradients that do not fit are refused and change nothing") {
  auto made = *accumulator::make({.name = "a", .dims = partial_shape{unknown_extent}});
  answers done;
  made->apply(who(1), 0, tensor::scalar(1.f), done);
  made->apply(who(2), 0, tensor::vector<int>({1}), done);
  made->apply(who(3), 0,
              sparse_gradient{tensor::vector<int64_t>({0}), tensor::vector<float>({1}), {}}, done);
  made->apply(who(4), 0, tensor::vector<float>({1, 2}), done);
  made->apply(who(5), 0, tensor::vector<float>({1, 2, 3}), done);
  made->take(who(6), 0, done);
  REQUIRE(done.size() == 6);
  for (auto i : {0, 1, 2, 4, 5})
    CHECK(done[static_cast<size_t>(i)].outcome.kind() == error_kind::invalid_argument);
  CHECK(made->accumulated() == 1);
}

TEST_CASE("who waits for gradients can be given up, and the next is served") {
  auto made = *accumulator::make({.name = "a"});
  answers done;
  made->take(who(1, 10), 2, done);
  made->take(who(2, 20), 1, done);
  made->apply(who(3), 0, tensor::scalar(5.f), done);
  CHECK(done.size() == 1); // the first wants two
  made->cancel(step_id{0, 10}, stopped, done);
  REQUIRE(done.size() == 3);
  CHECK(done[1].outcome.kind() == error_kind::cancelled);
  CHECK(done[2].who.number == 2);
  made->apply(who(4), 1, tensor::scalar(7.f), done);
  made->take(who(5, 30), 4, done);
  made->reset(stopped, done);
  CHECK(done.back().outcome.kind() == error_kind::cancelled);
  CHECK(made->global_step() == 0);
  CHECK(made->accumulated() == 0);
}

TEST_CASE("a sparse accumulator averages each row over the gradients that have it") {
  auto made =
      *accumulator::make({.name = "a", .dims = partial_shape{unknown_extent, 2}, .sparse = true});
  answers done;
  auto rows = [](std::vector<float> values) {
    auto count = static_cast<int64_t>(values.size() / 2);
    return tensor::of<float>(shape{count, 2}, values);
  };
  made->apply(who(1), 0, {tensor::vector<int64_t>({7, 2}), rows({1, 1, 2, 2}), {}}, done);
  // One index twice in one gradient: a sum, which counts once.
  made->apply(who(2), 0, {tensor::vector<int64_t>({7, 7}), rows({2, 2, 3, 5}), {}}, done);
  made->take(who(3), 2, done);
  REQUIRE(done.size() == 3);
  REQUIRE(done[2].outcome.ok());
  CHECK(std::ranges::equal(done[2].tensors.at(0).values<int64_t>(), std::vector<int64_t>{2, 7}));
  CHECK(std::ranges::equal(done[2].tensors.at(1).values<float>(), std::vector{2.f, 2.f, 3.f, 4.f}));
  made->apply(who(4), 1,
              {tensor::vector<int64_t>({9}), rows({1, 1}), tensor::vector<int64_t>({9, 2})}, done);
  CHECK(done.back().outcome.message().find("index 9 is not in 0 to 8") != std::string::npos);
}

TEST_CASE("means of integers and of 16-bit numbers are rounded once") {
  for (auto type : {dtype::i8, dtype::u8, dtype::i64}) {
    auto made = *accumulator::make({.name = "a", .type = type});
    answers done;
    for (uint64_t i = 0; i < 300; ++i) { // more than 8 bits count
      auto one = *tensor::make(type, shape{});
      std::memset(one.raw(), 0, one.bytes());
      made->apply(who(i), 0, one, done);
    }
    made->take(who(1000), 300, done);
    CHECK(done.back().outcome.ok());
  }
  auto made = *accumulator::make({.name = "a", .type = dtype::bf16});
  answers done;
  for (uint64_t i = 0; i < 1000; ++i)
    made->apply(who(i), 0, tensor::scalar(bfloat16{1.f}), done);
  made->take(who(1000), 1000, done);
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
    auto made = *accumulator::make({.name = "a", .type = dtype::i64, .mean = false});
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
      auto of = dice() % 5;
      if (auto what = dice() % 10; what < 5) {
        auto local = static_cast<int64_t>(dice() % 20);
        auto value = static_cast<int64_t>(dice() % 1000);
        made->apply(who(id), local, tensor::scalar(value), done);
        if (local >= step)
          list.push_back(value);
      } else if (what < 9) {
        auto required = 1 + dice() % 4;
        made->take(who(id, of), static_cast<int64_t>(required), done);
        waiting.push_back({id, {of, required}});
      } else {
        made->cancel(step_id{0, of}, stopped, done);
        std::erase_if(waiting, [&](auto& one) { return one.second.step == of; });
      }
      serve();
      REQUIRE(made->accumulated() == static_cast<int64_t>(list.size()));
    }
    size_t sums = 0;
    for (const auto& one : done)
      if (!one.tensors.empty()) {
        ++sums;
        REQUIRE(*one.tensors[0].data<int64_t>() == expected.at(one.who.number));
      }
    REQUIRE(sums == expected.size());
  }
}

} // namespace

TEST_CASE("an accumulator does what a list of gradients would, whoever comes and goes") {
  compare_with_a_list(300);
}

TEST_CASE("an accumulator does what a list would through a million requests", "[slow]") {
  compare_with_a_list(10'000);
}

TEST_CASE("of one contributor the first gradient counts, until all are taken") {
  auto made = *accumulator::make({.name = "a", .mean = false});
  answers done;
  made->apply(who(1), 0, tensor::scalar(1.f), done, 3);
  made->apply(who(2), 0, tensor::scalar(100.f), done, 3);
  made->apply(who(3), 0, tensor::scalar(2.f), done, 4);
  made->apply(who(4), 0, tensor::scalar(4.f), done); // these have no name
  made->apply(who(5), 0, tensor::scalar(8.f), done);
  CHECK(made->accumulated() == 4);
  made->take(who(6), 4, done);
  REQUIRE(done.size() == 6);
  CHECK(*done[5].tensors.at(0).data<float>() == 15.f);
  made->apply(who(7), 1, tensor::scalar(5.f), done, 3);
  CHECK(made->accumulated() == 1);
  made->clear(stopped, done);
  made->apply(who(8), 1, tensor::scalar(5.f), done, 3);
  CHECK(made->accumulated() == 1);
}

TEST_CASE("clearing an accumulator drops what it has, and gives up who waits") {
  auto made = *accumulator::make({.name = "a"});
  answers done;
  made->set_global_step(5);
  made->apply(who(1), 5, tensor::scalar(1.f), done);
  made->take(who(2), 2, done);
  made->clear(stopped, done);
  REQUIRE(done.size() == 2);
  CHECK(done[1].outcome.kind() == error_kind::cancelled);
  CHECK(made->accumulated() == 0);
  CHECK(made->global_step() == 5);
  made->apply(who(3), 5, tensor::scalar(7.f), done);
  made->take(who(4), 1, done);
  CHECK(*done.at(3).tensors.at(0).data<float>() == 7.f);
}

TEST_CASE("the mean of a row may be over all gradients, also those without the row") {
  auto made = *accumulator::make({.name = "a", .sparse = true, .rows_by_all = true});
  answers done;
  auto gradient = [](std::vector<int64_t> rows, std::vector<float> values) {
    return sparse_gradient{tensor::vector(rows), tensor::vector(values), {}};
  };
  made->apply(who(1), 0, gradient({0, 2}, {4, 8}), done);
  made->apply(who(2), 0, gradient({2}, {2}), done);
  made->take(who(3), 2, done);
  REQUIRE(done.size() == 3);
  CHECK(std::ranges::equal(done[2].tensors.at(1).values<float>(), std::vector{2.f, 5.f}));
  CHECK_FALSE(made->declare_again(**accumulator::make({.name = "a", .sparse = true})).ok());
}

} // namespace troupe::test::accumulator_test
