#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/random/shared/learned_unigrams.cpu.hpp"
#include "troupe/ops/random/shared/random.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <numeric>

namespace troupe::ops::candidate_sampler_cpu {
namespace {

struct counts {
  int64_t num_true, num_sampled;
};

result<std::shared_ptr<void>> prepare_all_candidate_sampler(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<counts>(
      counts{setup.origin.attr<int64_t>("num_true"), setup.origin.attr<int64_t>("num_sampled")})};
}

status run(kernel_context& at) {
  const auto& settings = at.state<counts>();
  const auto& truth = at.input(0).dims();
  if (truth.rank() != 2 || truth[1] != settings.num_true)
    return invalid("true_classes must be a matrix with num_true = ", settings.num_true,
                   " columns, got shape ", truth);
  TROUPE_ASSIGN(auto sample_shape, shape::make(std::array{settings.num_sampled}));
  TROUPE_ASSIGN(auto* classes, at.allocate(0, sample_shape));
  TROUPE_ASSIGN(auto* of_truth, at.allocate(1, truth));
  TROUPE_ASSIGN(auto* of_classes, at.allocate(2, sample_shape));
  auto chosen = classes->template values<int64_t>();
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  std::ranges::fill(of_truth->template values<float>(), 1.f);
  std::ranges::fill(of_classes->template values<float>(), 1.f);
  return {};
}

class uniform_classes final : public class_distribution {
public:
  explicit uniform_classes(int64_t range) : range_(range) {}
  int64_t range() const override { return range_; }
  int64_t draw(uint64_t bits) const override { return below(range_, bits); }
  double probability(int64_t) const override { return 1 / static_cast<double>(range_); }

private:
  const int64_t range_;
};

result<std::shared_ptr<void>> prepare_uniform_candidate_sampler(const kernel_setup& setup) {
  return make_sampler(setup,
                      std::make_unique<uniform_classes>(setup.origin.attr<int64_t>("range_max")));
}

class log_uniform_classes final : public class_distribution {
public:
  explicit log_uniform_classes(int64_t range)
      : range_(range), log_range_(std::log1p(static_cast<double>(range))) {}
  int64_t range() const override { return range_; }
  int64_t draw(uint64_t bits) const override {
    auto sampled_class = std::exp(uniform<double>(bits) * log_range_) - 1;
    return sampled_class < static_cast<double>(range_) ? static_cast<int64_t>(sampled_class)
                                                       : range_ - 1;
  }
  double probability(int64_t class_number) const override {
    return std::log1p(1 / (static_cast<double>(class_number) + 1)) / log_range_;
  }

private:
  const int64_t range_;
  const double log_range_;
};

result<std::shared_ptr<void>> prepare_log_uniform_candidate_sampler(const kernel_setup& setup) {
  return make_sampler(
      setup, std::make_unique<log_uniform_classes>(setup.origin.attr<int64_t>("range_max")));
}

class listed_classes final : public class_distribution {
public:
  explicit listed_classes(const std::vector<double>& weights) : sums_(weights.size()) {
    std::partial_sum(weights.begin(), weights.end(), sums_.begin());
  }
  double total() const { return sums_.back(); }
  int64_t range() const override { return static_cast<int64_t>(sums_.size()); }
  int64_t draw(uint64_t bits) const override {
    auto interval = std::ranges::upper_bound(sums_, uniform<double>(bits) * total());
    // Rounding up to the total could give an index after the last class.
    if (interval == sums_.end())
      interval = std::ranges::lower_bound(sums_, total());
    return interval - sums_.begin();
  }
  double probability(int64_t class_number) const override {
    auto i = static_cast<size_t>(class_number);
    return (sums_[i] - (i == 0 ? 0 : sums_[i - 1])) / total();
  }

private:
  std::vector<double> sums_;
};

// Reads the last number of each line.
result<std::vector<double>> read_weights(const std::string& path) {
  std::ifstream file{path};
  if (!file)
    return failure(error_kind::not_found, "cannot read vocab_file '", path, "'");
  std::vector<double> weights;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r'))
      line.pop_back();
    if (line.empty())
      continue;
    const auto* begin = line.data() + (line.rfind(',') + 1);
    const auto* end = line.data() + line.size();
    double weight = 0;
    if (auto [stop, error] = std::from_chars(begin, end, weight);
        error != std::errc{} || stop != end)
      return invalid("line '", line, "' of vocab_file '", path, "' does not end with a number");
    weights.push_back(weight);
  }
  return weights;
}

