// Checkpoints of a session beside its training, and steps that share variables.
#include "bench/benchmarks.hpp"
#include "troupe/serialization/storage/file_system.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <semaphore>
#include <thread>

namespace troupe::bench {
namespace {

using benchmark::State;
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// A folder on the disk that TMPDIR names, gone at the end.
struct folder {
  folder() { clear(); }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  void clear() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  std::string path =
      (std::filesystem::temp_directory_path() / concat("troupe_bench_save.", ::getpid())).string();
};

/// So many bytes in 64 variables, a small model that learns, and a step that updates all.
struct large_state {
  static constexpr int64_t variables = 64;

  graph_builder g;
  std::vector<edge> parts;
  node* touch = nullptr;
  session s = session::local(options());
  folder where;
  std::unique_ptr<saver> to;

  explicit large_state(int64_t bytes) {
    std::vector<node*> touched;
    for (int64_t i = 0; i < variables; ++i) {
      auto zeros = fill(g, {bytes / 4 / variables}, 0.0f);
      parts.push_back(g.variable(zeros, concat("part", i)));
      touched.push_back(
          assign_add(parts.back(), 1.0f * fill(g, {bytes / 4 / variables}, 1.0f)).node);
    }
    touch = g.group(touched);
    to = std::make_unique<saver>(g, where.path + "/model", saver_options{.keep_newest = 1});
    s.run(g.initializer());
    s.run(touch);
  }
};

/// How long a loop that trains is held up by save_async; what is written is not waited for.
void stall(State& state) {
  large_state of{state.range(0)};
  int64_t step = 0;
  for (auto _ : state) {
    of.to->save_async(of.s, ++step);
    state.PauseTiming();
    of.to->wait();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void save(State& state) {
  large_state of{state.range(0)};
  int64_t step = 0;
  for (auto _ : state) {
    of.to->save(of.s, ++step);
    state.PauseTiming();
    of.where.clear();
    of.to = std::make_unique<saver>(of.g, of.parts, of.where.path + "/model");
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void restore(State& state) {
  large_state of{state.range(0)};
  of.to->save(of.s, 1);
  for (auto _ : state)
    of.to->restore(of.s);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// What `dd conv=fsync` does: the same bytes from memory to one file and to the disk.
void plain_write(State& state) {
  folder where;
  auto value = value_or_throw(tensor::make(dtype::u8, {state.range(0)}));
  std::fill_n(value.data<uint8_t>(), value.elements(), uint8_t{1});
  for (auto _ : state) {
    auto to = value_or_throw(real_files().create(where.path + "/x"));
    std::span all{static_cast<const std::byte*>(value.raw()), value.bytes()};
    for (; !all.empty(); all = all.subspan(std::min<size_t>(1 << 20, all.size())))
      throw_if_failed(to->append(all.first(std::min<size_t>(1 << 20, all.size()))));
    throw_if_failed(to->sync());
    state.PauseTiming();
    to = nullptr;
    where.clear();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void plain_read(State& state) {
  folder where;
  auto value = value_or_throw(tensor::make(dtype::u8, {state.range(0)}));
  std::fill_n(value.data<uint8_t>(), value.elements(), uint8_t{1});
  auto to = value_or_throw(real_files().create(where.path + "/x"));
  throw_if_failed(to->append({static_cast<const std::byte*>(value.raw()), value.bytes()}));
  throw_if_failed(to->sync());
  for (auto _ : state) {
    auto from = value_or_throw(real_files().open(where.path + "/x"));
    auto fresh = value_or_throw(tensor::make(dtype::u8, {state.range(0)}));
    throw_if_failed(from->read(0, {static_cast<std::byte*>(fresh.raw()), fresh.bytes()}));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// The classifier of examples/train_digits, with made-up digits.
struct classifier {
  std::vector<edge> variables;
  edge loss;
  node* train;

  explicit classifier(graph_builder& g) {
    auto pixels = value_or_throw(tensor::make(dtype::f32, {32, 64}));
    for (int64_t i = 0; i < pixels.elements(); ++i)
      pixels.data<float>()[i] = static_cast<float>(i * 7919 % 17) / 16;
    std::vector<int32_t> digits(32);
    for (size_t i = 0; i < digits.size(); ++i)
      digits[i] = static_cast<int32_t>(i % 10);
    auto images = g.constant(pixels), labels = g.constant(tensor::vector(digits));
    auto layer = [&](edge input, int64_t from, int64_t to) {
      variables.push_back(
          g.variable(truncated_normal(g, {from, to}, dtype::f32, {.seed = 3}) * 0.1f));
      variables.push_back(g.variable(fill(g, {to}, 0.0f)));
      return bias_add(matmul(input, variables[variables.size() - 2]), variables.back());
    };
    auto logits = layer(relu(layer(images, 64, 128)), 128, 10);
    loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
    train = gradient_descent{0.01f}.minimize(loss);
  }
};

/// How much slower steps of a small model are while large variables beside it are written, and for
/// how long: their product is what training loses. An iteration is a checkpoint.
void dip(State& state) {
  large_state of{state.range(0)};
  classifier model{of.g};
  of.s.run(of.g.initializer());
  auto step = of.s.prepare({}, {}, {model.train});
  auto rate_until = [&](auto over) {
    int64_t count = 0;
    auto begin = clock::now();
    do {
      step.run();
      ++count;
    } while (!over(begin));
    return static_cast<double>(count) / seconds_since(begin);
  };
  rate_until([](auto begin) { return seconds_since(begin) > 0.1; });
  auto usual = rate_until([](auto begin) { return seconds_since(begin) > 0.5; });
  double slowed = 0, lasted = 0;
  int64_t number = 0;
  for (auto _ : state) {
    auto begin = clock::now();
    of.to->save_async(of.s, ++number);
    std::atomic<bool> done{false};
    std::jthread waits{[&] {
      of.to->wait();
      done = true;
    }};
    slowed += 1 - rate_until([&](auto) { return done.load(); }) / usual;
    lasted += seconds_since(begin);
  }
  auto count = static_cast<double>(state.iterations());
  state.counters["steps_per_second"] = usual;
  state.counters["dip"] = slowed / count;
  state.counters["seconds"] = lasted / count;
  state.counters["lost_seconds"] = slowed / count * lasted / count;
}

/// Items are training steps, so many of which are under way at any moment.
void in_flight(State& state) {
  graph_builder g;
  classifier model{g};
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {model.train});
  std::counting_semaphore<> room{state.range(0)};
  for (auto _ : state) {
    room.acquire();
    step.run_async({}, [&](const auto& outcome) {
      throw_if_failed(outcome.status());
      room.release();
    });
  }
  for (int64_t i = 0; i < state.range(0); ++i)
    room.acquire();
  state.SetItemsProcessed(state.iterations());
}

/// Threads that run a step of their own again and again, over one variable.
struct shared_variable {
  graph_builder g;
  session s = session::local(options());
  variable_handle v = g.variable(fill(g, {1024}, 0.0f), "v");
  step read, add;

  shared_variable()
      : read(s.prepare({}, {identity(v)})),
        add(s.prepare({}, {}, {assign_add(v, fill(g, {1024}, 1.0f)).node})) {
    s.run(g.initializer());
  }
  static shared_variable& get() {
    static auto& one = *new shared_variable; // stays: threads of the library may not end last
    return one;
  }
};

void reads(State& state) {
  auto& of = shared_variable::get();
  for (auto _ : state)
    benchmark::DoNotOptimize(of.read.run());
  state.SetItemsProcessed(state.iterations());
}

void additions(State& state) {
  auto& of = shared_variable::get();
  for (auto _ : state)
    of.add.run();
  state.SetItemsProcessed(state.iterations());
}

} // namespace

void register_save() {
  auto add = [](const std::string& name, auto* run) {
    for (auto [suffix, bytes] : {std::pair{"_16M", 16 << 20}, std::pair{"_1G", 1 << 30}}) {
      auto* made = benchmark::RegisterBenchmark((name + suffix).c_str(), run)
                       ->Arg(bytes)
                       ->UseRealTime()
                       ->Unit(benchmark::kMillisecond);
      // A stall is short, and behind each stands a checkpoint that is not measured.
      if (bytes == 1 << 30)
        made->Iterations(5);
    }
  };
  add("save/stall", stall);
  add("save/dip", dip);
  add("save/save", save);
  add("save/plain_write", plain_write);
  add("save/restore", restore);
  add("save/plain_read", plain_read);
  for (int64_t count : {1, 8, 64, 512})
    benchmark::RegisterBenchmark("steps/in_flight", in_flight)
        ->Arg(count)
        ->UseRealTime()
        ->MeasureProcessCPUTime();
  for (int count : {1, 4, 16, 64}) {
    benchmark::RegisterBenchmark("steps/variable_read", reads)->Threads(count)->UseRealTime();
    benchmark::RegisterBenchmark("steps/assign_add", additions)->Threads(count)->UseRealTime();
  }
}

} // namespace troupe::bench
