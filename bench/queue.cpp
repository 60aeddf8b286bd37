// Elements through queues: the cost of coordination between steps.
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <barrier>
#include <thread>

namespace troupe::bench {
namespace {

using benchmark::State;

struct queue_steps {
  graph_builder g;
  session s = session::local(options());
  edge queue, value;
  step put, take;

  explicit queue_steps(int64_t floats, int64_t capacity)
      : queue(fifo_queue(g, {dtype::f32}, {.capacity = capacity})),
        value(g.placeholder(dtype::f32, floats == 1 ? shape{} : shape{floats})),
        put(s.prepare({value}, {}, {queue_enqueue(queue, {value})})),
        take(s.prepare({}, {queue_dequeue(queue, {dtype::f32})[0]})) {}
};

/// A thread adds an element with one step and takes it out with another.
void pairs(State& state) {
  queue_steps steps{1, -1};
  const auto element = tensor::scalar(1.0f);
  for (auto _ : state) {
    steps.put.run({element});
    benchmark::DoNotOptimize(steps.take.run());
  }
  state.SetItemsProcessed(state.iterations());
}

/// A step adds and takes out 1000 elements, one after the other.
void pairs_in_step(State& state) {
  constexpr int count = 1000;
  graph_builder g;
  auto s = session::local(options());
  auto queue = fifo_queue(g, {dtype::f32});
  edge value = g.constant(1.0f);
  for (int i = 0; i < count; ++i) {
    auto* put = queue_enqueue(queue, {value});
    auto later = g.after({put});
    value = queue_dequeue(queue, {dtype::f32})[0];
  }
  auto step = s.prepare({}, {value});
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run());
  state.SetItemsProcessed(state.iterations() * count);
}

/// `threads_per_side` threads that add elements, and as many that take them out. Items are
/// elements.
void side_by_side(State& state, int threads_per_side, int64_t floats) {
  const int elements = (floats == 1 ? 40'000 : 800) / threads_per_side;
  queue_steps steps{floats, 64};
  const auto element = *tensor::make(dtype::f32, floats == 1 ? shape{} : shape{floats});
  std::fill_n(element.data<float>(), floats, 1.0f);
  std::barrier round{2 * threads_per_side + 1};
  std::atomic<bool> done{false};
  std::vector<std::jthread> users;
  for (int i = 0; i < 2 * threads_per_side; ++i)
    users.emplace_back([&, puts = i % 2 == 0] {
      for (;;) {
        round.arrive_and_wait();
        if (done)
          return;
        for (int n = 0; n < elements; ++n)
          if (puts)
            steps.put.run({element});
          else
            benchmark::DoNotOptimize(steps.take.run());
        round.arrive_and_wait();
      }
    });
  for (auto _ : state) {
    round.arrive_and_wait();
    round.arrive_and_wait();
  }
  done = true;
  round.arrive_and_wait();
  state.SetItemsProcessed(state.iterations() * elements * threads_per_side);
}

template <class Run>
void add(const char* name, Run run) {
  benchmark::RegisterBenchmark(name, run)->UseRealTime()->MeasureProcessCPUTime();
}

} // namespace

void register_queue() {
  add("queue/pairs", pairs);
  add("queue/pairs_in_step", pairs_in_step);
  add("queue/threads_1x1", [](State& state) { side_by_side(state, 1, 1); });
  add("queue/threads_8x8", [](State& state) { side_by_side(state, 8, 1); });
  add("queue/1MB_1x1", [](State& state) { side_by_side(state, 1, 1 << 18); });
  add("queue/1MB_8x8", [](State& state) { side_by_side(state, 8, 1 << 18); });
}

} // namespace troupe::bench
