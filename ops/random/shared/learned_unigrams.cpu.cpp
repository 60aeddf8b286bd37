#include "troupe/ops/random/shared/learned_unigrams.cpu.hpp"

#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {
namespace {

// Counts of classes in a binary indexed tree (Fenwick 1994): node i > 0 holds the sum of the last
// `i & -i` counts up to the i-th.
class learned_unigrams final : public class_distribution {
public:
  static result<std::unique_ptr<class_distribution>> make(int64_t range, allocator& memory) {
    TROUPE_ASSIGN(auto dims, shape::make(std::array{range}));
    TROUPE_ASSIGN(auto sums, tensor::make(dtype::i64, dims, memory));
    return std::unique_ptr<class_distribution>{new learned_unigrams{std::move(sums)}};
  }

  int64_t range() const override { return sums_.elements(); }

  int64_t draw(uint64_t bits) const override {
    // Down from the greatest power of two: the place that the chosen count lies behind.
    auto rest = below(total_, bits);
    int64_t place = 0;
    for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(range()))); step > 0;
         step /= 2)
      if (place + step <= range() && sum(place + step) <= rest) {
        place += step;
        rest -= sum(place);
      }
    return place;
  }

  double probability(int64_t of) const override {
    auto count = sum(of + 1);
    for (auto i = of, end = of + 1 - ((of + 1) & -(of + 1)); i > end; i -= i & -i)
      count -= sum(i);
    return static_cast<double>(count) / static_cast<double>(total_);
  }

  void see(std::span<const int64_t> classes) override {
    for (auto one : classes)
      for (auto i = one + 1; i <= range(); i += i & -i)
        ++sum(i);
    total_ += static_cast<int64_t>(classes.size());
  }

private:
  explicit learned_unigrams(tensor sums) : sums_(std::move(sums)), total_(sums_.elements()) {
    for (int64_t i = 1; i <= range(); ++i)
      sum(i) = i & -i; // every count is one
  }
  int64_t& sum(int64_t i) const { return sums_.data<int64_t>()[i - 1]; }

  tensor sums_;
  int64_t total_;
};

} // namespace

result<std::shared_ptr<void>> prepare_learned_unigrams(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto made,
                learned_unigrams::make(setup.of.attr<int64_t>("range_max"), setup.on.memory()));
  return make_sampler(setup, std::move(made));
}

} // namespace troupe::ops
