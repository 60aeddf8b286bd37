#include "tests/support/catch.hpp"
#include "troupe/serialization/reports/statistics.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <limits>
#include <random>

namespace troupe::test::statistics_test {

namespace {

task_statistics example() {
  auto subjects = std::make_shared<std::vector<span_subject>>();
  subjects->push_back({.kind = span_kind::node, .name = "sum", .op = "Add", .device = "cpu:0"});
  subjects->push_back(
      {span_kind::send, "sum/send", "_Send", "cpu:0", "/job:b/task:1/device:cpu:0", 7, 3});
  subjects->push_back({.kind = span_kind::region,
                       .name = "region 3",
                       .device = "cpu:0",
                       .region = 3,
                       .messages = 5});
  task_statistics statistics{.task = "/job:a/task:0", .subjects = subjects};
  statistics.spans = {{2, 1, -5, 90, 0}, {0, 1, -5, 20, 4096}, {1, 1, 20, 90, 1ull << 40, 7}};
  statistics.begin_ns = -10;
  statistics.end_ns = 100;
  statistics.allocated_bytes = 4096;
  statistics.peak_bytes = 8192;
  statistics.messages = {1, 2, 3, 4, 5, 6, 7, 8};
  statistics.expected_messages = {8, 7, 6, 5, 4, 3, 2, 1ull << 59};
  statistics.memory = {
      {.device = "/job:a/task:0/device:cpu:0", .at_ns = {-5, 20, 20}, .bytes = {0, 9, 1}},
      {.device = "none", .at_ns = {}, .bytes = {}}};
  return statistics;
}

} // namespace

TEST_CASE("statistics survive writing and reading") {
  auto bytes = write_statistics(example());
  REQUIRE(bytes);
  auto back = read_statistics(bytes_of(*bytes));
  INFO(back.status());
  REQUIRE(back);
  CHECK(back->task == example().task);
  CHECK(*back->subjects == *example().subjects);
  CHECK(back->spans == example().spans);
  CHECK(back->begin_ns == -10);
  CHECK(back->end_ns == 100);
  CHECK(back->allocated_bytes == 4096);
  CHECK(back->peak_bytes == 8192);
  CHECK(back->messages == example().messages);
  CHECK(back->expected_messages == example().expected_messages);
  CHECK(back->memory == example().memory);
}

TEST_CASE("inconsistent statistics are refused") {
  auto refused = [](auto change) {
    auto changed_statistics = example();
    change(changed_statistics);
    auto bytes = write_statistics(changed_statistics);
    REQUIRE(bytes);
    return read_statistics(bytes_of(*bytes)).status().kind() == error_kind::data_loss;
  };
  CHECK_FALSE(refused([](auto&) {}));
  CHECK(refused([](auto& changed) { changed.spans[0].subject = 3; }));
  CHECK(refused([](auto& changed) { changed.spans[0].end_ns = -6; }));
  CHECK(refused(
      [](auto& changed) { changed.spans[0].end_ns = std::numeric_limits<int64_t>::max(); }));
  CHECK(refused([](auto& changed) { changed.begin_ns = std::numeric_limits<int64_t>::min(); }));
  CHECK(refused([](auto& changed) { changed.end_ns = -11; }));
  CHECK(refused([](auto& changed) { changed.memory[0].at_ns[1] = -6; }));
  CHECK(refused([](auto& changed) { changed.messages.tokens = 1ull << 60; }));
  CHECK(refused([](auto& changed) { changed.expected_messages.step_ends = ~uint64_t{0}; }));
  CHECK(refused([](auto& changed) {
    auto subjects = *changed.subjects;
    subjects[0].kind = static_cast<span_kind>(span_kinds);
    changed.subjects = std::make_shared<const std::vector<span_subject>>(subjects);
  }));
}

TEST_CASE("damaged statistics are an error or other statistics, never a crash") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  auto written = write_statistics(example());
  REQUIRE(written);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes{bytes_of(*written).begin(), bytes_of(*written).end()};
    for (auto n = random() % 4 + 1; n > 0; --n)
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    if (random() % 4 == 0)
      bytes.resize(random() % bytes.size());
    if (auto read = read_statistics(bytes); !read)
      CHECK(read.status().kind() == error_kind::data_loss);
    else
      for (const auto& span : read->spans) // indices may be used without checks
        CHECK(read->subject_of(span).name.size() < 1000);
  }
}

} // namespace troupe::test::statistics_test
