#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <thread>

namespace troupe::test::tensor_test {

TEST_CASE("an empty tensor holds nothing") {
  tensor none;
  CHECK(none.empty());
  CHECK(none.type() == dtype::none);
  CHECK(none.bytes() == 0);
  CHECK_FALSE(none.unique());
  CHECK(identical(none, tensor{}));
  CHECK_FALSE(identical(none, tensor::scalar(1)));
  CHECK(to_string(none) == "none[] {}");
}

TEST_CASE("copies of a tensor share memory until the last is gone") {
  test::counting_allocator memory;
  auto first = *tensor::make(dtype::f32, {2}, memory);
  CHECK(first.unique());
  auto second = first;
  CHECK_FALSE(first.unique());
  CHECK(first.raw() == second.raw());
  first.reset();
  CHECK(second.unique());
  auto& same = second;
  second = same;
  CHECK(second.unique());
  auto third = std::move(second);
  CHECK(second.empty()); // NOLINT: a moved-from tensor holds nothing, by promise
  CHECK(third.unique());
  CHECK(memory.live == 1);
  third = tensor::scalar(1.f);
  CHECK(memory.live == 0);
}

TEST_CASE("memory is aligned, whatever the type and size") {
  for (int i = 1; i < dtype_count; ++i)
    for (int64_t extent : {0, 1, 3, 100}) {
      auto allocated = *tensor::make(static_cast<dtype>(i), {extent});
      CHECK(reinterpret_cast<uintptr_t>(allocated.raw()) % tensor_alignment == 0);
      CHECK(allocated.bytes() == static_cast<size_t>(extent) * size_of(allocated.type()));
      CHECK_FALSE(allocated.empty());
    }
}

TEST_CASE("strings start empty, are copied deep by a clone and freed") {
  test::counting_allocator memory;
  auto words = *tensor::make(dtype::string, {3}, memory);
  for (const auto& word : words.values<std::string>())
    CHECK(word.empty());
  words.data<std::string>()[1] = "a word that is too long for the small buffer of a string";
  auto copy = *words.clone(memory);
  CHECK(identical(words, copy));
  copy.data<std::string>()[1] += '!';
  CHECK_FALSE(identical(words, copy));
  CHECK(memory.live == 2);
  words.reset();
  copy.reset();
  CHECK(memory.live == 0);
}

TEST_CASE("a reshaped tensor is a view of the same elements") {
  auto grid = tensor::from_values<int>({2, 3}, {1, 2, 3, 4, 5, 6});
  auto row = grid.reshaped({6});
  CHECK(row.raw() == grid.raw());
  CHECK(row.dims() == shape{6});
  CHECK(grid.dims() == shape{2, 3});
  auto apart = *grid.clone();
  CHECK(apart.raw() != grid.raw());
  CHECK(identical(apart, grid));
  CHECK_FALSE(identical(grid, row));
  apart.data<int>()[5] = 0;
  CHECK_FALSE(identical(apart, grid));
  CHECK_FALSE(identical(tensor::scalar(1.f), tensor::scalar(1)));
}

TEST_CASE("a tensor that no memory can hold is refused, not attempted") {
  test::counting_allocator memory;
  memory.limit = 1000;
  auto refused = tensor::make(dtype::f32, {300}, memory);
  REQUIRE_FALSE(refused);
  CHECK(refused.status().kind() == error_kind::resource_exhausted);
  CHECK(refused.status().message() == "out of memory: 1200 bytes for f32[300]");
  CHECK(tensor::make(dtype::f32, {200}, memory).ok());
  CHECK(tensor::make(dtype::none, {1}).status().kind() == error_kind::invalid_argument);
  CHECK(tensor::make(dtype::u8, {int64_t{1} << 62}, memory).status().kind() ==
        error_kind::resource_exhausted);
  CHECK(tensor::make(dtype::f64, {int64_t{1} << 62}).status().kind() ==
        error_kind::invalid_argument);
  // A shape made by broadcasting large shapes may have any product.
  CHECK_FALSE(tensor::make(dtype::u8, {int64_t{1} << 32, int64_t{1} << 32}));
  CHECK_FALSE(tensor::make(dtype::u8, {int64_t{1} << 32, int64_t{1} << 32, 1}, memory));
  CHECK(memory.live == 0);
}

TEST_CASE("values print by type, and long tensors are cut off") {
  CHECK(to_string(tensor::from_values<int8_t>({2}, {-1, 65})) == "i8[2] {-1, 65}");
  CHECK(to_string(tensor::from_values<bool>({2}, {true, false})) == "bool[2] {true, false}");
  CHECK(to_string(tensor::scalar<std::string>("hi")) == "string[] {\"hi\"}");
  CHECK(to_string(tensor::scalar(float16{0.5f})) == "f16[] {0.5}");
  CHECK(to_string(tensor::scalar(std::complex<float>{1, 2})) == "c64[] {(1,2)}");
  CHECK(to_string(tensor::vector<int>({1, 2, 3}), 2) == "i32[3] {1, 2, ...}");
  CHECK(to_string(tensor::vector<int>({1, 2}), 2) == "i32[2] {1, 2}");
  CHECK(to_string(*tensor::make(dtype::f32, {0, 3})) == "f32[0,3] {}");
}

TEST_CASE("memory from elsewhere is given back when the last tensor over it is gone") {
  static int released = 0;
  alignas(64) static float values[4] = {1, 2, 3, 4};
  auto* memory =
      new buffer{values, sizeof values, [](buffer* done) { ++released, delete done; }, nullptr};
  {
    auto lent = tensor::from_buffer(memory, dtype::f32, {4});
    auto view = lent.reshaped({2, 2});
    lent.reset();
    CHECK(released == 0);
    CHECK(view.values<float>()[3] == 4);
  }
  CHECK(released == 1);
}

TEST_CASE("threads may copy and drop tensors over the same memory") {
  test::counting_allocator memory;
  auto shared = *tensor::make(dtype::i32, {8}, memory);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([own_copy = shared] {
        for (int i = 0; i < 20'000; ++i) {
          auto copy = own_copy;
          auto moved = std::move(copy);
        }
      });
  }
  CHECK(shared.unique());
  shared.reset();
  CHECK(memory.live == 0);
}

} // namespace troupe::test::tensor_test
