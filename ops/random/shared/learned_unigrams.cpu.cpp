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
    // Descends from the greatest power of two to the position that contains the selected count.
    auto remaining = below(total_, bits);
    int64_t place = 0;
    for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(range()))); step > 0;
         step /= 2)
      if (place + step <= range() && sum(place + step) <= remaining) {
        place += step;
        remaining -= sum(place);
      }
    return place;
  }

  double probability(int64_t class_number) const override {
    auto count = sum(class_number + 1);
    for (auto i = class_number, end = class_number + 1 - ((class_number + 1) & -(class_number + 1));
         i > end; i -= i & -i)
      count -= sum(i);
    return static_cast<double>(count) / static_cast<double>(total_);
  }

  void see(std::span<const int64_t> classes) override {
    for (auto class_number : classes)
      for (auto i = class_number + 1; i <= range(); i += i & -i)
        ++sum(i);
    total_ += static_cast<int64_t>(classes.size());
  }

private:
  explicit learned_unigrams(tensor sums) : sums_(std::move(sums)), total_(sums_.elements()) {
    for (int64_t i = 1; i <= range(); ++i)
      sum(i) = i & -i; // every count starts at one
  }
  int64_t& sum(int64_t i) const { return sums_.data<int64_t>()[i - 1]; }

  tensor sums_;
  int64_t total_;
};

} // namespace

result<std::shared_ptr<void>> prepare_learned_unigrams(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto sampler, learned_unigrams::make(setup.origin.attr<int64_t>("range_max"),
                                                     setup.device.memory()));
  return make_sampler(setup, std::move(sampler));
}

} // namespace troupe::ops
