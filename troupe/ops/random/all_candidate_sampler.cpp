// AllCandidateSampler: all classes, to compare the other samplers with.
#include "troupe/ops/random/shared/candidate_sampler.hpp"

namespace troupe::ops::all_candidate_sampler_op {

extern constexpr op_def all_candidate_sampler = [] {
  auto made = candidate_sampler({
      .name = "AllCandidateSampler",
      .doc =
          "Samples each of num_sampled classes once, in order.\n\n"
          "All expected counts are 1. For tests: it computes what the other samplers approximate.",
      .attrs = {{"num_true", at_least{1}},
                {"num_sampled", at_least{1}},
                {"unique", attr_kind::boolean},
                {"seed", 0},
                {"seed2", 0}},
      .example = R"(
s = AllCandidateSampler(i64[[1], [2]]) num_true=1 num_sampled=3 unique=true
fetch s = i64[0, 1, 2]
fetch s:1 = f32[[1], [1]]
fetch s:2 = f32[1, 1, 1]
)",
  });
  made.effects = effect::none;
  return made;
}();

} // namespace troupe::ops::all_candidate_sampler_op
