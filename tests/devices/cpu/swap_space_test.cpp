#include "troupe/devices/cpu/swap_space.hpp"

#include "tests/support/catch.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

namespace troupe::test::swap_space_test {
namespace {

constexpr int64_t many = 1 << 16;

tensor numbers(float first, int64_t count = many) {
  std::vector<float> made(static_cast<size_t>(count));
  for (auto& one : made)
    one = first++;
  return tensor::vector(made);
}

tensor list_of(std::vector<tensor> items) {
  auto made = *tensor::make(dtype::variant, {});
  made.data<tensor_list>()->items = std::move(items);
  return made;
}

} // namespace

TEST_CASE("what was moved to a file has the same elements, and leaves no file behind") {
  swap_space space;
  auto memory = numbers(3);
  {
    auto moved = *space.moved(memory);
    CHECK(moved.raw() != memory.raw());
    CHECK(identical(moved, memory));
    CHECK(reinterpret_cast<uintptr_t>(moved.raw()) % tensor_alignment == 0);
    CHECK(space.in_use() == memory.bytes());
  }
  CHECK(space.in_use() == 0);
}

TEST_CASE("small tensors and texts stay where they are") {
  swap_space space{{.folder = "/nowhere"}};
  auto few = numbers(0, 100);
  CHECK((*space.moved(few)).raw() == few.raw());
  auto texts = tensor::vector(std::vector<std::string>(10000, "text"));
  CHECK((*space.moved(texts)).raw() == texts.raw());
}

TEST_CASE("who writes over a tensor in a file changes no other") {
  swap_space space;
  auto one = *space.moved(numbers(0, 5000)), two = *space.moved(numbers(7, 5000));
  std::ranges::fill(one.values<float>(), -1.0f);
  auto three = *space.moved(numbers(9, 5000));
  CHECK(identical(two, numbers(7, 5000)));
  CHECK(identical(three, numbers(9, 5000)));
  CHECK(one.values<float>()[4999] == -1.0f);
}

TEST_CASE("items of lists are moved, and the list that others have is left as it is") {
  swap_space space;
  auto inner = list_of({numbers(1), numbers(2, 10)});
  auto outer = list_of({inner, numbers(3)});
  auto moved = *space.moved(outer);
  CHECK(identical(moved, outer));
  CHECK(space.in_use() == 2 * numbers(0).bytes());
  CHECK(outer.data<tensor_list>()->items[0].raw() == inner.raw());
  auto again = *space.moved(moved);
  CHECK(space.in_use() == 2 * numbers(0).bytes());
  CHECK(again.raw() == moved.raw());
  moved.reset();
  CHECK(space.in_use() > 0);
  again.reset();
  CHECK(space.in_use() == 0);
}

TEST_CASE("what is overwritten and kept again is written again") {
  swap_space space;
  auto one = *space.moved(numbers(1));
  std::ranges::fill(one.values<float>(), 2.0f);
  auto again = *space.moved(one);
  CHECK(again.raw() != one.raw());
  CHECK(identical(again, one));
  CHECK(space.in_use() == 2 * one.bytes());
}

TEST_CASE("a full swap space, and a folder that is not there, are errors that say what to do") {
  swap_space small{{.limit = 300'000}};
  auto first = *small.moved(numbers(0));
  auto refused = small.moved(numbers(1));
  REQUIRE(!refused);
  CHECK(refused.status().kind() == error_kind::resource_exhausted);
  CHECK(refused.status().message().find("their limit is 300000") != std::string::npos);
  first.reset();
  CHECK(small.moved(numbers(1)));

  swap_space nowhere{{.folder = "/nowhere"}};
  auto failed = nowhere.moved(numbers(1));
  REQUIRE(!failed);
  CHECK(failed.status().kind() == error_kind::failed_precondition);
  CHECK(failed.status().message().find("'/nowhere'") != std::string::npos);
  CHECK(failed.status().message().find("--swap-folder") != std::string::npos);
}

TEST_CASE("a disk that is full is an error, and what is there stays") {
  swap_space space;
  auto kept = *space.moved(numbers(5));
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  // A file may not grow beyond what it has: as where no block is left.
  rlimit small{300'000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto refused = space.moved(numbers(6));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE(!refused);
  CHECK(refused.status().kind() == error_kind::resource_exhausted);
  CHECK(refused.status().message().find("cannot write 262144 bytes") != std::string::npos);
  CHECK(identical(kept, numbers(5)));
  CHECK(space.moved(numbers(6)));
}

TEST_CASE("tensors in files outlive their space, and are moved from any thread") {
  std::vector<tensor> kept(8);
  {
    swap_space space;
    std::vector<std::thread> all;
    for (size_t i = 0; i < kept.size(); ++i)
      all.emplace_back([&, i] {
        for (int round = 0; round < 300; ++round)
          kept[i] = *space.moved(numbers(static_cast<float>(i), 5000));
      });
    for (auto& each : all)
      each.join();
  }
  for (size_t i = 0; i < kept.size(); ++i)
    CHECK(identical(kept[i], numbers(static_cast<float>(i), 5000)));
}

TEST_CASE("many bytes take few files") {
  swap_space space;
  std::vector<tensor> kept;
  auto block = numbers(0, 1 << 22); // 16 MiB
  auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
  };
  auto before = open_files();
  for (int i = 0; i < 40; ++i)
    kept.push_back(*space.moved(block));
  CHECK(open_files() < before + 12);
  CHECK(identical(kept.front(), block));
  CHECK(identical(kept.back(), block));
}

} // namespace troupe::test::swap_space_test
