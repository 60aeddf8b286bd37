#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::uniform_candidate_sampler_cpu {
namespace {

class uniform_classes final : public class_distribution {
public:
  explicit uniform_classes(int64_t range) : range_(range) {}
  int64_t range() const override { return range_; }
  int64_t draw(uint64_t bits) const override { return below(range_, bits); }
  double probability(int64_t) const override { return 1 / static_cast<double>(range_); }

private:
  const int64_t range_;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return make_sampler(setup,
                      std::make_unique<uniform_classes>(setup.of.attr<int64_t>("range_max")));
}

} // namespace

extern constexpr kernel_def uniform_candidate_sampler_cpu{
    .op = "UniformCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare,
};

} // namespace troupe::ops::uniform_candidate_sampler_cpu
