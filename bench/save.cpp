// Checkpoints of a session during its training, and steps that share variables.
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

/// A folder on the disk that TMPDIR names; the destructor removes it.
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

/// A model of `bytes` bytes in 64 variables, and a step that updates all of them.
struct large_state {
  static constexpr int64_t variables = 64;

  graph_builder g;
  std::vector<edge> parts;
  node* touch = nullptr;
  session s = session::local(options());
  folder files;
  std::unique_ptr<saver> checkpoints;

  explicit large_state(int64_t bytes) {
    std::vector<node*> touched;
    for (int64_t i = 0; i < variables; ++i) {
      auto zeros = fill(g, {bytes / 4 / variables}, 0.0f);
      parts.push_back(g.variable(zeros, concat("part", i)));
      touched.push_back(
          assign_add(parts.back(), 1.0f * fill(g, {bytes / 4 / variables}, 1.0f)).node);
    }
    touch = g.group(touched);
    checkpoints =
        std::make_unique<saver>(g, files.path + "/model", saver_options{.keep_newest = 1});
    s.run(g.initializer());
    s.run(touch);
  }
};

/// The time for which save_async blocks a training loop; the write itself is not measured.
void stall(State& state) {
  large_state model{state.range(0)};
  int64_t step = 0;
  for (auto _ : state) {
    model.checkpoints->save_async(model.s, ++step);
    state.PauseTiming();
    model.checkpoints->wait();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void save(State& state) {
  large_state model{state.range(0)};
  int64_t step = 0;
  for (auto _ : state) {
    model.checkpoints->save(model.s, ++step);
    state.PauseTiming();
    model.files.clear();
    model.checkpoints = std::make_unique<saver>(model.g, model.parts, model.files.path + "/model");
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void restore(State& state) {
  large_state model{state.range(0)};
  model.checkpoints->save(model.s, 1);
  for (auto _ : state)
    model.checkpoints->restore(model.s);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// Writes the same bytes from memory to a file and to the disk, as `dd conv=fsync` does.
void plain_write(State& state) {
  folder target;
  auto value = value_or_throw(tensor::make(dtype::u8, {state.range(0)}));
  std::fill_n(value.data<uint8_t>(), value.elements(), uint8_t{1});
  for (auto _ : state) {
    auto output = value_or_throw(real_files().create(target.path + "/x"));
    std::span unwritten{static_cast<const std::byte*>(value.raw()), value.bytes()};
    for (; !unwritten.empty();
         unwritten = unwritten.subspan(std::min<size_t>(1 << 20, unwritten.size())))
      throw_if_failed(output->append(unwritten.first(std::min<size_t>(1 << 20, unwritten.size()))));
    throw_if_failed(output->sync());
    state.PauseTiming();
    output = nullptr;
    target.clear();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void plain_read(State& state) {
  folder source;
  auto value = value_or_throw(tensor::make(dtype::u8, {state.range(0)}));
  std::fill_n(value.data<uint8_t>(), value.elements(), uint8_t{1});
  auto output = value_or_throw(real_files().create(source.path + "/x"));
  throw_if_failed(output->append({static_cast<const std::byte*>(value.raw()), value.bytes()}));
  throw_if_failed(output->sync());
  for (auto _ : state) {
    auto input = value_or_throw(real_files().open(source.path + "/x"));
    auto read_value = value_or_throw(tensor::make(dtype::u8, {state.range(0)}));
    throw_if_failed(
        input->read(0, {static_cast<std::byte*>(read_value.raw()), read_value.bytes()}));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// The classifier of examples/train_digits, with generated digits.
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
    auto layer = [&](edge input, int64_t inputs, int64_t outputs) {
      variables.push_back(
          g.variable(truncated_normal(g, {inputs, outputs}, dtype::f32, {.seed = 3}) * 0.1f));
      variables.push_back(g.variable(fill(g, {outputs}, 0.0f)));
      return bias_add(matmul(input, variables[variables.size() - 2]), variables.back());
    };
    auto logits = layer(relu(layer(images, 64, 128)), 128, 10);
    loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
    train = gradient_descent{0.01f}.minimize(loss);
  }
};

/// How much slower steps of a small model are while large variables of the same session are
/// written, and for how long: the product of both is the lost time. An iteration is a checkpoint.
void dip(State& state) {
  large_state large{state.range(0)};
  classifier model{large.g};
  large.s.run(large.g.initializer());
  auto step = large.s.prepare({}, {}, {model.train});
  auto rate_until = [&](auto ended) {
    int64_t count = 0;
    auto begin = clock::now();
    do {
      step.run();
      ++count;
    } while (!ended(begin));
    return static_cast<double>(count) / seconds_since(begin);
  };
  rate_until([](auto begin) { return seconds_since(begin) > 0.1; });
  auto usual = rate_until([](auto begin) { return seconds_since(begin) > 0.5; });
  double slowed = 0, lasted = 0;
  int64_t number = 0;
  for (auto _ : state) {
    auto begin = clock::now();
    large.checkpoints->save_async(large.s, ++number);
    std::atomic<bool> done{false};
    std::jthread waiter{[&] {
      large.checkpoints->wait();
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

/// Training steps with a constant number of them in flight. Items are steps.
void in_flight(State& state) {
  graph_builder g;
  classifier model{g};
  auto s = session::local(options());
  s.run(g.initializer());
  auto step = s.prepare({}, {}, {model.train});
  std::counting_semaphore<> free_slots{state.range(0)};
  for (auto _ : state) {
    free_slots.acquire();
    step.run_async({}, [&](const auto& outcome) {
      throw_if_failed(outcome.status());
      free_slots.release();
    });
  }
  for (int64_t i = 0; i < state.range(0); ++i)
    free_slots.acquire();
  state.SetItemsProcessed(state.iterations());
}

/// A variable that the threads of a benchmark share; each thread runs a step again and again.
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
    // Never destroyed: threads of the library may outlive static objects.
    static auto& instance = *new shared_variable;
    return instance;
  }
};

void reads(State& state) {
  auto& shared = shared_variable::get();
  for (auto _ : state)
    benchmark::DoNotOptimize(shared.read.run());
  state.SetItemsProcessed(state.iterations());
}

void additions(State& state) {
  auto& shared = shared_variable::get();
  for (auto _ : state)
    shared.add.run();
  state.SetItemsProcessed(state.iterations());
}

} // namespace

void register_save() {
  auto add = [](const std::string& name, auto* run) {
    for (auto [suffix, bytes] : {std::pair{"_16M", 16 << 20}, std::pair{"_1G", 1 << 30}}) {
      auto* added = benchmark::RegisterBenchmark((name + suffix).c_str(), run)
                        ->Arg(bytes)
                        ->UseRealTime()
                        ->Unit(benchmark::kMillisecond);
      // A stall is short, but each needs a complete checkpoint, which is not measured.
      if (bytes == 1 << 30)
        added->Iterations(5);
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
