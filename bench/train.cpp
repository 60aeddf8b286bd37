// Training steps: stochastic gradient descent on one batch, fed anew each step. Items are samples.
#include "troupe/bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <random>

namespace troupe::bench {
namespace {

constexpr int64_t pixels = 784, classes = 10;

struct training_case {
  const char* name;
  std::vector<int64_t> hidden; // extents of the layers between pixels and classes
  int64_t batch;
};

const training_case cases[] = {
    {"mlp/64", {512, 512}, 64},
    {"mlp/1024", {512, 512}, 1024},
    {"softmax_regression/64", {}, 64},
};

edge layer(graph_builder& g, edge input, int64_t from, int64_t to) {
  auto seed = static_cast<int64_t>(g.variables().size()) + 1;
  auto w = g.variable(truncated_normal(g, {from, to}, dtype::f32, {.seed = seed}) * 0.05f);
  auto b = g.variable(fill(g, {to}, 0.0f));
  return bias_add(matmul(input, w), b);
}

/// A model in a session of its own, initialized, with a batch to train it on.
class trainer {
public:
  explicit trainer(const training_case& of)
      : session_(session::local(options())), step_(prepare(of)) {
    std::minstd_rand random{42};
    std::vector<float> images(static_cast<size_t>(of.batch * pixels));
    for (auto& pixel : images)
      pixel = std::uniform_real_distribution<float>{}(random);
    std::vector<int32_t> labels(static_cast<size_t>(of.batch));
    for (auto& label : labels)
      label = std::uniform_int_distribution<int32_t>{0, classes - 1}(random);
    images_ = tensor::of({of.batch, pixels}, images);
    labels_ = tensor::vector(labels);
  }

  /// Returns the loss.
  tensor step() { return step_.run({images_, labels_}).front(); }

private:
  troupe::step prepare(const training_case& of) {
    auto images = graph_.placeholder(dtype::f32, {-1, pixels}, "images");
    auto labels = graph_.placeholder(dtype::i32, {-1}, "labels");
    edge flow = images;
    auto from = pixels;
    for (auto to : of.hidden) {
      flow = relu(layer(graph_, flow, from, to));
      from = to;
    }
    auto logits = layer(graph_, flow, from, classes);
    auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
    auto* train = gradient_descent{0.01f}.minimize(loss);
    session_.run(graph_.initializer());
    return session_.prepare({images, labels}, {loss}, {train});
  }

  graph_builder graph_;
  session session_;
  troupe::step step_;
  tensor images_, labels_;
};

void train(benchmark::State& state, const training_case& of) {
  trainer model{of};
  for (auto _ : state)
    benchmark::DoNotOptimize(model.step());
  state.SetItemsProcessed(state.iterations() * of.batch);
}

// Not getrusage's: that of a process begins with its parent's.
long peak_kibibytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::atol(line.c_str() + 6);
  return -1;
}

} // namespace

void register_train() {
  for (auto& one : cases)
    benchmark::RegisterBenchmark(one.name, [&](benchmark::State& state) { train(state, one); })
        ->UseRealTime()
        ->MeasureProcessCPUTime();
}

int print_peak_memory(const char* name) {
  for (auto& one : cases)
    if (one.name == std::string_view{name}) {
      trainer model{one};
      for (int i = 0; i < 50; ++i)
        model.step();
      std::printf("[{\"name\": \"memory/%s\", \"bytes\": %ld}]\n", name, peak_kibibytes() * 1024);
      return 0;
    }
  std::fprintf(stderr, "troupe_bench: no training case '%s'\n", name);
  return 2;
}

} // namespace troupe::bench
