// Learns to write lines like those of a text, with an LSTM over sequences of different lengths;
// then writes some, each by one run of a loop in the graph, which ends where the line does.
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
  int64_t units = 96, batch = 16, longest = 100, steps = 1500, lines = 8;
  float learning_rate = 0.005f;
  int64_t seed = 1;
};

using line = std::vector<int32_t>;

/// A batch of lines: what is read, and what comes next, which is the same a place further. Shorter
/// lines are filled up.
struct piece {
  tensor read, wanted, lengths; // [time, batch] twice, [batch]
};

piece drawn(const std::vector<line>& lines, int32_t end, int64_t batch, std::mt19937& random) {
  std::vector<const line*> chosen;
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < batch; ++i) {
    chosen.push_back(&lines[random() % lines.size()]);
    lengths.push_back(static_cast<int32_t>(chosen.back()->size()) + 1);
  }
  shape dims{*std::ranges::max_element(lengths), batch};
  std::vector<int32_t> read(static_cast<size_t>(dims.elements()), end), wanted = read;
  for (size_t row = 0; row < chosen.size(); ++row)
    for (size_t i = 0; i < chosen[row]->size(); ++i) {
      read[(i + 1) * chosen.size() + row] = (*chosen[row])[i];
      wanted[i * chosen.size() + row] = (*chosen[row])[i];
    }
  return {tensor::of(dims, read), tensor::of(dims, wanted), tensor::vector(lengths)};
}

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

  /// One step: what comes out, and cells and output as the next state.
  scan_turn step(edge x, const std::vector<edge>& state) const {
    auto next = memory.step(x, {state[0], state[1]});
    return {.carry = {next.cells, next.output}, .outputs = {next.output}};
  }

  embedding_table letters;
  lstm_layer memory;
  dense_layer output;
};

/// The mean of bits per character that the lines take, whose lengths differ.
edge loss_of(graph_builder& g, const model& net, edge read, edge wanted, edge lengths,
             const options& chosen) {
  auto none = g.constant(*tensor::make(dtype::f32, shape{chosen.batch, chosen.units}));
  none = zeros_like(none);
  auto step = [&](edge x, const std::vector<edge>& state) { return net.step(x, state); };
  auto outputs =
      dynamic_rnn(net.letters(read), {none, none}, step, {.lengths = lengths}).outputs[0];
  auto logits = net.output(reshape(outputs, {int64_t{-1}, chosen.units}));
  auto losses =
      sparse_softmax_cross_entropy_with_logits(logits, reshape(wanted, {int64_t{-1}})).loss;
  auto places = range(g, 0, gather(shape_of(read), 0), 1);
  auto counts = cast(less(expand_dims(places, 1), expand_dims(lengths, 0)), dtype::f32);
  return sum(losses * reshape(counts, {int64_t{-1}})) / sum(counts) / std::log(2.0f);
}

/// A line that is drawn from the net, letter by letter.
edge written(graph_builder& g, const model& net, const std::string& characters, int32_t end,
             const options& chosen) {
  std::vector<std::string> texts;
  for (auto c : characters)
    texts.emplace_back(1, c);
  auto text_of = g.constant(tensor::vector(texts));
  auto none = g.constant(
      tensor::of({1, chosen.units}, std::vector<float>(static_cast<size_t>(chosen.units))));
  auto start = g.constant(tensor::vector<int32_t>({end}));
  auto done = while_loop(
      {g.constant(0), start, none, none, g.constant(tensor::scalar(std::string{}))},
      [&](auto& v) {
        auto goes_on = not_equal(gather(v[1], 0), end);
        return logical_and(less(v[0], static_cast<int32_t>(chosen.longest)),
                           logical_or(equal(v[0], 0), goes_on));
      },
      [&](auto& v) {
        auto next = net.step(net.letters(v[1]), {v[2], v[3]});
        auto letter = cast(multinomial(g, net.output(next.outputs[0]), 1), dtype::i32);
        letter = reshape(letter, {1});
        auto text = string_join({v[4], gather(text_of, gather(letter, 0))});
        return std::vector<edge>{v[0] + 1, letter, next.carry[0], next.carry[1], text};
      });
  return done[4];
}

void run(const options& chosen) {
  auto text = examples::read_characters(chosen.text);
  auto end = static_cast<int32_t>(text.characters.find('\n'));
  std::vector<line> lines(1);
  for (auto letter : text.numbers)
    if (letter == end)
      lines.emplace_back();
    else
      lines.back().push_back(letter);
  std::erase_if(lines, [&](auto& one) {
    return one.empty() || static_cast<int64_t>(one.size()) > chosen.longest;
  });
  if (end < 0 || lines.empty())
    throw std::runtime_error{chosen.text + " has no lines of up to " +
                             std::to_string(chosen.longest) + " characters"};
  auto characters = static_cast<int64_t>(text.characters.size());
  std::printf("%zu lines, %lld different characters\n", lines.size(),
              static_cast<long long>(characters));

  graph_builder g;
  g.set_random_seed(chosen.seed);
  model net{g, characters, chosen};
  auto read = g.placeholder(dtype::i32, {-1, chosen.batch}, "read");
  auto wanted = g.placeholder(dtype::i32, {-1, chosen.batch}, "wanted");
  auto lengths = g.placeholder(dtype::i32, {chosen.batch}, "lengths");
  auto loss = loss_of(g, net, read, wanted, lengths, chosen);
  adam by{chosen.learning_rate};
  auto* train = by.apply_gradients(clip_by_global_norm(optimizer::compute_gradients(loss), 5));
  auto sample = written(g, net, text.characters, end, chosen);

  auto s = session::local();
  s.run(g.initializer());
  auto step = s.prepare({read, wanted, lengths}, {loss}, {train});
  std::mt19937 random{static_cast<uint32_t>(chosen.seed)};
  examples::progress shown{chosen.steps};
  double mean = std::log2(static_cast<double>(characters));
  for (int64_t i = 0; i < chosen.steps; ++i) {
    auto batch = drawn(lines, end, chosen.batch, random);
    auto now = to_scalar<float>(step.run({batch.read, batch.wanted, batch.lengths})[0]);
    mean += (now - mean) * std::max(0.02, 1.0 / static_cast<double>(i + 1));
    shown.step_done(now);
  }
  shown.finish();
  std::printf("%.2f bits for each character, %.2f if all were as likely\n\n", mean,
              std::log2(static_cast<double>(characters)));
  auto write = s.prepare(std::vector<edge>{}, {sample}, {});
  for (int64_t i = 0; i < chosen.lines; ++i) {
    auto made = to_scalar<std::string>(write.run()[0]);
    std::cout << made << (made.ends_with('\n') ? "" : "...\n");
  }
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Learns to write lines like those of a text", "line_model"};
  app.add_option("text", chosen.text, "A text file")->required()->check(CLI::ExistingFile);
  examples::add_count(app, "--units", chosen.units, "Cells of the LSTM");
  examples::add_count(app, "--batch", chosen.batch, "Lines that are read at once");
  examples::add_count(app, "--longest", chosen.longest,
                      "Characters of a line; longer ones are left out");
  examples::add_count(app, "--steps", chosen.steps, "Steps to take");
  examples::add_count(app, "--lines", chosen.lines, "Lines to write in the end");
  app.add_option("--learning-rate", chosen.learning_rate, "Of Adam")->capture_default_str();
  app.add_option("--seed", chosen.seed, "Of weights and of the lines that are written")
      ->capture_default_str();
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
