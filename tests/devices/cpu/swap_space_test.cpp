#include "troupe/devices/cpu/swap_space.hpp"

#include "tests/support/catch.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

namespace troupe::test::swap_space_test {
namespace {

constexpr int64_t large_count = 1 << 16;

tensor numbers(float first, int64_t count = large_count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (auto& value : values)
    value = first++;
  return tensor::vector(values);
}

tensor list_of(std::vector<tensor> items) {
  auto list_tensor = *tensor::make(dtype::variant, {});
  list_tensor.data<tensor_list>()->items = std::move(items);
  return list_tensor;
}

} // namespace

TEST_CASE("a tensor moved to a file keeps its elements, and its file is deleted with it") {
  swap_space space;
  auto memory = numbers(3);
  {
    auto moved = *space.move_to_disk(memory);
    CHECK(moved.raw() != memory.raw());
    CHECK(identical(moved, memory));
    CHECK(reinterpret_cast<uintptr_t>(moved.raw()) % tensor_alignment == 0);
    CHECK(space.in_use() == memory.bytes());
  }
  CHECK(space.in_use() == 0);
}

TEST_CASE("small tensors and texts are not moved to files") {
  swap_space space{{.folder = "/nowhere"}};
  auto small = numbers(0, 100);
  CHECK((*space.move_to_disk(small)).raw() == small.raw());
  auto texts = tensor::vector(std::vector<std::string>(10000, "text"));
  CHECK((*space.move_to_disk(texts)).raw() == texts.raw());
}

TEST_CASE("writing over a tensor in a file changes no other tensor") {
  swap_space space;
  auto overwritten = *space.move_to_disk(numbers(0, 5000)),
       untouched = *space.move_to_disk(numbers(7, 5000));
  std::ranges::fill(overwritten.values<float>(), -1.0f);
  auto moved_later = *space.move_to_disk(numbers(9, 5000));
  CHECK(identical(untouched, numbers(7, 5000)));
  CHECK(identical(moved_later, numbers(9, 5000)));
  CHECK(overwritten.values<float>()[4999] == -1.0f);
}

TEST_CASE("moving a list moves its items, and leaves other references to the list unchanged") {
  swap_space space;
  auto inner = list_of({numbers(1), numbers(2, 10)});
  auto outer = list_of({inner, numbers(3)});
  auto moved = *space.move_to_disk(outer);
  CHECK(identical(moved, outer));
  CHECK(space.in_use() == 2 * numbers(0).bytes());
  CHECK(outer.data<tensor_list>()->items[0].raw() == inner.raw());
  auto moved_again = *space.move_to_disk(moved);
  CHECK(space.in_use() == 2 * numbers(0).bytes());
  CHECK(moved_again.raw() == moved.raw());
  moved.reset();
  CHECK(space.in_use() > 0);
  moved_again.reset();
  CHECK(space.in_use() == 0);
}

TEST_CASE("a moved tensor that was overwritten is written again") {
  swap_space space;
  auto overwritten = *space.move_to_disk(numbers(1));
  std::ranges::fill(overwritten.values<float>(), 2.0f);
  auto moved_again = *space.move_to_disk(overwritten);
  CHECK(moved_again.raw() != overwritten.raw());
  CHECK(identical(moved_again, overwritten));
  CHECK(space.in_use() == 2 * overwritten.bytes());
}

TEST_CASE("a full swap space, and a missing folder, are errors that say what to do") {
  swap_space small{{.limit = 300'000}};
  auto first = *small.move_to_disk(numbers(0));
  auto refused = small.move_to_disk(numbers(1));
  REQUIRE(!refused);
  CHECK(refused.status().kind() == error_kind::resource_exhausted);
  CHECK(refused.status().message().find("their limit is 300000") != std::string::npos);
  first.reset();
  CHECK(small.move_to_disk(numbers(1)));

  swap_space nowhere{{.folder = "/nowhere"}};
  auto failed = nowhere.move_to_disk(numbers(1));
  REQUIRE(!failed);
  CHECK(failed.status().kind() == error_kind::failed_precondition);
  CHECK(failed.status().message().find("'/nowhere'") != std::string::npos);
  CHECK(failed.status().message().find("--swap-folder") != std::string::npos);
}

TEST_CASE("a full disk is an error, and existing files stay") {
  swap_space space;
  auto existing = *space.move_to_disk(numbers(5));
  rlimit old_limit;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  // A file may not grow beyond this size, as if no block were free.
  rlimit small{300'000, old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto refused = space.move_to_disk(numbers(6));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE(!refused);
  CHECK(refused.status().kind() == error_kind::resource_exhausted);
  CHECK(refused.status().message().find("cannot write 262144 bytes") != std::string::npos);
  CHECK(identical(existing, numbers(5)));
  CHECK(space.move_to_disk(numbers(6)));
}

TEST_CASE("tensors in files outlive their swap space, and any thread may move them") {
  std::vector<tensor> moved(8);
  {
    swap_space space;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < moved.size(); ++i)
      threads.emplace_back([&, i] {
        for (int round = 0; round < 300; ++round)
          moved[i] = *space.move_to_disk(numbers(static_cast<float>(i), 5000));
      });
    for (auto& thread : threads)
      thread.join();
  }
  for (size_t i = 0; i < moved.size(); ++i)
    CHECK(identical(moved[i], numbers(static_cast<float>(i), 5000)));
}

TEST_CASE("a swap space puts many tensors into few files") {
  swap_space space;
  std::vector<tensor> moved;
  auto block = numbers(0, 1 << 22); // 16 MiB
  auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
  };
  auto files_before = open_files();
  for (int i = 0; i < 40; ++i)
    moved.push_back(*space.move_to_disk(block));
  CHECK(open_files() < files_before + 12);
  CHECK(identical(moved.front(), block));
  CHECK(identical(moved.back(), block));
}

} // namespace troupe::test::swap_space_test
