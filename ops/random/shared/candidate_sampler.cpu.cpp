#include "troupe/ops/random/shared/candidate_sampler.cpu.hpp"

#include "troupe/ops/random/shared/random.cpu.hpp"

#include <cmath>
#include <mutex>
#include <unordered_set>

namespace troupe::ops {
namespace {

// The state of a node across its runs, which are sequential because some distributions learn.
struct sampler {
  stream_place numbers; // counted in 64-bit numbers
  const int64_t num_true, num_sampled;
  const bool unique;
  const std::unique_ptr<class_distribution> from;
  mutable std::mutex mutex = {};

  uint64_t bits() {
    auto block = numbers.numbers()(numbers.next / 2);
    return numbers.next++ % 2 == 0 ? joined(block[0], block[1]) : joined(block[2], block[3]);
  }
};

// Where some classes are very unlikely, drawing unique classes may never end.
int64_t max_tries(int64_t class_count) {
  return 10'000'000 + 100 * std::min(class_count, INT64_MAX / 1000);
}

// Fills `classes`, and returns the number of draws; 0 if the step is to stop.
result<int64_t> draw(kernel_context& at, sampler& state, std::span<int64_t> classes) {
  std::unordered_set<int64_t> drawn_classes;
  auto missing = classes.size();
  int64_t tries = 0;
  for (auto next = classes.begin(); missing > 0;) {
    if (++tries % 8192 == 0 && at.stopped())
      return int64_t{0};
    if (tries > max_tries(state.num_sampled))
      return failure(error_kind::resource_exhausted, "drew ", tries - 1, " classes of ",
                     state.from->range(), ", but needs ", missing, " more that differ");
    auto class_number = state.from->draw(state.bits());
    if (!state.unique || drawn_classes.insert(class_number).second) {
      *next++ = class_number;
      --missing;
    }
  }
  return tries;
}

} // namespace

result<std::shared_ptr<void>> make_sampler(const kernel_setup& setup,
                                           std::unique_ptr<class_distribution> from) {
  auto num_sampled = setup.origin.attr<int64_t>("num_sampled");
  auto unique = setup.origin.attr<bool>("unique");
  if (unique && num_sampled > from->range())
    return invalid("num_sampled is ", num_sampled, ", but there are only ", from->range(),
                   " unique classes");
  return std::shared_ptr<void>{new sampler{.numbers = chosen_place(setup),
                                           .num_true = setup.origin.attr<int64_t>("num_true"),
                                           .num_sampled = num_sampled,
                                           .unique = unique,
                                           .from = std::move(from)}};
}

extern constexpr kernel_state_format sampler_position{
    .text =
        [](const void* state) {
          const auto& sampler_state = *static_cast<const sampler*>(state);
          std::lock_guard no_run{sampler_state.mutex};
          return sampler_state.numbers.text();
        },
    .set = [](void* state, std::string_view text) -> status {
      TROUPE_ASSIGN(auto place, stream_place::parse(text));
      auto& sampler_state = *static_cast<sampler*>(state);
      std::lock_guard no_run{sampler_state.mutex};
      sampler_state.numbers = place;
      return {};
    },
};

status run_sampler(kernel_context& at) {
  auto& sampler_state = at.state<sampler>();
  const auto& truth = at.input(0);
  if (truth.rank() != 2 || truth.dims()[1] != sampler_state.num_true)
    return invalid("true_classes must be a matrix with num_true = ", sampler_state.num_true,
                   " columns, got shape ", truth.dims());
  for (auto class_number : truth.values<int64_t>())
    if (class_number < 0 || class_number >= sampler_state.from->range())
      return invalid("true class ", class_number, " is not in [0, ", sampler_state.from->range(),
                     ")");
  TROUPE_ASSIGN(auto chosen, shape::make(std::array{sampler_state.num_sampled}));
  TROUPE_ASSIGN(auto* sampled, at.allocate(0, chosen));
  TROUPE_ASSIGN(auto* of_truth, at.allocate(1, truth.dims()));
  TROUPE_ASSIGN(auto* of_sampled, at.allocate(2, chosen));
  std::lock_guard one_run_at_a_time{sampler_state.mutex};
  TROUPE_ASSIGN(auto tries, draw(at, sampler_state, sampled->template values<int64_t>()));
  if (tries == 0)
    return {};
  auto expect = [&](std::span<const int64_t> classes, float* counts) {
    for (auto class_number : classes) {
      auto p = sampler_state.from->probability(class_number);
      // With unique classes: the probability that one of this many draws was this class.
      *counts++ =
          static_cast<float>(tries == sampler_state.num_sampled
                                 ? p * static_cast<double>(tries)
                                 : -std::expm1(static_cast<double>(tries) * std::log1p(-p)));
    }
  };
  expect(truth.values<int64_t>(), of_truth->template data<float>());
  expect(sampled->template values<int64_t>(), of_sampled->template data<float>());
  sampler_state.from->see(truth.values<int64_t>());
  return {};
}

} // namespace troupe::ops