result<std::shared_ptr<void>> prepare_fixed_unigram_candidate_sampler(const kernel_setup& setup) {
  const auto& sampler_node = setup.origin;
  auto listed = sampler_node.attr<std::vector<double>>("unigrams");
  const auto& path = sampler_node.attr<std::string>("vocab_file");
  if (listed.empty() == path.empty())
    return invalid("either unigrams or vocab_file must be given");
  if (listed.empty()) {
    TROUPE_ASSIGN(listed, read_weights(path));
  }
  auto reserved = sampler_node.attr<int64_t>("num_reserved_ids"),
       shards = sampler_node.attr<int64_t>("num_shards"),
       shard = sampler_node.attr<int64_t>("shard"), range = sampler_node.attr<int64_t>("range_max");
  auto distortion = sampler_node.attr<double>("distortion");
  if (reserved < 0 || shards < 1 || shard < 0 || shard >= shards)
    return invalid("num_reserved_ids must not be negative, and shard in [0, num_shards), got ",
                   reserved, ", ", shard, " and ", shards);
  auto in_shard = [&](int64_t classes) {
    return classes / shards + (classes % shards > shard ? 1 : 0);
  };
  auto count = static_cast<int64_t>(listed.size());
  if (reserved > INT64_MAX - count || in_shard(reserved + count) != range)
    return invalid("range_max is ", range, ", but ", reserved, " reserved and ", count,
                   " listed classes are not so many in shard ", shard, " of ", shards);
  std::vector<double> weights(static_cast<size_t>(std::min(in_shard(reserved), range)));
  for (int64_t i = 0; i < count; ++i)
    if ((reserved + i) % shards == shard)
      weights.push_back(std::pow(listed[static_cast<size_t>(i)], distortion));
  if (!std::ranges::all_of(weights, [](double w) { return w >= 0; }))
    return invalid("weights must not be negative");
  auto sampler = std::make_unique<listed_classes>(weights);
  if (!(sampler->total() > 0 && std::isfinite(sampler->total())))
    return invalid("the sum of all weights must be positive and finite, got ", sampler->total());
  return make_sampler(setup, std::move(sampler));
}

} // namespace

extern constexpr kernel_def all_candidate_sampler_cpu{
    .op = "AllCandidateSampler",
    .run = {{dtype::none, run}},
    .prepare = prepare_all_candidate_sampler,
};

extern constexpr kernel_def uniform_candidate_sampler_cpu{
    .op = "UniformCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_uniform_candidate_sampler,
    .state_format = &sampler_position,
};

extern constexpr kernel_def log_uniform_candidate_sampler_cpu{
    .op = "LogUniformCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_log_uniform_candidate_sampler,
    .state_format = &sampler_position,
};

extern constexpr kernel_def learned_unigram_candidate_sampler_cpu{
    .op = "LearnedUnigramCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_learned_unigrams,
    .state_format = &sampler_position,
};

extern constexpr kernel_def thread_unsafe_unigram_candidate_sampler_cpu{
    .op = "ThreadUnsafeUnigramCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_learned_unigrams,
    .state_format = &sampler_position,
};

extern constexpr kernel_def fixed_unigram_candidate_sampler_cpu{
    .op = "FixedUnigramCandidateSampler",
    .run = {{dtype::none, run_sampler}},
    .prepare = prepare_fixed_unigram_candidate_sampler,
    .state_format = &sampler_position,
};

} // namespace troupe::ops::candidate_sampler_cpu
