#include "troupe/devices/cpu/cpu_allocator.hpp"

#include "tests/support/catch.hpp"

#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

namespace troupe::test::cpu_allocator_test {

namespace {

constexpr size_t mib = size_t{1} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool caches = false;
#else
constexpr bool caches = true;
#endif

} // namespace

TEST_CASE("blocks of every size are aligned, disjoint, and as large as requested") {
  auto memory = cpu_allocator::make(0, 64 * mib);
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t size :
       {0ul,    1ul,    63ul,   64ul,    65ul,    511ul,   512ul,   513ul, 575ul,   576ul,   577ul,
        1023ul, 1024ul, 1025ul, 65535ul, 65536ul, 65537ul, mib - 1, mib,   mib + 1, mib + 64}) {
    auto* block = static_cast<char*>(memory->allocate(size));
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
    std::memset(block, static_cast<int>(blocks.size()), size);
    blocks.emplace_back(block, size);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto [block, size] = blocks[i];
    CHECK((size == 0 ||
           (block[0] == static_cast<char>(i) && block[size - 1] == static_cast<char>(i))));
    memory->deallocate(block, size);
  }
  CHECK(memory->statistics().in_use == 0);
}

TEST_CASE("sizes are rounded up by an eighth at most, beyond the first classes") {
  auto memory = cpu_allocator::make(0, 64 * mib);
  for (size_t size = 512; size < 100'000; size += 61) {
    auto* block = memory->allocate(size);
    CHECK(memory->statistics().in_use <= size + size / 8 + 64);
    memory->deallocate(block, size);
  }
}

TEST_CASE("a freed block serves the next tensor of its size, until it is released") {
  auto memory = cpu_allocator::make(0, 64 * mib);
  for (size_t size : {100ul, 100'000ul, 3 * mib}) {
    auto* block = memory->allocate(size);
    memory->deallocate(block, size);
    CHECK((memory->statistics().cached >= size) == caches);
    auto* reused = memory->allocate(size);
    if (caches)
      CHECK(reused == block);
    memory->deallocate(reused, size);
    memory->release_cached();
    CHECK(memory->statistics().cached == 0);
  }
  CHECK(memory->statistics().allocations == 6);
}

TEST_CASE("the allocator caches large blocks up to its bound, and frees stale ones first") {
  auto memory = cpu_allocator::make(0, 10 * mib);
  for (size_t i = 1; i < 20; ++i) {
    auto* block = memory->allocate(i * mib / 2);
    memory->deallocate(block, i * mib / 2);
    CHECK(memory->statistics().cached <= 10 * mib);
  }
  auto* block = memory->allocate(mib);
  memory->deallocate(block, mib);
  memory->deallocate(memory->allocate(mib), mib);
  CHECK((memory->statistics().cached >= mib) == caches);
}

TEST_CASE("the allocator frees cached blocks before it exceeds its limit, and then fails") {
  auto memory = cpu_allocator::make(10 * mib, 64 * mib);
  CHECK_FALSE(memory->allocate(11 * mib));
  CHECK_FALSE(memory->allocate(SIZE_MAX / 2));
  CHECK_FALSE(memory->allocate(SIZE_MAX));
  auto* first = memory->allocate(6 * mib);
  REQUIRE(first);
  CHECK_FALSE(memory->allocate(5 * mib));
  memory->deallocate(first, 6 * mib);
  auto* second =
      memory->allocate(9 * mib); // with the first still cached this would exceed the limit
  REQUIRE(second);
  CHECK(memory->statistics().cached == 0);
  CHECK(memory->statistics().in_use >= 9 * mib);
  memory->deallocate(second, 9 * mib);
  CHECK(memory->statistics().peak >= 9 * mib);
  CHECK(memory->statistics().peak <= 10 * mib);
}

TEST_CASE("no block is lost by threads that free each other's blocks") {
  auto memory = cpu_allocator::make(0, 4 * mib);
  std::vector<std::atomic<void*>> shared(64);
  auto size_at = [](size_t i) { return 48 << (i % 12); };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random{seed};
      for (int round = 0; round < 20'000; ++round) {
        auto i = random() % shared.size();
        auto size = static_cast<size_t>(size_at(i));
        auto* own_block = memory->allocate(size);
        *static_cast<size_t*>(own_block) = i;
        if (auto* exchanged = shared[i].exchange(own_block)) {
          if (*static_cast<size_t*>(exchanged) != i)
            std::abort(); // Catch2's assertions are not thread-safe
          memory->deallocate(exchanged, size);
        }
      }
    });
  for (auto& thread : threads)
    thread.join();
  for (size_t i = 0; i < shared.size(); ++i)
    if (auto* remaining = shared[i].load())
      memory->deallocate(remaining, static_cast<size_t>(size_at(i)));
  CHECK(memory->statistics().in_use == 0);
  CHECK(memory->statistics().allocations == 80'000);
}

} // namespace troupe::test::cpu_allocator_test
