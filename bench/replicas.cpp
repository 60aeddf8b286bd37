// Training by replicas: the time of steps when some replicas are slow (OSDI Figure 8), and the cost
// of the steps themselves.
#include "bench/benchmarks.hpp"
#include "bench/task_processes.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace troupe::bench {
namespace {

using benchmark::State;
using clock = std::chrono::steady_clock;

replica_step build(graph_builder& g, int) {
  auto x = g.placeholder(dtype::f32, {-1, 64}, "x");
  auto y = g.placeholder(dtype::f32, {-1}, "y");
  auto w = g.variable(fill(g, {64, 1}, 0.0f), "w");
  return {{x, y}, mean_squared_error(reshape(matmul(x, w), {-1}), y)};
}

std::vector<tensor> batch() {
  auto x = *tensor::make(dtype::f32, shape{4, 64}), y = *tensor::make(dtype::f32, shape{4});
  std::ranges::fill(x.values<float>(), 0.1f);
  std::ranges::fill(y.values<float>(), 1.0f);
  return {x, y};
}

// Simulated time to compute a gradient: about 20 ms, log-normally distributed, and each fiftieth
// time five times as long. A sleep simulates it, since fifty workers share two cores.
std::chrono::microseconds compute_time(int64_t step_number) {
  std::mt19937_64 random{static_cast<uint64_t>(step_number) * 2654435761u};
  std::lognormal_distribution<double> usual{std::log(20'000.0), 0.25};
  auto microseconds = usual(random);
  return std::chrono::microseconds{
      static_cast<int64_t>(random() % 50 == 0 ? 5 * microseconds : microseconds)};
}

double quantile(std::vector<double>& values, double q) {
  if (values.empty())
    return 0;
  auto position =
      values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, position);
  return *position;
}

// Times of steps: with sync of the shared steps, else of the steps of each replica.
class step_times {
public:
  void note(replica_mode mode, const training_progress& progress) {
    auto now = clock::now();
    std::lock_guard guard{mutex_};
    auto shared_steps = mode == replica_mode::sync;
    if (shared_steps && progress.step <= last_step_)
      return;
    auto& before = last_[shared_steps ? 0 : progress.replica];
    if (before != clock::time_point{})
      milliseconds_.push_back(std::chrono::duration<double, std::milli>(now - before).count());
    before = now;
    last_step_ = progress.step;
  }
  void begin() {
    std::lock_guard guard{mutex_};
    last_.clear();
    last_step_ = 0;
  }
  void report(State& state) {
    for (auto [name, q] :
         {std::pair{"p10_ms", 0.1}, {"p50_ms", 0.5}, {"p90_ms", 0.9}, {"p99_ms", 0.99}})
      state.counters[name] = quantile(milliseconds_, q);
  }

private:
  std::mutex mutex_;
  std::map<size_t, clock::time_point> last_;
  int64_t last_step_ = 0;
  std::vector<double> milliseconds_;
};

/// Each iteration is a run of 30 steps; items are gradients that updated the variables.
void slow_workers(State& state, replica_mode mode, int workers, int backups) {
  constexpr int64_t steps = 30;
  step_times times;
  auto gradients = mode == replica_mode::sync ? steps * (workers - backups) : steps * workers;
  replicas_options options{
      .mode = mode,
      .workers = workers,
      .ps_tasks = 0,
      .backups = backups,
      .make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.001); },
      .batch =
          [](int64_t step_number) {
            std::this_thread::sleep_for(compute_time(step_number));
            return std::optional{batch()};
          },
      .last_step = mode == replica_mode::sync ? steps : steps * workers,
      .on_step = [&](const training_progress& progress) { times.note(mode, progress); }};
  replicas training{build, options};
  auto s = session::local(bench::options());
  for (auto _ : state) {
    times.begin();
    training.run(s);
  }
  times.report(state);
  state.SetItemsProcessed(state.iterations() * gradients);
}

/// Two workers, each a process, with the variables on the first worker, or with all_reduce on both.
/// Items are steps.
void two_workers(State& state, replica_mode mode) {
  constexpr int64_t steps = 500;
  task_processes processes;
  replicas training{
      build,
      {.mode = mode,
       .workers = 2,
       .ps_job = "worker",
       .make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.001); },
       .batch = [](int64_t) { return std::optional{batch()}; },
       .last_step = steps}};
  auto s = session::connect(processes.cluster(), options());
  for (auto _ : state)
    training.run(s);
  state.SetItemsProcessed(state.iterations() * steps);
}

template <class Run>
void add_replicas(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(("replicas/" + name).c_str(), run)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

} // namespace

void register_replicas() {
  for (int workers : {10, 25, 50, 100})
    add_replicas(concat("slow_async_", workers),
                 [=](State& state) { slow_workers(state, replica_mode::async, workers, 0); });
  for (int workers : {10, 25, 100})
    add_replicas(concat("slow_sync_", workers),
                 [=](State& state) { slow_workers(state, replica_mode::sync, workers, 0); });
  add_replicas("slow_bounded_50",
               [](State& state) { slow_workers(state, replica_mode::bounded, 50, 0); });
  for (int backups : {0, 1, 2, 3, 4, 5})
    add_replicas(concat("slow_sync_50_backup_", backups), [=](State& state) {
      slow_workers(state, replica_mode::sync, 50 + backups, backups);
    });
  add_replicas("two_workers_async", [](State& state) { two_workers(state, replica_mode::async); });
  add_replicas("two_workers_bounded",
               [](State& state) { two_workers(state, replica_mode::bounded); });
  add_replicas("two_workers_sync", [](State& state) { two_workers(state, replica_mode::sync); });
  add_replicas("two_workers_all_reduce",
               [](State& state) { two_workers(state, replica_mode::all_reduce); });
}

} // namespace troupe::bench
