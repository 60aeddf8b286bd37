#include "troupe/ops/ctc/shared/ctc.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

#include <algorithm>

namespace troupe::ops::ctc_greedy_decoder_cpu {
namespace {

struct options {
  bool merge_repeated;
  int64_t blank_index;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<options>(
      options{setup.of.attr<bool>("merge_repeated"), setup.of.attr<int64_t>("blank_index")})};
}

template <class T>
status run(kernel_context& at) {
  const auto &inputs = at.input(0), &lengths = at.input(1);
  const auto& dims = inputs.dims();
  TROUPE_TRY(check_ctc_inputs(inputs, lengths));
  auto batch = dims[1], classes = dims[2];
  auto [merge_repeated, blank] = at.state<options>();
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
  for (const auto& one : labels) {
    *index++ = one.row;
    *index++ = one.place;
    *value++ = one.value;
  }
  std::ranges::copy(std::array{batch, longest}, joint->template data<int64_t>());
  return {};
}

} // namespace

extern constexpr kernel_def ctc_greedy_decoder_cpu{
    .op = "CTCGreedyDecoder",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = prepare,
};

} // namespace troupe::ops::ctc_greedy_decoder_cpu
