#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"
#include "troupe/runtime/program/step_memory.hpp"

#include <thread>

namespace troupe::test::step_memory_test {

TEST_CASE("a step's memory counts the bytes in use, their peak, and their total") {
  counting_allocator heap;
  auto memory = step_memory::make(heap);
  auto* a = memory->allocate(100);
  auto* b = memory->allocate(50);
  memory->deallocate(a, 100);
  auto* c = memory->allocate(20);
  auto now = memory->statistics();
  CHECK(now.in_use == 70);
  CHECK(now.peak == 150);
  CHECK(now.allocated == 170);
  CHECK(now.allocations == 3);
  CHECK_FALSE(memory->idle());
  memory->deallocate(b, 50);
  memory->deallocate(c, 20);
  CHECK(memory->idle());
  CHECK(heap.live == 0);
  memory->reset();
  CHECK(memory->statistics().peak == 0);
  CHECK(memory->statistics().allocated == 0);
}

TEST_CASE("an allocation that the device refuses is not counted") {
  counting_allocator heap;
  heap.limit = 10;
  auto memory = step_memory::make(heap);
  CHECK(memory->allocate(11) == nullptr);
  CHECK(memory->statistics().allocations == 0);
  CHECK(memory->idle());
}

TEST_CASE("a step's tensors may outlive its memory's owner") {
  counting_allocator heap;
  tensor survivor;
  {
    auto memory = step_memory::make(heap);
    survivor = *tensor::make(dtype::f32, {100}, *memory);
  }
  survivor.values<float>()[99] = 1;
  CHECK(heap.live == 1);
  survivor.reset();
  CHECK(heap.live == 0);
}

TEST_CASE("threads may share a step's memory") {
  counting_allocator heap;
  auto memory = step_memory::make(heap);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (size_t round = 0; round < 1000; ++round)
          memory->deallocate(memory->allocate(round), round);
      });
  }
  CHECK(memory->idle());
  CHECK(memory->statistics().allocations == 4000);
  CHECK(memory->statistics().peak <= 4 * 1000);
}

} // namespace troupe::test::step_memory_test
