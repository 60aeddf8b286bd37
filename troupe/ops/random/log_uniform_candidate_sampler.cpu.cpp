#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"
#include "troupe/ops/random/shared/random.cpu.hpp"

namespace troupe::ops::log_uniform_candidate_sampler_cpu {
namespace {

class log_uniform_classes final : public class_distribution {
public:
  explicit log_uniform_classes(int64_t range)
      : range_(range), log_range_(std::log1p(static_cast<double>(range))) {}
  int64_t range() const override { return range_; }
  int64_t draw(uint64_t bits) const override {
    auto drawn = std::exp(uniform<double>(bits) * log_range_) - 1;
    return drawn < static_cast<double>(range_) ? static_cast<int64_t>(drawn) : range_ - 1;
  }
  double probability(int64_t of) const override {
    return std::log1p(1 / (static_cast<double>(of) + 1)) / log_range_;
  }

private:
  const int64_t range_;
  const double log_range_;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return make_sampler(setup,
                      std::make_unique<log_uniform_classes>(setup.of.attr<int64_t>("range_max")));
}

} // namespace

extern constexpr kernel_def log_uniform_candidate_sampler_cpu{
    .op = "LogUniformCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare,
};

} // namespace troupe::ops::log_uniform_candidate_sampler_cpu
