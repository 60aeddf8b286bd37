// A search in the graph: the best sentences of a small language, by beam search. Each turn of the
// loop adds a word to all beams and keeps the best; the loop ends as soon as all of them have
// ended.
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

// How likely a word (a column) is behind another one (a row). A sentence begins and ends with ".",
// behind which nothing costs anything more.
const std::vector<float> chances{
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
  constexpr int32_t width = 8, shown = 4, end = 0, longest = 50;
  const auto count = static_cast<int32_t>(words.size());
  graph_builder g;
  auto next = log(g.constant(tensor::of({count, count}, chances)) + 1e-30f);
  // Behind the end comes the end, for sure.
  std::vector<float> nothing_more(words.size(), -1e9f);
  nothing_more[end] = 0;
  auto ended = g.constant(tensor::of({1, count}, nothing_more));

  auto start = g.constant(tensor::of({width, 1}, std::vector<int32_t>(width, end)));
  std::vector<float> first(width, -1e9f);
  first[0] = 0; // at first there is one beam
  auto all = greater_equal(start, 0);
  using list = std::vector<edge>;
  auto found = while_loop(
      {g.constant(0), start, g.constant(tensor::vector(first)), reshape(all, {width})},
      [&](auto& v) { return logical_and(less(v[0], longest), any(v[3], 0)); },
      [&](auto& v) {
        auto turn = v[0], beams = v[1], scores = v[2], open = v[3];
        auto last = reshape(slice(beams, pack({g.constant(0), turn}), {width, 1}), {width});
        auto added = select(open, gather(next, last), tile(ended, {width, 1}));
        auto best = top_kv2(reshape(expand_dims(scores, 1) + added, {-1}), width);
        auto from = floor_div(best.indices, count), word = floor_mod(best.indices, count);
        return list{turn + 1, concatenate({gather(beams, from), expand_dims(word, 1)}, 1),
                    best.values, not_equal(word, end)};
      });

  auto s = session::local();
  auto result = s.run(std::vector<feed>{}, {found[0], found[1], found[2]});
  std::cout << std::fixed << std::setprecision(3);
  auto turns = to_scalar<int32_t>(result[0]);
  for (int32_t beam = 0; beam < shown; ++beam) {
    std::cout << std::exp(result[2].data<float>()[beam]) << ' ';
    for (int32_t i = 1; i <= turns; ++i)
      if (auto word = result[1].data<int32_t>()[beam * (turns + 1) + i]; word != end)
        std::cout << ' ' << words[static_cast<size_t>(word)];
    std::cout << '\n';
  }
  std::cout << turns << " turns of " << longest << '\n';
}

// Prints:
// 0.252  the cat sleeps
// 0.086  the dog sleeps
// 0.061  the dog sees the cat sleeps
// 0.043  the cat sleeps often
// 13 turns of 50
