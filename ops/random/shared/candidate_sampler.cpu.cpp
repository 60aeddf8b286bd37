#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"

#include "troupe/ops/random/shared/random.cpu.hpp"

#include <cmath>
#include <mutex>
#include <unordered_set>

namespace troupe::ops {
namespace {

// What a node keeps between its runs, which go one after another: some distributions learn.
struct sampler {
  stream_place numbers; // by 64 random bits
  const int64_t num_true, num_sampled;
  const bool unique;
  const std::unique_ptr<class_distribution> from;
  mutable std::mutex mutex = {};

  uint64_t bits() {
    auto block = numbers.numbers()(numbers.next / 2);
    return numbers.next++ % 2 == 0 ? joined(block[0], block[1]) : joined(block[2], block[3]);
  }
};

// Where some classes are hardly ever drawn, unique ones may take forever.
int64_t max_tries(int64_t wanted) { return 10'000'000 + 100 * std::min(wanted, INT64_MAX / 1000); }

// Fills `classes`, and says how many draws that took; 0 if the step is to stop.
result<int64_t> draw(kernel_context& at, sampler& by, std::span<int64_t> classes) {
  std::unordered_set<int64_t> used;
  auto missing = classes.size();
  int64_t tries = 0;
  for (auto next = classes.begin(); missing > 0;) {
    if (++tries % 8192 == 0 && at.stopped())
      return int64_t{0};
    if (tries > max_tries(by.num_sampled))
      return failure(error_kind::resource_exhausted, "drew ", tries - 1, " classes of ",
                     by.from->range(), ", but needs ", missing, " more that differ");
    auto drawn = by.from->draw(by.bits());
    if (!by.unique || used.insert(drawn).second) {
      *next++ = drawn;
      --missing;
    }
  }
  return tries;
}

} // namespace

result<std::shared_ptr<void>> make_sampler(const kernel_setup& setup,
                                           std::unique_ptr<class_distribution> from) {
  auto num_sampled = setup.of.attr<int64_t>("num_sampled");
  auto unique = setup.of.attr<bool>("unique");
  if (unique && num_sampled > from->range())
    return invalid("num_sampled is ", num_sampled, ", but there are only ", from->range(),
                   " unique classes");
  return std::shared_ptr<void>{new sampler{.numbers = chosen_place(setup),
                                           .num_true = setup.of.attr<int64_t>("num_true"),
                                           .num_sampled = num_sampled,
                                           .unique = unique,
                                           .from = std::move(from)}};
}

extern constexpr kernel_position sampler_position{
    .text =
        [](const void* of) {
          const auto& by = *static_cast<const sampler*>(of);
          std::lock_guard no_run{by.mutex};
          return by.numbers.text();
        },
    .set = [](void* of, std::string_view text) -> status {
      TROUPE_ASSIGN(auto place, stream_place::parse(text));
      auto& by = *static_cast<sampler*>(of);
      std::lock_guard no_run{by.mutex};
      by.numbers = place;
      return {};
    },
};

status run_sampler(kernel_context& at) {
  auto& by = at.state<sampler>();
  const auto& truth = at.input(0);
  if (truth.rank() != 2 || truth.dims()[1] != by.num_true)
    return invalid("true_classes must be a matrix with num_true = ", by.num_true,
                   " columns, got shape ", truth.dims());
  for (auto one : truth.values<int64_t>())
    if (one < 0 || one >= by.from->range())
      return invalid("true class ", one, " is not in [0, ", by.from->range(), ")");
  TROUPE_ASSIGN(auto chosen, shape::make(std::array{by.num_sampled}));
  TROUPE_ASSIGN(auto* sampled, at.allocate(0, chosen));
  TROUPE_ASSIGN(auto* of_truth, at.allocate(1, truth.dims()));
  TROUPE_ASSIGN(auto* of_sampled, at.allocate(2, chosen));
  std::lock_guard one_run_at_a_time{by.mutex};
  TROUPE_ASSIGN(auto tries, draw(at, by, sampled->template values<int64_t>()));
  if (tries == 0)
    return {};
  auto expect = [&](std::span<const int64_t> classes, float* counts) {
    for (auto one : classes) {
      auto p = by.from->probability(one);
      // With unique classes: the chance that one of so many draws was this one.
      *counts++ = static_cast<float>(
          tries == by.num_sampled ? p * static_cast<double>(tries)
                                  : -std::expm1(static_cast<double>(tries) * std::log1p(-p)));
    }
  };
  expect(truth.values<int64_t>(), of_truth->template data<float>());
  expect(sampled->template values<int64_t>(), of_sampled->template data<float>());
  by.from->see(truth.values<int64_t>());
  return {};
}

} // namespace troupe::ops
