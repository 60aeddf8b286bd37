#include "troupe/ops/ctc/shared/ctc.cpu.hpp"
#include "troupe/ops/ctc/shared/ctc_beam_search.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <array>

namespace troupe::ops::ctc_beam_search_decoder_cpu {
namespace {

struct options {
  int64_t beam_width, top_paths;
  bool merge_repeated;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<options>(
      options{setup.of.attr<int64_t>("beam_width"), setup.of.attr<int64_t>("top_paths"),
              setup.of.attr<bool>("merge_repeated")})};
}

// NaN, as of infinite logits, becomes the log of 0.
template <class T>
void log_softmax(std::span<const T> logits, std::span<double> out) {
  double most = *std::ranges::max_element(logits), sum = 0;
  for (auto x : logits)
    sum += std::exp(static_cast<double>(x) - most);
  for (size_t i = 0; i < out.size(); ++i) {
    auto value = static_cast<double>(logits[i]) - most - std::log(sum);
    out[i] = std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  }
}

// Makes the outputs of path k.
status make_path(kernel_context& at, int k, const std::vector<std::vector<ctc_beam::path>>& rows) {
  auto paths = at.state<options>().top_paths, all = int64_t{0}, longest = int64_t{0};
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
status run(kernel_context& at) {
  const auto &inputs = at.input(0), &lengths = at.input(1);
  TROUPE_TRY(check_ctc_inputs(inputs, lengths));
  auto batch = inputs.dims()[1], classes = inputs.dims()[2];
  auto [width, paths, merge_repeated] = at.state<options>();
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

} // namespace

extern constexpr kernel_def ctc_beam_search_decoder_cpu{
    .op = "CTCBeamSearchDecoder",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = prepare,
};

} // namespace troupe::ops::ctc_beam_search_decoder_cpu
