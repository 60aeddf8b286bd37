// Learns to predict the next character of a text with an LSTM, then generates a text.
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/text.hpp"
#include "troupe/troupe.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>

namespace {

using namespace troupe;

struct options {
  std::string text;
  int64_t units = 128, batch = 32, length = 32, steps = 2000, sample = 400;
  float learning_rate = 0.005f;
  int64_t seed = 1;
};

struct model {
  model(graph_builder& g, int64_t characters, const options& chosen)
      : letters{g,
                characters,
                32,
                {.values = initializers::uniform(-0.1, 0.1, chosen.seed), .name = "letters"}},
        memory{g, 32, chosen.units, {.weights = initializers::glorot_uniform(chosen.seed + 1)}},
        output{g,
               chosen.units,
               characters,
               {.weights = initializers::glorot_uniform(chosen.seed + 2)}} {}

  embedding_table letters;
  lstm_layer memory;
  dense_layer output;
};

/// Reads a text at several positions, one for each row of a batch. Each position advances from step
/// to step.
class readers {
public:
  readers(const std::vector<int32_t>& text, const options& chosen)
      : text_(text), length_(chosen.length) {
    for (int64_t i = 0; i < chosen.batch; ++i)
      positions_.push_back(static_cast<size_t>(i) * text.size() /
                           static_cast<size_t>(chosen.batch));
  }
  /// Returns [length + 1, batch]: the last row is the first one of the next piece.
  tensor next() {
    auto rows = static_cast<int64_t>(positions_.size());
    auto piece = *tensor::make(dtype::i32, shape{length_ + 1, rows});
    auto target = piece.values<int32_t>();
    for (size_t row = 0; row < positions_.size(); ++row) {
      for (size_t i = 0; i <= static_cast<size_t>(length_); ++i)
        target[i * positions_.size() + row] = text_[(positions_[row] + i) % text_.size()];
      positions_[row] = (positions_[row] + static_cast<size_t>(length_)) % text_.size();
    }
    return piece;
  }

private:
  const std::vector<int32_t>& text_;
  const int64_t length_;
  std::vector<size_t> positions_;
};

/// Generates text with the trained net, one character in each step.
class writer {
public:
  writer(graph_builder& g, const model& net, session& in, int64_t units) : units_(units) {
    auto letter = g.placeholder(dtype::i32, {1}, "letter");
    auto cells = g.placeholder(dtype::f32, {1, units}, "cells");
    auto last = g.placeholder(dtype::f32, {1, units}, "last");
    auto next = net.memory.step(net.letters(letter), {cells, last});
    step_.emplace(in.prepare({letter, cells, last},
                             {softmax(net.output(next.output)), next.cells, next.output}));
  }
  std::string write(const std::string& characters, int64_t count, uint64_t seed) {
    std::mt19937_64 random{seed};
    std::vector<float> none(static_cast<size_t>(units_));
    auto cells = tensor::from_values({1, units_}, none), last = cells;
    auto start = characters.find('\n');
    auto letter = static_cast<int32_t>(start == characters.npos ? 0 : start);
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      auto results = step_->run({tensor::vector<int32_t>({letter}), cells, last});
      auto probabilities = results[0].values<float>();
      auto remaining = static_cast<double>(random() >> 11) * 0x1p-53;
      for (letter = 0; letter + 1 < static_cast<int32_t>(probabilities.size()); ++letter)
        if ((remaining -= probabilities[static_cast<size_t>(letter)]) < 0)
          break;
      text += characters[static_cast<size_t>(letter)];
      cells = results[1];
      last = results[2];
    }
    return text;
  }

private:
  const int64_t units_;
  std::optional<step> step_;
};

void run(const options& chosen) {
  auto text = examples::read_characters(chosen.text);
  auto characters = static_cast<int64_t>(text.characters.size());
  std::printf("%zu characters, %lld different ones\n", text.numbers.size(),
              static_cast<long long>(characters));

  graph_builder g;
  model net{g, characters, chosen};
  auto piece = g.placeholder(dtype::i32, {chosen.length + 1, chosen.batch}, "piece");
  auto cells = g.placeholder(dtype::f32, {chosen.batch, chosen.units}, "cells_before");
  auto last = g.placeholder(dtype::f32, {chosen.batch, chosen.units}, "output_before");
  auto read = slice(piece, {int64_t{0}, int64_t{0}}, {chosen.length, chosen.batch});
  auto next_characters = slice(piece, {int64_t{1}, int64_t{0}}, {chosen.length, chosen.batch});
  auto [outputs, state] = net.memory(net.letters(read), {cells, last});
  auto logits = net.output(reshape(outputs, {int64_t{-1}, chosen.units}));
  auto loss = softmax_loss(logits, reshape(next_characters, {-1}));
  adam method{chosen.learning_rate};
  auto* train = method.apply_gradients(clip_by_global_norm(optimizer::compute_gradients(loss), 5));

  auto s = session::local();
  s.run(g.initializer());
  auto step = s.prepare({piece, cells, last}, {loss, state.cells, state.output}, {train});
  readers text_readers{text.numbers, chosen};
  std::vector<float> none(static_cast<size_t>(chosen.batch * chosen.units));
  auto cells_now = tensor::from_values({chosen.batch, chosen.units}, none), last_now = cells_now;
  examples::progress bar{chosen.steps};
  double mean = std::log(static_cast<double>(characters));
  for (int64_t i = 0; i < chosen.steps; ++i) {
    auto results = step.run({text_readers.next(), cells_now, last_now});
    cells_now = results[1];
    last_now = results[2];
    auto current_loss = to_scalar<float>(results[0]);
    mean += (current_loss - mean) * std::max(0.02, 1.0 / static_cast<double>(i + 1));
    bar.step_done(current_loss);
  }
  bar.finish();
  std::printf("%.2f bits for each character, %.2f if all were equally likely\n\n",
              mean / std::log(2.0), std::log2(static_cast<double>(characters)));
  writer author{g, net, s, chosen.units};
  std::cout << author.write(text.characters, chosen.sample, static_cast<uint64_t>(chosen.seed))
            << '\n';
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Learns to write like a text", "char_model"};
  app.add_option("text", chosen.text, "A text file")->required()->check(CLI::ExistingFile);
  examples::add_count(app, "--units", chosen.units, "Cells of the LSTM");
  examples::add_count(app, "--batch", chosen.batch,
                      "Positions of the text that are read in parallel");
  examples::add_count(app, "--length", chosen.length,
                      "Characters per step, through which gradients are propagated");
  examples::add_count(app, "--steps", chosen.steps, "Number of steps");
  examples::add_count(app, "--sample", chosen.sample, "Characters to generate at the end");
  app.add_option("--learning-rate", chosen.learning_rate, "Of Adam")->capture_default_str();
  app.add_option("--seed", chosen.seed, "Of weights and of the generated text")
      ->capture_default_str();
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
