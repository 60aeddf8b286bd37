// The last layer of a language model: over all words, and over the labels and a sample of the other
// words (OSDI Figure 9).
#include "bench/benchmarks.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>

namespace troupe::bench {
namespace {

constexpr int64_t words = 40'000, units = 512, rows = 128, samples = 512;

tensor label_words() {
  std::vector<int32_t> labels;
  for (int32_t i = 0; i < rows; ++i)
    labels.push_back(i * 311 % words);
  return tensor::vector(labels);
}

/// A training step of the layer, with the gradient of its inputs. Items are rows.
void train(benchmark::State& state, bool sampled) {
  graph_builder g;
  embedding_options options;
  options.values = initializers::uniform(-0.1, 0.1, 1);
  options.name = "words";
  embedding_table weights{g, words, units, options};
  auto biases = g.variable(fill(g, {words}, 0.0f), "biases");
  auto inputs = g.variable(fill(g, {rows, units}, 0.01f), "inputs");
  auto next = g.placeholder(dtype::i32, {rows}, "next");
  edge losses;
  if (sampled) {
    losses = sampled_softmax_loss(weights, biases, inputs, next, {.sampled = samples, .seed = 1});
  } else {
    auto logits = matmul(inputs, weights.parts().front(), {.transpose_b = true});
    losses = sparse_softmax_cross_entropy_with_logits(bias_add(logits, biases), next).loss;
  }
  auto* step_node = gradient_descent{0.01f}.minimize(mean(losses));
  auto s = session::local(bench::options());
  s.run(g.initializer());
  auto step = s.prepare({next}, {}, {step_node});
  const auto labels = label_words();
  step.run({labels});
  for (auto _ : state)
    step.run({labels});
  state.SetItemsProcessed(state.iterations() * rows);
}

} // namespace

void register_softmax() {
  for (bool sampled : {false, true})
    benchmark::RegisterBenchmark(sampled ? "softmax/sampled_512_of_40000" : "softmax/full_40000",
                                 [=](benchmark::State& state) { train(state, sampled); })
        ->MeasureProcessCPUTime()
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

} // namespace troupe::bench
