#include "troupe/ops/ctc/shared/ctc.cpu.hpp"
#include "troupe/ops/ctc/shared/ctc_beam_search.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <array>

namespace troupe::ops::ctc_decoder_cpu {
namespace {

struct ctc_beam_search_decoder_options {
  int64_t beam_width, top_paths;
  bool merge_repeated;
};

result<std::shared_ptr<void>> prepare_ctc_beam_search_decoder(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<ctc_beam_search_decoder_options>(
      ctc_beam_search_decoder_options{setup.origin.attr<int64_t>("beam_width"),
                                      setup.origin.attr<int64_t>("top_paths"),
                                      setup.origin.attr<bool>("merge_repeated")})};
}

// NaN, which infinite logits cause, becomes the log of 0.
template <class T>
void log_softmax(std::span<const T> logits, std::span<double> out) {
  double largest = *std::ranges::max_element(logits), sum = 0;
  for (auto x : logits)
    sum += std::exp(static_cast<double>(x) - largest);
  for (size_t i = 0; i < out.size(); ++i) {
    auto value = static_cast<double>(logits[i]) - largest - std::log(sum);
    out[i] = std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  }
}

// Allocates and writes the outputs of path k.
status make_path(kernel_context& at, int k, const std::vector<std::vector<ctc_beam::path>>& rows) {
  auto paths = at.state<ctc_beam_search_decoder_options>().top_paths, all = int64_t{0},
       longest = int64_t{0};
  auto length_of = [k](const auto& row) {
    return static_cast<int64_t>(row[static_cast<size_t>(k)].labels.size());
  };
  for (const auto& row : rows) {
    all += length_of(row);
    longest = std::max(longest, length_of(row));
  }
  auto nth = [&](int64_t list) { return static_cast<int>(list * paths) + k; };
  TROUPE_ASSIGN(auto* indices, at.allocate(nth(0), shape{all, 2}));
  TROUPE_ASSIGN(auto* values, at.allocate(nth(1), shape{all}));
  TROUPE_ASSIGN(auto* dims, at.allocate(nth(2), shape{2}));
  auto *index = indices->data<int64_t>(), *value = values->data<int64_t>();
  for (size_t b = 0; b < rows.size(); ++b)
    for (int64_t place = 0; auto label : rows[b][static_cast<size_t>(k)].labels) {
      *index++ = static_cast<int64_t>(b);
      *index++ = place++;
      *value++ = label;
    }
  std::ranges::copy(std::array{static_cast<int64_t>(rows.size()), longest}, dims->data<int64_t>());
  return {};
}

template <class T>
status run_ctc_beam_search_decoder(kernel_context& at) {
  const auto &inputs = at.input(0), &lengths = at.input(1);
  TROUPE_TRY(check_ctc_inputs(inputs, lengths));
  auto batch = inputs.dims()[1], classes = inputs.dims()[2];
  auto [width, paths, merge_repeated] = at.state<ctc_beam_search_decoder_options>();
  if (paths > width)
    return invalid("top_paths must be at most beam_width = ", width, ", got ", paths);
  TROUPE_ASSIGN(auto* scores, at.allocate(3 * static_cast<int>(paths), shape{batch, paths}));
  std::vector<std::vector<ctc_beam::path>> rows;
  std::vector<double> logs(static_cast<size_t>(inputs.elements() == 0 ? 0 : classes));
  for (int64_t b = 0; b < batch; ++b) {
    ctc_beam beam{classes, width};
    for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
      if (at.stopped())
        return {};
      log_softmax<T>({inputs.data<T>() + (t * batch + b) * classes, logs.size()}, logs);
      beam.step(logs);
    }
    if (beam.size() < paths)
      return invalid("top_paths is ", paths, ", but row ", b, " has only ", beam.size(),
                     " sequences");
    rows.push_back(beam.best(paths, merge_repeated));
    for (int64_t k = 0; k < paths; ++k)
      scores->template data<T>()[b * paths + k] =
          static_cast<T>(rows.back()[static_cast<size_t>(k)].log_probability);
  }
  for (int k = 0; k < paths; ++k)
    TROUPE_TRY(make_path(at, k, rows));
  return {};
}

struct ctc_greedy_decoder_options {
  bool merge_repeated;
  int64_t blank_index;
};

result<std::shared_ptr<void>> prepare_ctc_greedy_decoder(const kernel_setup& setup) {
  return std::shared_ptr<void>{
      std::make_shared<ctc_greedy_decoder_options>(ctc_greedy_decoder_options{
          setup.origin.attr<bool>("merge_repeated"), setup.origin.attr<int64_t>("blank_index")})};
}

template <class T>
status run_ctc_greedy_decoder(kernel_context& at) {
  const auto &inputs = at.input(0), &lengths = at.input(1);
  const auto& dims = inputs.dims();
  TROUPE_TRY(check_ctc_inputs(inputs, lengths));
  auto batch = dims[1], classes = dims[2];
  auto [merge_repeated, blank] = at.state<ctc_greedy_decoder_options>();
  if (blank < -classes || blank >= classes)
    return invalid("blank_index must be in [", -classes, ", ", classes, "), got ", blank);
  blank += blank < 0 ? classes : 0;

  TROUPE_ASSIGN(auto* scores, at.allocate(3, shape{batch, 1}));
  struct label {
    int64_t row, place, value;
  };
  std::vector<label> labels;
  int64_t longest = 0, looked_at = 0;
  for (int64_t b = 0; b < batch; ++b) {
    T score{0};
    int64_t before = -1, count = 0;
    for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
      looked_at += classes;
      if (looked_at > 1'000'000 && at.stopped())
        return {};
      looked_at = looked_at > 1'000'000 ? 0 : looked_at;
      const auto* logits = inputs.data<T>() + (t * batch + b) * classes;
      auto best = std::max_element(logits, logits + classes) - logits;
      score -= logits[best];
      if (best != blank && !(merge_repeated && best == before))
        labels.push_back({b, count++, best});
      before = best;
    }
    scores->template data<T>()[b] = score;
    longest = std::max(longest, count);
  }

  auto count = static_cast<int64_t>(labels.size());
  TROUPE_ASSIGN(auto* indices, at.allocate(0, shape{count, 2}));
  TROUPE_ASSIGN(auto* values, at.allocate(1, shape{count}));
  TROUPE_ASSIGN(auto* joint, at.allocate(2, shape{2}));
  auto* index = indices->template data<int64_t>();
  auto* value = values->template data<int64_t>();
  for (const auto& entry : labels) {
    *index++ = entry.row;
    *index++ = entry.place;
    *value++ = entry.value;
  }
  std::ranges::copy(std::array{batch, longest}, joint->template data<int64_t>());
  return {};
}

} // namespace

extern constexpr kernel_def ctc_beam_search_decoder_cpu{
    .op = "CTCBeamSearchDecoder",
    .run = {{dtype::f32, run_ctc_beam_search_decoder<float>},
            {dtype::f64, run_ctc_beam_search_decoder<double>}},
    .prepare = prepare_ctc_beam_search_decoder,
};

extern constexpr kernel_def ctc_greedy_decoder_cpu{
    .op = "CTCGreedyDecoder",
    .run = {{dtype::f32, run_ctc_greedy_decoder<float>},
            {dtype::f64, run_ctc_greedy_decoder<double>}},
    .prepare = prepare_ctc_greedy_decoder,
};

} // namespace troupe::ops::ctc_decoder_cpu
