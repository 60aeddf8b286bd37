#include "troupe/ops/kernel/cached_attr.hpp"

#include <limits>
#include <unordered_map>

namespace troupe::ops::compute_accidental_hits_cpu {
namespace {

status run(kernel_context& at) {
  const auto &truth = at.input(0), &sampled = at.input(1);
  auto num_true = at.state<int64_t>();
  if (truth.rank() != 2 || truth.dims()[1] != num_true || sampled.rank() != 1)
    return invalid("true_classes must be a matrix with num_true = ", num_true,
                   " columns and sampled_candidates a vector, got shapes ", truth.dims(), " and ",
                   sampled.dims());
  std::unordered_map<int64_t, int64_t> places;
  for (int64_t i = 0; i < sampled.elements(); ++i)
    places[sampled.data<int64_t>()[i]] = i;
  struct hit {
    int64_t row, place;
  };
  std::vector<hit> hits;
  for (int64_t i = 0; i < truth.elements(); ++i) {
    if (i % 65536 == 65535 && at.stopped())
      return {};
    if (auto match = places.find(truth.data<int64_t>()[i]); match != places.end())
      hits.push_back({i / num_true, match->second});
  }
  const shape dims{static_cast<int64_t>(hits.size())};
  TROUPE_ASSIGN(auto* indices, at.allocate(0, dims));
  TROUPE_ASSIGN(auto* ids, at.allocate(1, dims));
  TROUPE_ASSIGN(auto* weights, at.allocate(2, dims));
  std::ranges::transform(hits, indices->template data<int32_t>(), [](const hit& accidental_hit) {
    return static_cast<int32_t>(accidental_hit.row);
  });
  std::ranges::transform(hits, ids->template data<int64_t>(), &hit::place);
  std::ranges::fill(weights->template values<float>(), std::numeric_limits<float>::lowest());
  return {};
}

} // namespace

extern constexpr kernel_def compute_accidental_hits_cpu{
    .op = "ComputeAccidentalHits",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "num_true">,
};

} // namespace troupe::ops::compute_accidental_hits_cpu
