// LearnedUnigramCandidateSampler: classes to learn from, as likely as they were so far.
#include "troupe/ops/random/shared/candidate_sampler.hpp"

namespace troupe::ops::learned_unigram_candidate_sampler_op {

extern constexpr op_def learned_unigram_candidate_sampler = candidate_sampler({
    .name = "LearnedUnigramCandidateSampler",
    .doc = "Samples classes as often as they were among true_classes so far, for losses that do "
           "not look at all.\n\n"
           "Each class counts once to begin with, and once more whenever a run has it in "
           "true_classes; a run samples before it counts. range_max numbers are kept from run to "
           "run. Expected counts and seeds are as those of UniformCandidateSampler.",
    .attrs = sampler_attrs,
    .example = R"(
x = Placeholder dtype=i64 shape=[-1,1]
s = LearnedUnigramCandidateSampler(x) num_true=1 num_sampled=2 unique=false range_max=3
feed x = i64[[0]]
fetch s:1 = f32[[0.6666667]]
)",
});

} // namespace troupe::ops::learned_unigram_candidate_sampler_op
