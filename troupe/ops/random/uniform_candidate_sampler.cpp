// UniformCandidateSampler: classes to learn from, all equally likely.
#include "troupe/ops/random/shared/candidate_sampler.hpp"

namespace troupe::ops::uniform_candidate_sampler_op {

extern constexpr op_def uniform_candidate_sampler = candidate_sampler({
    .name = "UniformCandidateSampler",
    .doc =
        "Samples classes evenly from [0, range_max), for losses that do not look at all.\n\n"
        "sampled_expected_count says how often each sampled class is to be expected in such a "
        "sample, true_expected_count the same of each true class. Unique classes are drawn until "
        "there are enough that differ, and the counts are those for so many draws. Equal seeds "
        "give equal samples, run after run.",
    .attrs = sampler_attrs,
    .example = R"(
s = UniformCandidateSampler(i64[[1], [2]]) num_true=1 num_sampled=4 unique=false range_max=8 seed=1
fetch s:1 = f32[[0.5], [0.5]]
fetch s:2 = f32[0.5, 0.5, 0.5, 0.5]
)",
});

} // namespace troupe::ops::uniform_candidate_sampler_op
