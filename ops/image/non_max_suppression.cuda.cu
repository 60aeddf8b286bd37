#include "troupe/ops/image/shared/boxes.hpp"
#include "troupe/ops/image/shared/suppression.hpp"
#include "troupe/ops/index/shared/top_k.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// A number of f16 or f32, on the device or known on the host.
struct threshold {
  const void* from = nullptr;
  bool is_half = false;
  float known = 0;
  TROUPE_DEVICE float value() const {
    if (!from)
      return known;
    return is_half ? load(*static_cast<const float16*>(from)) : *static_cast<const float*>(from);
  }
};

inline result<threshold> threshold_from(const tensor& scalar) {
  if (scalar.rank() != 0)
    return invalid("thresholds must be scalars, got shape ", scalar.dims());
  return threshold{scalar.raw(), scalar.type() == dtype::f16};
}

template <class T>
struct suppress_body {
  device_errors wrong;
  const T *boxes, *scores;
  int64_t count, limit;
  threshold max_overlap, least_score;
  uint8_t* is_left; // each thread's own
  int64_t *chosen, *found;

  TROUPE_DEVICE box box_at(int64_t i) const {
    float corners[4];
    for (int k = 0; k < 4; ++k)
      corners[k] = load(boxes[i * 4 + k]);
    return box{corners};
  }

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t, const Group& group) const {
    auto overlap_limit = max_overlap.value(), score_limit = least_score.value();
    if (group.rank() == 0 && !(overlap_limit >= 0 && overlap_limit <= 1))
      wrong.add();
    for (int64_t i = group.rank(); i < count; i += group.size())
      is_left[i] = load(scores[i]) > score_limit; // not NaN
    int64_t so_far = 0;
    for (; so_far < limit; ++so_far) {
      auto best = best_left(group);
      if (best == count)
        break;
      if (group.rank() == 0)
        chosen[so_far] = best;
      auto better = box_at(best);
      for (int64_t i = group.rank(); i < count; i += group.size())
        if (is_left[i] && (i == best || overlap(box_at(i), better) > overlap_limit))
          is_left[i] = 0;
    }
    if (group.rank() == 0)
      *found = so_far;
  }

  // The best remaining box, the first of equal scores; `count` where no box remains.
  template <class Group>
  TROUPE_DEVICE int64_t best_left(const Group& group) const {
    candidate best{0, count};
    for (int64_t i = group.rank(); i < count; i += group.size()) {
      candidate contender{key_of(load(scores[i])), i};
      if (is_left[i] && contender.before(best))
        best = contender;
    }
    return group.template all<first_candidate>(best).place;
  }
};

// The first half: writes the indices of the selected boxes.
template <class T>
status suppress(kernel_context& at, threshold max_overlap, threshold least_score) {
  const auto &boxes = at.input(0), &scores = at.input(1);
  TROUPE_ASSIGN(auto limit, check_boxes(at));
  TROUPE_ASSIGN(auto* selected_count, make_counts(at, 1));
  TROUPE_ASSIGN(auto* chosen, make_kept(at, shape{limit}));
  auto count = scores.elements();
  TROUPE_ASSIGN(auto is_left, tensor::make(dtype::u8, shape{count}, at.memory()));
  return for_each_group(at, 1, count,
                        suppress_body<T>{device_errors{at, "iou_threshold must be in [0, 1]"},
                                         boxes.data<T>(), scores.data<T>(), count, limit,
                                         max_overlap, least_score, is_left.template data<uint8_t>(),
                                         chosen, selected_count});
}

inline threshold no_threshold() { return {.known = -std::numeric_limits<float>::infinity()}; }

// The thresholds are inputs: of the overlap, and with `Scores` also of the scores.
template <class T, bool Scores>
status suppress_by_inputs(kernel_context& at) {
  TROUPE_ASSIGN(auto overlap, threshold_from(at.input(3)));
  auto score = no_threshold();
  if constexpr (Scores) {
    TROUPE_ASSIGN(score, threshold_from(at.input(4)));
  }
  return suppress<T>(at, overlap, score);
}

struct put_chosen_body {
  const int64_t* from;
  int32_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = static_cast<int32_t>(from[i]); }
};

// The second half: copies the results.
inline status put_chosen(kernel_context& at) {
  TROUPE_ASSIGN(auto limit, check_boxes(at));
  TROUPE_ASSIGN(auto selected, counted_before(at, 1, limit, limit));
  auto count = selected.counts[0];
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count}));
  return for_each(at, count, put_chosen_body{selected.kept, out->template data<int32_t>()});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::non_max_suppression_gpu {
namespace {

status non_max_suppression_count(kernel_context& at) {
  return gpu::suppress<float>(at, {.known = static_cast<float>(at.state<double>())},
                              gpu::no_threshold());
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(non_max_suppression){
    .op = "NonMaxSuppression",
    .device = device_kind::gpu,
    .run = {{dtype::none, gpu::in_halves<non_max_suppression_count, gpu::put_chosen>}},
    .prepare = cache_attr<double, "iou_threshold">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(non_max_suppression_v2){
    .op = "NonMaxSuppressionV2",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::in_halves<gpu::suppress_by_inputs<float16, false>, gpu::put_chosen>},
            {dtype::f32, gpu::in_halves<gpu::suppress_by_inputs<float, false>, gpu::put_chosen>}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(non_max_suppression_v3){
    .op = "NonMaxSuppressionV3",
    .device = device_kind::gpu,
    .run = {{dtype::f16, gpu::in_halves<gpu::suppress_by_inputs<float16, true>, gpu::put_chosen>},
            {dtype::f32, gpu::in_halves<gpu::suppress_by_inputs<float, true>, gpu::put_chosen>}},
};

} // namespace troupe::ops::non_max_suppression_gpu
