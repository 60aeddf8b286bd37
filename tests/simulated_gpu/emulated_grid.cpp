// The grid of emulated_cuda.hpp: each thread is a fiber.
//
// The thread sanitizer is not told of the fibers: it sees only the one thread that runs them, which
// is correct. It counts calls and returns, so this file is compiled without it: functions that end
// a fiber never return, and its stack of calls would overflow after some blocks.
#include "tests/simulated_gpu/emulated_cuda.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace troupe::gpu {
namespace {

namespace context = boost::context;

constexpr size_t warp_size = 32;
constexpr size_t stack_bytes = size_t{256} << 10; // sanitizers need most of it

struct lane {
  enum class doing : uint8_t { nothing, waits_for_warp, waits_for_block, ended };

  dim3 place = {};
  context::fiber here = {};          // while it waits
  context::fiber* to_host = nullptr; // while it runs
  doing now = doing::nothing;
};

thread_local lane* running = nullptr;

auto is(lane::doing state) {
  return [state](const lane& one) { return one.now == state; };
}

class block_of_threads {
public:
  block_of_threads(dim3 size, const std::function<void()>& kernel)
      : lanes_(size_t{size.x} * size.y * size.z) {
    static thread_local context::pooled_fixedsize_stack stacks{stack_bytes};
    size_t i = 0;
    for (unsigned z = 0; z < size.z; ++z)
      for (unsigned y = 0; y < size.y; ++y)
        for (unsigned x = 0; x < size.x; ++x) {
          auto& fiber_lane = lanes_[i++];
          fiber_lane.place = {x, y, z};
          fiber_lane.here = context::fiber{std::allocator_arg, stacks,
                                           [&fiber_lane, &kernel](context::fiber&& host) {
                                             fiber_lane.to_host = &host;
                                             kernel();
                                             fiber_lane.now = lane::doing::ended;
                                             return std::move(host);
                                           }};
        }
  }

  void run() {
    for (;;) {
      launch_lock();
      if (std::ranges::all_of(lanes_, is(lane::doing::ended)))
        return;
      let_go();
    }
  }

private:
  // In an order that changes.
  void launch_lock() {
    static thread_local std::minstd_rand dice;
    auto first = dice() % lanes_.size();
    auto backwards = dice() % 2 == 0;
    for (size_t i = 0; i < lanes_.size(); ++i) {
      auto at = (first + i) % lanes_.size();
      auto& fiber_lane = lanes_[backwards ? lanes_.size() - 1 - at : at];
      if (fiber_lane.now != lane::doing::nothing)
        continue;
      emulated.thread = fiber_lane.place;
      running = &fiber_lane;
      fiber_lane.here = std::move(fiber_lane.here).resume();
    }
  }

  // Threads whose partners have all arrived continue.
  void let_go() {
    auto any = false;
    auto let = [&](auto begin, auto end, lane::doing from) {
      if (!std::all_of(begin, end, is(from)))
        return;
      std::for_each(begin, end, [](lane& waiting) { waiting.now = lane::doing::nothing; });
      any = true;
    };
    let(lanes_.begin(), lanes_.end(), lane::doing::waits_for_block);
    for (size_t begin = 0; begin < lanes_.size(); begin += warp_size)
      let(lanes_.begin() + static_cast<std::ptrdiff_t>(begin),
          lanes_.begin() + static_cast<std::ptrdiff_t>(std::min(begin + warp_size, lanes_.size())),
          lane::doing::waits_for_warp);
    if (any)
      return;
    std::fputs("emulated grid: threads of a block wait for each other at different places, or for "
               "some that have ended\n",
               stderr);
    std::abort();
  }

  std::vector<lane> lanes_;
};

void wait(lane::doing state) {
  auto& current = *running;
  current.now = state;
  *current.to_host = std::move(*current.to_host).resume();
}

template <class Run>
void for_each_block(dim3 grid, dim3 block, Run run) {
  emulated.grid_size = grid;
  emulated.block_size = block;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        emulated.block = {x, y, z};
        run();
      }
}

} // namespace

void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel) {
  for_each_block(grid, block, [&] { block_of_threads{block, kernel}.run(); });
}

void run_grid_apart(dim3 grid, dim3 block, const std::function<void()>& kernel) {
  for_each_block(grid, block, [&] {
    for (unsigned z = 0; z < block.z; ++z)
      for (unsigned y = 0; y < block.y; ++y)
        for (unsigned x = 0; x < block.x; ++x) {
          emulated.thread = {x, y, z};
          kernel();
        }
  });
}

void wait_for_warp() { wait(lane::doing::waits_for_warp); }

void wait_for_block() { wait(lane::doing::waits_for_block); }

} // namespace troupe::gpu
