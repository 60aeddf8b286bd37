// Learns a vector for each word of a text from the words around it (skip-grams, Mikolov et al.
// 2013), with noise-contrastive estimation: each step compares with a few wrong words instead of
// all. Then prints the nearest neighbours of some words.
#include "examples/support/images.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <random>

namespace {

using namespace troupe;

struct options {
  std::string text;
  int64_t words = 5000, width = 64, batch = 256, sampled = 32, steps = 20'000;
  int window = 2;
  float learning_rate = 0.5f;
  int64_t seed = 1;
};

/// Pairs of a word and a word near it, at random positions of the text.
class skip_grams {
public:
  skip_grams(const examples::word_text& text, const options& chosen)
      : text_(text), window_(chosen.window), random_(static_cast<uint64_t>(chosen.seed)) {}

  struct batch {
    tensor words, near; ///< i32[n]
  };
  batch next(int64_t size) {
    std::vector<int32_t> words, near;
    auto last = static_cast<int64_t>(text_.numbers.size()) - 1;
    while (static_cast<int64_t>(words.size()) < size) {
      auto position = static_cast<int64_t>(random_() % text_.numbers.size());
      auto distance = 1 + static_cast<int64_t>(random_() % static_cast<uint64_t>(window_));
      auto other = random_() & 1 ? position + distance : position - distance;
      if (other < 0 || other > last)
        continue;
      words.push_back(text_.numbers[static_cast<size_t>(position)]);
      near.push_back(text_.numbers[static_cast<size_t>(other)]);
    }
    return {tensor::vector(words), tensor::vector(near)};
  }

private:
  const examples::word_text& text_;
  const int window_;
  std::mt19937_64 random_;
};

void show_neighbours(session& in, edge vectors, const examples::word_text& text) {
  auto& g = static_cast<graph_builder&>(vectors.node->graph());
  auto chosen = g.placeholder(dtype::i32, {-1}, "chosen");
  auto length = sqrt(sum(square(vectors), {1}, {.keep_dims = true}));
  auto unit = vectors / maximum(length, 1e-12f);
  auto similarity = matmul(gather(unit, chosen), unit, {.transpose_b = true});
  auto nearest = top_kv2(similarity, 6).indices; // the first is the word itself
  std::vector<int32_t> numbers;
  for (int32_t i = 20; i < 100 && i < static_cast<int32_t>(text.words.size()); i += 10)
    numbers.push_back(i);
  auto neighbours = in.fetch(nearest, {{chosen, tensor::vector(numbers)}});
  for (size_t i = 0; i < numbers.size(); ++i) {
    std::printf("%12s:", text.words[static_cast<size_t>(numbers[i])].c_str());
    for (size_t j = 1; j < 6; ++j)
      std::printf(" %s",
                  text.words[static_cast<size_t>(neighbours.values<int32_t>()[i * 6 + j])].c_str());
    std::printf("\n");
  }
}

void run(const options& chosen) {
  auto text = examples::read_words(chosen.text, static_cast<size_t>(chosen.words));
  auto words = static_cast<int64_t>(text.words.size());
  std::printf("%zu words, %lld different ones\n", text.numbers.size(),
              static_cast<long long>(words));

  graph_builder g;
  auto word = g.placeholder(dtype::i32, {-1}, "word"),
       near = g.placeholder(dtype::i32, {-1}, "near");
  embedding_table vectors{
      g, words, chosen.width, {.values = initializers::uniform(-0.1, 0.1, chosen.seed)}};
  embedding_table contexts{
      g,
      words,
      chosen.width,
      {.values = initializers::truncated_normal(0.1, 0, chosen.seed + 1), .name = "contexts"}};
  auto biases = g.variable(fill(g, {words}, 0.0f), "biases");
  auto loss = mean(nce_loss(contexts, biases, vectors(word), near,
                            {.sampled = std::min(chosen.sampled, words - 1), .seed = chosen.seed}));
  adagrad method{chosen.learning_rate};
  auto* train = method.minimize(loss);

  auto s = session::local();
  s.run(g.initializer());
  auto step = s.prepare({word, near}, {loss}, {train});
  skip_grams pairs{text, chosen};
  examples::progress bar{chosen.steps};
  for (int64_t i = 0; i < chosen.steps; ++i) {
    auto [words_of_batch, neighbours_of_batch] = pairs.next(chosen.batch);
    bar.step_done(to_scalar<float>(step.run({words_of_batch, neighbours_of_batch})[0]));
  }
  bar.finish();
  bar.print_losses();
  std::printf("\n");
  show_neighbours(s, vectors.parts().front(), text);
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Learns vectors for the words of a text", "word_embeddings"};
  app.add_option("text", chosen.text, "A text file")->required()->check(CLI::ExistingFile);
  examples::add_count(app, "--words", chosen.words,
                      "Number of words to keep, the most frequent ones", 10, 10'000'000);
  examples::add_count(app, "--width", chosen.width, "Numbers in a vector", 1, 100'000);
  examples::add_count(app, "--window", chosen.window,
                      "Maximum distance between the words of a pair", 1, 100);
  examples::add_count(app, "--batch", chosen.batch, "Pairs per step", 1, 1'000'000);
  examples::add_count(app, "--sampled", chosen.sampled, "Wrong words to compare with in each step",
                      1, 1'000'000);
  examples::add_count(app, "--steps", chosen.steps, "Number of steps");
  app.add_option("--learning-rate", chosen.learning_rate, "Of Adagrad")->capture_default_str();
  app.add_option("--seed", chosen.seed, "Of vectors and pairs")->capture_default_str();
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
