#include "troupe/ops/image/shared/boxes.hpp"
#include "troupe/ops/image/shared/suppression.hpp"
#include "troupe/ops/index/shared/top_k.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/two_phase.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// A number of f16 or f32 that lies on the device, or is known.
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

inline result<threshold> threshold_from(const tensor& of) {
  if (of.rank() != 0)
    return invalid("thresholds must be scalars, got shape ", of.dims());
  return threshold{of.raw(), of.type() == dtype::f16};
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
  TROUPE_DEVICE void operator()(int64_t, const Group& by) const {
    auto most = max_overlap.value(), least = least_score.value();
    if (by.rank() == 0 && !(most >= 0 && most <= 1))
      wrong.add();
    for (int64_t i = by.rank(); i < count; i += by.size())
      is_left[i] = load(scores[i]) > least; // not NaN
    int64_t so_far = 0;
    for (; so_far < limit; ++so_far) {
      auto best = best_left(by);
      if (best == count)
        break;
      if (by.rank() == 0)
        chosen[so_far] = best;
      auto better = box_at(best);
      for (int64_t i = by.rank(); i < count; i += by.size())
        if (is_left[i] && (i == best || overlap(box_at(i), better) > most))
          is_left[i] = 0;
    }
    if (by.rank() == 0)
      *found = so_far;
  }

  // Of equal scores the first; `count` where nothing is left.
  template <class Group>
  TROUPE_DEVICE int64_t best_left(const Group& by) const {
    candidate best{0, count};
    for (int64_t i = by.rank(); i < count; i += by.size()) {
      candidate one{key_of(load(scores[i])), i};
      if (is_left[i] && one.before(best))
        best = one;
    }
    return by.template all<first_candidate>(best).place;
  }
};

// The first half: keeps the numbers of the boxes that are chosen.
template <class T>
status suppress(kernel_context& at, threshold max_overlap, threshold least_score) {
  const auto &boxes = at.input(0), &scores = at.input(1);
  TROUPE_ASSIGN(auto limit, check_boxes(at));
  TROUPE_ASSIGN(auto* found, make_counts(at, 1));
  TROUPE_ASSIGN(auto* chosen, make_kept(at, shape{limit}));
  auto count = scores.elements();
  TROUPE_ASSIGN(auto is_left, tensor::make(dtype::u8, shape{count}, at.memory()));
  return for_each_group(at, 1, count,
                        suppress_body<T>{device_errors{at, "iou_threshold must be in [0, 1]"},
                                         boxes.data<T>(), scores.data<T>(), count, limit,
                                         max_overlap, least_score, is_left.template data<uint8_t>(),
                                         chosen, found});
}

inline threshold no_threshold() { return {.known = -std::numeric_limits<float>::infinity()}; }

// The thresholds are inputs: of overlap, and with `Scores` of scores.
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

// The second half.
inline status put_chosen(kernel_context& at) {
  TROUPE_ASSIGN(auto limit, check_boxes(at));
  TROUPE_ASSIGN(auto before, counted_before(at, 1, limit, limit));
  auto count = before.counts[0];
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count}));
  return for_each(at, count, put_chosen_body{before.kept, out->template data<int32_t>()});
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
