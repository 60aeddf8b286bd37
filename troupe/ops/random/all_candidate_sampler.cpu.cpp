#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace troupe::ops::all_candidate_sampler_cpu {
namespace {

struct counts {
  int64_t num_true, num_sampled;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<counts>(
      counts{setup.of.attr<int64_t>("num_true"), setup.of.attr<int64_t>("num_sampled")})};
}

status run(kernel_context& at) {
  const auto& of = at.state<counts>();
  const auto& truth = at.input(0).dims();
  if (truth.rank() != 2 || truth[1] != of.num_true)
    return invalid("true_classes must be a matrix with num_true = ", of.num_true,
                   " columns, got shape ", truth);
  TROUPE_ASSIGN(auto all, shape::make(std::array{of.num_sampled}));
  TROUPE_ASSIGN(auto* classes, at.allocate(0, all));
  TROUPE_ASSIGN(auto* of_truth, at.allocate(1, truth));
  TROUPE_ASSIGN(auto* of_classes, at.allocate(2, all));
  auto chosen = classes->template values<int64_t>();
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  std::ranges::fill(of_truth->template values<float>(), 1.f);
  std::ranges::fill(of_classes->template values<float>(), 1.f);
  return {};
}

} // namespace

extern constexpr kernel_def all_candidate_sampler_cpu{
    .op = "AllCandidateSampler",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::all_candidate_sampler_cpu
