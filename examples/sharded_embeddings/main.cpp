// Embeddings for very many words, partitioned over several tasks (OSDI 4.2, Figure 3): a lookup
// sends each row number to the part that has the row, and gradients are sent only for these rows.
// The loss is a softmax over the correct word and a sample of wrong ones. Workers train
// asynchronously, or as --mode selects.
//
// The text is synthetic: words follow Zipf's law, and each is followed by a word that depends on
// it.
#include "examples/support/local_cluster.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"

#include <troupe/troupe.hpp>

#include <CLI/CLI.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

namespace {

using namespace troupe;

struct options {
  int64_t rows = 1'000'000, width = 32, batch = 512, sampled = 256, steps = 4000;
  int workers = 2, parameter_servers = 2;
  std::string mode = "async";
  double learning_rate = 0.5;
  std::string cluster; // a file; empty: processes are started
};

replica_step build(graph_builder& g, const options& chosen) {
  embedding_options parts;
  for (int i = 0; i < chosen.parameter_servers; ++i)
    parts.devices.push_back(concat("/job:ps/task:", i));
  parts.values = initializers::uniform(-0.1, 0.1, 1);
  auto words = g.placeholder(dtype::i32, {-1}, "words");
  auto next = g.placeholder(dtype::i32, {-1}, "next");
  parts.name = "vectors";
  embedding_table vectors{g, chosen.rows, chosen.width, parts};
  parts.name = "classes";
  embedding_table classes{g, chosen.rows, chosen.width, parts};
  auto biases = g.variable(fill(g, tensor::vector<int64_t>({chosen.rows}), 0.0f), "biases");
  auto loss = mean(sampled_softmax_loss(classes, biases, vectors(words), next,
                                        {.sampled = chosen.sampled, .seed = 1}));
  return {{words, next}, loss};
}

/// Words are numbered by decreasing frequency; the second word of a pair depends on the first.
std::vector<tensor> pairs(int64_t n, const options& chosen) {
  std::mt19937_64 dice{static_cast<uint64_t>(n)};
  std::uniform_real_distribution<double> share;
  std::vector<int32_t> words, next;
  for (int64_t i = 0; i < chosen.batch; ++i) {
    auto rank = std::pow(static_cast<double>(chosen.rows), share(dice)) - 1;
    auto word = std::min(static_cast<int32_t>(rank), static_cast<int32_t>(chosen.rows - 1));
    words.push_back(word);
    next.push_back(word ^ 1);
  }
  return {tensor::vector(words), tensor::vector(next)};
}

void run(const options& chosen) {
  std::optional<examples::local_cluster> cluster; // started before any other thread
  auto spec = chosen.cluster;
  if (spec.empty()) {
    cluster.emplace(chosen.workers, chosen.parameter_servers);
    spec = cluster->spec();
  }
  std::printf("2 tables of %lld rows of %lld numbers, in %d parts\n",
              static_cast<long long>(chosen.rows), static_cast<long long>(chosen.width),
              chosen.parameter_servers);
  std::fflush(stdout);

  using clock = std::chrono::steady_clock;
  examples::progress bar{chosen.steps};
  std::mutex mutex;
  int64_t count = 0; // steps of all replicas
  clock::time_point first, last;
  replicas training{
      [&](graph_builder& g, int) { return build(g, chosen); },
      {.mode = chosen.mode == "sync"      ? replica_mode::sync
               : chosen.mode == "bounded" ? replica_mode::bounded
                                          : replica_mode::async,
       .workers = chosen.workers,
       .ps_tasks = chosen.parameter_servers,
       .make_optimizer = [&](edge) { return std::make_unique<adagrad>(chosen.learning_rate); },
       .batch = [&](int64_t n) { return std::optional{pairs(n, chosen)}; },
       .last_step = chosen.steps,
       .on_step =
           [&](const training_progress& progress) {
             bar.step_done(progress.step, static_cast<float>(progress.loss));
             std::lock_guard guard{mutex};
             last = clock::now();
             if (++count == 1)
               first = last;
           },
       .on_event =
           [](const replica_event& event) {
             if (!event.text.empty())
               std::printf("%s\n", event.text.c_str());
           }}};
  auto s = session::connect(spec);
  training.run(s);
  bar.finish();

  // Each step looks up the words, the right classes and the sample.
  auto seconds = std::max(std::chrono::duration<double>(last - first).count(), 1e-9);
  auto looked_up =
      static_cast<double>(count - 1) * static_cast<double>(2 * chosen.batch + chosen.sampled);
  std::printf("%.0f rows looked up and trained per second\n", looked_up / seconds);
  bar.print_losses();
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Learns vectors for very many words, which several tasks hold",
               "sharded_embeddings"};
  examples::add_count(app, "--rows", chosen.rows, "Different words", 10, 100'000'000);
  examples::add_count(app, "--width", chosen.width, "Numbers in a vector", 1, 10'000);
  examples::add_count(app, "--batch", chosen.batch, "Words per step of a worker", 1, 1'000'000);
  examples::add_count(app, "--sampled", chosen.sampled, "Wrong words to compare with in each step",
                      1, 1'000'000);
  examples::add_count(app, "--steps", chosen.steps, "Number of steps");
  examples::add_count(app, "--workers", chosen.workers, "Tasks that compute", 1, 64);
  examples::add_count(app, "--ps", chosen.parameter_servers, "Tasks that hold the tables", 1, 64);
  app.add_option("--mode", chosen.mode, "How workers train together")
      ->capture_default_str()
      ->check(CLI::IsMember({"async", "bounded", "sync"}));
  app.add_option("--learning-rate", chosen.learning_rate, "Of Adagrad")->capture_default_str();
  app.add_option("--cluster", chosen.cluster,
                 "Use the tasks of this running cluster instead of starting processes");
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
