// What steps over several tasks cost, by tasks and by clients, and how long it takes until tasks
// that join or come back take part. Each task is a process of its own on this machine.
#include "bench/benchmarks.hpp"
#include "bench/two_tasks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include <unistd.h>

namespace troupe::bench {
namespace {

using benchmark::State;
using clock = std::chrono::steady_clock;

std::string worker(int number) { return concat("/job:worker/task:", number); }

template <class Run>
void guarded(State& state, Run run) {
  try {
    run();
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
  }
}

double own_processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

/// The papers' null step (OSDI 6.2, Figure 7): the worker reads a number from each parameter
/// server, computes next to nothing, and sends each an update. Servers are the tasks after the
/// worker.
/// With several workers, each has a step of its own, and a thread of the client that takes it.
/// Items are steps; counters are what the processes compute in a step, in microseconds.
void null_step(State& state, int workers, int servers) {
  constexpr int steps_at_once = 64; // of each worker, in an iteration
  guarded(state, [&] {
    two_tasks tasks{carrier::near_memory, workers + servers};
    graph_builder g;
    std::vector<edge> parameters;
    for (int i = 0; i < servers; ++i) {
      auto on = g.on(worker(workers + i));
      parameters.push_back(g.variable(1.0f, concat("parameter", i)));
    }
    auto s = session::connect(tasks.cluster());
    s.run(g.initializer());
    std::vector<step> steps;
    for (int w = 0; w < workers; ++w) {
      edge update;
      {
        auto on = g.on(worker(w));
        update = neg(servers == 1 ? identity(parameters[0]) : add_n(parameters));
      }
      std::vector<target> updates;
      for (int i = 0; i < servers; ++i) {
        auto on = g.on(worker(workers + i));
        updates.emplace_back(assign_add(parameters[static_cast<size_t>(i)], update).node);
      }
      steps.push_back(s.prepare({}, {}, updates));
      steps.back().run();
    }
    auto used = [&](int from, int count) {
      double all = 0;
      for (int i = from; i < from + count; ++i)
        all += tasks.processor_seconds(static_cast<size_t>(i));
      return all;
    };
    auto client = own_processor_seconds(), worker_side = used(0, workers),
         server_side = used(workers, servers);
    for (auto _ : state) {
      if (workers == 1) {
        for (int i = 0; i < steps_at_once; ++i)
          steps[0].run();
        continue;
      }
      std::vector<std::jthread> all;
      for (auto& one : steps)
        all.emplace_back([&] {
          for (int i = 0; i < steps_at_once; ++i)
            one.run();
        });
    }
    auto items = state.iterations() * steps_at_once * workers;
    auto each = 1e6 / static_cast<double>(items);
    state.SetItemsProcessed(items);
    state.counters["client_us"] = (own_processor_seconds() - client) * each;
    state.counters["worker_us"] = (used(0, workers) - worker_side) * each;
    state.counters["ps_us"] = (used(workers, servers) - server_side) * each;
  });
}

/// A table of a million rows of 64 numbers in two parts, each on a server; a step looks up 1024 of
/// them on the worker. Items are rows.
void lookups(State& state) {
  constexpr int64_t rows = 1'000'000, width = 64, batch = 1024;
  guarded(state, [&] {
    two_tasks tasks{carrier::near_memory, 3};
    graph_builder g;
    embedding_table table{g, rows, width, {.devices = {worker(1), worker(2)}}};
    auto on = g.on(worker(0));
    auto numbers = g.placeholder(dtype::i32, {batch});
    auto found = identity(table(numbers));
    auto s = session::connect(tasks.cluster());
    s.run(g.initializer());
    auto step = s.prepare({numbers}, {}, {found.node});
    auto asked = *tensor::make(dtype::i32, shape{batch});
    std::mt19937 dice{1};
    for (auto& one : asked.values<int32_t>())
      one = static_cast<int32_t>(dice() % rows);
    step.run({asked});
    for (auto _ : state)
      step.run({asked});
    state.SetItemsProcessed(state.iterations() * batch);
  });
}

/// So many clients, each a session of its own with one step at a time on the same worker.
void clients(State& state, int count) {
  constexpr int64_t steps_in_all = 6400;
  guarded(state, [&] {
    two_tasks tasks{carrier::near_memory, 1};
    graph_builder g;
    edge x, y;
    {
      auto on = g.on(worker(0));
      x = g.placeholder(dtype::f32, {});
      y = neg(x);
    }
    std::vector<session> sessions;
    std::vector<step> steps;
    for (int i = 0; i < count; ++i) {
      sessions.push_back(session::connect(tasks.cluster(), {.threads = {.inter_op = 1}}));
      steps.push_back(sessions.back().prepare({x}, {y}));
      steps.back().run({tensor::scalar(1.0f)});
    }
    for (auto _ : state) {
      std::vector<std::jthread> all;
      for (auto& one : steps)
        all.emplace_back([&] {
          for (int64_t i = 0; i < steps_in_all / count; ++i)
            one.run({tensor::scalar(1.0f)});
        });
    }
    state.SetItemsProcessed(state.iterations() * steps_in_all);
  });
}

// -- tasks that come ------------------------------------------------------------------------------

/// From the start of a process that joins until a step on its task, which a client asks for at the
/// same time, has ended.
void join(State& state) {
  guarded(state, [&] {
    auto tasks = two_tasks::to_be_joined();
    graph_builder g;
    auto s = session::connect(tasks.cluster());
    int number = 0;
    auto use_next = [&] {
      tasks.start(static_cast<size_t>(++number));
      auto on = g.on(worker(number));
      s.run({}, {}, {no_op(g)}, {.timeout = std::chrono::seconds{30}});
    };
    use_next(); // the coordinator has waited for those who may know numbers
    for (auto _ : state) {
      auto begin = clock::now();
      use_next();
      state.SetIterationTime(std::chrono::duration<double>(clock::now() - begin).count());
    }
  });
}

/// From the end of a task by kill -9, which is started again at once, until a step on it has ended;
/// with `holds_state`, the task holds a variable of a megabyte that the session restores first.
void heal(State& state, bool holds_state) {
  auto folder = std::filesystem::temp_directory_path() / concat("troupe_bench.heal.", getpid());
  guarded(state, [&] {
    two_tasks tasks{carrier::near_memory, 2};
    graph_builder g;
    auto on = g.on(worker(1));
    auto held = g.variable(fill(g, {250'000}, 1.0f), "held");
    saver saves{g, folder.string()};
    recovery_options how{.retries = 1000, .wait = std::chrono::milliseconds{5}};
    if (holds_state)
      how.restore = [&](session& in) { saves.restore(in); };
    auto s = session::connect(tasks.cluster(), {.recovery = how});
    if (holds_state) {
      s.run(g.initializer());
      saves.save(s, 1);
    }
    auto wanted = holds_state ? std::vector<edge>{sum(held)}
                              : std::vector<edge>{neg(g.constant(tensor::scalar(-250'000.0f)))};
    auto use = [&] {
      if (to_scalar<float>(s.run({}, wanted)[0]) != 250'000)
        throw std::runtime_error{"what was restored is not what was saved"};
    };
    use();
    for (auto _ : state) {
      auto begin = clock::now();
      tasks.kill(1);
      tasks.start(1);
      use();
      state.SetIterationTime(std::chrono::duration<double>(clock::now() - begin).count());
    }
  });
  std::filesystem::remove_all(folder);
}

} // namespace

void register_cluster() {
  auto null = [](const std::string& name, int workers, int servers) {
    benchmark::RegisterBenchmark(("cluster/null_step_" + name).c_str(), null_step, workers, servers)
        ->UseRealTime();
  };
  for (int servers : {1, 2, 4, 16})
    null(concat(servers, "_ps"), 1, servers);
  for (int workers : {2, 4})
    null(concat(workers, "_workers_2_ps"), workers, 2);
  benchmark::RegisterBenchmark("cluster/lookups_2_ps", lookups)->UseRealTime();
  for (int count : {1, 8, 64})
    benchmark::RegisterBenchmark(concat("cluster/clients_", count).c_str(), clients, count)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  auto once = [](const char* name, auto... run) {
    benchmark::RegisterBenchmark(name, run...)
        ->UseManualTime()
        ->Iterations(5)
        ->Unit(benchmark::kMillisecond);
  };
  once("cluster/join", join);
  once("cluster/heal_worker", heal, false);
  once("cluster/heal_ps", heal, true);
}

} // namespace troupe::bench
