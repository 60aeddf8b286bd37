// Beam search in the graph: finds the best sentences of a small language. Each iteration of the
// loop adds a word to all beams and keeps the best beams. The loop ends when all beams have ended.
//
//     beams [width, words so far]   scores [width]
//        │ last words                  │
//        ▼                             ▼
//     log P(next | last) ──────────▶  sum [width, words] ──▶ the best `width` ──▶ beams, scores
#include <troupe/troupe.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>

using namespace troupe;

const std::vector<std::string> words{".", "the", "cat", "dog", "sleeps", "sees", "often"};

// The probability of a word (column) after another one (row). A sentence begins and ends with ".",
// after which further words cost nothing.
const std::vector<float> probabilities{
    // .    the   cat   dog  sleeps sees  often
    0.00f, 0.90f, 0.04f, 0.06f, 0.00f, 0.00f, 0.00f, // .
    0.00f, 0.00f, 0.55f, 0.45f, 0.00f, 0.00f, 0.00f, // the
    0.05f, 0.00f, 0.00f, 0.00f, 0.60f, 0.35f, 0.00f, // cat
    0.10f, 0.00f, 0.00f, 0.00f, 0.25f, 0.65f, 0.00f, // dog
    0.85f, 0.00f, 0.00f, 0.00f, 0.00f, 0.00f, 0.15f, // sleeps
    0.02f, 0.83f, 0.05f, 0.05f, 0.00f, 0.00f, 0.05f, // sees
    0.97f, 0.03f, 0.00f, 0.00f, 0.00f, 0.00f, 0.00f, // often
};

int main() {
  constexpr int32_t width = 8, printed_beams = 4, end = 0, max_length = 50;
  const auto count = static_cast<int32_t>(words.size());
  graph_builder g;
  auto next = log(g.constant(tensor::from_values({count, count}, probabilities)) + 1e-30f);
  // The end is always followed by the end.
  std::vector<float> end_only(words.size(), -1e9f);
  end_only[end] = 0;
  auto after_end = g.constant(tensor::from_values({1, count}, end_only));

  auto start = g.constant(tensor::from_values({width, 1}, std::vector<int32_t>(width, end)));
  std::vector<float> first_scores(width, -1e9f);
  first_scores[0] = 0; // at first there is only one beam
  auto is_open = greater_equal(start, 0);
  using list = std::vector<edge>;
  auto results = while_loop(
      {g.constant(0), start, g.constant(tensor::vector(first_scores)), reshape(is_open, {width})},
      [&](auto& v) { return logical_and(less(v[0], max_length), any(v[3], 0)); },
      [&](auto& v) {
        auto iteration = v[0], beams = v[1], scores = v[2], open = v[3];
        auto last = reshape(slice(beams, pack({g.constant(0), iteration}), {width, 1}), {width});
        auto added = select(open, gather(next, last), tile(after_end, {width, 1}));
        auto best = top_kv2(reshape(expand_dims(scores, 1) + added, {-1}), width);
        auto parent = floor_div(best.indices, count), word = floor_mod(best.indices, count);
        return list{iteration + 1, concatenate({gather(beams, parent), expand_dims(word, 1)}, 1),
                    best.values, not_equal(word, end)};
      });

  auto s = session::local();
  auto values = s.run(std::vector<feed>{}, {results[0], results[1], results[2]});
  std::cout << std::fixed << std::setprecision(3);
  auto iterations = to_scalar<int32_t>(values[0]);
  for (int32_t beam = 0; beam < printed_beams; ++beam) {
    std::cout << std::exp(values[2].data<float>()[beam]) << ' ';
    for (int32_t i = 1; i <= iterations; ++i)
      if (auto word = values[1].data<int32_t>()[beam * (iterations + 1) + i]; word != end)
        std::cout << ' ' << words[static_cast<size_t>(word)];
    std::cout << '\n';
  }
  std::cout << iterations << " iterations of " << max_length << '\n';
}

// Prints:
// 0.252  the cat sleeps
// 0.086  the dog sleeps
// 0.061  the dog sees the cat sleeps
// 0.043  the cat sleeps often
// 13 iterations of 50
