#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::memory_test {

namespace {

constexpr size_t mebibyte = 1 << 20;

} // namespace

TEST_CASE("a step that would exceed the memory limit fails with the largest tensors by node") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{1 << 20}, "x");
  auto doubled = add(x, x, "doubled");
  auto s = session::local({.memory = {.limit = 10 * mebibyte}});
  auto too_much = s.prepare({x}, {neg(doubled), tanh(doubled), exp(doubled), square(doubled)});
  const auto value = tensor::from_values({1 << 20}, std::vector<float>(1 << 20));
  try {
    too_much.run({value});
    FAIL("the limit was not held");
  } catch (const error& e) {
    std::string text = e.what();
    INFO(text);
    CHECK(e.kind() == error_kind::resource_exhausted);
    CHECK(text.find("out of memory: 4194304 bytes") != text.npos);
    CHECK(text.find("its limit is 10485760") != text.npos);
    CHECK(text.find("largest tensors: 4194304 bytes, f32[1048576] of ") != text.npos);
    CHECK(text.find("Add 'doubled'") != text.npos);
  }
  // The step has released its memory.
  CHECK(s.prepare({x}, {tanh(doubled)}).run({value}).size() == 1);
}

TEST_CASE("fetches are written where the caller requests") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto s = session::local();
  auto both_outputs = s.prepare({x}, {x * 2.0f, x + 1.0f});
  std::vector<tensor> feeds{tensor::scalar(3.0f)}, fetches(2);
  for (int round = 0; round < 3; ++round) {
    both_outputs.run_into(feeds, fetches);
    CHECK(to_scalar<float>(fetches[0]) == 6);
    CHECK(to_scalar<float>(fetches[1]) == 4);
  }
  fetches.resize(1);
  try {
    both_outputs.run_into(feeds, fetches);
    FAIL("there is no room for the second");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::invalid_argument);
    CHECK(std::string{e.what()}.find("step::run_into (memory_test.cpp:") == 0);
  }
}

} // namespace troupe::test::memory_test
