// The cost of moving a tensor between tasks, each a process of its own on this machine; once per
// step.
#include "bench/benchmarks.hpp"
#include "bench/task_processes.hpp"
#include "troupe/actors/base/caf_io.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/operator/task.hpp"
#include "troupe/api/caf.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/config/cluster.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <netinet/in.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

namespace troupe::bench {
namespace {

void move_tensor(benchmark::State& state, int64_t bytes,
                 medium_kind medium = medium_kind::peer_memory) {
  try {
    task_processes tasks{medium};
    graph_builder g;
    edge source;
    node* sink = nullptr;
    {
      auto on = g.on("/job:worker/task:0");
      source = g.variable(fill(g, {bytes / 4}, 1.0f));
    }
    {
      auto on = g.on("/job:worker/task:1");
      sink = identity(source).node;
    }
    auto s = session::connect(tasks.cluster(), {.cluster = {.tls = tasks.client_files()}});
    s.run(g.initializer());
    auto step = s.prepare({}, {}, {sink});
    step.run();
    for (auto _ : state)
      step.run();
    state.SetBytesProcessed(state.iterations() * bytes);
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

template <class Answer, class Question>
Answer request(caf::scoped_actor& self, const caf::actor& session, Question question) {
  Answer answer{};
  self->request(session, caf::infinite, std::move(question))
      .receive([&](Answer& received) { answer = std::move(received); },
               [](const caf::error& cause) { throw error{from_caf(cause)}; });
  return answer;
}

// As move_tensor(), of four bytes, by a session in a system of CAF actors. With a middleman, its
// thread watches the session's sockets; without, a thread of the session's own.
void move_in_host(benchmark::State& state, bool with_middleman) {
  try {
    task_processes tasks;
    graph_builder g;
    edge source;
    node* sink = nullptr;
    {
      auto on = g.on("/job:worker/task:0");
      source = g.variable(1.0f);
    }
    {
      auto on = g.on("/job:worker/task:1");
      sink = identity(source).node;
    }
    caf::actor_system_config config;
    if (with_middleman)
      config.load<caf::io::middleman>();
    caf::actor_system system{config};
    caf::scoped_actor self{system};
    auto cluster = parse_cluster(tasks.cluster());
    if (!cluster)
      throw error{cluster.status()};
    auto session = spawn_session(system, *cluster);
    auto prepare = [&](node* target) {
      auto question = prepare_request::make(g, {.feeds = {}, .fetches = {}, .targets = {target}},
                                            step_clock::time_point::max());
      if (!question)
        throw error{question.status()};
      return request<std::shared_ptr<prepared_step>>(self, session, *std::move(question));
    };
    auto run = [&](const std::shared_ptr<prepared_step>& step) {
      auto answer = request<step_outcome>(self, session,
                                          step_request{step, {}, step_clock::time_point::max()});
      if (!answer.outcome)
        throw error{answer.outcome};
    };
    run(prepare(g.initializer()));
    {
      auto step = prepare(sink);
      run(step);
      for (auto _ : state)
        run(step);
    }
    self->send_exit(session, caf::exit_reason::user_shutdown);
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

// One task holds `count` variables of four bytes; a step on the other task reads all of them and
// sends an update to each.
void serve_parameters(benchmark::State& state, int count) {
  try {
    task_processes tasks;
    graph_builder g;
    std::vector<target> updates;
    for (int i = 0; i < count; ++i) {
      auto on_server = g.on("/job:worker/task:0");
      auto parameter = g.variable(fill(g, {1}, 1.0f));
      edge update;
      {
        auto on_worker = g.on("/job:worker/task:1");
        update = neg(parameter);
      }
      updates.emplace_back(assign_add(parameter, update).node);
    }
    auto s = session::connect(tasks.cluster());
    s.run(g.initializer());
    auto step = s.prepare({}, {}, updates);
    step.run();
    for (auto _ : state)
      step.run();
    state.SetItemsProcessed(state.iterations());
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

// A step adds a number to a queue of another task, and takes it out again or asks for the queue's
// size. A taken element is held until the step has ended in all tasks, which takes one more
// message.
void use_queue(benchmark::State& state, bool take) {
  try {
    task_processes tasks;
    graph_builder g;
    auto on = g.on("/job:worker/task:1");
    auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .capacity = 100'000'000});
    auto* put = queue_enqueue(queue, {g.constant(1)});
    auto after = g.after({put});
    auto fetched = take ? queue_dequeue(queue, {dtype::i32})[0] : queue_size(queue);
    auto s = session::connect(tasks.cluster());
    auto step = s.prepare({}, {fetched});
    for (auto _ : state)
      step.run();
    state.SetItemsProcessed(state.iterations());
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

// The time from the deadline of a step that waits for a queue to its end, while its task has
// hundreds of kernels ready, of about 100 ms each.
void cancel_behind_kernels(benchmark::State& state) {
  try {
    constexpr auto timeout = std::chrono::milliseconds{50};
    task_processes tasks;
    graph_builder g;
    auto on = g.on("/job:worker/task:1");
    auto seed = g.variable(fill(g, {1100, 1100}, 1e-3f));
    std::vector<target> busy;
    for (int i = 0; i < 500; ++i)
      busy.emplace_back(matmul(seed + static_cast<float>(i), seed).node);
    auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "empty"});
    auto taken = queue_dequeue(queue, {dtype::i32})[0];
    auto s = session::connect(tasks.cluster());
    s.run(g.initializer());
    auto load = s.prepare({}, {}, busy);
    auto wait = s.prepare({}, {taken});
    std::atomic<bool> ended{false};
    load.run_async({}, [&](const auto&) { ended = true; },
                   {.timeout = std::chrono::milliseconds{30'000}});
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    for (auto _ : state) {
      auto deadline = std::chrono::steady_clock::now() + timeout;
      try {
        wait.run({}, {.deadline = deadline});
      } catch (const error&) { // the deadline was exceeded
      }
      state.SetIterationTime(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - deadline).count());
      if (ended)
        state.SkipWithError("the kernels ended before the deadline");
    }
  } catch (const error& e) {
    state.SkipWithError(e.what());
  }
}

} // namespace

int serve_task(const char* cluster, int number, const std::string& medium) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto known_cluster = find_cluster(cluster);
  if (!known_cluster)
    return 2;
  // A task that joins gets a free number from the coordinator.
  constexpr std::string_view join_prefix = "join:";
  std::string_view text = cluster;
  std::string listen;
  if (text.starts_with(join_prefix)) {
    listen = number == 0 ? text.substr(join_prefix.size()) : "127.0.0.1:0";
    number = number == 0 ? 0 : -1;
  }
  auto running = task::start(
      {.ops = &library(),
       .make_devices = [] { return make_devices({.intra_op_threads = 0, .gpus = 0}); },
       .cluster = *known_cluster,
       .self = {"worker", number},
       .listen = listen,
       .tls = medium.empty() || medium == "by_socket" ? tls_files{} : files_in(medium, "tasks"),
       .same_host_reads = medium.empty()});
  if (!running) {
    std::fprintf(stderr, "%s\n", running.status().message().c_str());
    return 1;
  }
  for (;;)
    pause();
}

void register_exchange() {
  benchmark::RegisterBenchmark("exchange/100MB",
                               [](benchmark::State& state) { move_tensor(state, 100'000'000); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  for (auto medium : {medium_kind::socket, medium_kind::tls})
    benchmark::RegisterBenchmark(
        medium == medium_kind::tls ? "exchange/100MB_over_tls" : "exchange/100MB_by_socket",
        [=](benchmark::State& state) { move_tensor(state, 100'000'000, medium); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  for (int64_t kib : {128, 256, 512, 1024, 4096})
    for (auto medium : {medium_kind::peer_memory, medium_kind::socket})
      benchmark::RegisterBenchmark(
          concat("exchange/", kib, "KiB", medium == medium_kind::socket ? "_by_socket" : "")
              .c_str(),
          [=](benchmark::State& state) { move_tensor(state, kib * 1024, medium); })
          ->UseRealTime();
  for (auto medium : {medium_kind::peer_memory, medium_kind::tls})
    benchmark::RegisterBenchmark(medium == medium_kind::tls ? "exchange/4B_over_tls"
                                                            : "exchange/4B",
                                 [=](benchmark::State& state) { move_tensor(state, 4, medium); })
        ->UseRealTime();
  for (bool with_middleman : {true, false})
    benchmark::RegisterBenchmark(with_middleman ? "exchange/4B_in_host" : "exchange/4B_in_system",
                                 move_in_host, with_middleman)
        ->UseRealTime();
  benchmark::RegisterBenchmark("exchange/cancel_behind_kernels", cancel_behind_kernels)
      ->Iterations(40)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
  for (bool take : {false, true})
    benchmark::RegisterBenchmark(take ? "exchange/put_and_take" : "exchange/put", use_queue, take)
        ->UseRealTime();
  benchmark::RegisterBenchmark("exchange/parameters_10", [](benchmark::State& state) {
    serve_parameters(state, 10);
  })->UseRealTime();
}

} // namespace troupe::bench
