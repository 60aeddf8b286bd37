// The cost of steps over several tasks, by numbers of tasks and of clients, and the time until a
// task that joins or restarts takes part. Each task is a process of its own on this machine.
#include "bench/benchmarks.hpp"
#include "bench/task_processes.hpp"
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

double client_processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

/// The papers' null step (OSDI 6.2, Figure 7): the worker reads a number from each parameter
/// server, computes next to nothing, and sends an update to each server. Servers are the tasks
/// after the workers. With several workers, each worker has its own step, which a thread of the
/// client runs. Items are steps; counters are the processor time of the processes per step, in
/// microseconds.
void null_step(State& state, int workers, int servers) {
  constexpr int steps_per_worker = 64; // in an iteration
  guarded(state, [&] {
    task_processes tasks{medium_kind::peer_memory, workers + servers};
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
    auto used = [&](int first, int count) {
      double seconds = 0;
      for (int i = first; i < first + count; ++i)
        seconds += tasks.processor_seconds(static_cast<size_t>(i));
      return seconds;
    };
    auto client = client_processor_seconds(), worker_side = used(0, workers),
         server_side = used(workers, servers);
    for (auto _ : state) {
      if (workers == 1) {
        for (int i = 0; i < steps_per_worker; ++i)
          steps[0].run();
        continue;
      }
      std::vector<std::jthread> callers;
      for (auto& worker_step : steps)
        callers.emplace_back([&] {
          for (int i = 0; i < steps_per_worker; ++i)
            worker_step.run();
        });
    }
    auto items = state.iterations() * steps_per_worker * workers;
    auto us_per_step = 1e6 / static_cast<double>(items);
    state.SetItemsProcessed(items);
    state.counters["client_us"] = (client_processor_seconds() - client) * us_per_step;
    state.counters["worker_us"] = (used(0, workers) - worker_side) * us_per_step;
    state.counters["ps_us"] = (used(workers, servers) - server_side) * us_per_step;
  });
}

/// Looks up 1024 rows on the worker, of a table of a million rows of 64 numbers in two parts, each
/// part on a server. Items are rows.
void lookups(State& state) {
  constexpr int64_t rows = 1'000'000, width = 64, batch = 1024;
  guarded(state, [&] {
    task_processes tasks{medium_kind::peer_memory, 3};
    graph_builder g;
    embedding_table table{g, rows, width, {.devices = {worker(1), worker(2)}}};
    auto on = g.on(worker(0));
    auto row_ids = g.placeholder(dtype::i32, {batch});
    auto looked_up = identity(table(row_ids));
    auto s = session::connect(tasks.cluster());
    s.run(g.initializer());
    auto step = s.prepare({row_ids}, {}, {looked_up.node});
    auto ids = *tensor::make(dtype::i32, shape{batch});
    std::mt19937 random{1};
    for (auto& id : ids.values<int32_t>())
      id = static_cast<int32_t>(random() % rows);
    step.run({ids});
    for (auto _ : state)
      step.run({ids});
    state.SetItemsProcessed(state.iterations() * batch);
  });
}

/// `count` clients; each is a session that runs one step at a time on the same worker.
void clients(State& state, int count) {
  constexpr int64_t total_steps = 6400;
  guarded(state, [&] {
    task_processes tasks{medium_kind::peer_memory, 1};
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
      std::vector<std::jthread> callers;
      for (auto& client_step : steps)
        callers.emplace_back([&] {
          for (int64_t i = 0; i < total_steps / count; ++i)
            client_step.run({tensor::scalar(1.0f)});
        });
    }
    state.SetItemsProcessed(state.iterations() * total_steps);
  });
}

// -- tasks that join or restart
// --------------------------------------------------------------------

/// Time from the start of a process that joins to the end of a step on its task. A client starts
/// this step at the same time as the process.
void join(State& state) {
  guarded(state, [&] {
    auto tasks = task_processes::joinable();
    graph_builder g;
    auto s = session::connect(tasks.cluster());
    int number = 0;
    auto use_next = [&] {
      tasks.start(static_cast<size_t>(++number));
      auto on = g.on(worker(number));
      s.run({}, {}, {no_op(g)}, {.timeout = std::chrono::seconds{30}});
    };
    use_next(); // the coordinator first waits for tasks that may know numbers of tasks
    for (auto _ : state) {
      auto begin = clock::now();
      use_next();
      state.SetIterationTime(std::chrono::duration<double>(clock::now() - begin).count());
    }
  });
}

/// Time from kill -9 of a task, which is started again at once, to the end of a step on the task.
/// With `holds_state`, the task holds a variable of a megabyte that the session restores first.
void heal(State& state, bool holds_state) {
  auto folder = std::filesystem::temp_directory_path() / concat("troupe_bench.heal.", getpid());
  guarded(state, [&] {
    task_processes tasks{medium_kind::peer_memory, 2};
    graph_builder g;
    auto on = g.on(worker(1));
    auto held = g.variable(fill(g, {250'000}, 1.0f), "held");
    saver checkpoints{g, folder.string()};
    recovery_options recovery{.max_retries = 1000, .initial_delay = std::chrono::milliseconds{5}};
    if (holds_state)
      recovery.restore_state = [&](session& target) { checkpoints.restore(target); };
    auto s = session::connect(tasks.cluster(), {.recovery = recovery});
    if (holds_state) {
      s.run(g.initializer());
      checkpoints.save(s, 1);
    }
    auto fetches = holds_state ? std::vector<edge>{sum(held)}
                               : std::vector<edge>{neg(g.constant(tensor::scalar(-250'000.0f)))};
    auto use = [&] {
      if (to_scalar<float>(s.run({}, fetches)[0]) != 250'000)
        throw std::runtime_error{"the restored values differ from the saved ones"};
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
  auto add_null_step = [](const std::string& name, int workers, int servers) {
    benchmark::RegisterBenchmark(("cluster/null_step_" + name).c_str(), null_step, workers, servers)
        ->UseRealTime();
  };
  for (int servers : {1, 2, 4, 16})
    add_null_step(concat(servers, "_ps"), 1, servers);
  for (int workers : {2, 4})
    add_null_step(concat(workers, "_workers_2_ps"), workers, 2);
  benchmark::RegisterBenchmark("cluster/lookups_2_ps", lookups)->UseRealTime();
  for (int count : {1, 8, 64})
    benchmark::RegisterBenchmark(concat("cluster/clients_", count).c_str(), clients, count)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  auto add_restarts = [](const char* name, auto... run) {
    benchmark::RegisterBenchmark(name, run...)
        ->UseManualTime()
        ->Iterations(5)
        ->Unit(benchmark::kMillisecond);
  };
  add_restarts("cluster/join", join);
  add_restarts("cluster/heal_worker", heal, false);
  add_restarts("cluster/heal_ps", heal, true);
}

} // namespace troupe::bench
